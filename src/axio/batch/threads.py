"""Threads that wait for work: what is shared among them takes microseconds to hand over, not tenths of a
millisecond as with the pool of the standard library.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any

Ends = SimpleQueue[BaseException | None]
Work = tuple[Callable[..., Any], tuple[Any, ...], Ends]
Works = list[SimpleQueue[Work | None]]


class Threads:
    """So many threads, counting the one that calls, which does its share."""

    def __init__(self, count: int) -> None:
        self._works: Works = [SimpleQueue() for _ in range(count - 1)]
        for works in self._works:
            Thread(target=_serve, args=(works,), daemon=True).start()
        self._close = weakref.finalize(self, _dismiss, self._works)

    def run(self, function: Callable[..., Any], shares: Sequence[tuple[Any, ...]]) -> bool:
        """Call the function with each share in a thread of its own; the first share is the caller's.

        Whether the caller had to wait for others. Raises what one of them raises.
        """
        mine, *others = shares
        ends: Ends = SimpleQueue()  # of this call alone: who is interrupted does not hear of them any more
        for works, share in zip(self._works, others, strict=True):
            works.put((function, share, ends))
        try:
            function(*mine)
        finally:
            had_to_wait = ends.qsize() < len(others)
            raised = [error for _ in others if (error := ends.get()) is not None]
        for error in raised:
            raise error
        return had_to_wait

    def close(self) -> None:
        """Let the threads go."""
        self._close()


def _serve(works: SimpleQueue[Work | None]) -> None:
    while (work := works.get()) is not None:
        function, share, ends = work
        try:
            function(*share)
        except BaseException as error:
            ends.put(error)
        else:
            ends.put(None)
        del work, function, share, ends  # arrays are not held while there is nothing to do


def _dismiss(works: Works) -> None:
    for each in works:
        each.put(None)
