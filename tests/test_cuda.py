"""The same rules inside CUDA kernels, byte for byte. Needs an NVIDIA GPU and numba-cuda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axio.engine.compile import INTERPRETED
from axio.engine.lots import seeded
from axio.engine.phases import DRAW, OVER
from tests.conformance.positions import Case, cases


def gpu() -> Any:
    """Numba's CUDA part, if there is a GPU for it."""
    if INTERPRETED:
        pytest.skip("this process runs interpreted")
    try:
        from numba import cuda

        available = cuda.is_available()  # type: ignore[no-untyped-call]
    except (ImportError, AttributeError) as error:  # AttributeError: a numba-cuda older than this NumPy
        pytest.skip(f"numba-cuda cannot be used here ({error}): the rules were not run on a GPU")
    if not available:
        pytest.skip("no NVIDIA GPU here: the rules were not run on one")
    return cuda


@pytest.mark.parametrize("case", [case for case in cases() if not case.options], ids=str)
def test_games_on_the_gpu_are_games_on_the_cpu(case: Case) -> None:
    cuda = gpu()
    variant = case.variant()
    apply, lot, pick = (variant.kernels.rules[name] for name in ("apply", "lot", "pick"))

    @cuda.jit
    def playouts(tables, openings, states, lots):  # type: ignore[no-untyped-def]
        game = cuda.grid(1)
        if game < len(states):
            states[game] = openings[0]
            t, s, rng = tables[0], states[game], lots[game]
            while s.phase != OVER:
                if s.phase >= DRAW:
                    apply(t, s, lot(t, s, rng))
                else:
                    apply(t, s, pick(t, s, rng))

    games = 256
    states = cuda.to_device(np.zeros(games, variant.opening.dtype))
    lots = cuda.to_device(np.array([seeded(n) for n in range(games)]))
    playouts[2, 128](cuda.to_device(variant.tables), cuda.to_device(variant.opening), states, lots)
    on_gpu = states.copy_to_host()
    for n in range(games):
        on_cpu = variant.new_state()
        variant.kernels.random_playouts(variant.tables, variant.opening, on_cpu, seeded(n), 1)
        assert on_cpu.tobytes() == on_gpu[n : n + 1].tobytes()
