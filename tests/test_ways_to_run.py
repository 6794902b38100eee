"""One source of rules, run interpreted and compiled: the same games, byte for byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from axio.engine.compile import INTERPRETED
from axio.engine.lots import seeded
from tests.conformance.positions import Case, cases, twisted

SCRIPT = "from tests.test_ways_to_run import digests; print('\\n'.join(digests()))"


def digest(case: Case, twist: str) -> str:
    """The final states of random and greedy games, and how many moves they took."""
    variant = twisted(case, twist)
    states, lots = variant.new_state(), seeded(case.players)
    seen = hashlib.sha256()
    loops = [variant.kernels.random_playouts]
    if case.players == 2 and twist == "plain":  # interpreted greed takes long, on the largest boards minutes
        loops.append(variant.kernels.greedy_playouts)
    for loop in loops:
        moves = loop(variant.tables, variant.opening, states, lots, 1)
        seen.update(np.ascontiguousarray(states).tobytes() + repr(np.ravel(moves).tolist()).encode())
    return seen.hexdigest()


def digests() -> Iterator[str]:
    for case in cases():
        if not case.options or (case.players == 2 and len(case.options) == 1):
            for twist in ("plain", "near the cap", "short of tiles"):
                yield f"{case} {twist} {digest(case, twist)}"


@pytest.mark.skipif(INTERPRETED, reason="this process runs interpreted itself")
def test_interpreted_and_compiled_runs_agree() -> None:
    interpreted = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert interpreted.returncode == 0, interpreted.stderr
    assert interpreted.stdout.splitlines() == list(digests())


def test_decorating_in_two_threads_keeps_the_cache_in_its_folder(tmp_path: Path) -> None:
    """Numba's setting is global: a second thread must not put it back while the first still needs it."""
    from numba.core import config

    from axio.engine.compile import _numba_cache_in

    seen: list[str] = []
    inside, other = threading.Event(), threading.Event()

    def first() -> None:
        with _numba_cache_in(tmp_path / "first"):
            inside.set()
            other.wait(0.2)  # the second thread has to wait all the while
            seen.append(vars(config)["CACHE_DIR"])

    def second() -> None:
        inside.wait(5)
        with _numba_cache_in(tmp_path / "second"):
            other.set()

    before = vars(config)["CACHE_DIR"]
    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [str(tmp_path / "first")]
    assert vars(config)["CACHE_DIR"] == before
