"""Numbers in a batch that are the actions themselves: for games with few enough of them."""

from __future__ import annotations

import numpy as np

from .compile import rule


@rule
def action_for(c, s, number):
    """The action that a number of the batch stands for: itself."""
    return np.int64(number)


@rule
def number_for(c, s, action):
    """The number of an action in a batch: itself."""
    return np.int64(action)
