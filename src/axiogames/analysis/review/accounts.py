"""Luck told apart from skill: what a game was worth to each seat, from the start to the end, item by item.

After a seat's move its position is worth what the move is worth: a mean over all that can happen until its
next move, if everybody plays simply (see `yardstick`). Before its next move the position is worth what simple
play would make of it. The difference is what happened: what others did better or worse than simply comes out
of their opponents' shares, the rest is luck, the tiles that came and what others held. What the seat's own
move is then worth more, or less, is its choice. So for every seat:

    result = start + luck + its own choices + what the others' choices did to it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from .judging import Estimate


@dataclass(frozen=True, slots=True)
class Step:
    """A decision: whose, what the position was worth to simple play, and what the seat's own move changed.

    `lead` is how much better than the simple move it was, which is what its opponents lost by it.
    """

    seat: int
    simple: Estimate
    choice: Estimate
    lead: Estimate


class Luck(Struct, frozen=True):
    """What chance changed for a seat since its last move, and the standard error of that."""

    change: float
    error: float


class Account(Struct, frozen=True):
    """A seat's game: what it was worth at the start and in the end, and what made the difference.

    `result` is what a game that is not over was worth after the seat's last move. `error` is the standard
    error of the luck, and so of the choices: together they are known exactly.
    """

    start: float
    luck: float
    choices: float
    others: float
    result: float
    error: float


def balance(
    players: int, start: Sequence[float], steps: Sequence[Step], result: Sequence[float] | None
) -> tuple[tuple[Account, ...], tuple[Luck, ...], tuple[Luck, ...]]:
    """The accounts of all seats, the luck before every step, and the luck of every seat after its last one.

    Without a result, the game is not over, and nothing happens to a seat after its last step.
    """
    level, level_error = list(start), [0.0] * players
    lost, lost_error = (
        [0.0] * players,
        [0.0] * players,
    )  # to others since the seat's last step; errors squared
    luck, choices, others, error = ([0.0] * players for _ in range(4))
    before = []

    def settle(seat: int, now: Estimate) -> Luck:
        change = now.value - level[seat] + lost[seat]
        luck[seat] += change
        others[seat] -= lost[seat]
        error[seat] += lost_error[seat]
        found = Luck(change, (level_error[seat] ** 2 + now.error**2 + lost_error[seat]) ** 0.5)
        lost[seat] = lost_error[seat] = 0.0
        return found

    for step in steps:
        seat = step.seat
        before.append(settle(seat, step.simple))
        level[seat], level_error[seat] = step.simple.value + step.choice.value, step.simple.error
        choices[seat] += step.choice.value
        error[seat] += step.choice.error**2
        for other in range(players):
            if other != seat:
                lost[other] += step.lead.value / (players - 1)
                lost_error[other] += (step.lead.error / (players - 1)) ** 2
    after = []
    for seat in range(players):
        if result is None:
            after.append(Luck(0.0, 0.0))
            error[seat] += level_error[seat] ** 2
        else:
            after.append(settle(seat, Estimate(result[seat], 0.0)))
            level[seat] = result[seat]
    accounts = tuple(
        Account(start[seat], luck[seat], choices[seat], others[seat], level[seat], error[seat] ** 0.5)
        for seat in range(players)
    )
    return accounts, tuple(before), tuple(after)
