"""Work in processes and on clusters: complete results, errors, and the end of workers."""

from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

import axiogames.parallel
from axiogames import optional_deps
from axiogames.errors import AxioError, IllegalMove, InvalidOption, MissingDependency, Reason
from axiogames.parallel import (
    ALL,
    CLUSTERS,
    MIN_PROCESSES,
    cancel_on_worker_start,
    map_ordered,
    map_unordered,
    on_worker_start,
    process_count,
)
from tests.cli.test_cli import ENVIRONMENT


@pytest.mark.parametrize("jobs", [1, 2, ALL])
def test_map_unordered_yields_all_results(jobs: int) -> None:
    assert sorted(map_unordered(math.sqrt, range(50), jobs)) == [math.sqrt(n) for n in range(50)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_map_ordered_keeps_the_order_of_the_pieces(jobs: int) -> None:
    assert list(map_ordered(abs, range(-20, 0), jobs)) == list(range(20, 0, -1))


@pytest.mark.parametrize("backend", CLUSTERS)
def test_a_local_cluster_yields_all_results(backend: str) -> None:
    assert sorted(map_unordered(math.sqrt, range(20), 2, backend)) == [math.sqrt(n) for n in range(20)]


def test_no_pieces_give_no_results() -> None:
    assert list(map_unordered(math.sqrt, [], 2)) == list(map_ordered(math.sqrt, [], 2)) == []


def wait_for(path: Path | None) -> str:
    while path and not path.exists():
        time.sleep(0.01)
    return "waited" if path else "at once"


def test_map_unordered_yields_results_as_they_are_ready(tmp_path: Path) -> None:
    path = tmp_path / "go"
    with closing(map_unordered(wait_for, [path, None], 2)) as results:
        assert next(results) == "at once"
        path.touch()
        assert list(results) == ["waited"]


@pytest.mark.parametrize("map_pieces", [map_ordered, map_unordered])
def test_closing_ends_the_work_early(map_pieces: Any) -> None:
    with closing(map_pieces(math.sqrt, range(10_000), 2)) as results:
        assert next(results) >= 0
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("map_pieces", [map_ordered, map_unordered])
def test_a_killed_worker_raises_an_error(map_pieces: Any) -> None:
    with pytest.raises(AxioError, match="a worker process was killed by another program"):
        list(map_pieces(os._exit, [3], 2))


def die_while_sending(size: int) -> bytes:
    if size:
        threading.Timer(0.2, os._exit, [1]).start()
    return bytes(size)  # more than the pipe holds, while the parent does not read


def test_a_worker_killed_in_the_middle_of_a_message_raises_an_error() -> None:
    results = map_ordered(die_while_sending, [0, 100_000_000], 2)
    assert next(results) == b""
    time.sleep(2)  # the other worker fills its pipe and is killed
    with pytest.raises(AxioError, match="a worker process was killed by another program"):
        next(results)


def processes_of(parent: int) -> set[int]:
    """Process ids of the pool's workers."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    return {int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the processes of Linux")
def test_workers_end_when_their_parent_is_killed() -> None:
    program = (
        "import time\n"
        "from axiogames.parallel import map_unordered\n"
        "list(map_unordered(time.sleep, [60, 60], 2))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], env=ENVIRONMENT)
    deadline = time.monotonic() + 60
    while len(workers := processes_of(parent.pid)) < 2:
        assert time.monotonic() < deadline, "the workers do not start"
        time.sleep(0.05)
    time.sleep(1)  # for their imports
    parent.kill()
    parent.wait()
    while any((Path("/proc") / str(worker)).exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.05)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_a_worker_is_raised(jobs: int) -> None:
    with pytest.raises(ValueError, match="math domain"):
        list(map_unordered(math.sqrt, [-1], jobs))


class Unpicklable(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__("cannot be pickled")


def fail(number: int) -> None:
    raise Unpicklable(number, number)


def test_an_exception_that_cannot_be_pickled_is_raised_by_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)Traceback.*cannot be pickled"):
        list(map_ordered(fail, [7], 2))


def illegal(number: int) -> None:
    raise IllegalMove(f"move {number}", Reason.GAME_OVER)


@pytest.mark.parametrize("map_pieces", [map_ordered, map_unordered])
def test_an_axio_error_keeps_its_text(map_pieces: Any) -> None:
    with pytest.raises(AxioError, match=f"move 7: {Reason.GAME_OVER.text}"):
        list(map_pieces(illegal, [7], 2))


def set_variable(value: str) -> None:
    os.environ["AXIO_TEST_SETUP"] = os.environ.get("AXIO_TEST_SETUP", "") + value


def variable(piece: int) -> str | None:
    return os.environ.get("AXIO_TEST_SETUP")


@pytest.mark.parametrize("map_pieces", [map_ordered, map_unordered])
def test_workers_are_set_up_before_their_first_piece(
    map_pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(axiogames.parallel, "_worker_setup", [])
    for value in ("a", "b", "a"):  # the second "a" is the same call
        on_worker_start(set_variable, value)
    assert list(map_pieces(variable, range(5), 2)) == ["ab"] * 5
    assert variable(0) is None


def test_cancelled_setup_does_not_run_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axiogames.parallel, "_worker_setup", [])
    on_worker_start(set_variable, "a")
    on_worker_start(set_variable, "b")
    cancel_on_worker_start(set_variable, "a")
    cancel_on_worker_start(set_variable, "c")  # never set: no error
    assert list(map_ordered(variable, range(3), 2)) == ["b"] * 3


def test_an_error_of_worker_setup_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axiogames.parallel, "_worker_setup", [])
    on_worker_start(illegal, 7)
    with pytest.raises(AxioError, match="move 7: "):
        list(map_ordered(abs, [1, 2], 2))


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InvalidOption, match="unknown backend 'cloud': choose from local, ray, dask"):
        map_unordered(math.sqrt, [1], 2, "cloud")


@pytest.mark.parametrize("backend", CLUSTERS)
def test_a_cluster_needs_two_jobs(backend: str) -> None:
    with pytest.raises(InvalidOption, match=f"the backend {backend} needs at least 2 jobs"):
        map_unordered(math.sqrt, [1], 1, backend)


@pytest.mark.parametrize(("module", "backend"), [("joblib", "dask"), ("ray", "ray"), ("distributed", "dask")])
def test_a_missing_library_is_named(module: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingDependency,
        match=rf"{module} is required for running on a cluster; .*pip install .*\[cluster\]",
    ):
        list(map_unordered(math.sqrt, [1, 2], ALL, backend))


def test_a_broken_library_is_not_reported_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("No module named 'other'", name="other")

    monkeypatch.setattr(optional_deps, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="other"):
        optional_deps.require("joblib", "cluster")


@pytest.mark.parametrize("jobs", [0, -2, -100])
def test_less_than_one_job_is_refused(jobs: int) -> None:
    with pytest.raises(InvalidOption, match=f"jobs is {jobs}, must be at least 1"):
        map_unordered(math.sqrt, [1, 2], jobs)


def test_process_count_is_bounded_by_pieces_and_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert process_count(200, 3) == 3
    assert process_count(2, 3) == 2
    assert process_count(100_000) == process_count(100_000, 400) == MIN_PROCESSES
    assert process_count(ALL) == 2
    assert process_count(1, 0) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    assert process_count(100, 400) == 100
    assert process_count(100_000, 400) == 128


@pytest.mark.parametrize(("jobs", "pieces", "expected"), [(5, 3, 3), (900, 1000, 900), (5, 1, 2)])
def test_joblib_gets_at_most_one_job_per_piece(
    jobs: int, pieces: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = []

    def results(joblib: Any, work: Any, jobs: int, backend: str) -> Iterator[float]:
        passed.append(jobs)
        yield from ()

    monkeypatch.setattr(axiogames.parallel, "_cluster_results", results)
    monkeypatch.setitem(axiogames.parallel._CLUSTERS, "ray", lambda jobs: nullcontext())
    assert list(map_unordered(math.sqrt, range(pieces), jobs, "ray")) == []
    assert passed == [expected]


@pytest.mark.parametrize(
    ("backend", "variable"), [("ray", "RAY_ADDRESS"), ("dask", "DASK_SCHEDULER_ADDRESS")]
)
def test_an_address_that_is_no_cluster_is_refused(
    backend: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "nonsense")
    with pytest.raises(InvalidOption, match=f"cannot join the cluster at {variable}='nonsense'"):
        list(map_unordered(math.sqrt, range(4), 2, backend))
