"""In what terms a value between 0 and 1 is told to people, and what a finished game was worth.

Players compare values; people are told a chance to win, an expected place, or expected points.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Literal

import numpy as np
from msgspec import Struct

from ...games.variant import Variant
from ...players.evaluation.utility import UNCAPPED_HALF
from ...players.evaluation.weights import UNCAPPED

Kind = Literal["win", "place", "lowest", "points"]
NEXT = 0.02  # what the next track counts beside the one before it, for somebody who plays alone


class Terms(Struct, frozen=True):
    """What a value means at a table; `full` is how much of it a value of 1 stands for.

    `win`: the chance to win, in percent. `place`: the place; a value of 1 is the first, one of 0 is `full`
    places behind it. `lowest`, `points`: alone, the points of the lowest track, or of the only one.
    """

    kind: Kind
    full: float

    def told(self, value: float) -> float:
        """The number that stands for a value."""
        return 1 + (1 - value) * self.full if self.kind == "place" else value * self.full

    def told_change(self, change: float) -> float:
        """The number that stands for a difference of values; more is better, whatever it counts."""
        return change * self.full


def terms_of(variant: Variant) -> Terms:
    """The terms for a game and a number of players."""
    if variant.players == 2:
        return Terms("win", 100.0)
    if variant.players > 2:
        return Terms("place", variant.players - 1.0)
    return Terms("lowest" if len(variant.tracks) > 1 else "points", float(_full(variant)))


def _full(variant: Variant) -> float:
    """How many points are worth 1 to somebody who plays alone."""
    return variant.cap if variant.cap is not None else UNCAPPED * UNCAPPED_HALF


def straight(variant: Variant, values: np.ndarray) -> np.ndarray:
    """Values as the search has them, in proportion to what they count.

    Alone, where tracks have no end, it counts points the less the more there are, to stay below 1. People
    want to know points, so that is undone, and values may be above 1.
    """
    return values / (1 - values) if variant.players == 1 and variant.cap is None else values


def value_of_result(
    variant: Variant, place: Sequence[int], points: Sequence[Sequence[int]], seat: int
) -> float:
    """What a finished game was worth to a seat.

    The share of opponents left behind, ties half; alone the sorted points, of which each next track counts a
    fiftieth of the one before it.
    """
    if variant.players > 1:
        mine, others = place[seat], [at for other, at in enumerate(place) if other != seat]
        return sum(1.0 if mine < at else 0.5 * (mine == at) for at in others) / len(others)
    weights = [NEXT**number for number in range(len(variant.tracks))]
    ordered = sorted(points[seat])
    total = sum(weight * n for weight, n in zip(weights, ordered, strict=True))
    return total / sum(weights) / _full(variant)


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
