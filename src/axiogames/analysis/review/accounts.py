"""Luck separated from skill: for each seat, the items that change the value of the game from start to end.

After a seat's move, the value of its position is the value of the move: a mean over everything that can
happen until its next move if all seats follow the rollout policy. Before its next move, the value is that of
the policy's move then. The difference is what happened in between. Choices of other seats that were better or
worse than the policy's are charged to their opponents in equal shares; the rest is luck: the tiles drawn, and
the hidden tiles of others. How much more the seat's own move is worth than the policy's is its choice. Hence
for every seat:

    result = start + luck + its own choices + effect of the others' choices
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from .judging import ValueEstimate


@dataclass(frozen=True, slots=True)
class DecisionEffect:
    """A decision of a seat: the value of the policy's move, and what the chosen move adds to it.

    `choice` is relative to the expectation of the seat's previous decision, `lead` to the policy's move now,
    which is what the opponents lose by the decision.
    """

    seat: int
    simple: ValueEstimate
    choice: ValueEstimate
    lead: ValueEstimate


class Luck(Struct, frozen=True):
    """The change of a seat's value by chance since its last move, and its standard error."""

    change: float
    error: float


class Account(Struct, frozen=True):
    """The value of a game for a seat at the start and the end, and the items in between.

    In an unfinished game, `result` is the value after the seat's last move. `error` is the standard error of
    the luck, and of the choices, since their sum is known exactly.
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
        result: value of the result for each seat, or `None` for an unfinished game, in which nothing happens
            to a seat after its last decision.

    Returns:
        The accounts, the luck before each decision, and the luck of each seat after its last decision.
    """
    level, level_error = list(start), [0.0] * players
    # Lost to other seats since a seat's last decision; errors are squared.
    lost, lost_error = [0.0] * players, [0.0] * players
    luck, choices, others, error = ([0.0] * players for _ in range(4))
    before = []

    def settle(seat: int, now: ValueEstimate) -> Luck:
        change = now.value - level[seat] + lost[seat]
        luck[seat] += change
        others[seat] -= lost[seat]
        error[seat] += lost_error[seat]
        found = Luck(change, (level_error[seat] ** 2 + now.error**2 + lost_error[seat]) ** 0.5)
        lost[seat] = lost_error[seat] = 0.0
        return found

    for decision in decisions:
        seat = decision.seat
        before.append(settle(seat, decision.simple))
        level[seat] = decision.simple.value + decision.choice.value
        level_error[seat] = decision.simple.error
        choices[seat] += decision.choice.value
        error[seat] += decision.choice.error**2
        for other in range(players):
            if other != seat:
                lost[other] += decision.lead.value / (players - 1)
                lost_error[other] += (decision.lead.error / (players - 1)) ** 2
    after = []
    for seat in range(players):
        if result is None:
            after.append(Luck(0.0, 0.0))
            error[seat] += level_error[seat] ** 2
        else:
            after.append(settle(seat, ValueEstimate(result[seat], 0.0)))
            level[seat] = result[seat]
    accounts = tuple(
        Account(start[seat], luck[seat], choices[seat], others[seat], level[seat], error[seat] ** 0.5)
        for seat in range(players)
    )
    return accounts, tuple(before), tuple(after)
