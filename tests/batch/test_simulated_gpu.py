"""What the threads of a GPU do, without one: the same bits as on the processor, by Numba's simulator."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from axiogames.games import GAMES

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
KINDS = [(game, kind) for game in GAMES for kind in ("compact", "full")]
QUICK = ((GAMES[0], "compact"), (GAMES[2], "full"))  # in fast memory, and too large for it


def compared(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.batch.simulated_gpu", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | SIMULATED,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("game", "kind"),
    [pytest.param(*each, marks=[] if each in QUICK else pytest.mark.slow) for each in KINDS],
)
def test_a_simulated_gpu_answers_like_the_processor(game: str, kind: str) -> None:
    done = compared(game, kind)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_greedy_games_on_a_simulated_gpu_are_those_of_the_processor(game: str, kind: str) -> None:
    done = compared(game, kind, "--greedy")
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr
