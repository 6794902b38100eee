"""A small network: from the numbers of a position to what it is worth, between 0 and 1."""

from __future__ import annotations

import numpy as np

from .compile import rule

HIDDEN_UNITS = 32


@rule
def forward(mind, desk, n):
    """What the first `n` of `desk.inputs` are worth."""
    for unit in range(HIDDEN_UNITS):
        desk.hidden[unit] = mind.offsets[unit]
    for i in range(n):
        x = desk.inputs[i]
        for unit in range(HIDDEN_UNITS):
            desk.hidden[unit] += x * mind.weights[i, unit]
    total = mind.offset
    for unit in range(HIDDEN_UNITS):
        total += max(desk.hidden[unit], np.float32(0.0)) * mind.outer[unit]
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-total))
