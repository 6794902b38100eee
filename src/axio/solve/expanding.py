"""The two loops of a beam: what every move leads to, and the positions after those that were chosen.

For games of dominoes. What a position promises stands here, too: Numba finds compiled loops again by the
digest of the one file they stand in, so all of them has to stand there.
"""
# Typed by Numba at compilation, as rules are.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from ..engine.phases import DRAW, OVER
from ..engine.signatures import Actions, Bool, Float64s, Int, Int64s, States, Tables, array, loop
from ..engine.standins import apply, legal
from ..games.dominoes.board import COVERED
from ..games.dominoes.variant import DominoVariant

Float64Rows = Annotated[Any, array(np.float64, 2)]

DIGIT = 64  # more than a track shows

BEST = 4  # cells that are looked at for each colour: the best ones
NEARLY_SHUT, HALF_SHUT = BEST, BEST + 1  # symbols beside empty cells with one and two open sides
COUNTS = BEST + 2

# How strongly the lowest colour counts, at the start and how much more at the end; how many of the empty
# cells tiles will take; what a symbol to come will score: at least, and by the best cells for its colour;
# what symbols beside cells that are nearly or half shut in are worth; from where on points count less, and
# how much they do then.
STEEP, STEEPER, TAKEN, EACH, BY_BEST = 0, 1, 2, 3, 4
BESIDE_NEARLY, BESIDE_HALF, PLENTY, BEYOND = (
    BY_BEST + BEST,
    BY_BEST + BEST + 1,
    BY_BEST + BEST + 2,
    BY_BEST + BEST + 3,
)

# Found by an evolution strategy with narrow beams, each generation on new deals (docs/solving.md).
WITH_PYRAMIDS = (0.149, 0.014, 0.835, 1.186, 0.133, 0.118, 0.05, -0.026, -0.08, 0.27, 32.2, 0.16)
WITHOUT = (0.183, 0.009, 0.91, 1.02, 0.146, 0.106, 0.059, 0.0, -0.124, -0.06, 34.9, 0.111)


def knobs_of(variant: DominoVariant) -> np.ndarray:
    """The numbers that `promise` goes by in a game."""
    return np.array(WITH_PYRAMIDS if variant.facts.pyramids else WITHOUT)


def symbols_to_come(variant: DominoVariant, kinds: Sequence[int]) -> np.ndarray:
    """How many symbols of each colour the first 0, 1, 2, … tiles show; after the last one no more come."""
    shows = np.zeros((len(kinds) + len(variant.names), len(variant.colours)))
    for n, kind in enumerate(kinds, 1):
        for letter in variant.kinds[kind]:
            shows[n:, variant.colours.index(letter)] += 1
    return shows


def move_on(t, s, action):
    """Carry out an action or what chance drew: called, since copies of it would take long to compile."""
    apply(t, s, action)


def result_of(s, order):
    """The points of play alone, sorted, as one number that compares like the vector."""
    tracks = s.scores.shape[1]
    for track in range(tracks):
        at = track
        while at > 0 and order[at - 1] > s.scores[0, track]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = s.scores[0, track]
    value = np.int64(0)
    for i in range(tracks):
        value = value * DIGIT + order[i]
    return value


def promise(t, s, laid, shows, knobs, counts):
    """What a position after `laid` tiles promises: about the points of the lowest colour at the end.

    `shows` comes from `symbols_to_come`; `counts` is room to count in.
    """
    colours = s.scores.shape[1]
    empty = look_around(t, s, counts)
    tiles = knobs[TAKEN] * empty * 0.5
    last = laid + np.int64(tiles)
    part = tiles - np.int64(tiles)
    steep = knobs[STEEP] + knobs[STEEPER] * (1.0 - s.n_free / len(t.slots))
    total = 0.0
    for colour in range(colours):
        to_come = (
            shows[last, colour] + part * (shows[last + 1, colour] - shows[last, colour]) - shows[laid, colour]
        )
        each = knobs[EACH]
        for i in range(BEST):
            each += knobs[BY_BEST + i] * counts[colour, i]
        points = s.scores[0, colour] + to_come * each
        points += (
            knobs[BESIDE_NEARLY] * counts[colour, NEARLY_SHUT]
            + knobs[BESIDE_HALF] * counts[colour, HALF_SHUT]
        )
        if points > knobs[PLENTY]:
            points = knobs[PLENTY] + (points - knobs[PLENTY]) * knobs[BEYOND]
        total += np.exp(-steep * points)
    return -np.log(total) / steep


def look_around(t, s, counts):
    """Count what each colour finds on the board; how many cells a tile can still take."""
    empty = 0
    for colour in range(s.scores.shape[1]):
        for i in range(COUNTS):
            counts[colour, i] = 0.0
    for cell in range(len(s.cells) - 1):
        sides = s.open[cell]
        if sides == 0 or sides >= COVERED:
            continue
        empty += 1
        for colour in range(s.scores.shape[1]):
            points = np.float64(s.sums[cell, colour])
            if points > counts[colour, BEST - 1]:
                at = BEST - 1
                while at > 0 and counts[colour, at - 1] < points:
                    counts[colour, at] = counts[colour, at - 1]
                    at -= 1
                counts[colour, at] = points
        if sides <= 2:
            for d in range(t.near.shape[1]):
                colour = s.cells[t.near[cell, d]]
                if colour >= 0:
                    counts[colour, BEST - 1 + sides] += 1.0
    return empty


PARTS = (look_around, promise, move_on, result_of)


@loop(parts=PARTS)
def expand(
    tables: Tables, states: States, first: Int, end: Int, laid: Int, last: Bool, shows: Float64Rows,
    knobs: Float64s, counts: Float64Rows, order: Int64s, room: Actions, trial: States, values: Float64s,
    parents: Int64s, actions: Int64s, best: Int64s,
):  # fmt: skip
    """Try every move in the positions from `first` on; how many of them lead to positions to go on from.

    Those get a row in `values`, `parents` and `actions`. Of the moves that end the game (with `last`, all do:
    no tile is known after this one) the first with the best result goes into `best`: result, parent, action.
    `laid` is how many tiles lie after the move.
    """
    t = tables[0]
    s = trial[0]
    rows = 0
    for i in range(first, end):
        for j in range(legal(t, states[i], room)):
            action = np.int64(room[j])
            trial[0] = states[i]
            move_on(t, s, action)
            if last or s.phase == OVER:
                result = result_of(s, order)
                if result > best[0]:
                    best[0], best[1], best[2] = result, i, action
            else:
                values[rows] = promise(t, s, laid, shows, knobs, counts)
                parents[rows] = i
                actions[rows] = action
                rows += 1
    return rows


@loop(parts=PARTS)
def follow(tables: Tables, states: States, parents: Int64s, actions: Int64s, kind: Int, after: States):
    """Write the positions after these moves, with a tile of this kind drawn, into `after`."""
    t = tables[0]
    for i in range(len(parents)):
        after[i] = states[parents[i]]
        move_on(t, after[i], np.int64(actions[i]))
        if after[i].phase >= DRAW:
            move_on(t, after[i], np.int64(kind))
