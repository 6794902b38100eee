"""What a seat sees of the board, in numbers."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
from ...engine.phases import HIDDEN
from .board import EMPTY


@rule
def show_board(t, s, places, out):
    """Write 1 where each plane shows something: a plane for each colour, then empty squares, then stars."""
    colours = s.match.shape[1]
    area = len(places)
    for cell in range(area):
        shows = np.int64(s.cells[cell])
        if shows >= EMPTY:
            out[(shows if shows >= 0 else colours) * area + places[cell]] = 1
        out[(colours + 1) * area + places[cell]] = t.star[cell]


@rule
def show_counters(t, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.idle


@rule
def add_hidden(t, s, seat, counts, at):
    """Count tiles that are hidden elsewhere than in hands: those set aside, and others' exchanged ones."""
    for kind in range(len(s.removed)):
        counts[at + kind] += s.removed[kind]
    if s.seat != seat:
        for i in range(s.n_aside):
            if s.aside[i] != HIDDEN:
                counts[at + s.aside[i]] += 1
