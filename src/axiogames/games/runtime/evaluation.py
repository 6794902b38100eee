"""What points are worth to a seat: a table that players look their moves up in.

The result is the lowest track, so a point is worth the more, the closer to the seat's lowest track it comes.
`worth[track, points]` is what so many points on a track are worth now; the row after the tracks holds what
is worth something without being points: `worth[tracks, EXTRA_TURN]` and `worth[tracks, EXCHANGE]`.
"""

from __future__ import annotations

import numpy as np

from .compile import rule, rule_noinline

NOTHING_YET = -1.0  # any action is worth more


@rule
def insert(action, value, kept, keep, scratch):
    """Put an action that is worth more than the last into its place in the list; how many there are then."""
    at = min(kept, keep - 1)
    while at > 0 and scratch.values[at - 1] < value:
        scratch.values[at] = scratch.values[at - 1]
        scratch.actions[at] = scratch.actions[at - 1]
        at -= 1
    scratch.values[at] = value
    scratch.actions[at] = action
    return min(kept + 1, keep)


@rule
def threshold(kept, keep, scratch):
    """What an action has to be worth more than to come into the list."""
    return np.float32(NOTHING_YET) if kept < keep else scratch.values[keep - 1]


@rule
def best_value(kept, scratch):
    """What the best of the list is worth."""
    return scratch.values[0] if kept > 0 else np.float32(NOTHING_YET)


@rule
def expected_best(bag, unseen, draws, sure, best, order):
    """The mean of the best of `draws` unseen tiles, or `sure` where none is better.

    `best` is what each kind is worth; `order` is room to sort in. Draws are taken with replacement: with this
    many tiles that is near enough.
    """
    kinds = len(bag)
    n = 0
    for kind in range(kinds):
        if bag[kind] > 0 and best[kind] > sure:
            at = n
            while at > 0 and best[order[at - 1]] < best[kind]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = kind
            n += 1
    mean = np.float32(0.0)
    below = np.float32(1.0)  # the chance that no draw is as good as those looked at so far
    left = np.float32(unseen)
    total = np.float32(max(unseen, 1))
    for i in range(n):
        left -= bag[order[i]]
        share = max(left / total, np.float32(0.0))
        none = np.float32(1.0)
        for _ in range(draws):
            none *= share
        mean += (below - none) * best[order[i]]
        below = none
    return mean + below * sure


MAX_POINTS = 40  # more than any placement scores
EXTRA_TURN, EXCHANGE = 0, 1

# The knobs that `tune` finds for a game: how fast points above the lowest track lose their worth at the start
# of the game and how much faster at its end, what every point is worth besides, an extra turn, an exchange.
STEEP, STEEPER, PLAIN, PLAINER, EXTRA, FRESH = range(6)
UTILITY_PARAMS = 6


@rule_noinline
def fill_utility(s, seat, cap, gone, utility_params, utility):
    """Fill the table for a seat, when so much of the game (0 to 1) is gone; a `cap` of 0 means none."""
    tracks = s.scores.shape[1]
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, tracks):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    fall = np.exp(-(utility_params[STEEP] + utility_params[STEEPER] * gone))
    plain = utility_params[PLAIN] + utility_params[PLAINER] * gone
    for track in range(tracks):
        points = np.int64(s.scores[seat, track])
        more = fall ** np.float32(points - lowest)
        total = np.float32(0.0)
        utility[track, 0] = total
        for n in range(1, MAX_POINTS):
            if cap == 0 or points + n <= cap:
                total += more + plain
                more *= fall
                if points + n == cap:
                    total += utility_params[EXTRA]
            utility[track, n] = total
    utility[tracks, EXTRA_TURN] = utility_params[EXTRA]
    utility[tracks, EXCHANGE] = utility_params[FRESH]


@rule
def gain_utility(s, utility):
    """What `s.gain` is worth."""
    total = np.float32(0.0)
    for track in range(len(s.gain)):
        total += utility[track, min(np.int64(s.gain[track]), MAX_POINTS - 1)]
    return total
