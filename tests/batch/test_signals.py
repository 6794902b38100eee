"""Numbers by which threads tell each other something."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from axio.batch import threads
from axio.batch.signals import tell_and_wait
from axio.batch.threads import Threads
from axio.engine.compile import INTERPRETED

MINE, THEIRS = 0, 8
MANY = 1 << 40  # looks: nobody gives up before a test is over


def test_what_is_there_is_found_at_once() -> None:
    numbers = np.zeros(16, np.int64)
    numbers[THEIRS] = 5
    assert tell_and_wait(numbers, MINE, 3, THEIRS, 5, 1, 100)
    assert numbers[MINE] == 3


@pytest.mark.parametrize("looks", [0, 1000])
def test_nobody_looks_for_ever(looks: int) -> None:
    numbers = np.zeros(16, np.int64)
    assert not tell_and_wait(numbers, MINE, 3, THEIRS, 5, looks, 100)
    assert numbers[MINE] == 3


def test_who_looks_sees_what_another_thread_writes() -> None:
    numbers, seen = np.zeros(16, np.int64), list[bool]()
    other = threading.Thread(
        target=lambda: seen.append(tell_and_wait(numbers, MINE, 1, THEIRS, 2, MANY, 0)), daemon=True
    )
    other.start()
    while numbers[MINE] != 1:
        time.sleep(0.001)
    assert not seen
    assert tell_and_wait(numbers, THEIRS, 2, MINE, 1, MANY, 0)
    other.join(timeout=10)
    assert seen == [True]


def test_where_threads_share_a_core_nobody_keeps_it_busy_by_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 2)
    looks = {}
    for count in (2, 3):
        made = Threads(count)
        looks[count] = made._looks
        done = list[int]()
        made.run(done.append, [(number,) for number in range(count)])
        assert sorted(done) == list(range(count))
        made.close()
    assert looks == {2: 0 if INTERPRETED else threads.LOOKS, 3: 0}
