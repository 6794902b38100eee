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

import numpy as np
from msgspec import Struct

from ...games.variant import Variant
from .judging import ValueEstimate
from .review_loops import (
    ACCOUNT_COLUMNS,
    ESTIMATES,
    PENDING_COLUMNS,
    RESULT,
    START,
    AccountArrays,
    DecisionArrays,
    settle_seats,
)


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
    variant: Variant,
    start: Sequence[float],
    decisions: Sequence[DecisionEffect],
    result: Sequence[float] | None,
) -> tuple[tuple[Account, ...], tuple[Luck, ...], tuple[Luck, ...]]:
    """Compute the accounts of all seats.

    Args:
        variant: the game.
        start: value of the game for each seat at the start.
        decisions: all decisions of the game, in order.
        result: value of the result for each seat, or `None` for an unfinished game, whose accounts end with
            each seat's last decision.

    Returns:
        The accounts, the luck before each decision, and the luck of each seat after its last decision.
    """
    players = len(start)
    estimates = [
        (estimate.value, estimate.error)
        for decision in decisions
        for estimate in (decision.policy_value, decision.choice, decision.margin)
    ]
    found = AccountArrays(
        accounts=np.zeros((players, ACCOUNT_COLUMNS)),
        luck_before=np.zeros((len(decisions), 2)),
        luck_after=np.zeros((players, 2)),
        pending=np.zeros((players, PENDING_COLUMNS)),
    )
    found.accounts[:, START] = start
    if result is not None:
        found.accounts[:, RESULT] = result
    variant.kernels[settle_seats](
        DecisionArrays(
            np.array([decision.seat for decision in decisions], np.int64),
            np.array(estimates, np.float64).reshape(-1, 2 * ESTIMATES),
        ),
        result is not None,
        found,
    )
    return (
        tuple(Account(*row) for row in found.accounts.tolist()),
        tuple(Luck(*row) for row in found.luck_before.tolist()),
        tuple(Luck(*row) for row in found.luck_after.tolist()),
    )
