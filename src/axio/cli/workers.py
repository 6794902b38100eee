"""Work in several processes, with the results in the order of the work.

Each worker has a pipe of its own and shares nothing, so that it can be ended at any moment. (A
`ProcessPoolExecutor` can wait forever for a worker that was killed while it held a lock they share.)
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from typing import Any, TypeVar

from ..errors import AxioError
from ..spread import processes_for

Work = TypeVar("Work")
Result = TypeVar("Result")

AHEAD = 4  # pieces of work for each process that may be done before they are asked for


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work], processes: int
) -> Generator[Result, None, None]:
    """`function` of each piece, in the order of the pieces. With one process, in this one.

    Processes are started when there is a piece for them, and never more than are of use on this machine.
    Close it (`contextlib.closing`) so that the processes end when you do not want any more.
    """
    if processes == 1:
        yield from map(function, pieces)
        return
    crew = _Crew(function, processes_for(processes))
    try:
        yield from _in_order(crew, enumerate(pieces))
    finally:
        crew.end()


class _Crew:
    """Worker processes, each started when it is first needed."""

    def __init__(self, function: Callable[[Any], Any], most: int) -> None:
        self.most = most
        self.idle: list[_Worker] = []
        self._all: list[_Worker] = []
        self._function = function
        # New interpreters: copies of this one would not be safe where it has threads.
        self._context = get_context("spawn")

    @property
    def can_take(self) -> bool:
        """Whether there is a worker for one more piece, or can be."""
        return bool(self.idle) or len(self._all) < self.most

    def take(self) -> _Worker:
        """A worker that has nothing to do."""
        if not self.idle:
            with _deaf_to_interrupts():
                worker = _Worker(self._context, self._function)
                self._all.append(worker)
            return worker
        return self.idle.pop()

    def end(self) -> None:
        """End all of them, whatever they do."""
        for worker in self._all:
            worker.end()


def _in_order(crew: _Crew, pieces: Iterator[tuple[int, Any]]) -> Generator[Any, None, None]:
    busy = dict[Any, _Worker]()
    done: dict[int, Any] = {}
    given = taken = 0
    while True:
        while (
            crew.can_take and given - taken < AHEAD * crew.most and (piece := next(pieces, None)) is not None
        ):
            worker = crew.take()
            worker.give(*piece)
            busy[worker.pipe] = worker
            given += 1
        if taken in done:
            yield done.pop(taken)
            taken += 1
        elif busy:
            for pipe in wait(list(busy)):
                worker = busy.pop(pipe)
                done[worker.number] = worker.answer()
                crew.idle.append(worker)
        else:
            return


class _Worker:
    """A process that does one piece of work after the other."""

    def __init__(self, context: SpawnContext, function: Callable[[Any], Any]) -> None:
        self.pipe, other_end = context.Pipe()
        self.number = 0
        self._process = context.Process(target=_serve, args=(other_end, function), daemon=True)
        self._process.start()
        other_end.close()

    def give(self, number: int, piece: Any) -> None:
        self.number = number
        try:
            self.pipe.send(piece)
        except BrokenPipeError:
            self._lost()

    def answer(self) -> Any:
        try:
            answer = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._lost()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _lost(self) -> None:
        time.sleep(0.2)  # what ended it may be a signal that is about to reach this process, too
        raise AxioError("a worker process was ended from outside")

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """What a worker does, until nobody gives it work any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            piece = pipe.recv()
        except EOFError:
            return
        answer: Any
        try:
            answer = function(piece)
        except AxioError as error:
            answer = AxioError(str(error))
        except Exception:
            answer = RuntimeError(traceback.format_exc())
        try:
            pipe.send(answer)
        except BrokenPipeError:
            return


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C: this one does, and ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # or the first process would start it, which lets interrupts through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
