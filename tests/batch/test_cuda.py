"""Batches on a GPU: the same bits as on the CPU. Needs an NVIDIA GPU and numba-cuda."""

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
    """Return Numba's module for CUDA, or skip the tests."""
    try:
        return find_cuda()
    except (DeviceNotFound, MissingDependency) as error:
        pytest.skip(f"no GPU: {error}")


@pytest.mark.parametrize("compact", [False, True], ids=["full", "compact"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_batch_on_the_gpu_equals_one_on_the_cpu(case: Case, compact: bool) -> None:
    def batch(device: str) -> Batch:
        return Batch(case.game, case.players, 96, seed=5, reward="place", compact=compact, device=device)

    assert trace(batch("cuda")) == trace(batch("cpu"))


def test_actions_on_the_gpu_are_accepted_and_checked(cuda: Any) -> None:
    batch = Batch(GAMES[0], games=40, device="cuda")
    chosen = batch.sample()
    with pytest.raises(InvalidBatchInput, match="is illegal in game"):
        batch.step(cuda.to_device(np.full(40, batch.num_actions - 1)))
    with pytest.raises(InvalidBatchInput, match="40 integers"):
        batch.step(np.zeros(3))
    batch.step(chosen)


def test_field_is_a_view_of_the_states() -> None:
    batch = Batch(GAMES[0], games=40, device="cuda")
    before = batch.turn.copy_to_host().tolist()
    turn = batch.turn
    batch.step(batch.sample())
    assert before == [0] * 40
    assert turn.copy_to_host().tolist() == batch.turn.copy_to_host().tolist()
    assert batch.scores.shape == (40, 2, len(batch.variant.tracks))


def test_tens_of_millions_of_games_fit() -> None:
    games = 1 << 25
    batch = Batch(GAMES[0], games=games, device="cuda", compact=True)
    assert batch.states.nbytes < 10e9
    assert batch.play_randomly() > 20 * games


@pytest.mark.parametrize("framework", ["torch", "cupy", "jax"])
def test_other_frameworks_share_arrays_without_a_copy(framework: str) -> None:
    module = pytest.importorskip(framework, reason=f"{framework} is not installed")
    batch, twin = (Batch(GAMES[0], games=40, seed=7, device="cuda") for _ in range(2))
    masks, actions = batch.masks(), batch.sample()
    if framework == "torch":
        shared = module.as_tensor(masks, device="cuda")
        address, own_actions = shared.data_ptr(), module.as_tensor(actions, device="cuda")
    elif framework == "cupy":
        shared = module.asarray(masks)
        address, own_actions = shared.data.ptr, module.asarray(actions)
    else:
        shared = module.numpy.asarray(masks)
        address, own_actions = shared.unsafe_buffer_pointer(), module.numpy.asarray(actions)
    assert address == masks.__cuda_array_interface__["data"][0]
    assert int(shared.sum()) == int(masks.copy_to_host().sum())
    batch.step(own_actions)
    twin.step(twin.sample().copy_to_host())
    assert batch.states.copy_to_host().tobytes() == twin.states.copy_to_host().tobytes()
