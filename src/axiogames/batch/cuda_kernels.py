"""What the threads of a GPU do: loops of `engine.batches`, shared out as suits its memory.

Most loops have a thread for every game. Where a game has a whole row to be written, a warp of threads writes
it, neighbours side by side: scattered bytes take the memory of a GPU as long as whole rows. Whole games are
played in the fast memory of its processors, where states are small enough: most of a move is reading and
writing single bytes here and there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cuda_occupancy import WARP, KernelShare


def a_thread_a_game(cuda: Any, loop: Any) -> Any:
    """A loop over a range of games: every thread runs it for a range of one."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < games:
            loop(*arguments, i, i + 1)

    return kernel


def marks(cuda: Any, allowed: Any) -> Any:
    """The masks of legal actions: every number of a row is looked at by itself."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, states, masks = arguments
        i, thread = cuda.grid(1) // WARP, cuda.grid(1) % WARP
        if i < games:
            for number in range(thread, masks.shape[1], WARP):
                masks[i, number] = allowed(constants[0], states[i], number)

    return kernel


def observations(cuda: Any, observe: Any) -> Any:
    """What seats know: a warp clears the board, then one of its threads writes what there is to see."""

    @cuda.jit
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, states, seats, places, boards, vectors = arguments
        i, thread = cuda.grid(1) // WARP, cuda.grid(1) % WARP
        if i < games:
            for at in range(thread, boards.shape[1], WARP):
                boards[i, at] = 0
            cuda.syncwarp()
            if thread == 0:
                observe(constants[0], states[i], np.int64(seats[i]), places, boards[i], vectors[i])

    return kernel


def whole_games(
    cuda: Any, game: Any, constants_type: np.dtype[Any], state_type: np.dtype[Any], share: KernelShare
) -> Any:
    """Whole games, one after the other in every thread, with states where the share has them."""
    from numba import from_dtype, uint64

    table, state = from_dtype(constants_type), from_dtype(state_type)
    fits, block = share.fits, WARP * share.warps

    @cuda.jit(
        max_registers=share.registers or None,
        shared_memory_carveout="maxshared" if fits else "default",
    )
    def kernel(arguments, games):  # type: ignore[no-untyped-def]
        constants, openings, kept, rngs, times, moves, rated = arguments
        if fits:
            room = cuda.shared.array(block, state)
            at = cuda.threadIdx.x
        else:
            room = cuda.local.array(1, state)
            at = 0
        near = cuda.shared.array(1, table)
        if cuda.threadIdx.x == 0:
            near[0] = constants[0]
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < games:
            rng = cuda.local.array(1, uint64)
            rng[0] = rngs[i]
            moves[i], rated[i] = 0, 0
            for _ in range(times):
                made, seen = game(near[0], openings, room, at, rng)
                moves[i] += made
                rated[i] += seen
            rngs[i] = rng[0]
            kept[i] = room[at]

    return kernel


# Loops in which a warp works for one game, and the rule that they need.
ROWS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "masks": (marks, "is_legal"),
    "observe": (observations, "observe"),
}
WHOLE_GAMES = {"random_games": "random_game", "greedy_games": "greedy_game"}
