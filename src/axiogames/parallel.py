"""Map a function over pieces of work in processes of this machine or on a cluster.

`map_ordered` and `map_unordered` share one process pool, with a pipe for each worker. In
`concurrent.futures.ProcessPoolExecutor` all workers share one pipe for results: if one is killed while it
writes, the parent waits forever for the rest. Before Python 3.14 that executor cannot end busy workers
either, as Ctrl-C must.

The backends `ray` and `dask` send the work to a cluster through joblib: to the one that RAY_ADDRESS or
DASK_SCHEDULER_ADDRESS names, otherwise to one that is started on this machine for the duration of the call.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from typing import Any, NamedTuple, TypeVar

from .errors import AxioError, InvalidOption
from .optional_deps import require

Work = TypeVar("Work")
Result = TypeVar("Result")

LOCAL = "local"
CLUSTERS = ("ray", "dask")
BACKENDS = (LOCAL, *CLUSTERS)
ALL = -1  # jobs: one per processor
MIN_PROCESSES = 4  # always allowed, whatever the number of cores
LOOKAHEAD = 4  # pieces per process that may be finished before their results are taken
ROUND = 4  # pieces per process in a round, for a backend that returns results by the round
SIGNAL_DELAY = 0.2  # seconds in which a signal that killed a worker reaches this process, too


def process_count(jobs: int, pieces: int | None = None) -> int:
    """Return the number of local processes to use for `jobs`, at most one per piece.

    The limit is two per core, or four: each takes 100 MB, and more than the cores can run only wait.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = cores if jobs == ALL else min(jobs, max(MIN_PROCESSES, 2 * cores))
    return max(1, wanted if pieces is None else min(wanted, pieces))


def map_ordered(
    function: Callable[[Work], Result], pieces: Iterable[Work], jobs: int
) -> Generator[Result, None, None]:
    """Yield `function` of each piece in the order of the pieces.

    Pieces are read lazily, and a process is started only when there is a piece for it. One job runs in this
    process. Close the generator (`contextlib.closing`) to end the work early.

    Raises:
        AxioError: raised by `function`, or a worker was killed.
    """
    return _map_local(function, pieces, jobs, ordered=True)


def map_unordered(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str = LOCAL
) -> Generator[Result, None, None]:
    """Yield `function` of each piece as soon as its result is there. One local job runs in this process.

    Close the generator (`contextlib.closing`) to end the work early.

    Raises:
        InvalidOption: the backend does not exist, or `jobs` is not possible with it.
        MissingDependency: a library of the backend is not installed.
        AxioError: raised by `function`, or a worker was killed.
    """
    if backend not in BACKENDS:
        raise InvalidOption(f"unknown backend {backend!r}: choose from {', '.join(BACKENDS)}")
    if jobs < 1 and jobs != ALL:
        raise InvalidOption(f"{jobs} jobs: at least 1 is needed")
    if backend == LOCAL:
        return _map_local(function, pieces, jobs, ordered=False)
    if jobs == 1:
        raise InvalidOption(f"the backend {backend} needs at least 2 jobs")
    return _map_on_cluster(function, pieces, jobs, backend)


# ---------------------------------------------------------------- processes of this machine


def _map_local(
    function: Callable[[Work], Result], pieces: Iterable[Work], jobs: int, *, ordered: bool
) -> Generator[Result, None, None]:
    if jobs == 1:
        yield from map(function, pieces)
        return
    pool = _Pool(function, process_count(jobs))
    try:
        yield from _results(pool, enumerate(pieces), ordered)
    finally:
        pool.kill()


class _Pool:
    """Worker processes, each started when it is first needed."""

    def __init__(self, function: Callable[[Any], Any], size: int) -> None:
        self.size = size
        self.idle: list[_Worker] = []
        self._workers: list[_Worker] = []
        self._function = function
        # New interpreters: a fork is not safe in a process with threads.
        self._context = get_context("spawn")

    @property
    def has_capacity(self) -> bool:
        """Whether a worker is idle or can be started."""
        return bool(self.idle) or len(self._workers) < self.size

    def take(self) -> _Worker:
        """Return an idle worker."""
        if self.idle:
            return self.idle.pop()
        with _starting_processes():
            worker = _Worker(self._context, self._function)
            self._workers.append(worker)
        return worker

    def kill(self) -> None:
        """End all workers, busy ones included."""
        for worker in self._workers:
            worker.kill()


def _results(pool: _Pool, pieces: Iterator[tuple[int, Any]], ordered: bool) -> Generator[Any, None, None]:
    busy = dict[Any, _Worker]()
    done: dict[int, Any] = {}
    started = yielded = 0

    def start() -> None:
        nonlocal started
        while (
            pool.has_capacity
            and started - yielded < LOOKAHEAD * pool.size
            and (piece := next(pieces, None)) is not None
        ):
            worker = pool.take()
            worker.send(*piece)
            busy[worker.pipe] = worker
            started += 1

    def collect(timeout: float | None) -> None:
        for pipe in wait(list(busy), timeout) if busy else ():
            worker = busy.pop(pipe)
            done[worker.number] = worker.receive()
            pool.idle.append(worker)

    start()
    while busy or done:
        due = next(iter(done)) if done and not ordered else yielded
        if due not in done:
            collect(None)
        else:
            collect(0)
            start()  # workers get their next piece before the caller gets a result
            yielded += 1
            yield done.pop(due)
        start()


