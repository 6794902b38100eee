"""What a seat sees of a game of the domino family, in numbers."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
from .board import PYRAMID, SPENT


@rule
def show_board(t, s, places, out):
    """Write 1 where each plane shows something: a plane for each colour, empty cells, pyramids, spent cells.

    `places` says where a cell lies in a plane; boards without pyramids do not have the last two planes.
    """
    colours = t.kind_of.shape[0]
    area = len(out) // (colours + (3 if t.pyramids > 0 else 1))
    for cell in range(len(places)):
        shows = np.int64(s.cells[cell])
        if shows == PYRAMID:
            plane = colours + 1
        elif shows == SPENT:
            plane = colours + 2
        else:
            plane = shows if shows >= 0 else colours
        out[plane * area + places[cell]] = 1


@rule
def show_counters(t, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.extra
    out[at + 1] = s.n_pyramids
    for turn in range(t.players):
        out[at + 2 + turn] = (s.begun >> ((seat + turn) % t.players)) & 1
    for printed in range(t.printed):
        out[at + 2 + t.players + printed] = (s.claimed >> printed) & 1


@rule
def add_hidden(t, s, seat, counts, at):
    """Count tiles that are hidden elsewhere than in hands: none."""
