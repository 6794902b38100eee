"""Most points now, for playouts."""

from __future__ import annotations

from ...engine.compile import rule
from ...engine.lots import below
from .rules import TURNS, encode, names, rate


@rule
def greediest(t, s, rng):
    """A placement with the most points now, and how many were rated."""
    best, best_points, rated = -1, -1, 0
    first = below(rng, s.n_edge)
    for j in range(s.n_edge):
        at = s.edge[(first + j) % s.n_edge]
        for turn in range(TURNS):
            for name in range(names(t, s)):
                action = encode(at, turn, name)
                rate(t, s, action)
                points = 0
                for colour in range(len(s.gain)):
                    points += s.gain[colour]
                rated += 1
                if points > best_points:
                    best, best_points = action, points
    return best, rated
