"""Threads that share work: all of it is done, errors come back, and nobody stays behind."""

from __future__ import annotations

import gc
import threading
import time
from itertools import pairwise

import pytest

from axio.batch.processor import MOST_LEAD, shared_out
from axio.batch.threads import Threads


def gone(before: set[threading.Thread]) -> bool:
    """Whether no other threads are left than there were, after a while if need be."""
    for _ in range(200):
        if set(threading.enumerate()) <= before:
            return True
        time.sleep(0.01)
    return False


def test_every_share_is_done_by_a_thread_of_its_own() -> None:
    threads, met = Threads(3), threading.Barrier(3, timeout=10)
    done = []

    def work(number: int) -> None:
        met.wait()  # all three are at it at once
        done.append((number, threading.get_ident()))

    for _ in range(20):
        done.clear()
        threads.run(work, [(0,), (1,), (2,)])
        assert {number for number, _ in done} == {0, 1, 2}
        assert len({who for _, who in done}) == 3
        assert (0, threading.get_ident()) in done
    threads.close()


@pytest.mark.parametrize(("mine", "theirs", "expected"), [(0.0, 0.05, True), (0.05, 0.0, False)])
def test_the_caller_hears_whether_it_had_to_wait(mine: float, theirs: float, expected: bool) -> None:
    threads = Threads(2)
    assert threads.run(time.sleep, [(mine,), (theirs,)]) is expected
    threads.close()


@pytest.mark.parametrize("lead", [0.0, 0.1, MOST_LEAD])
@pytest.mark.parametrize(("games", "threads"), [(2, 2), (3, 3), (1024, 2), (1000, 7)])
def test_every_game_is_somebody_s(games: int, threads: int, lead: float) -> None:
    bounds = shared_out(games, threads, lead)
    assert (bounds[0], bounds[-1], len(bounds)) == (0, games, threads + 1)
    shares = [last - first for first, last in pairwise(bounds)]
    assert min(shares) >= 1
    assert shares[0] >= max(shares) - 1
    assert max(shares[1:]) - min(shares[1:]) <= 1


@pytest.mark.parametrize("failing", [0, 1])
def test_what_goes_wrong_is_raised_when_all_have_ended(failing: int) -> None:
    threads, ended = Threads(2), []

    def work(number: int) -> None:
        if number == failing:
            raise ValueError(f"share {number}")
        time.sleep(0.02)
        ended.append(number)

    for _ in range(2):  # and they work on afterwards
        ended.clear()
        with pytest.raises(ValueError, match=f"share {failing}"):
            threads.run(work, [(0,), (1,)])
        assert ended == [1 - failing]
    threads.close()


def test_threads_end_when_they_are_closed_or_forgotten() -> None:
    before = set(threading.enumerate())
    closed = Threads(3)
    assert len(set(threading.enumerate()) - before) == 2
    closed.close()
    assert gone(before)
    forgotten = Threads(2)
    assert not set(threading.enumerate()) <= before
    del forgotten
    gc.collect()
    assert gone(before)
