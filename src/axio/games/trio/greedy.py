"""Most points now, for playouts."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
from ...engine.lots import below
from .board import LIVE, allowed, count, encode, exchange_of, in_hand, nth_of, passing
from .rules import rate


@rule
def greediest(t, s, rng):
    """A placement with the most points now, else all new tiles, and how many placements were rated."""
    best, best_points, rated = -1, -1, 0
    slots = len(t.slots)
    first = below(rng, slots)
    hand = in_hand(t, s, s.seat)
    for j in range(slots):
        slot = (first + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            for nth in range(count(ways)):
                action = encode(slot, nth_of(ways, nth))
                rate(t, s, action)
                rated += 1
                if s.gain[0] > best_points:
                    best, best_points = action, s.gain[0]
    if best >= 0:
        return best, rated
    if s.in_bag == 0:
        return passing(t), rated
    most = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return exchange_of(t, (1 << most) - 1), rated
