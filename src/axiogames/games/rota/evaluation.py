"""What players ask of the game with four corners: the placement worth the most, and what is offered."""

from __future__ import annotations

import numpy as np

from ..runtime.compile import rule
from ..runtime.evaluation import NOTHING_YET, gain_utility, insert, threshold
from ..runtime.xorshift import randint
from .rules import BLANK, TURNS, encode, lies_at, names, score


@rule
def greedy_action(c, s, rng):
    """A placement with the most points now, and how many were rated."""
    best, best_points, rated = -1, -1, 0
    first = randint(rng, s.n_edge)
    for j in range(s.n_edge):
        k = (first + j) % s.n_edge
        for turn in range(TURNS):
            for name in range(names(c, s)):
                action = encode(k, turn, name)
                score(c, s, action)
                points = 0
                for colour in range(len(s.gain)):
                    points += s.gain[colour]
                rated += 1
                if points > best_points:
                    best, best_points = action, points
    return best, rated


@rule
def has_extra_turn(c, s):
    """Whether the seat that has just moved has an extra turn, for which a tile of the supply is due."""
    return s.from_supply


@rule
def progress(c, s):
    """How much of the game has been played, by the seat's stack."""
    return np.float32(1.0) - np.float32(s.stack[s.seat]) / np.float32(c.stack)


@rule
def top_placements(c, s, start, keep, scratch):
    """List the placements whose points are worth the most by `scratch.utility`; how many."""
    kept, least = 0, np.float32(NOTHING_YET)
    start %= np.int64(s.n_edge)
    for j in range(s.n_edge):
        k = (start + j) % s.n_edge
        for turn in range(TURNS):
            for name in range(names(c, s)):
                action = encode(k, turn, name)
                score(c, s, action)
                value = gain_utility(s, scratch.utility)
                if value > least:
                    kept = insert(action, value, kept, keep, scratch)
                    least = threshold(kept, keep, scratch)
    return kept


@rule
def circle_match(c, s, at, corner, k):
    """The colour of the k-th corner around a corner of a square, and how many up to it show that colour."""
    colour = lies_at(c, s, at, corner, k)
    points = 0
    if colour != BLANK:
        for m in range(k + 1):
            points += lies_at(c, s, at, corner, m) == colour
    return colour, points


@rule
def track_features(c, s, seat, out):
    """For each colour: the best circle for it, and how many give two and one (no tile is in hand then)."""
    for i in range(s.n_edge):
        at = s.edge[i]
        for corner in range(4):
            for k in range(3):
                colour, points = circle_match(c, s, at, corner, k)
                if points == 0:
                    continue
                out[colour, 0] = max(out[colour, 0], np.float32(points))
                out[colour, 1] += points == 2
                out[colour, 2] += points == 1
    for colour in range(len(s.gain)):
        out[colour, 0] *= np.float32(0.33)
        out[colour, 1] *= np.float32(0.1)
        out[colour, 2] *= np.float32(0.03)


@rule
def expected_gain(c, s, seat, known, scratch):
    """What a seat's next placement would be worth with the corners it would like best."""
    best = np.float32(0.0)
    for i in range(s.n_edge):
        at = s.edge[i]
        total = np.float32(0.0)
        for corner in range(4):
            most = np.float32(0.0)
            for k in range(3):
                colour, points = circle_match(c, s, at, corner, k)
                if points == 0:
                    continue
                most = max(most, scratch.utility[colour, points])
            total += most
        best = max(best, total)
    return best
