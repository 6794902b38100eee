"""Interpreted and compiled rules play the same games, byte for byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Collection, Iterator

import numpy as np
import pytest

from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.loops import greedy_playouts, random_playouts
from axiogames.games.runtime.xorshift import seed_state
from tests.games.conformance.positions import Case, cases, twisted

SCRIPT = "from tests.games.runtime.test_execution_modes import digests; print('\\n'.join(digests({})))"


def digest(case: Case, twist: str) -> str:
    """Return a digest of the final states of random and greedy games and their numbers of moves."""
    variant = twisted(case, twist)
    states, rng = variant.new_state(), seed_state(case.players)
    result = hashlib.sha256()
    loops = [variant.kernels[random_playouts]]
    if case.players == 2 and twist == "plain":  # interpreted greedy games take minutes on large boards
        loops.append(variant.kernels[greedy_playouts])
    for loop in loops:
        moves = loop(variant.constants, variant.opening, states, rng, 1)
        result.update(np.ascontiguousarray(states).tobytes() + repr(np.ravel(moves).tolist()).encode())
    return result.hexdigest()


def digests(players: Collection[int]) -> Iterator[str]:
    for case in cases():
        if case.players not in players:
            continue
        if not case.options or (case.players == 2 and len(case.options) == 1):
            for twist in ("plain", "near the cap", "short of tiles"):
                yield f"{case} {twist} {digest(case, twist)}"


@pytest.mark.skipif(INTERPRETED, reason="compares with a compiled run")
@pytest.mark.parametrize("players", [(1, 2), pytest.param((3, 4), marks=pytest.mark.slow)])
def test_interpreted_and_compiled_runs_agree(players: tuple[int, ...]) -> None:
    interpreted = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT.format(players)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert interpreted.returncode == 0, interpreted.stderr
    assert interpreted.stdout.splitlines() == list(digests(players))
