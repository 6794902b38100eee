"""How long a game can last and how much can be won in it: bounds that no play can pass."""

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

PAID = tuple(name for name in REWARDS if name != "none")  # a game of OpenSpiel is about something
# Shares of a victory are whole numbers of these: a 2nd, 3rd or 4th of a 1st, 2nd or 3rd.
PARTS = 36


def check_reward(reward: str) -> str:
    """The reward, if there is one of this name. Raises `InvalidOption`."""
    if reward not in PAID:
        raise InvalidOption(f"there is no reward {reward!r}; there are {', '.join(PAID)}")
    return reward


def returns_of(variant: Variant, state: State, reward: str) -> list[float]:
    """What a finished game is worth to each seat."""
    out = np.zeros(variant.players, np.float32)
    variant.kernels[write_returns](variant.constants, state, int(REWARDS[reward]), out)
    # Thirds as 32-bit numbers would not add up to 0 as closely as OpenSpiel asks for.
    return [round(value * PARTS) / PARTS for value in out.tolist()]


def least_and_most(reward: str, players: int, points: int) -> tuple[float, float]:
    """The least and the most that a game can be worth to a seat."""
    if reward == "lowest":
        return 0.0, float(points)
    if players == 1:
        return 0.0, 1.0
    return (-1.0 / (players - 1) if reward == "win" else -1.0), 1.0


def adds_up(reward: str, players: int) -> bool:
    """Whether what some win is what others lose."""
    return reward != "lowest" and players > 1


@loop(parts=(write_rewards,))
def write_returns(constants: Constants, states: States, kind: Int, out: Float32s) -> None:
    """Write what a finished game is worth to each seat."""
    write_rewards(constants[0], states[0], kind, out)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most there can be of everything in one game."""

    moves: int  # decisions of players
    draws: int  # outcomes of chance
    given: int  # tiles given up in exchanges
    outcomes: int  # numbers that outcomes of chance can have
    points: int  # on one track
    hides: bool  # whether a seat has something that another one cannot see


def bounds(variant: Variant) -> Bounds:
    """The bounds of a game."""
    tiles, seats = sum(variant.tileset.values()), variant.players
    removes = bool(variant.opening["phase"][0] == REMOVE)
    placements = most_placements(variant, tiles - int(variant.opening["due"][0]) * removes)
    if "idle" in variant.counters and seats > 1:
        # So many exchanges in a row end the game; passes in a row are fewer than seats.
        others = (placements + 1) * 3 * seats
    elif variant.tiles_leave:
        others = tiles  # each takes a tile out of the game
    else:
        others = placements if variant.non_placements else 0  # an offer at the end of a turn
    given = others * variant.hand
    return Bounds(
        moves=placements + others,
        draws=tiles + given,
        given=given,
        outcomes=most_outcomes(variant),
        points=variant.cap if variant.cap is not None else placements * most_for_edges(variant),
        hides=seats > 1 or removes,
    )


def most_placements(variant: Variant, tiles: int) -> int:
    """As many as there are tiles in play, or room for them on a board that does not grow."""
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


def most_outcomes(variant: Variant) -> int:
    """One for each kind of tile, or for each way that it can lie in an opening display."""
    most, state = len(variant.kinds), copied(variant.opening)
    while state["phase"][0] == START:
        numbers = [number for number, _ in variant.chances(state)]
        most = max(most, max(numbers) + 1)
        variant.kernels[step](variant.constants, state, numbers[0], False)
    return most


def most_for_edges(variant: Variant) -> int:
    """Where points have no cap: one for each outer edge of a straight tile, doubled, and three more alone."""
    cells = len(variant.cells_of(variant.opening, 0))
    return 2 * (2 * cells + 2) + 3
