"""Work in several processes, with the results in the order of the work."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TypeVar

from ..errors import AxioError

Work = TypeVar("Work")
Result = TypeVar("Result")

AHEAD = 3  # pieces of work that wait for each process, so that none is idle while results are written


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work], processes: int
) -> Generator[Result, None, None]:
    """`function` of each piece, in the order of the pieces. With one process, in this one.

    Close it (`contextlib.closing`) so that the processes end when you do not want any more.
    """
    if processes == 1:
        yield from map(function, pieces)
        return
    others = active_children()
    # New interpreters: copies of this one would not be safe where it has threads.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            with _deaf_to_interrupts():
                waiting.append(pool.submit(function, piece))
            if len(waiting) >= AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise AxioError("a worker process was ended from outside") from None
    except BaseException:
        for process in active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C: this one does, and stops them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
