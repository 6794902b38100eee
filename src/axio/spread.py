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
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any, TypeVar

from .errors import AxioError, WrongOption
from .extras import need

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


def spread(
    function: Callable[[Work], Result], pieces: Sequence[Work], jobs: int, backend: str = BACKENDS[0]
) -> Generator[Result, None, None]:
    """`function` of each piece, in the order in which the results come. One local job is done right here.

    There are never more processes than pieces (two at least), nor, on this machine, more than are of use.

    Close it (`contextlib.closing`) to end the work early. Raises `WrongOption` for a backend or a number of
    jobs that does not exist, `NotInstalled` for a backend whose library is missing, and `AxioError` if a
    worker is ended from outside.
    """
    if backend not in BACKENDS:
        raise WrongOption(f"unknown backend {backend!r}: choose from {', '.join(BACKENDS)}")
    if jobs < 1 and jobs != ALL:
        raise WrongOption(f"{jobs} jobs: 1 or more can be done at once")
    if jobs == 1 and backend in CLUSTERS:
        raise WrongOption(f"one job would not leave this process: give {backend} 2 jobs or more")
    if jobs == 1 or not pieces:
        yield from map(function, pieces)
        return
    most = max(2, len(pieces))
    if backend not in CLUSTERS:
        jobs = processes_for(jobs, most)
    elif jobs != ALL:
        jobs = min(jobs, most)
    joblib = need("joblib")
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
    """Whatever a library raises for an address that is none, or that nobody answers at, is `WrongOption`."""
    try:
        yield
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        address = os.environ[variable][:100]
        raise WrongOption(f"the cluster at {variable}={address!r} cannot be joined: {error}") from None


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody asked for that
    ray = need("ray", "cluster")
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    with _interrupts_ignored():
        if "RAY_ADDRESS" in os.environ:
            with _joining("RAY_ADDRESS"):
                ray.init(**quiet)
        else:
            ray.init(**quiet, num_cpus=None if jobs == ALL else processes_for(jobs), include_dashboard=False)
    try:
        need("ray.util.joblib", "cluster").register_ray()
        yield
    finally:
        ray.shutdown()


@contextmanager
def _dask(jobs: int) -> Iterator[None]:
    distributed = need("distributed", "cluster")
    if "DASK_SCHEDULER_ADDRESS" in os.environ:
        with _joining("DASK_SCHEDULER_ADDRESS"):
            client = distributed.Client(os.environ["DASK_SCHEDULER_ADDRESS"])  # its own look is at import
    else:
        workers = None if jobs == ALL else processes_for(jobs)
        with _interrupts_ignored():
            client = distributed.Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with client:
        yield
