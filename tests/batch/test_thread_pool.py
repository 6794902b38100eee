"""Threads that share loops: every game is done once, whoever comes, and nobody stays behind."""

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
from axiogames.batch.thread_pool import AWAY, FEW, LOOKING, SharedLoop, ThreadPool, make_shared
from axiogames.games import GAMES
from axiogames.games.runtime import compile

PATIENCE = 300_000_000  # looks: about a tenth of a second


@njit(nogil=True)
def count_up(counts: Any, first: int, last: int) -> None:
    for i in range(first, last):
        counts[i] += 1


@njit(nogil=True)
def meet(arrived: int, expected: int, patience: int, met: Any, first: int, last: int) -> None:
    """Who comes waits until so many are there, in all."""
    add(arrived, 1)
    while patience > 0 and read(arrived) < expected:
        patience -= 1
    for i in range(first, last):
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


def came_together(crew: ThreadPool, meeting: SharedLoop, expected: int) -> bool:
    """Whether so many members were at work at once."""
    arrived, met = np.zeros(1, np.int64), np.zeros(expected * FEW, np.bool_)
    crew.run(meeting, len(met), (arrived.ctypes.data, expected, PATIENCE, met))
    return bool(met.all())


def gone(before: set[threading.Thread]) -> bool:
    """Whether no other threads are left than there were, after a while if need be."""
    for _ in range(200):
        if set(threading.enumerate()) <= before:
            return True
        time.sleep(0.01)
    return False


def test_numbers_in_memory_are_read_and_written_as_they_are() -> None:
    numbers = np.zeros(1, np.int64)
    assert atomics(numbers.ctypes.data) == (5, 8, False, True, 2)
    assert numbers[0] == 2


def test_a_change_of_what_is_compiled_in_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the cache would go on serving what was compiled before it."""
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


@pytest.mark.parametrize("looks", [0, 20_000_000], ids=["asleep", "looking out"])
@pytest.mark.parametrize("members", [1, 2, 3])
def test_every_game_is_done_once(counting: SharedLoop, members: int, looks: int) -> None:
    crew = ThreadPool(members, looks)
    for games in (1, 2, 3, 7, FEW, 100, 1001):
        counts = np.zeros(games + 1, np.int64)
        for _ in range(200):
            crew.run(counting, games, (counts,))
        assert counts.tolist() == [200] * games + [0]
    crew.close()


@pytest.mark.parametrize(("looks", "doing"), [(PATIENCE, LOOKING), (0, AWAY)], ids=["looking out", "asleep"])
def test_a_helper_takes_part(meeting: SharedLoop, looks: int, doing: int) -> None:
    crew = ThreadPool(2, looks)
    (helper,) = crew._helpers

    def was_there() -> bool:
        before = crew._numbers[helper.doing]
        return came_together(crew, meeting, 2) and bool(before == doing)

    # It may fall asleep just when work comes, and then has no part in it.
    assert any(was_there() for _ in range(100))
    crew.close()


def test_one_loop_after_the_other(counting: SharedLoop, meeting: SharedLoop) -> None:
    crew, counts, came = ThreadPool(2), np.zeros(50, np.int64), 0
    for _ in range(50):
        crew.run(counting, 50, (counts,))
        came += came_together(crew, meeting, 2)
    assert counts.tolist() == [50] * 50
    assert came
    crew.close()


def test_those_who_call_at_once_wait_for_each_other(counting: SharedLoop) -> None:
    crew, counts = ThreadPool(2), np.zeros(500, np.int64)

    def many() -> None:
        for _ in range(500):
            crew.run(counting, 500, (counts,))

    callers = [threading.Thread(target=many) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert counts.tolist() == [1500] * 500
    crew.close()


def test_what_is_of_another_kind_is_refused(counting: SharedLoop) -> None:
    crew, counts = ThreadPool(2), np.zeros(5, np.float32)
    with pytest.raises(TypeError, match="No matching definition"):
        crew.run(counting, 5, (counts,))
    assert not counts.any()
    right = np.zeros(5, np.int64)
    crew.run(counting, 5, (right,))
    assert right.all()
    crew.close()


def test_loops_over_other_kinds_have_other_names(counting: SharedLoop) -> None:
    other = make_shared(count_up, "count_up", (np.zeros(1, np.int32),))
    assert other.work._wrapper_name != counting.work._wrapper_name
    counts = np.zeros(9, np.int32)
    crew = ThreadPool(2)
    crew.run(other, 9, (counts,))
    assert counts.all()
    crew.close()


@pytest.mark.parametrize("end", [ThreadPool.close, lambda crew: None], ids=["closed", "forgotten"])
def test_threads_end_with_their_crew(counting: SharedLoop, end: Callable[[ThreadPool], None]) -> None:
    before = set(threading.enumerate())
    crew, counts = ThreadPool(3), np.zeros(100, np.int64)
    crew.run(counting, 100, (counts,))
    assert len(set(threading.enumerate()) - before) == 2
    end(crew)
    del crew
    gc.collect()
    assert gone(before)


def test_a_crew_that_was_let_go_does_everything_alone(counting: SharedLoop) -> None:
    crew, counts = ThreadPool(3), np.zeros(100, np.int64)
    crew.close()
    for _ in range(3):
        crew.run(counting, 100, (counts,))
    assert counts.tolist() == [3] * 100


FORK = """
import os, sys, warnings
from axiogames.batch import Batch, cpu
warnings.simplefilter("ignore")  # that this process has threads: it is what this is about
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
def test_a_fork_has_a_crew_of_its_own() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORK, GAMES[0]],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    mine, theirs = map(int, ran.stdout.split())
    assert mine == theirs > 0


def test_a_batch_has_no_more_threads_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, 0), (2, 1), (64, 3)):
        monkeypatch.setattr(cpu, "cores", lambda cores=cores: cores)
        before = set(threading.enumerate())
        batch = Batch(GAMES[0], games=40, threads=4)
        assert batch.threads - 1 == len(set(threading.enumerate()) - before) == expected
        batch.step(batch.sample())
        batch.close()
        assert gone(before)


def test_yes_and_no_in_other_words_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    yes: Any = 1
    batch, twin = Batch(GAMES[0], games=40, threads=2, auto_reset=yes), Batch(GAMES[0], games=40)
    looked, expected = (some.step_and_look(some.sample(), sample=yes) for some in (batch, twin))
    assert looked.sampled.tolist() == expected.sampled.tolist()
    assert batch.play_randomly(np.int32(2)) == twin.play_randomly(2)  # type: ignore[arg-type]
    batch.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_that_cannot_be_written_need_nothing_new(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "cores", lambda: 2)
    batch, twin = (Batch(GAMES[0], games=40, threads=threads) for _ in range(2))
    numbers = batch.sample().copy()
    numbers.flags.writeable = False  # as those of JAX are
    batch.step(numbers)
    twin.step(twin.sample())
    assert batch.states.tobytes() == twin.states.tobytes()
    assert isinstance(batch.on, CpuBackend)
    for loop in ("step", "find_illegal"):
        assert len(batch.variant.kernels[LOOPS_BY_NAME[loop]].signatures) == 1
    batch.close()
    twin.close()
