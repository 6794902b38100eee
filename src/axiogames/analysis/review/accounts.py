"""Luck separated from skill: the items that change the value of a game for each seat from start to end.

After a seat's move, the value of its position is the value of the move: the mean over everything that can
happen until its next move if all seats follow the rollout policy. Before its next move, the value of its
position is the value of the policy's move there. The difference between the two has two sources. Choices of
other seats that are better or worse than the policy's are charged to their opponents in equal shares. The
rest is luck: the tiles drawn, and the hidden tiles of others. The value of the seat's own move minus that of
the policy's move is the seat's choice. Hence, for every seat:

    result = start + luck + own choices + effect of the others' choices
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from .judging import ValueEstimate


@dataclass(frozen=True, slots=True)
class DecisionEffect:
    """A decision of a seat: the value of the policy's move, and the advantage of the chosen move over it.

    `policy_value` is the value that the seat's previous decision expected, and `choice` the value of the
    chosen move minus it. `margin` is the value of the chosen move minus that of the policy's move now; the
    opponents lose it.
    """

    seat: int
    policy_value: ValueEstimate
    choice: ValueEstimate
    margin: ValueEstimate


class Luck(Struct, frozen=True):
    """Change of a seat's value by chance since its last move, with its standard error."""

    change: float
    error: float


class Account(Struct, frozen=True):
    """Value of a game for a seat at the start and at the end, and the items in between.

    In an unfinished game, `result` is the value after the seat's last move. `error` is the standard error of
    the luck. It is also that of the choices, because the sum of both is known exactly.
    """

    start: float
    luck: float
    choices: float
    others: float
    result: float
    error: float


def settle_accounts(
    players: int,
    start: Sequence[float],
    decisions: Sequence[DecisionEffect],
    result: Sequence[float] | None,
) -> tuple[tuple[Account, ...], tuple[Luck, ...], tuple[Luck, ...]]:
    """Compute the accounts of all seats.

    Args:
        players: number of seats.
        start: value of the game for each seat at the start.
        decisions: all decisions of the game, in order.
        result: value of the result for each seat, or `None` for an unfinished game, whose accounts end with
            each seat's last decision.

    Returns:
        The accounts, the luck before each decision, and the luck of each seat after its last decision.
    """
    value, value_error = list(start), [0.0] * players
    # Losses to other seats since a seat's last decision. Their errors and those of the accounts are squared.
    lost, lost_error = [0.0] * players, [0.0] * players
    luck, choices, others, error = ([0.0] * players for _ in range(4))
    luck_before = []

    def settle(seat: int, new_value: ValueEstimate) -> Luck:
        change = new_value.value - value[seat] + lost[seat]
        luck[seat] += change
        others[seat] -= lost[seat]
        error[seat] += lost_error[seat]
        found = Luck(change, (value_error[seat] ** 2 + new_value.error**2 + lost_error[seat]) ** 0.5)
        lost[seat] = lost_error[seat] = 0.0
        return found

    for decision in decisions:
        seat = decision.seat
        luck_before.append(settle(seat, decision.policy_value))
        value[seat] = decision.policy_value.value + decision.choice.value
        value_error[seat] = decision.policy_value.error
        choices[seat] += decision.choice.value
        error[seat] += decision.choice.error**2
        for opponent in range(players):
            if opponent != seat:
                lost[opponent] += decision.margin.value / (players - 1)
                lost_error[opponent] += (decision.margin.error / (players - 1)) ** 2
    luck_after = []
    for seat in range(players):
        if result is None:
            luck_after.append(Luck(0.0, 0.0))
            error[seat] += value_error[seat] ** 2
        else:
            luck_after.append(settle(seat, ValueEstimate(result[seat], 0.0)))
            value[seat] = result[seat]
    accounts = tuple(
        Account(start[seat], luck[seat], choices[seat], others[seat], value[seat], error[seat] ** 0.5)
        for seat in range(players)
    )
    return accounts, tuple(luck_before), tuple(luck_after)
