"""Map a function over pieces of work in processes of this machine or on a cluster.

`map_ordered` and `map_unordered` use the same kind of process pool, with a pipe for each worker. In
`concurrent.futures.ProcessPoolExecutor` all workers share one pipe for results: if a worker is killed while
it writes, the parent waits forever for the rest of the message. Before Python 3.14 that executor cannot kill
busy workers either, which Ctrl-C requires.

The backends `ray` and `dask` send the work to a cluster through joblib: the cluster that RAY_ADDRESS or
DASK_SCHEDULER_ADDRESS names, or a local one that is started for the duration of the call.
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
from typing import Any, NamedTuple, TypeAlias, TypeVar

from .errors import AxioError, InvalidOption
from .optional_deps import require

_Setup: TypeAlias = tuple[Callable[..., object], tuple[object, ...]]

Work = TypeVar("Work")
Result = TypeVar("Result")

LOCAL = "local"
CLUSTERS = ("ray", "dask")
BACKENDS = (LOCAL, *CLUSTERS)
ALL = -1  # jobs: one per processor
MIN_PROCESSES = 4  # allowed with any number of cores
LOOKAHEAD = 4  # pieces per process that may be finished before the caller takes their results
BATCH = 4  # pieces per process in a batch, for a backend that returns results in batches
SIGNAL_DELAY = 0.2  # seconds until a signal that killed a worker has reached this process, too


def process_count(jobs: int, pieces: int | None = None) -> int:
    """Return the number of local processes to use for `jobs`, at most one per piece.

    The limit is two per core, and at least four. A process takes 100 MB, and more processes than cores
    finish no earlier.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = cores if jobs == ALL else min(jobs, max(MIN_PROCESSES, 2 * cores))
    return max(1, processes if pieces is None else min(processes, pieces))


def map_ordered(
    function: Callable[[Work], Result], pieces: Iterable[Work], jobs: int
) -> Generator[Result, None, None]:
    """Yield `function` of each piece in the order of the pieces.

    Pieces are read lazily, and a process is started only when there is a piece for it. A single job runs in
    this process. Close the generator (`contextlib.closing`) to end the work early.

    Raises:
        AxioError: raised by `function`, or a worker was killed.
    """
    return _map_local(function, pieces, jobs, ordered=True)


def map_unordered(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str = LOCAL
) -> Generator[Result, None, None]:
    """Yield `function` of each piece as soon as its result is ready. A single local job runs in this process.

    Close the generator (`contextlib.closing`) to end the work early.

    Raises:
        InvalidOption: the backend does not exist, or does not support this number of jobs.
        MissingDependency: a library of the backend is not installed.
        AxioError: raised by `function`, or a worker was killed.
    """
    if backend not in BACKENDS:
        raise InvalidOption(f"unknown backend {backend!r}: choose from {', '.join(BACKENDS)}")
    if jobs < 1 and jobs != ALL:
        raise InvalidOption(f"jobs is {jobs}, must be at least 1, or {ALL} for one per core")
    if backend == LOCAL:
        return _map_local(function, pieces, jobs, ordered=False)
    if jobs == 1:
        raise InvalidOption(f"jobs is 1: the backend {backend} needs at least 2 jobs")
    return _map_on_cluster(function, pieces, jobs, backend)


_worker_setup: list[_Setup] = []


def on_worker_start(function: Callable[..., object], *arguments: object) -> None:
    """Call a function in each worker process that starts later, before its first piece of work.

    Workers are new interpreters. Use this to repeat changes of global state, such as the registration of a
    game.
    """
    if (function, arguments) not in _worker_setup:
        _worker_setup.append((function, arguments))


def cancel_on_worker_start(function: Callable[..., object], *arguments: object) -> None:
    """Undo `on_worker_start` for workers that start later. Does nothing without an equal earlier call."""
    if (function, arguments) in _worker_setup:
        _worker_setup.remove((function, arguments))


