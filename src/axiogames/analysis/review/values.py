"""Values of positions: their display scales, the values of results, and ratings of moves by lost value.

The search uses values between 0 and 1. Users see a winning chance, an expected rank, or expected points.
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
from .review_loops import write_result_values

Kind = Literal["win", "place", "lowest", "points"]
Rating = Literal["forced", "best", "good", "inaccuracy", "mistake", "blunder"]
RATINGS: tuple[Rating, ...] = ("forced", "best", "good", "inaccuracy", "mistake", "blunder")

# The minimum loss of value for each rating.
THRESHOLDS: tuple[tuple[float, Rating], ...] = ((0.10, "blunder"), (0.05, "mistake"), (0.02, "inaccuracy"))
MIN_DIFFERENCE = 0.003  # smaller differences between values are ignored
SIGNIFICANCE = 2.0  # standard errors by which two moves must differ
ACCURACY_DECAY = 4.35  # a move that loses 0.1 has an accuracy of 65


class ValueScale(Struct, frozen=True):
    """The scale on which values are displayed. `full` is its width.

    `win`: the winning chance in percent. `place`: the expected rank, from 1 for a value of 1 to 1 + `full`
    for a value of 0. `lowest`, `points`: in one-player games, the points of the lowest track or of the only
    one.
    """

    kind: Kind
    full: float

    def to_display(self, value: float) -> float:
        """Return the displayed number for a value."""
        return 1 + (1 - value) * self.full if self.kind == "place" else value * self.full

    def change_to_display(self, change: float) -> float:
        """Return the displayed number for a difference of values. Positive is better on every scale."""
        return change * self.full


def value_scale(variant: Variant) -> ValueScale:
    """Return the display scale of a variant."""
    if variant.players == 2:
        return ValueScale("win", 100.0)
    if variant.players > 2:
        return ValueScale("place", variant.players - 1.0)
    return ValueScale("lowest" if len(variant.tracks) > 1 else "points", float(_full_points(variant)))


def _full_points(variant: Variant) -> float:
    """Return the number of points that have a value of 1 in a one-player game."""
    return variant.cap if variant.cap is not None else UNCAPPED * UNCAPPED_HALF


def has_unbounded_values(variant: Variant) -> bool:
    """Return whether values in reviews are not limited to 1, because they are proportional to points.

    In one-player games without a cap, the search maps points to values below 1 by a concave function. Reviews
    apply its inverse, see `compare_moves`.
    """
    return variant.players == 1 and variant.cap is None


def result_values(variant: Variant, ranks: Sequence[int], points: Sequence[Sequence[int]]) -> list[float]:
    """Return the value of a finished game for every seat, see `write_result_values`."""
    found = np.zeros(variant.players)
    variant.kernels[write_result_values](
        np.array(ranks, np.int64), np.array(points, np.float64), int(_full_points(variant)), found
    )
    values: list[float] = found.tolist()
    return values


def rating_for(loss: float) -> Rating:
    """Return the rating of a move by its loss of value, which is 0 if it is not significant.

    >>> rating_for(0.0), rating_for(0.01), rating_for(0.06)
    ('best', 'good', 'mistake')
    """
    if loss <= 0:
        return "best"
    return next((name for threshold, name in THRESHOLDS if loss >= threshold), "good")


def accuracy(losses: Sequence[float]) -> float | None:
    """Return the accuracy of moves with these losses, from 0 to 100; `None` if there are no moves.

    >>> accuracy([0.0, 0.0])
    100.0
    """
    if not losses:
        return None
    return 100 * sum(exp(-ACCURACY_DECAY * loss) for loss in losses) / len(losses)
