"""Threads that wait for work: what is shared among them takes microseconds to hand over, not tenths of a
millisecond as with the pool of the standard library.

A helper has a queue of work, and a number that says how many works it was given and one for how many it has
done. It looks at the first for a while before it sleeps at its queue, and the caller at the second.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from ..engine.compile import INTERPRETED
from .signals import tell_and_wait

Ends = SimpleQueue[BaseException | None]
Work = tuple[Callable[..., Any], tuple[Any, ...], Ends]

GIVEN, DONE = 0, 8  # places of the two numbers, not in one line of a cache
LOOKS = 3_000_000  # about a millisecond
REST = 20_000  # about ten microseconds, until the caller, who has just given work, has left Python


class Helper(NamedTuple):
    """What a thread that helps is reached by."""

    works: SimpleQueue[Work | None]
    numbers: np.ndarray


class Threads:
    """So many threads, counting the one that calls, which does its share."""

    def __init__(self, count: int) -> None:
        self._helpers = [Helper(SimpleQueue(), np.zeros(16, np.int64)) for _ in range(count - 1)]
        # Who looks out keeps a core busy: not where another thread needs it.
        self._looks = LOOKS if not INTERPRETED and _cores() >= count else 0
        for helper in self._helpers:
            Thread(target=_serve, args=(helper, self._looks), daemon=True).start()
        self._close = weakref.finalize(self, _dismiss, self._helpers)

    def run(self, function: Callable[..., Any], shares: Sequence[tuple[Any, ...]]) -> bool:
        """Call the function with each share in a thread of its own; the first share is the caller's.

        Whether the caller had to wait for others. Raises what one of them raises.
        """
        mine, *others = shares
        ends: Ends = SimpleQueue()  # of this call alone: who is interrupted does not hear of them any more
        for helper, share in zip(self._helpers, others, strict=True):
            helper.works.put((function, share, ends))
            helper.numbers[GIVEN] += 1
        try:
            function(*mine)
        finally:
            had_to_wait = ends.qsize() < len(others)
            if had_to_wait:
                self._look_out()
            raised = [error for _ in others if (error := ends.get()) is not None]
        for error in raised:
            raise error
        return had_to_wait

    def close(self) -> None:
        """Let the threads go."""
        self._close()

    def _look_out(self) -> None:
        for _, numbers in self._helpers:
            given = int(numbers[GIVEN])
            tell_and_wait(numbers, GIVEN, given, DONE, given, self._looks, 0)


def _serve(helper: Helper, looks: int) -> None:
    works, numbers = helper
    done = 0
    while (work := works.get()) is not None:
        function, share, ends = work
        try:
            function(*share)
        except BaseException as error:
            ends.put(error)
        else:
            ends.put(None)
        del work, function, share, ends  # arrays are not held while there is nothing to do
        done += 1
        tell_and_wait(numbers, DONE, done, GIVEN, done + 1, looks, REST)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _dismiss(helpers: list[Helper]) -> None:
    for helper in helpers:
        helper.works.put(None)