# ---------------------------------------------------------------- local processes


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
    """Worker processes, started on demand."""

    def __init__(self, function: Callable[[Any], Any], size: int) -> None:
        self.size = size
        self.idle: list[_Worker] = []
        self._workers: list[_Worker] = []
        self._function = function
        # New interpreters: a fork is not safe in a process with threads.
        self._context = get_context("spawn")

    @property
    def has_capacity(self) -> bool:
        """Whether a worker is idle or another one can be started."""
        return bool(self.idle) or len(self._workers) < self.size

    def take(self) -> _Worker:
        """Return an idle worker, or start one."""
        if self.idle:
            return self.idle.pop()
        with _starting_processes():
            worker = _Worker(self._context, self._function)
            self._workers.append(worker)
        return worker

    def kill(self) -> None:
        """Kill all workers, busy ones included."""
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
            done[worker.piece_index] = worker.receive()
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
    """A process that runs pieces of work one by one."""

    def __init__(self, context: SpawnContext, function: Callable[[Any], Any]) -> None:
        self.pipe, worker_pipe = context.Pipe()
        self.piece_index = 0
        arguments = (worker_pipe, function, tuple(_worker_setup))
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        worker_pipe.close()

    def send(self, piece_index: int, piece: Any) -> None:
        """Start a piece of work."""
        self.piece_index = piece_index
        try:
            self.pipe.send(piece)
        except OSError:
            self._fail()

    def receive(self) -> Any:
        """Return the result of the piece, or raise its exception."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):  # at the end of the pipe, or in the middle of a message
            self._fail()
        if isinstance(result, _Failure):
            raise result.error
        return result

    def _fail(self) -> None:
        time.sleep(SIGNAL_DELAY)
        raise AxioError("a worker process was killed by another program, or by the system for lack of memory")

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection, function: Callable[[Any], Any], setup: Sequence[_Setup]) -> None:
    """Run pieces of work until the pipe is closed: the target of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    pending = list(setup)
    while True:
        try:
            piece = pipe.recv()
        except EOFError:
            return
        result: Any
        try:
            while pending:  # here, so that an error is reported
                prepare, arguments = pending[0]
                prepare(*arguments)
                del pending[0]
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
        return AxioError(str(error))  # the constructor of a subclass may need other arguments
    text = traceback.format_exc()
    try:
        error.add_note(text)
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(text)
    return error


def _exit_with_parent() -> None:
    """End this worker when its parent ends, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "called in a worker"
    parent.join()
    os._exit(1)


@contextmanager
def _starting_processes() -> Iterator[None]:
    """Make processes started in the block ignore Ctrl-C, and finish the block before a signal takes effect.

    This process handles Ctrl-C and ends its workers. A worker that is interrupted while it starts would print
    a traceback.
    """
    with _signals_deferred():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        resource_tracker.ensure_running()  # otherwise the first process starts it, which unblocks interrupts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Call Python's signal handlers after the block. A mask alone does not block signals to other threads."""
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
        if received:
            signal.raise_signal(received[0])


# ---------------------------------------------------------------- clusters


def _map_on_cluster(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str
) -> Generator[Result, None, None]:
    joblib = require("joblib", "cluster")
    if not pieces:
        return
    if jobs != ALL:
        jobs = min(jobs, max(2, len(pieces)))
    setup = tuple(_worker_setup)
    work = (joblib.delayed(_run_on_cluster)(function, piece, setup) for piece in pieces)
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
            while pieces := list(islice(work, BATCH * processes)):
                yield from parallel(pieces)
        return
    results = parallel(work)
    try:
        yield from results
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="joblib")  # it warns when work is ended early
            results.close()


def _run_on_cluster(function: Callable[[Work], Result], piece: Work, setup: Sequence[_Setup]) -> Result:
    try:
        for prepare, arguments in setup:  # for each piece, since joblib does not say in which process it runs
            prepare(*arguments)
        return function(piece)
    except AxioError as error:
        raise _portable(error) from None


@contextmanager
def _joining_cluster(variable: str) -> Iterator[None]:
    """Raise errors of connecting to a cluster as `InvalidOption`."""
    try:
        yield
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        address = os.environ[variable][:100]
        raise InvalidOption(f"cannot join the cluster at {variable}={address!r}: {error}") from None


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    ray = require("ray", "cluster")
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    with _starting_processes():
        if "RAY_ADDRESS" in os.environ:
            with _joining_cluster("RAY_ADDRESS"):
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
        with _joining_cluster("DASK_SCHEDULER_ADDRESS"):
            # Passed on, since Dask reads the variable only when it is imported.
            client = distributed.Client(os.environ["DASK_SCHEDULER_ADDRESS"])
    else:
        workers = None if jobs == ALL else process_count(jobs)
        with _starting_processes():
            client = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with client:
        yield


_CLUSTERS = {"ray": _ray, "dask": _dask}
