"""The thread pool: every game is processed once, whatever the timing, and all threads stop."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from axiogames.batch import Batch, cpu
from axiogames.batch.atomics import add, read, swap, write
from axiogames.batch.cpu import CpuBackend
from axiogames.batch.loops import LOOPS_BY_NAME
from axiogames.batch.thread_pool import ASLEEP, CHUNK, SPINNING, SharedLoop, ThreadPool, make_shared
from axiogames.games import GAMES
from axiogames.games.runtime import compile

PATIENCE = 300_000_000  # reads of a word: about 0.1 s


@njit(nogil=True)
def count_up(counts: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        counts[i] += 1


@njit(nogil=True)
def meet(arrived: int, expected: int, patience: int, met: Any, start: int, stop: int) -> None:
    """Wait until `expected` threads have arrived, and write whether they have."""
    add(arrived, 1)
    while patience > 0 and read(arrived) < expected:
        patience -= 1
    for i in range(start, stop):
        met[i] = read(arrived) >= expected


@njit
def atomics(address: int) -> Any:
    write(address, 5)
    before = add(address, 3)
    return before, read(address), swap(address, 7, 1), swap(address, 8, 2), read(address)


@pytest.fixture(scope="module")
def counting() -> SharedLoop:
    return make_shared(count_up, "count_up", (np.zeros(1, np.int64),))


@pytest.fixture(scope="module")
def meeting() -> SharedLoop:
    return make_shared(meet, "meet", (0, 0, 0, np.zeros(1, np.bool_)))


def work_together(pool: ThreadPool, meeting: SharedLoop, expected: int) -> bool:
    """Return whether `expected` members worked at the same time."""
    arrived, met = np.zeros(1, np.int64), np.zeros(expected * CHUNK, np.bool_)
    pool.run(meeting, len(met), (arrived.ctypes.data, expected, PATIENCE, met))
    return bool(met.all())


def have_stopped(before: set[threading.Thread]) -> bool:
    """Return whether all threads that were not running before stop within 2 s."""
    for _ in range(200):
        if set(threading.enumerate()) <= before:
            return True
        time.sleep(0.01)
    return False


def test_atomics_read_and_write_words() -> None:
    words = np.zeros(1, np.int64)
    assert atomics(words.ctypes.data) == (5, 8, False, True, 2)
    assert words[0] == 2


def test_source_changes_invalidate_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(compile.__file__).parents[2], package, ignore=shutil.ignore_patterns("static"))
    monkeypatch.setattr(compile, "__file__", str(package / "games" / "runtime" / "compile.py"))
    digest = compile._sources_digest.__wrapped__
    before = digest()
    for changed in ("batch/atomics.py", "batch/thread_pool.py", "batch/loops.py"):
        path = package / changed
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        before, old = digest(), before
        assert before != old, changed


@pytest.mark.parametrize("spins", [0, 20_000_000], ids=["asleep", "spinning"])
@pytest.mark.parametrize("members", [1, 2, 3])
def test_every_game_is_processed_once(counting: SharedLoop, members: int, spins: int) -> None:
    pool = ThreadPool(members, spins)
    for games in (1, 2, 3, 7, CHUNK, 100, 1001):
        counts = np.zeros(games + 1, np.int64)
        for _ in range(200):
            pool.run(counting, games, (counts,))
        assert counts.tolist() == [200] * games + [0]
    pool.close()


@pytest.mark.parametrize(("spins", "status"), [(PATIENCE, SPINNING), (0, ASLEEP)], ids=["spinning", "asleep"])
def test_worker_takes_part(meeting: SharedLoop, spins: int, status: int) -> None:
    pool = ThreadPool(2, spins)
    (worker,) = pool._workers

    def took_part() -> bool:
        before = pool._words[worker.status]
        return work_together(pool, meeting, 2) and bool(before == status)

    # A worker that falls asleep just when work arrives takes no part in it.
    assert any(took_part() for _ in range(100))
    pool.close()


def test_loops_run_one_after_the_other(counting: SharedLoop, meeting: SharedLoop) -> None:
    pool, counts, together = ThreadPool(2), np.zeros(50, np.int64), 0
    for _ in range(50):
        pool.run(counting, 50, (counts,))
        together += work_together(pool, meeting, 2)
    assert counts.tolist() == [50] * 50
    assert together
    pool.close()


def test_concurrent_callers_wait_for_each_other(counting: SharedLoop) -> None:
    pool, counts = ThreadPool(2), np.zeros(500, np.int64)

    def run_many() -> None:
        for _ in range(500):
            pool.run(counting, 500, (counts,))

    callers = [threading.Thread(target=run_many) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert counts.tolist() == [1500] * 500
    pool.close()


def test_arguments_of_another_type_are_rejected(counting: SharedLoop) -> None:
    pool, counts = ThreadPool(2), np.zeros(5, np.float32)
    with pytest.raises(TypeError, match="No matching definition"):
        pool.run(counting, 5, (counts,))
    assert not counts.any()
    right = np.zeros(5, np.int64)
    pool.run(counting, 5, (right,))
    assert right.all()
    pool.close()


def test_loops_over_other_types_have_other_names(counting: SharedLoop) -> None:
    other = make_shared(count_up, "count_up", (np.zeros(1, np.int32),))
    assert other.work._wrapper_name != counting.work._wrapper_name
    counts = np.zeros(9, np.int32)
    pool = ThreadPool(2)
    pool.run(other, 9, (counts,))
    assert counts.all()
    pool.close()


@pytest.mark.parametrize("end", [ThreadPool.close, lambda pool: None], ids=["closed", "collected"])
def test_threads_stop_with_their_pool(counting: SharedLoop, end: Callable[[ThreadPool], None]) -> None:
    before = set(threading.enumerate())
    pool, counts = ThreadPool(3), np.zeros(100, np.int64)
    pool.run(counting, 100, (counts,))
    assert len(set(threading.enumerate()) - before) == 2
    end(pool)
    del pool
    gc.collect()
    assert have_stopped(before)


def test_closed_pool_runs_loops_in_the_caller(counting: SharedLoop) -> None:
    pool, counts = ThreadPool(3), np.zeros(100, np.int64)
    pool.close()
    for _ in range(3):
        pool.run(counting, 100, (counts,))
    assert counts.tolist() == [3] * 100


FORK = """
import os, sys, warnings
from axiogames.batch import Batch, cpu
warnings.simplefilter("ignore")  # Python warns of a fork with threads, the subject of this test
cpu.cores = lambda: 2
batch = Batch(sys.argv[1], games=30, threads=2)
batch.step(batch.sample())
child = os.fork()
batch.step(batch.sample())
points = int(batch.scores.sum()) % 256
if child == 0:
    os._exit(points)
