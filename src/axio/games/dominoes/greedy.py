"""Most points now, for playouts: every placement rated without carrying it out."""

from __future__ import annotations

import numpy as np

from ...engine.bits import nth, number_of, onward, starting, without_lowest
from ...engine.compile import rule
from ...engine.lots import below
from ...engine.phases import OFFER
from .board import encode, placements, sum_at
from .rules import suits_first
from .scoring import pyramids_made, rate


@rule
def greediest(t, s, rng):
    """A placement with the most points now and how many were rated; a new hand where one is offered.

    Starts at a random slot and keeps the first of equals, so that no corner is preferred.
    """
    if s.phase == OFFER:
        return placements(t), 0
    best, best_points, rated = -1, -1, 0
    seat = s.seat
    at, left = starting(s.free, nth(s.free, below(rng, np.int64(s.n_free))))
    for _ in range(s.n_free):
        at, left = onward(s.free, at, left)
        slot, left = number_of(at, left), without_lowest(left)
        if not suits_first(t, s, slot):
            continue
        a, b = t.slots[slot, 0], t.slots[slot, 1]
        simple = not t.solo and (t.pyramids == 0 or pyramids_made(t, s, a, b) == 0)
        for i in range(s.held[seat]):
            kind = s.hands[seat, i]
            if i > 0 and s.hands[seat, i - 1] == kind:
                continue
            for turned in range(t.ways[kind]):
                ca, cb = t.pairs[kind, turned], t.pairs[kind, 1 - turned]
                if simple:
                    points = capped_points(t, s, a, ca, b, cb)
                else:
                    points = rated_points(t, s, encode(t, slot, ca, cb))
                rated += 1
                if points > best_points:
                    best, best_points = encode(t, slot, ca, cb), points
    return best, rated


@rule
def capped_points(t, s, a, ca, b, cb):
    """The points of both halves on the tracks, where no pyramid is made."""
    room_a = t.cap - s.scores[s.seat, ca]
    points_a, points_b = sum_at(t, s, a, ca), sum_at(t, s, b, cb)
    if ca == cb:
        return min(points_a + points_b, room_a)
    return min(points_a, room_a) + min(points_b, t.cap - s.scores[s.seat, cb])


@rule
def rated_points(t, s, action):
    """The points of a placement in all colours together."""
    rate(t, s, action)
    points = 0
    for colour in range(len(s.gain)):
        points += s.gain[colour]
    return points
