"""CUDA kernels: the loops of `batch.loops`, distributed over the threads of a GPU.

Most loops run one thread per game. If a loop writes a row for each game, the threads of a warp share the row
and write adjacent entries: the memory of a GPU takes as long for scattered bytes as for whole rows. Playouts
run in shared memory if states are small enough, since a move mostly reads and writes single bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cuda_occupancy import WARP, KernelShare


def one_thread_per_game(cuda: Any, loop: Any) -> Any:
    """Return a kernel in which each thread runs a loop for a range of one game."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < games:
            loop(*arguments, i, i + 1)

    return kernel


def mask_kernel(cuda: Any, is_legal: Any) -> Any:
    """Return the kernel that writes masks. It checks each action on its own."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, states, masks = arguments
        i, thread = cuda.grid(1) // WARP, cuda.grid(1) % WARP
        if i < games:
            for action in range(thread, masks.shape[1], WARP):
                masks[i, action] = is_legal(constants[0], states[i], action)

    return kernel


def observation_kernel(cuda: Any, observe: Any) -> Any:
    """Return the kernel that writes observations. A warp clears the board, one of its threads fills it."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, states, seats, cells, boards, vectors = arguments
        i, thread = cuda.grid(1) // WARP, cuda.grid(1) % WARP
        if i < games:
            for at in range(thread, boards.shape[1], WARP):
                boards[i, at] = 0
            cuda.syncwarp()
            if thread == 0:
                observe(constants[0], states[i], np.int64(seats[i]), cells, boards[i], vectors[i])

    return kernel


def playout_kernel(
    cuda: Any, playout: Any, constants_type: np.dtype[Any], state_type: np.dtype[Any], share: KernelShare
) -> Any:
    """Return a kernel in which each thread plays whole games, one after the other.

    Args:
        cuda: Numba's module for CUDA.
        playout: plays a game, `random_game` or `greedy_game`.
        constants_type: the layout of the constants.
        state_type: the layout of a state.
        share: the memory and registers of a block.
    """
    from numba import from_dtype, uint64

    constants_record, state = from_dtype(constants_type), from_dtype(state_type)
    fits, block = share.fits, WARP * share.warps

    @cuda.jit(
        max_registers=share.registers or None,
        shared_memory_carveout="maxshared" if fits else "default",
    )
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, (openings, states, rngs), count, moves, scored = arguments
        if fits:
            playing = cuda.shared.array(block, state)
            at = cuda.threadIdx.x
        else:
            playing = cuda.local.array(1, state)
            at = 0
        shared_constants = cuda.shared.array(1, constants_record)
        if cuda.threadIdx.x == 0:
            shared_constants[0] = constants[0]
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < games:
            rng = cuda.local.array(1, uint64)
            rng[0] = rngs[i]
            moves[i], scored[i] = 0, 0
            for _ in range(count):
                game_moves, game_scored = playout(shared_constants[0], openings, playing, at, rng)
                moves[i] += game_moves
                scored[i] += game_scored
            rngs[i] = rng[0]
            states[i] = playing[at]

    return kernel


# Loops that have a warp per game: the factory of their kernel, and the rule that it needs.
WARP_KERNELS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "masks": (mask_kernel, "is_legal"),
    "observe": (observation_kernel, "observe"),
}
PLAYOUTS = {"random_games": "random_game", "greedy_games": "greedy_game"}
