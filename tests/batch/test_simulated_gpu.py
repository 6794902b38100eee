"""What the threads of a GPU do, without one: the same bits as on the processor, by Numba's simulator."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from axio.games import GAMES

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
QUICK = (GAMES[0], GAMES[2])  # states in fast memory, and states that are too large for it


def compared(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.batch.simulated", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | SIMULATED,
    )


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[] if game in QUICK else pytest.mark.slow) for game in GAMES]
)
def test_a_simulated_gpu_answers_like_the_processor(game: str) -> None:
    done = compared(game)
    assert (done.returncode, done.stdout) == (0, "the same, lean\nthe same, usual\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_greedy_games_on_a_simulated_gpu_are_those_of_the_processor(game: str) -> None:
    done = compared(game, "--greedy")
    assert (done.returncode, done.stdout) == (0, "the same, lean\nthe same, usual\n"), done.stderr
