"""The board of the domino family: setting a symbol, and the derived fields that this updates.

The points of a symbol on an empty cell are precomputed in `s.sums[cell, colour]`. Setting a symbol changes
the sums of at most one empty cell in each direction, which one walk finds. The other half of a tile adds
nothing, because its cell is still empty when the tile is scored. One cell represents everything beyond the
edge, so that walks need no bounds checks.

A compact state has no sums and takes half the bytes. It suits batches of millions of games that score few
moves.

Numbers in parentheses refer to the rules page of the square game.
"""

from __future__ import annotations

import numpy as np

from ..runtime.bitsets import NONE, add_member, contains
from ..runtime.compile import rule, rule_noinline

EMPTY = -1
PYRAMID = -2
SPENT = -3  # a pyramid stood on this cell and was moved to another
EDGE = -4  # the cell beyond the edge, adjacent to every cell of the border
PENDING = -64  # `PENDING - colour`: a symbol that `restore` has yet to set
OPEN_EDGE = 127  # `open` of the edge; it never falls to the value of an empty cell
COVERED = 32  # added to `open` of cells that are not empty, so that small values imply an empty cell


@rule
def placements(c):
    """Return the number of placement ids; the exchange and the plain refill follow them."""
    return len(c.slots) * c.kind_of.size


@rule
def encode(c, slot, ca, cb):
    """Return the action that puts colour `ca` on the first cell of a slot and `cb` on the second."""
    colours = c.kind_of.shape[0]
    return (np.int64(slot) * colours + ca) * colours + cb


@rule
def decode(c, action):
    """Return slot and colours of a placement, unsigned to avoid checks for negative indices."""
    colours = np.uint32(c.kind_of.shape[0])
    rest, cb = np.uint32(action) // colours, np.uint32(action) % colours
    return np.uint16(rest // colours), np.uint8(rest % colours), np.uint8(cb)


@rule
def is_free(c, s, slot):
    """Return whether both cells of a slot are empty."""
    return contains(s.free, slot)


@rule
def set_cell(c, s, cell, colour):
    """Put a symbol on an empty cell."""
    s.cells[cell] = colour
    s.n_free -= s.open[cell]  # one slot for each adjacent empty cell
    for word in range(len(s.free)):
        s.free[word] &= c.keeps[cell, word]
    s.open[cell] += COVERED
    if has_sums(s):
        s.sums[cell, colour] = 0  # walks end at other colours only, so no later symbol raises it
        half = c.near.shape[1] // 2
        for axis in range(half):
            ahead, run_ahead = run_length(c, s, cell, axis, colour)
            behind, run_behind = run_length(c, s, cell, axis + half, colour)
            raise_sum(s, ahead, colour, 1 + run_behind)
            raise_sum(s, behind, colour, 1 + run_ahead)
    for d in range(c.near.shape[1]):
        s.open[c.near[cell, d]] -= 1


@rule_noinline
def restore(c, s):
    """Recompute free slots, open sides and sums from `s.cells`."""
    edge = len(s.cells) - 1
    clear_board(c, s)
    for cell in range(edge):
        if 0 <= s.cells[cell] < c.kind_of.shape[0]:
            s.cells[cell] = PENDING - s.cells[cell]
    for cell in range(edge):
        if s.cells[cell] <= PENDING:
            set_cell(c, s, cell, np.int64(PENDING) - s.cells[cell])
        elif s.cells[cell] == PYRAMID or s.cells[cell] == SPENT:
            s.open[cell] += COVERED


@rule
def clear_board(c, s):
    """Set the derived fields to those of a board without symbols."""
    edge = len(s.cells) - 1
    for word in range(len(s.free)):
        s.free[word] = NONE
    for slot in range(len(c.slots)):
        add_member(s.free, slot)
    sides = np.int64(0)
    for cell in range(edge + 1):
        s.open[cell] = 0
        for d in range(c.near.shape[1]):
            s.open[cell] += c.near[cell, d] != edge
        sides += s.open[cell]
        if has_sums(s):
            for colour in range(s.sums.shape[1]):
                s.sums[cell, colour] = 0
    s.open[edge] = OPEN_EDGE
    s.n_free = sides // 2  # all pairs of neighbours; printed symbols cover those that are not slots


@rule
def has_sums(s):
    """Return whether the state has sums; a compile-time constant."""
    return s.sums.shape[0] > 0


@rule
def line_points(c, s, cell, colour):
    """Return the points of a symbol on an empty cell."""
    if has_sums(s):
        return np.int64(s.sums[cell, colour])
    total = 0
    for d in range(c.near.shape[1]):
        _, length = run_length(c, s, cell, d, colour)
        total += length
    return total


@rule
def run_length(c, s, cell, d, colour):
    """Return the cell after the run of `colour` in direction `d` from a cell, and the length of the run."""
    length = 0
    at = c.near[cell, d]
    while s.cells[at] == colour:
        length += 1
        at = c.near[at, d]
    return at, length


@rule
def raise_sum(s, cell, colour, points):
    """Add points to the sum of a colour on a cell.

    Sums of covered cells are unused, but updated as well: a branch would be mispredicted half the time.
    The mask keeps them from overflowing; valid sums are far below it.
    """
    s.sums[cell, colour] = (np.int64(s.sums[cell, colour]) + points) & 127


@rule_noinline
def put_pyramids(c, s, a, b, count):
    """Set a pyramid on each cell that the tile on `a` and `b` has shut in (7)."""
    for _ in range(count):
        cell = shut_in(c, s, a, b)
        at = s.n_pyramids % c.pyramids
        if s.n_pyramids >= c.pyramids:  # none left: the oldest one moves to this cell (8)
            s.cells[s.order[at]] = SPENT
        s.cells[cell] = PYRAMID
        s.open[cell] = COVERED
        s.order[at] = cell
        s.n_pyramids += 1


@rule
def shut_in(c, s, a, b):
    """Return the first empty cell beside `a` or `b` that has no open side; it must exist."""
    found = np.uint8(0)
    for d in range(c.near.shape[1] - 1, -1, -1):
        for cell in (c.near[b, d], c.near[a, d]):
            if s.open[cell] == 0:
                found = cell
    return found