_, status = os.waitpid(child, 0)
print(points, os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system has no fork")
def test_fork_has_its_own_pool() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORK, GAMES[0]],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    parent, child = map(int, ran.stdout.split())
    assert parent == child > 0


def test_batch_has_at_most_one_thread_per_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, 0), (2, 1), (64, 3)):
        monkeypatch.setattr(cpu, "cores", lambda cores=cores: cores)
        before = set(threading.enumerate())
        batch = Batch(GAMES[0], games=40, threads=4)
        assert batch.threads - 1 == len(set(threading.enumerate()) - before) == expected
        batch.step(batch.sample())
        batch.close()
        assert have_stopped(before)


def test_settings_of_other_types_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    true: Any = 1
    batch, twin = Batch(GAMES[0], games=40, threads=2, auto_reset=true), Batch(GAMES[0], games=40)
    observed, expected = (each.step_and_observe(each.sample(), sample=true) for each in (batch, twin))
    assert observed.sampled.tolist() == expected.sampled.tolist()
    assert batch.play_randomly(np.int32(2)) == twin.play_randomly(2)  # type: ignore[arg-type]
    batch.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_read_only_actions_need_no_compilation(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    batch, twin = (Batch(GAMES[0], games=40, threads=threads) for _ in range(2))
    actions = batch.sample().copy()
    actions.flags.writeable = False  # as arrays of JAX are
    batch.step(actions)
    twin.step(twin.sample())
    assert batch.states.tobytes() == twin.states.tobytes()
    assert isinstance(batch.backend, CpuBackend)
    for loop in ("step", "find_illegal"):
        assert len(batch.variant.kernels[LOOPS_BY_NAME[loop]].signatures) == 1
    batch.close()
    twin.close()
