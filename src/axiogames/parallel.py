"""Spreading work over processes of this machine or over a cluster, by joblib.

`loky` is joblib's own pool of processes. `ray` and `dask` send the work to a cluster: to the one that
RAY_ADDRESS or DASK_SCHEDULER_ADDRESS names, else to one that is started on this machine for the time being.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from typing import Any, TypeVar

from .errors import AxioError, InvalidOption
from .optional_deps import require

Work = TypeVar("Work")
Result = TypeVar("Result")

LOCAL = "loky"
BACKENDS = (LOCAL, "threading", "ray", "dask")
CLUSTERS = ("ray", "dask")
ALL = -1  # jobs: as many as the cluster has processors
FEWEST = 4  # processes that are always allowed
PULSE = 0.5  # seconds between two looks whether the parent is still there
HANDS_OUT = "add_call_item_to_queue"  # where loky's thread does that
_NO_MORE = object()
ROUND = 4  # pieces of work for each process in a round, where a backend cannot tell results as they come


def processes_for(jobs: int, pieces: int | None = None) -> int:
    """Return how many processes of this machine are worth having for `jobs`: no more than there are pieces.

    Nor more than two a core, or four: each takes 100 MB, and beyond the cores they wait for each other.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = cores if jobs == ALL else min(jobs, max(FEWEST, 2 * cores))
    return max(1, wanted if pieces is None else min(wanted, pieces))


def map_unordered(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str = BACKENDS[0]
) -> Generator[Result, None, None]:
    """`function` of each piece, in the order in which the results come. One local job is done right here.

    There are never more processes than pieces (two at least), nor, on this machine, more than are of use.

    Close it (`contextlib.closing`) to end the work early. Raises `InvalidOption` for a backend or a number of
    jobs that does not exist, `MissingDependency` for a backend whose library is missing, and `AxioError` if a
    worker is ended from outside.
    """
    if backend not in BACKENDS:
        raise InvalidOption(f"unknown backend {backend!r}: choose from {', '.join(BACKENDS)}")
    if jobs < 1 and jobs != ALL:
        raise InvalidOption(f"{jobs} jobs: 1 or more can be done at once")
    if jobs == 1 and backend in CLUSTERS:
        raise InvalidOption(f"one job would not leave this process: give {backend} 2 jobs or more")
    if jobs == 1 or not pieces:
        yield from map(function, pieces)
        return
    most = max(2, len(pieces))
    if backend not in CLUSTERS:
        jobs = processes_for(jobs, most)
    elif jobs != ALL:
        jobs = min(jobs, most)
    joblib = require("joblib")
    work = (joblib.delayed(_plainly)(function, piece) for piece in pieces)
    with _cluster(backend, jobs):
        try:
            yield from _results(joblib, work, jobs, backend)
        except joblib.externals.loky.process_executor.BrokenProcessPool:
            time.sleep(0.2)  # what ended it may be a signal that is about to reach this process, too
            raise AxioError("a worker process was ended from outside") from None


def _results(joblib: Any, work: Iterator[Any], jobs: int, backend: str) -> Generator[Any, None, None]:
    extra = {"initializer": _end_with_parent} if backend == LOCAL else {}
    with joblib.parallel_config(backend, **extra):
        processes = joblib.effective_n_jobs(jobs)
        try:
            parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        except ValueError:  # this backend, Ray's, gives results only when all are there
            parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
    if parallel.return_as == "list":
        with parallel:
            while pieces := list(islice(work, ROUND * processes)):
                yield from parallel(pieces)
        return
    with _interrupts_ignored():
        results = parallel(work)
    try:
        while True:
            with ended_quietly():
                result = next(results, _NO_MORE)
            if result is _NO_MORE:
                return
            yield result
    finally:
        with ended_quietly():
            results.close()


def _plainly(function: Callable[[Work], Result], piece: Work) -> Result:
    """`function` of a piece. Errors of ours may be made of more than their text, which does not travel."""
    try:
        return function(piece)
    except AxioError as error:
        raise AxioError(str(error)) from None


def _end_with_parent() -> None:
    """In a worker: end when the process that gives it work is gone, even if that was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PULSE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def ended_quietly() -> Iterator[None]:
    """Ending early is what we want, so there is nothing to be warned of.

    Nor to be told by the thread that hands out work: when it has dropped what was waiting, it may still look
    for it (loky 3.6). Whatever else a thread fails at is told.
    """
    told = threading.excepthook

    def hook(what: threading.ExceptHookArgs) -> None:
        *_, (frame, _) = traceback.walk_tb(what.exc_traceback)
        if what.exc_type is not KeyError or frame.f_code.co_name != HANDS_OUT:
            told(what)

    threading.excepthook = hook
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="joblib")
            yield
    finally:
        threading.excepthook = told


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C: this one does, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------- clusters


@contextmanager
def _cluster(backend: str, jobs: int) -> Iterator[None]:
    """What a backend needs to be there while it works."""
    with {"ray": _ray, "dask": _dask}.get(backend, lambda jobs: nullcontext())(jobs):
        yield


@contextmanager
def _joining(variable: str) -> Iterator[None]:
    """Turn any error of connecting to a cluster into `InvalidOption`."""
    try:
        yield
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        address = os.environ[variable][:100]
        raise InvalidOption(f"the cluster at {variable}={address!r} cannot be joined: {error}") from None


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for that
    ray = require("ray", "cluster")
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    with _interrupts_ignored():
        if "RAY_ADDRESS" in os.environ:
            with _joining("RAY_ADDRESS"):
                ray.init(**quiet)
        else:
            ray.init(**quiet, num_cpus=None if jobs == ALL else processes_for(jobs), include_dashboard=False)
    try:
        require("ray.util.joblib", "cluster").register_ray()
        yield
    finally:
        ray.shutdown()


@contextmanager
def _dask(jobs: int) -> Iterator[None]:
    distributed = require("distributed", "cluster")
    if "DASK_SCHEDULER_ADDRESS" in os.environ:
        with _joining("DASK_SCHEDULER_ADDRESS"):
            client = distributed.Client(os.environ["DASK_SCHEDULER_ADDRESS"])  # its own look is at import
    else:
        workers = None if jobs == ALL else processes_for(jobs)
        with _interrupts_ignored():
            client = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with client:
        yield


AHEAD = 4  # pieces of work for each process that may be done before they are asked for


def map_ordered(
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
