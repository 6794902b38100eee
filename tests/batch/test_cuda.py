"""The same rules on a GPU, bit by bit. Needs an NVIDIA GPU and numba-cuda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiogames.batch import Batch
from axiogames.batch.cuda import find_cuda
from axiogames.errors import DeviceNotFound, InvalidBatchInput, MissingDependency
from axiogames.games import GAMES
from tests.batch.traces import trace
from tests.games.conformance.positions import Case, cases

CASES = [case for case in cases() if not case.options]


@pytest.fixture(scope="module", autouse=True)
def cuda() -> Any:
    """Numba's CUDA part, if there is a GPU for it."""
    try:
        return find_cuda()
    except (DeviceNotFound, MissingDependency) as error:
        pytest.skip(f"no GPU: the rules were not run on one ({error})")


@pytest.mark.parametrize("compact", [False, True], ids=["usual", "lean"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_games_on_the_gpu_are_games_on_the_processor(case: Case, compact: bool) -> None:
    def batch(device: str) -> Batch:
        return Batch(case.game, case.players, 96, seed=5, reward="place", compact=compact, device=device)

    assert trace(batch("cuda")) == trace(batch("cpu"))


def test_numbers_may_lie_on_the_gpu_and_wrong_ones_are_refused(cuda: Any) -> None:
    batch = Batch(GAMES[0], games=40, device="cuda")
    chosen = batch.sample()
    with pytest.raises(InvalidBatchInput, match="no legal move in game"):
        batch.step(cuda.to_device(np.full(40, batch.numbers - 1)))
    with pytest.raises(InvalidBatchInput, match="40 whole numbers"):
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


def test_tens_of_millions_of_games_have_room() -> None:
    games = 1 << 25
    batch = Batch(GAMES[0], games=games, device="cuda", compact=True)
    assert batch.states.nbytes < 10e9
    assert batch.play_randomly() > 20 * games


@pytest.mark.parametrize("framework", ["torch", "cupy", "jax"])
def test_other_frameworks_take_arrays_and_give_them_without_a_copy(framework: str) -> None:
    module = pytest.importorskip(framework, reason=f"{framework} is not installed")
    batch, twin = (Batch(GAMES[0], games=40, seed=7, device="cuda") for _ in range(2))
    masks, numbers = batch.masks(), batch.sample()
    if framework == "torch":
        taken = module.as_tensor(masks, device="cuda")
        address, given = taken.data_ptr(), module.as_tensor(numbers, device="cuda")
    elif framework == "cupy":
        taken = module.asarray(masks)
        address, given = taken.data.ptr, module.asarray(numbers)
    else:
        taken = module.numpy.asarray(masks)
        address, given = taken.unsafe_buffer_pointer(), module.numpy.asarray(numbers)
    assert address == masks.__cuda_array_interface__["data"][0]
    assert int(taken.sum()) == int(masks.copy_to_host().sum())
    batch.step(given)
    twin.step(twin.sample().copy_to_host())
    assert batch.states.copy_to_host().tobytes() == twin.states.copy_to_host().tobytes()
