"""CUDA kernels in Numba's simulator: the same bits as on the CPU. The only check of them without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from axiogames.games import GAMES

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
LAYOUTS = [(game, layout) for game in GAMES for layout in ("compact", "full")]

pytestmark = pytest.mark.slow


def compare(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.batch.simulated_gpu", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | SIMULATED,
        encoding="utf-8",
    )


@pytest.mark.parametrize(("game", "layout"), LAYOUTS)
def test_simulated_gpu_equals_the_cpu(game: str, layout: str) -> None:
    done = compare(game, layout)
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


@pytest.mark.parametrize(("game", "layout"), LAYOUTS)
def test_greedy_games_on_a_simulated_gpu_equal_those_on_the_cpu(game: str, layout: str) -> None:
    done = compare(game, layout, "--greedy")
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr
