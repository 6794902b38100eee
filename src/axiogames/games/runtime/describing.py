"""Actions and their points as rows of numbers, for programs that show them.

A cell is written as its index or, on a board that grows, as its two coordinates. -1 stands for nothing.

An action is a row of `KIND`, `TILE`, `NAMED` and `PLACE_INDEX`, then the cells that it covers, then the
colours of its symbols in the order in which a tile is written. `TILE` is the index of the tile in hand; for
an exchange it is the set of the exchanged tiles, a bit for each index. `PLACE_INDEX` is the index of the slot
or of the free square.

Points are rows of the cell that scores, the index of its symbol on that cell, the cell for which it scores,
the index of that symbol, the track, and the points. The cell for which it scores is one that the tile covers,
or one on which the placement sets a pyramid. Points that no cell scores have -1 in place of all four.
"""

from __future__ import annotations

import numpy as np

from ...moves import Kind
from .compile import rule
from .hands import find_in_hand

# Columns of an action.
KIND, TILE, NAMED, PLACE_INDEX = 0, 1, 2, 3
CELLS = 4  # the first cell
# Kinds of actions, in the order of `ACTION_KINDS`.
PLACEMENT, EXCHANGE, KEEP, PASS = 0, 1, 2, 3
ACTION_KINDS: tuple[Kind, ...] = ("place", "exchange", "keep", "pass")

POINT_COLUMNS = 4  # besides the two cells
MAX_POINT_ROWS = 256  # more than any placement has


@rule
def describe_plain(kind, tiles, rows, at):
    """Write an action that covers no cells to the row `at`."""
    for column in range(rows.shape[1]):
        rows[at, column] = -1
    rows[at, KIND] = kind
    rows[at, TILE] = tiles


@rule
def describe_slot(c, s, slot, way, kind, rows, at):
    """Write the placement of a tile of a kind on a slot of a fixed board to the row `at`.

    `way` is the index of the colours on its cells among all sequences of colours.
    """
    size = c.slots.shape[1]
    colours = colours_of_ways(np.int64(c.placements) // len(c.slots), size)
    rows[at, KIND] = PLACEMENT
    rows[at, TILE] = find_in_hand(s, s.seat, kind)
    rows[at, NAMED] = -1
    rows[at, PLACE_INDEX] = slot
    left = np.int64(way)
    for k in range(size - 1, -1, -1):
        rows[at, CELLS + k] = c.slots[slot, k]
        rows[at, CELLS + size + k] = left % colours
        left //= colours


@rule
def colours_of_ways(ways, size):
    """Return the number of colours that have this many sequences of `size` of them."""
    colours, sequences = 0, 0
    while sequences < ways:
        colours += 1
        sequences = 1
        for _ in range(size):
            sequences *= colours
    return colours


@rule
def write_point(rows, n, cell, target, track, points):
    """Write that a cell of a fixed board scores for the cell `target`, and return the number of rows.

    Like all functions that add rows of points, it writes nothing beyond the last row.
    """
    if n < len(rows):
        rows[n, 0], rows[n, 1] = cell, 0
        rows[n, 2], rows[n, 3] = target, 0
        rows[n, 4], rows[n, 5] = track, points
    return min(n + 1, len(rows))


@rule
def write_bonus(rows, n, track, points):
    """Write points that no cell scores, and return the number of rows."""
    if n < len(rows):
        for column in range(rows.shape[1] - 2):
            rows[n, column] = -1
        rows[n, rows.shape[1] - 2], rows[n, rows.shape[1] - 1] = track, points
    return min(n + 1, len(rows))
