"""Work spread over processes and clusters: all of it is done, and what goes wrong is said."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, nullcontext
from importlib import import_module
from typing import Any

import pytest

import axiogames.parallel
from axiogames import optional_deps
from axiogames.errors import AxioError, IllegalMove, InvalidOption, MissingDependency, Reason
from axiogames.parallel import ALL, FEWEST, HANDS_OUT, ended_quietly, map_unordered, processes_for


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_all_work_is_done(backend: str, jobs: int) -> None:
    assert sorted(map_unordered(math.sqrt, range(50), jobs, backend)) == [math.sqrt(n) for n in range(50)]


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_a_local_cluster_does_all_work(backend: str) -> None:
    assert sorted(map_unordered(math.sqrt, range(20), 2, backend)) == [math.sqrt(n) for n in range(20)]


def test_it_can_be_ended_early() -> None:
    with closing(map_unordered(math.sqrt, range(10_000), 2)) as results:
        assert next(results) >= 0


@pytest.mark.parametrize(
    ("where", "error", "told"),
    [(HANDS_OUT, KeyError, []), (HANDS_OUT, OSError, [OSError]), ("elsewhere", KeyError, [KeyError])],
)
def test_only_looking_for_dropped_work_is_passed_over(
    where: str, error: type[Exception], told: list[type], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error(36)

    heard: list[type | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda what: heard.append(what.exc_type))
    fail.__code__ = fail.__code__.replace(co_name=where)
    with ended_quietly():
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    assert heard == told


def test_loky_hands_out_work_where_we_think() -> None:
    loky = import_module("joblib.externals.loky.process_executor")
    assert callable(getattr(loky._ExecutorManagerThread, HANDS_OUT))


def test_a_worker_that_is_ended_is_said() -> None:
    with pytest.raises(AxioError, match="a worker process was ended from outside"):
        list(map_unordered(os._exit, [3], 2))


def test_what_a_worker_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="math domain"):
        list(map_unordered(math.sqrt, [-1], 2))


def illegal(number: int) -> None:
    raise IllegalMove(f"move {number}", Reason.GAME_OVER)


def test_an_error_of_ours_travels_by_its_text() -> None:
    with pytest.raises(AxioError, match=f"move 7: {Reason.GAME_OVER.text}"):
        list(map_unordered(illegal, [7], 2))


def test_an_unknown_backend() -> None:
    with pytest.raises(
        InvalidOption, match="unknown backend 'cloud': choose from loky, threading, ray, dask"
    ):
        list(map_unordered(math.sqrt, [1], 2, "cloud"))


def test_a_cluster_needs_more_than_one_job() -> None:
    with pytest.raises(InvalidOption, match="give ray 2 jobs or more"):
        list(map_unordered(math.sqrt, [1], 1, "ray"))


@pytest.mark.parametrize(
    ("module", "backend", "words"),
    [
        ("joblib", "loky", r"\.\[arena\]"),
        ("ray", "ray", r"\.\[cluster\]"),
        ("distributed", "dask", "cluster"),
    ],
)
def test_a_missing_library_is_said(
    module: str, backend: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingDependency, match=f"needs {module}, which is not installed: run pip install .*{words}"
    ):
        list(map_unordered(math.sqrt, [1, 2], ALL if backend == "ray" else 2, backend))


def test_a_library_that_is_broken_inside_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("No module named 'other'", name="other")

    monkeypatch.setattr(optional_deps, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="other"):
        optional_deps.require("joblib")


@pytest.mark.parametrize("jobs", [0, -2, -100])
def test_fewer_jobs_than_one_are_refused(jobs: int) -> None:
    with pytest.raises(InvalidOption, match="1 or more can be done at once"):
        list(map_unordered(math.sqrt, [1, 2], jobs))


def test_jobs_are_no_more_than_pieces_nor_than_the_cores_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert processes_for(200, 3) == 3
    assert processes_for(2, 3) == 2
    assert processes_for(100_000) == processes_for(100_000, 400) == FEWEST
    assert processes_for(ALL) == 2
    assert processes_for(1, 0) == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    assert processes_for(100, 400) == 100
    assert processes_for(100_000, 400) == 128


@pytest.mark.parametrize(
    ("jobs", "pieces", "backend", "asked"),
    [(1000, 3, "threading", 3), (1000, 1000, "threading", FEWEST), (5, 3, "ray", 3), (900, 1000, "ray", 900)],
)
def test_joblib_is_asked_for_no_more_than_that(
    jobs: int, pieces: int, backend: str, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    def results(joblib: Any, work: Any, jobs: int, backend: str) -> Iterator[float]:
        told.append(jobs)
        yield from ()

    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
    monkeypatch.setattr(axiogames.parallel, "_results", results)
    monkeypatch.setattr(axiogames.parallel, "_cluster", lambda backend, jobs: nullcontext())
    assert list(map_unordered(math.sqrt, range(pieces), jobs, backend)) == []
    assert told == [asked]


@pytest.mark.parametrize(
    ("backend", "variable"), [("ray", "RAY_ADDRESS"), ("dask", "DASK_SCHEDULER_ADDRESS")]
)
def test_an_address_that_is_no_cluster_is_said(
    backend: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "nonsense")
    with pytest.raises(InvalidOption, match=f"the cluster at {variable}='nonsense' cannot be joined"):
        list(map_unordered(math.sqrt, range(4), 2, backend))
