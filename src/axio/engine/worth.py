"""What points are worth to a seat: a table that players look their moves up in.

The result is the lowest track, so a point is worth the more, the closer to the seat's lowest track it comes.
`worth[track, points]` is what so many points on a track are worth now; the row after the tracks holds what
is worth something without being points: `worth[tracks, EXTRA_TURN]` and `worth[tracks, EXCHANGE]`.
"""

from __future__ import annotations

import numpy as np

from .compile import rule, seldom

POINTS = 40  # more than any placement scores
EXTRA_TURN, EXCHANGE = 0, 1

# The knobs that `tune` finds for a game: how fast points above the lowest track lose their worth at the start
# of the game and how much faster at its end, what every point is worth besides, an extra turn, an exchange.
STEEP, STEEPER, PLAIN, PLAINER, EXTRA, FRESH = range(6)
KNOBS = 6


@seldom
def weigh(s, seat, cap, gone, knobs, worth):
    """Fill the table for a seat, when so much of the game (0 to 1) is gone; a `cap` of 0 means none."""
    tracks = s.scores.shape[1]
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, tracks):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    fall = np.exp(-(knobs[STEEP] + knobs[STEEPER] * gone))
    plain = knobs[PLAIN] + knobs[PLAINER] * gone
    for track in range(tracks):
        points = np.int64(s.scores[seat, track])
        more = fall ** np.float32(points - lowest)
        total = np.float32(0.0)
        worth[track, 0] = total
        for n in range(1, POINTS):
            if cap == 0 or points + n <= cap:
                total += more + plain
                more *= fall
                if points + n == cap:
                    total += knobs[EXTRA]
            worth[track, n] = total
    worth[tracks, EXTRA_TURN] = knobs[EXTRA]
    worth[tracks, EXCHANGE] = knobs[FRESH]


@rule
def sum_up(s, worth):
    """What `s.gain` is worth."""
    total = np.float32(0.0)
    for track in range(len(s.gain)):
        total += worth[track, min(np.int64(s.gain[track]), POINTS - 1)]
    return total
