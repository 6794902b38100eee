"""What a seat sees of the display, in numbers.

The display is unbounded, so it is not shown as a picture but by its free squares, in the order of a batch's
action numbers: where each lies, and the three other corners of each circle that a tile there would take part
in. All circles that can still score have a free square, so nothing that matters is left out.
"""

from __future__ import annotations

from ...engine.compile import rule
from .rules import BLANK, FREE, SIDE, beside, unwrap

FEATURES = 14  # of a free square
NOTHING_LIES, NO_SYMBOL = 0, 1  # and colours from 2 on


@rule
def show_board(t, s, places, out):
    """Write a row for each free square: x and y from the display's lowest ones, then twelve corners."""
    for k in range(s.n_edge):
        at = s.edge[k]
        row = k * FEATURES
        out[row] = unwrap(s.low_x, at % SIDE) - s.low_x
        out[row + 1] = unwrap(s.low_y, at // SIDE) - s.low_y
        for corner in range(4):
            for i in range(3):
                around = beside(at, t.circle[corner, i, 0], t.circle[corner, i, 1])
                colour = t.corners[s.grid[around], t.circle[corner, i, 2]]
                lies = s.grid[around] != 0 and s.grid[around] != FREE
                out[row + 2 + corner * 3 + i] = (
                    NOTHING_LIES if not lies else NO_SYMBOL if colour == BLANK else colour + 2
                )


@rule
def show_counters(t, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.extra
    out[at + 1] = s.supply
    out[at + 2] = s.n_edge
    for turn in range(t.players):
        out[at + 3 + turn] = s.stack[(seat + turn) % t.players]


@rule
def add_hidden(t, s, seat, counts, at):
    """Count tiles that are hidden elsewhere than in hands: none."""
