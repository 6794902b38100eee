"""Utility of points, and the list of the best placements that players build with it.

The result of a game is the lowest track, so a point is worth more the closer it is to the seat's lowest
track. `utility[track, points]` is the utility of gaining that many points on a track now. The row after the
tracks holds the utility of an extra turn and of an exchange: `utility[tracks, EXTRA_TURN]` and
`utility[tracks, EXCHANGE]`.
"""

from __future__ import annotations

import numpy as np

from .compile import rule, rule_noinline
from .powers import exp, power

NOTHING_YET = -1.0  # below the utility of every action


@rule
def insert(action, value, kept, keep, scratch):
    """Insert an action into the sorted list of the `keep` best; return the new length.

    `value` exceeds `threshold`, or the list is not full. An action of equal value stays ahead.
    """
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
    """Return the utility that an action must exceed to enter the list of the `keep` best."""
    return np.float32(NOTHING_YET) if kept < keep else scratch.values[keep - 1]


@rule
def best_value(kept, scratch):
    """Return the utility of the best action of the list, `NOTHING_YET` for an empty list."""
    return scratch.values[0] if kept > 0 else np.float32(NOTHING_YET)


@rule
def expected_best(bag, unseen, draws, known_best, best, order):
    """Return the mean of the best utility among `draws` random unseen tiles and `known_best`.

    `best` holds the utility of each kind; `order` is a buffer for sorting. Draws are with replacement, which
    is accurate enough for this number of tiles.
    """
    kinds = len(bag)
    n = 0
    for kind in range(kinds):
        if bag[kind] > 0 and best[kind] > known_best:
            at = n
            while at > 0 and best[order[at - 1]] < best[kind]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = kind
            n += 1
    mean = np.float32(0.0)
    below = np.float32(1.0)  # probability that all draws are worse than the kinds handled so far
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
    return mean + below * known_best


MAX_POINTS = 40  # more than any placement scores
EXTRA_TURN, EXCHANGE = 0, 1

# Utility parameters, which `axio train` fits for each game:
DECAY = 0  # exponential decay of a point's utility with its distance above the lowest track
LATE_DECAY = 1  # added to the decay in proportion to the progress of the game
PLAIN = 2  # utility of any point, regardless of the track
LATE_PLAIN = 3  # added to it in proportion to the progress of the game
EXTRA = 4  # utility of an extra turn
NEW_HAND = 5  # utility of an exchange
UTILITY_PARAMS = 6


@rule_noinline
def fill_utility(s, seat, cap, progress, utility_params, utility):
    """Fill the utility table for a seat.

    `cap` is the maximum of a track, 0 for none; `progress` is the fraction of the game played, in [0, 1].
    """
    tracks = s.scores.shape[1]
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, tracks):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    factor = exp(-(utility_params[DECAY] + utility_params[LATE_DECAY] * progress))
    plain = utility_params[PLAIN] + utility_params[LATE_PLAIN] * progress
    for track in range(tracks):
        points = np.int64(s.scores[seat, track])
        scaled = np.float32(power(factor, points - lowest))
        total = np.float32(0.0)
        utility[track, 0] = total
        for n in range(1, MAX_POINTS):
            if cap == 0 or points + n <= cap:
                total += scaled + plain
                scaled *= factor
                if points + n == cap:
                    total += utility_params[EXTRA]
            utility[track, n] = total
    utility[tracks, EXTRA_TURN] = utility_params[EXTRA]
    utility[tracks, EXCHANGE] = utility_params[NEW_HAND]


@rule
def gain_utility(s, utility):
    """Return the utility of the points in `s.gain`."""
    total = np.float32(0.0)
    for track in range(len(s.gain)):
        total += utility[track, min(np.int64(s.gain[track]), MAX_POINTS - 1)]
    return total


# ---------------------------------------------------------------- integer keys, for exact comparisons
#
# `gain_keys[track, points]` is the sort key of gaining that many points on a track. The key of a placement is
# the sum over its tracks: the best placements have the highest one. Keys grow with the points, and no faster
# than in proportion: the points of two halves of a tile have at most the sum of their keys.


@rule
def gain_key(s, gain_keys):
    """Return the key of the points in `s.gain`."""
    total = np.int64(0)
    for track in range(len(s.gain)):
        total += gain_keys[track, min(np.int64(s.gain[track]), MAX_POINTS - 1)]
    return total


@rule
def insert_ascending(actions, n, action):
    """Insert an action into the ascending list of the first `n`, near its end; return the new length."""
    at = n
    while at > 0 and actions[at - 1] > action:
        actions[at] = actions[at - 1]
        at -= 1
    actions[at] = action
    return n + 1
