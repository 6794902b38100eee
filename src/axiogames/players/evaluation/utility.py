"""What a finished game was worth to a seat, between 0 and 1."""

from __future__ import annotations

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.ranks import compare_scores
from .network import sort_tracks

UNCAPPED_HALF = 4.0  # scaled points that are worth a half where tracks have no end


@rule
def result_value(s, seat, players, weights, scratch):
    """The share of opponents left behind (ties count half); alone, the sorted points as one number.

    With one opponent that is winning, with several the place. Alone each next track counts a fiftieth of the
    one before it: the lowest decides, and the rest decides between equals. Where tracks have no end, points
    are worth less the more there are, so that the number stays below 1.
    """
    if players == 1:
        sort_tracks(s, seat, scratch.order)
        total, part, parts = np.float32(0.0), np.float32(1.0), np.float32(0.0)
        for i in range(s.scores.shape[1]):
            total += part * s.scores[seat, scratch.order[i]] * weights.scale
            parts += part
            part *= np.float32(0.02)
        total /= parts
        return total if weights.cap > 0 else total / (total + np.float32(UNCAPPED_HALF))
    better = np.float32(0.0)
    for other in range(players):
        if other != seat:
            better += np.float32(0.5) * (1 + compare_scores(s.scores, seat, other))
    return better / np.float32(players - 1)