class _Failure(NamedTuple):
    """An exception raised by a worker."""

    error: Exception


class _Worker:
    """A process that runs one piece of work after the other."""

    def __init__(self, context: SpawnContext, function: Callable[[Any], Any]) -> None:
        self.pipe, other_end = context.Pipe()
        self.number = 0
        self._process = context.Process(target=_work, args=(other_end, function), daemon=True)
        self._process.start()
        other_end.close()

    def send(self, number: int, piece: Any) -> None:
        """Start a piece of work."""
        self.number = number
        try:
            self.pipe.send(piece)
        except OSError:
            self._fail()

    def receive(self) -> Any:
        """Return the result of the piece, or raise its exception."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):  # also within a message
            self._fail()
        if isinstance(result, _Failure):
            raise result.error
        return result

    def _fail(self) -> None:
        time.sleep(SIGNAL_DELAY)
        raise AxioError("a worker process was killed from outside")

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Run pieces of work until the pipe is closed. The target of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    while True:
        try:
            piece = pipe.recv()
        except EOFError:
            return
        result: Any
        try:
            result = function(piece)
        except Exception as error:
            result = _Failure(_portable(error))
        try:
            pipe.send(result)
        except BrokenPipeError:
            return


def _portable(error: Exception) -> Exception:
    """Return an exception that can be sent to another process, with its traceback as a note."""
    if isinstance(error, AxioError):
        return AxioError(str(error))  # a subclass may take more arguments than its text
    text = traceback.format_exc()
    try:
        error.add_note(text)
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(text)
    return error


def _exit_with_parent() -> None:
    """End this worker when its parent is gone, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "called in a worker"
    parent.join()
    os._exit(1)


@contextmanager
def _starting_processes() -> Iterator[None]:
    """Let processes started in the block ignore Ctrl-C, and finish the block before a signal takes effect.

    This process receives Ctrl-C and ends its workers. A worker whose start is interrupted would print a
    traceback.
    """
    with _signals_deferred():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        resource_tracker.ensure_running()  # or the first process would start it, which unblocks interrupts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Call Python's signal handlers after the block. A mask alone does not stop signals to other threads."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda received_number, frame: received.append(received_number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        for number in received[:1]:
            signal.raise_signal(number)


# ---------------------------------------------------------------- clusters


def _map_on_cluster(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str
) -> Generator[Result, None, None]:
    joblib = require("joblib", "cluster")
    if not pieces:
        return
    if jobs != ALL:
        jobs = min(jobs, max(2, len(pieces)))
    work = (joblib.delayed(_with_portable_errors)(function, piece) for piece in pieces)
    with _CLUSTERS[backend](jobs):
        yield from _cluster_results(joblib, work, jobs, backend)


def _cluster_results(joblib: Any, work: Iterator[Any], jobs: int, backend: str) -> Generator[Any, None, None]:
    with joblib.parallel_config(backend):
        processes = joblib.effective_n_jobs(jobs)
        try:
            parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        except ValueError:  # Ray's backend only returns whole lists
            parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
    if parallel.return_as == "list":
        with parallel:
            while pieces := list(islice(work, ROUND * processes)):
                yield from parallel(pieces)
        return
    results = parallel(work)
    try:
        yield from results
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="joblib")  # it warns of work that is ended early
            results.close()


def _with_portable_errors(function: Callable[[Work], Result], piece: Work) -> Result:
    try:
        return function(piece)
    except AxioError as error:
        raise _portable(error) from None


@contextmanager
def _joining(variable: str) -> Iterator[None]:
    """Turn errors of connecting to a cluster into `InvalidOption`."""
    try:
        yield
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        address = os.environ[variable][:100]
        raise InvalidOption(f"cannot join the cluster at {variable}={address!r}: {error}") from None


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send nothing unasked
    ray = require("ray", "cluster")
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    with _starting_processes():
        if "RAY_ADDRESS" in os.environ:
            with _joining("RAY_ADDRESS"):
                ray.init(**quiet)
        else:
            ray.init(**quiet, num_cpus=None if jobs == ALL else process_count(jobs), include_dashboard=False)
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
            client = distributed.Client(os.environ["DASK_SCHEDULER_ADDRESS"])  # it reads its own at import
    else:
        workers = None if jobs == ALL else process_count(jobs)
        with _starting_processes():
            client = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with client:
        yield


_CLUSTERS = {"ray": _ray, "dask": _dask}
