"""What players ask of the domino family: the placement that is worth the most, and what the board offers."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule, seldom
from ...engine.hopes import expected_best
from ...engine.lots import below
from ...engine.phases import OFFER
from ...engine.worth import POINTS, sum_up
from .board import COVERED, encode, placements
from .rules import suits_first
from .scoring import pyramids_made, rate


@rule
def scored(t, action):
    """Whether an action is a placement."""
    return action < placements(t)


@rule
def gone(t, s):
    """How much of the game has been played, by the room that is left."""
    return np.float32(1.0) - np.float32(s.n_free) / np.float32(len(t.slots))


@rule
def keenest(t, s, rng, worth):
    """The placement whose points are worth the most; a new hand where one is offered."""
    if s.phase == OFFER:
        return placements(t)
    best, best_value = np.int64(-1), np.float32(-1.0)
    seat = s.seat
    start = below(rng, np.int64(s.n_free))
    for j in range(s.n_free):
        at = start + j
        slot = s.free[at if at < s.n_free else at - s.n_free]
        if not suits_first(t, s, slot):
            continue
        a, b = t.slots[slot, 0], t.slots[slot, 1]
        simple = not t.solo and (t.pyramids == 0 or pyramids_made(t, s, a, b) == 0)
        for i in range(s.held[seat]):
            kind = s.hands[seat, i]
            for turned in range(t.ways[kind]):
                ca, cb = t.pairs[kind, turned], t.pairs[kind, 1 - turned]
                if simple:
                    value = worth_of_halves(s, a, ca, b, cb, worth)
                else:
                    rate(t, s, encode(t, slot, ca, cb))
                    value = sum_up(s, worth)
                if value > best_value:
                    best, best_value = encode(t, slot, ca, cb), value
    return best


@rule
def worth_of_halves(s, a, ca, b, cb, worth):
    """What both halves are worth, where no pyramid is made; the table knows of the cap."""
    points_a, points_b = np.int64(s.sums[a, ca]), np.int64(s.sums[b, cb])
    if ca == cb:
        return worth[ca, min(points_a + points_b, POINTS - 1)]
    return worth[ca, min(points_a, POINTS - 1)] + worth[cb, min(points_b, POINTS - 1)]


@seldom
def worth_of_pyramids(t, s, a, b, worth):
    """About what the pyramids are worth that a tile on `a` and `b` would make, by what lies there."""
    value = np.float32(0.0)
    for d in range(t.near.shape[1]):
        for cell in (t.near[a, d], t.near[b, d]):
            if s.open[cell] == 1 and cell != a and cell != b:
                for e in range(t.near.shape[1]):
                    colour = s.cells[t.near[cell, e]]
                    if colour >= 0:
                        value += worth[colour, 1]
    return value


@rule
def outlook(t, s, seat, out):
    """For each colour: the best and second-best cell for it, the best if the hand has it, and how often."""
    colours = len(s.gain)
    for colour in range(colours):
        for k in range(4):
            out[colour, k] = 0
    for cell in range(len(s.cells) - 1):
        if s.open[cell] > 0 and s.open[cell] < COVERED:
            for colour in range(colours):
                points = np.float32(s.sums[cell, colour])
                if points > out[colour, 0]:
                    out[colour, 1] = out[colour, 0]
                    out[colour, 0] = points
                elif points > out[colour, 1]:
                    out[colour, 1] = points
    for i in range(s.held[seat]):
        kind = s.hands[seat, i]
        out[t.pairs[kind, 0], 3] += 1
        out[t.pairs[kind, 1], 3] += 1
    for colour in range(colours):
        out[colour, 0] *= np.float32(0.125)
        out[colour, 1] *= np.float32(0.125)
        out[colour, 2] = out[colour, 0] if out[colour, 3] > 0 else np.float32(0.0)
        out[colour, 3] *= np.float32(0.25)


@rule
def hope(t, s, seat, known, worth, desk):
    """What a seat's next placement is worth on average, as the board is now.

    With its hand, where that is known, and what it will draw; otherwise with any hand.
    """
    kinds = len(t.pairs)
    best, order = desk.best, desk.kinds
    for kind in range(kinds):
        best[kind] = 0
    for j in range(s.n_free):
        slot = s.free[j]
        a, b = t.slots[slot, 0], t.slots[slot, 1]
        besides = np.float32(0.0)
        if t.pyramids > 0 and pyramids_made(t, s, a, b) > 0:
            besides = worth_of_pyramids(t, s, a, b, worth)
        for kind in range(kinds):
            ca, cb = t.pairs[kind, 0], t.pairs[kind, 1]
            value = worth_of_halves(s, a, ca, b, cb, worth)
            turned = worth_of_halves(s, a, cb, b, ca, worth)
            best[kind] = max(best[kind], besides + max(value, turned))
    sure = np.float32(0.0)
    draws = np.int64(t.hand)
    if known:
        for i in range(s.held[seat]):
            sure = max(sure, best[s.hands[seat, i]])
        draws -= s.held[seat]
    return expected_best(s.bag, np.int64(s.unseen), draws, sure, best, order)
