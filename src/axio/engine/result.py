"""What a finished game was worth to a seat, between 0 and 1."""

from __future__ import annotations

import numpy as np

from .compile import rule
from .features import by_points
from .standing import ahead


@rule
def outcome(s, seat, players, scale, desk):
    """The share of opponents left behind (ties count half); alone, the sorted points as one number.

    With one opponent that is winning, with several the place. Alone each next track counts a fiftieth of the
    one before it: the lowest decides, and the rest decides between equals.
    """
    if players == 1:
        by_points(s, seat, desk.order)
        total, part, parts = np.float32(0.0), np.float32(1.0), np.float32(0.0)
        for i in range(s.scores.shape[1]):
            total += part * s.scores[seat, desk.order[i]] * scale
            parts += part
            part *= np.float32(0.02)
        return min(total / parts, np.float32(1.0))
    better = np.float32(0.0)
    for other in range(players):
        if other != seat:
            better += np.float32(0.5) * (1 + ahead(s.scores, seat, other))
    return better / np.float32(players - 1)
