"""The same rules on a GPU, bit by bit. Needs an NVIDIA GPU and numba-cuda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axio.batch import Batch
from axio.batch.cuda import find_cuda
from axio.errors import NoSuchDevice, NotInstalled, WrongBatch
from axio.games import GAMES
from tests.batch.traces import trace
from tests.conformance.positions import Case, cases

CASES = [case for case in cases() if not case.options]


@pytest.fixture(scope="module", autouse=True)
def cuda() -> Any:
    """Numba's CUDA part, if there is a GPU for it."""
    try:
        return find_cuda()
    except (NoSuchDevice, NotInstalled) as error:
        pytest.skip(f"no GPU: the rules were not run on one ({error})")


@pytest.mark.parametrize("lean", [False, True], ids=["usual", "lean"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_games_on_the_gpu_are_games_on_the_processor(case: Case, lean: bool) -> None:
    def batch(device: str) -> Batch:
        return Batch(case.game, case.players, 96, seed=5, reward="place", lean=lean, device=device)

    assert trace(batch("cuda")) == trace(batch("cpu"))


def test_numbers_may_lie_on_the_gpu_and_wrong_ones_are_refused(cuda: Any) -> None:
    batch = Batch(GAMES[0], games=40, device="cuda")
    chosen = batch.sample()
    with pytest.raises(WrongBatch, match="no legal move in game"):
        batch.step(cuda.to_device(np.full(40, batch.numbers - 1)))
    with pytest.raises(WrongBatch, match="40 whole numbers"):
        batch.step(np.zeros(3))
    batch.step(chosen)


def test_a_look_at_the_states_is_no_copy() -> None:
    batch = Batch(GAMES[0], games=40, device="cuda")
    before = batch.turn.copy_to_host().tolist()
    turn = batch.turn
    batch.step(batch.sample())
    assert before == [0] * 40
    assert turn.copy_to_host().tolist() == batch.turn.copy_to_host().tolist()
    assert batch.scores.shape == (40, 2, len(batch.variant.tracks))
