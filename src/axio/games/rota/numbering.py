"""Legal actions by number, without listing them: for those who choose among many games at once.

The torus has 4096 squares, of which at most 128 are free. So a batch numbers the free squares, in ascending
order, and its actions are (free square, turn, name).
"""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
from ...engine.phases import PLACE
from .rules import NAMES, TURNS, decode, encode, names

WAYS = TURNS * NAMES


@rule
def action_for(t, s, number):
    """The action that a number of the batch stands for, -1 if there are not so many free squares."""
    k, way = number // WAYS, number % WAYS
    if k >= s.n_edge:
        return np.int64(-1)
    return encode(s.edge[k], way // NAMES, way % NAMES)


@rule
def number_for(t, s, action):
    """The number of a legal action in a batch."""
    at, turn, name = decode(action)
    k = 0
    while s.edge[k] != at:
        k += 1
    return np.int64((k * TURNS + turn) * NAMES + name)


@rule
def count_legal(t, s):
    """How many legal actions there are."""
    return np.int64(s.n_edge) * TURNS * names(t, s) if s.phase == PLACE else np.int64(0)


@rule
def nth_legal(t, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    named = names(t, s)
    return encode(s.edge[n // named // TURNS], n // named % TURNS, n % named)


@rule
def mark_legal(t, s, mask):
    """Write 1 for the number of every legal action into a mask of zeros."""
    if s.phase == PLACE:
        named = names(t, s)
        for number in range(np.int64(s.n_edge) * WAYS):
            mask[number] = number % NAMES < named
