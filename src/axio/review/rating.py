"""How good a move was, by what it gave up, and how accurately somebody played."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Literal

Rating = Literal["forced", "best", "good", "inaccuracy", "mistake", "blunder"]
RATINGS: tuple[Rating, ...] = ("forced", "best", "good", "inaccuracy", "mistake", "blunder")

# What a move may give up, as a difference of values: from here on it is called so.
THRESHOLDS: tuple[tuple[float, Rating], ...] = ((0.10, "blunder"), (0.05, "mistake"), (0.02, "inaccuracy"))
LEAST = 0.003  # a difference that counts at all
SURE = 2.0  # standard errors that a difference must be, so that two moves can be told apart
FALL = 4.35  # how fast accuracy falls: a move that gives up 0.1 is 65 % accurate


def rated(given_up: float) -> Rating:
    """The name for a move that gave up so much for sure.

    >>> rated(0.0), rated(0.01), rated(0.06)
    ('best', 'good', 'mistake')
    """
    if given_up <= 0:
        return "best"
    return next((name for least, name in THRESHOLDS if given_up >= least), "good")


def accuracy(given_up: Sequence[float]) -> float | None:
    """How accurately somebody chose, from 0 to 100; `None` for who never had a choice.

    >>> accuracy([0.0, 0.0])
    100.0
    """
    if not given_up:
        return None
    return 100 * sum(exp(-FALL * amount) for amount in given_up) / len(given_up)
