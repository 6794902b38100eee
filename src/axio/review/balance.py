"""Luck told apart from skill: what a game was worth to each seat, from the start to the end, item by item.

Before a seat's move its position is worth what the best move is worth; after it, what the move that was made
is worth. The difference is choice. From there to its next move the others moved and tiles were drawn. What
the others gave up went to their opponents, in equal parts; all the rest is luck: the tiles that came, and
what others held. So for every seat: result = start + luck + its own choices + what the others gave up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct


@dataclass(frozen=True, slots=True)
class Step:
    """A decision: whose, what the best move was worth, what was given up, and the standard errors of both."""

    seat: int
    best: float
    best_error: float
    given_up: float
    given_up_error: float


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
    gifts: float
    result: float
    error: float


def balance(
    players: int, start: Sequence[float], steps: Sequence[Step], result: Sequence[float] | None
) -> tuple[tuple[Account, ...], tuple[Luck, ...], tuple[Luck, ...]]:
    """The accounts of all seats, the luck before every step, and the luck of every seat after its last one.

    Without a result, the game is not over, and nothing happens to a seat after its last step.
    """
    level, level_error = list(start), [0.0] * players
    gifts, gifts_error = [0.0] * players, [0.0] * players  # since the seat's last step; errors squared
    luck, choices, given, error = ([0.0] * players for _ in range(4))
    before = []

    def settle(seat: int, value: float, value_error: float) -> Luck:
        change = value - level[seat] - gifts[seat]
        luck[seat] += change
        given[seat] += gifts[seat]
        error[seat] += gifts_error[seat]
        found = Luck(change, (level_error[seat] ** 2 + value_error**2 + gifts_error[seat]) ** 0.5)
        gifts[seat] = gifts_error[seat] = 0.0
        return found

    for step in steps:
        before.append(settle(step.seat, step.best, step.best_error))
        level[step.seat] = step.best - step.given_up
        level_error[step.seat] = step.best_error
        choices[step.seat] -= step.given_up
        error[step.seat] += step.given_up_error**2
        for other in range(players):
            if other != step.seat:
                gifts[other] += step.given_up / (players - 1)
                gifts_error[other] += (step.given_up_error / (players - 1)) ** 2
    after = []
    for seat in range(players):
        if result is None:
            after.append(Luck(0.0, 0.0))
            error[seat] += level_error[seat] ** 2
        else:
            after.append(settle(seat, result[seat], 0.0))
            level[seat] = result[seat]
    accounts = tuple(
        Account(start[seat], luck[seat], choices[seat], given[seat], level[seat], error[seat] ** 0.5)
        for seat in range(players)
    )
    return accounts, tuple(before), tuple(after)
