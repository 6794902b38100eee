"""The value of a finished game for a seat, in [0, 1]."""

from __future__ import annotations

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.ranks import compare_scores
from .network import sort_tracks

UNCAPPED_HALF = 4.0  # scaled points with a value of 0.5 if tracks have no cap


@rule
def result_value(s, seat, players, weights, scratch):
    """Return the share of opponents that the seat beat, or in a solo game a value of its sorted points.

    A tie counts half. In a solo game, each track counts a fiftieth of the next lower one: the lowest decides,
    and the others break ties. If tracks have no cap, further points count less and less, so that the value
    stays below 1.
    """
    if players == 1:
        sort_tracks(s, seat, scratch.order)
        total, weight, weights_sum = np.float32(0.0), np.float32(1.0), np.float32(0.0)
        for i in range(s.scores.shape[1]):
            total += weight * s.scores[seat, scratch.order[i]] * weights.scale
            weights_sum += weight
            weight *= np.float32(0.02)
        total /= weights_sum
        return total if weights.cap > 0 else total / (total + np.float32(UNCAPPED_HALF))
    better = np.float32(0.0)
    for other in range(players):
        if other != seat:
            better += np.float32(0.5) * (1 + compare_scores(s.scores, seat, other))
    return better / np.float32(players - 1)
