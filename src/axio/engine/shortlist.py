"""The best few actions found so far, the best first, on a desk."""

from __future__ import annotations

import numpy as np

from .compile import rule

NOTHING_YET = -1.0  # any action is worth more


@rule
def put(action, value, kept, keep, desk):
    """Put an action that is worth more than the last into its place in the list; how many there are then."""
    at = min(kept, keep - 1)
    while at > 0 and desk.values[at - 1] < value:
        desk.values[at] = desk.values[at - 1]
        desk.chosen[at] = desk.chosen[at - 1]
        at -= 1
    desk.values[at] = value
    desk.chosen[at] = action
    return min(kept + 1, keep)


@rule
def to_beat(kept, keep, desk):
    """What an action has to be worth more than to come into the list."""
    return np.float32(NOTHING_YET) if kept < keep else desk.values[keep - 1]


@rule
def best_value(kept, desk):
    """What the best of the list is worth."""
    return desk.values[0] if kept > 0 else np.float32(NOTHING_YET)
