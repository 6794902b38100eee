"""CUDA kernels in Numba's simulator: the same bits as on the CPU. The only check of them without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from axiogames.games import GAMES

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
KINDS = [(game, kind) for game in GAMES for kind in ("lean", "usual")]

pytestmark = pytest.mark.slow


def compared(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.batch.simulated", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | SIMULATED,
        encoding="utf-8",
    )


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_a_simulated_gpu_answers_like_the_processor(game: str, kind: str) -> None:
    done = compared(game, kind)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_greedy_games_on_a_simulated_gpu_are_those_of_the_processor(game: str, kind: str) -> None:
    done = compared(game, kind, "--greedy")
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr
