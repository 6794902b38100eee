"""Returns of games for OpenSpiel, and bounds of the length of games and of their returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...batch import REWARDS
from ...batch.loops import observe_all, write_rewards
from ...errors import InvalidOption
from ...games.runtime.loops import step
from ...games.runtime.signatures import Constants, Float32s, Int, States, loop
from ...games.runtime.state import REMOVE, START
from ...games.variant import State, Variant, copied

SPIEL_REWARDS = tuple(name for name in REWARDS if name != "none")
# Returns are multiples of 1 / 36: `place` divides by the number of opponents, `win` also by the number of
# winners, both at most 3.
DENOMINATOR = 36


def check_reward(reward: str) -> str:
    """Return the reward. Raises `InvalidOption` if it is unknown."""
    if reward not in SPIEL_REWARDS:
        raise InvalidOption(f"unknown reward {reward!r}: choose from {', '.join(SPIEL_REWARDS)}")
    return reward


def returns_of(variant: Variant, state: State, reward: str) -> list[float]:
    """Return the reward of each seat in a finished game."""
    out = np.zeros(variant.players, np.float32)
    variant.kernels[write_returns](variant.constants, state, int(REWARDS[reward]), out)
    # Thirds as 32-bit floats do not add up to 0 within OpenSpiel's tolerance.
    return [round(value * DENOMINATOR) / DENOMINATOR for value in out.tolist()]


def utility_range(reward: str, players: int, points: int) -> tuple[float, float]:
    """Return the minimum and the maximum return of a seat.

    Args:
        reward: the reward of a finished game.
        players: the number of players.
        points: the maximum number of points on a track.
    """
    if reward == "lowest":
        return 0.0, float(points)
    if players == 1:
        return 0.0, 1.0
    return (-1.0 / (players - 1) if reward == "win" else -1.0), 1.0


def is_zero_sum(reward: str, players: int) -> bool:
    """Return whether returns add up to 0."""
    return reward != "lowest" and players > 1


@loop(parts=(write_rewards,))
def write_returns(constants: Constants, states: States, reward: Int, out: Float32s) -> None:
    """Write the reward of each seat in a finished game."""
    write_rewards(constants[0], states[0], reward, out)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds for one game."""

    moves: int  # decisions of players
    draws: int  # outcomes of chance
    exchanged: int  # tiles given up in exchanges
    outcomes: int  # ids of chance outcomes
    points: int  # on one track
    hides: bool  # whether there is hidden information


def bounds(variant: Variant) -> Bounds:
    """Return the bounds of a game."""
    tiles, seats = sum(variant.tileset.values()), variant.players
    removes = bool(variant.opening["phase"][0] == REMOVE)
    placements = max_placements(variant, tiles - int(variant.opening["due"][0]) * removes)
    if "idle" in variant.counters and seats > 1:
        # Exchanges in a row are limited, and passes in a row are fewer than seats.
        others = (placements + 1) * 3 * seats
    elif variant.tiles_leave:
        others = tiles  # each removes a tile from the game
    else:
        others = placements if variant.non_placements else 0  # one offer per placement
    exchanged = others * variant.hand
    return Bounds(
        moves=placements + others,
        draws=tiles + exchanged,
        exchanged=exchanged,
        outcomes=max_outcomes(variant),
        points=variant.cap if variant.cap is not None else placements * max_uncapped_points(variant),
        hides=seats > 1 or removes,
    )


def max_placements(variant: Variant, tiles: int) -> int:
    """Return the maximum number of placements: the tiles in play, or on a fixed board the tiles that fit."""
    if variant.grows:
        return tiles
    layout = variant.observation.board
    board, vector = (
        np.zeros((1, layout.size), np.int8),
        np.zeros((1, len(variant.observation.names)), np.int16),
    )
    seats = np.zeros(1, np.uint8)
    variant.kernels[observe_all](
        variant.constants, variant.opening, seats, layout.places, board, vector, 0, 1
    )
    empty = board.reshape(layout.shape)[layout.names.index("empty")].sum()
    return min(tiles, int(empty) // len(variant.cells_of(variant.opening, 0)))


def max_outcomes(variant: Variant) -> int:
    """Return the number of outcome ids: one per kind of tile, or per placement of a tile in a display."""
    limit, state = len(variant.kinds), copied(variant.opening)
    while state["phase"][0] == START:
        outcomes = [outcome for outcome, _ in variant.chances(state)]
        limit = max(limit, max(outcomes) + 1)
        variant.kernels[step](variant.constants, state, outcomes[0], False)
    return limit


def max_uncapped_points(variant: Variant) -> int:
    """Return the maximum points of a placement: the edges of a straight tile, doubled, plus 3 if alone."""
    cells = len(variant.cells_of(variant.opening, 0))
    return 2 * (2 * cells + 2) + 3
