"""The board of the domino family: laying a symbol, and what is kept up to date by it.

What a symbol would score on an empty cell is not walked for but kept: `s.sums[cell, colour]`. The
other half of a tile is empty until the tile lies, so its direction never counts by itself. Laying
a symbol changes the sums of at most one empty cell in each direction, found by one walk. One cell
stands for everything beyond the edge, so that no step has to ask whether it leaves the board.

A lean state has no sums: half the bytes, for millions of games in which few moves are rated.
"""

from __future__ import annotations

import numpy as np

from ..runtime.bitsets import contains
from ..runtime.compile import rule, rule_noinline

EMPTY = -1
PYRAMID = -2
SPENT = -3  # a pyramid stood here and was moved on
EDGE = -4  # the one cell beyond the edge, beside every cell of the border
COVERED = 32  # added to `open` of a cell that is not empty, so that small values mean empty cells


@rule
def placements(c):
    """How many actions are placements; those after them are the exchange and the plain refill."""
    return len(c.slots) * c.kind_of.size


@rule
def encode(c, slot, ca, cb):
    """The action that puts colour `ca` on the slot's first cell and `cb` on its second."""
    colours = c.kind_of.shape[0]
    return (np.int64(slot) * colours + ca) * colours + cb


@rule
def decode(c, action):
    """Slot and colours of a placement; as unsigned numbers, which index without a check for -1."""
    colours = np.uint32(c.kind_of.shape[0])
    rest, cb = np.uint32(action) // colours, np.uint32(action) % colours
    return np.uint16(rest // colours), np.uint8(rest % colours), np.uint8(cb)


@rule
def is_free(c, s, slot):
    """Whether both cells of a slot are empty."""
    return contains(s.free, slot)


@rule
def set_cell(c, s, cell, colour):
    """Put a symbol on an empty cell."""
    s.cells[cell] = colour
    s.n_free -= s.open[cell]  # a slot to every empty cell beside it
    for word in range(len(s.free)):
        s.free[word] &= c.keeps[cell, word]
    s.open[cell] += COVERED
    if has_sums(s):
        half = c.near.shape[1] // 2
        for axis in range(half):
            ahead, run_ahead = run_length(c, s, cell, axis, colour)
            behind, run_behind = run_length(c, s, cell, axis + half, colour)
            raise_sum(s, ahead, colour, 1 + run_behind)
            raise_sum(s, behind, colour, 1 + run_ahead)
    for d in range(c.near.shape[1]):
        s.open[c.near[cell, d]] -= 1


@rule
def has_sums(s):
    """Whether the state keeps sums; the compiler knows, so it costs nothing to ask."""
    return s.sums.shape[0] > 0


@rule
def line_points(c, s, cell, colour):
    """What a symbol would score on an empty cell."""
    if has_sums(s):
        return np.int64(s.sums[cell, colour])
    total = 0
    for d in range(c.near.shape[1]):
        _, length = run_length(c, s, cell, d, colour)
        total += length
    return total


@rule
def run_length(c, s, cell, d, colour):
    """The first cell after an unbroken run of `colour` from a cell, and how long the run is."""
    length = 0
    at = c.near[cell, d]
    while s.cells[at] == colour:
        length += 1
        at = c.near[at, d]
    return at, length


@rule
def raise_sum(s, cell, colour, more):
    """A symbol on `cell` would now score more; on covered cells the sum means nothing any more.

    Whether the cell is covered is not asked: that branch would be wrong half the time. The mask
    keeps meaningless sums from overflowing; real ones stay far below it.
    """
    s.sums[cell, colour] = (np.int64(s.sums[cell, colour]) + more) & 127


@rule_noinline
def put_pyramids(c, s, a, b, count):
    """Set a pyramid on each of the cells that the tile on `a` and `b` shut in (7)."""
    for _ in range(count):
        cell = shut_in(c, s, a, b)
        at = s.n_pyramids % c.pyramids
        if s.n_pyramids >= c.pyramids:  # none left: the oldest moves here (8)
            s.cells[s.order[at]] = SPENT
        s.cells[cell] = PYRAMID
        s.open[cell] = COVERED
        s.order[at] = cell
        s.n_pyramids += 1


@rule
def shut_in(c, s, a, b):
    """The first empty cell beside `a` or `b` without an open side; there is one."""
    found = np.uint8(0)
    for d in range(c.near.shape[1] - 1, -1, -1):
        for cell in (c.near[b, d], c.near[a, d]):
            if s.open[cell] == 0:
                found = cell
    return found
