"""Evaluation hooks of AXIO rota: greedy and best placements, features and expected gains."""

from __future__ import annotations

import numpy as np

from ..runtime.bitsets import NONE, ONE
from ..runtime.compile import rule
from ..runtime.evaluation import NOTHING_YET, gain_utility, insert, threshold
from ..runtime.xorshift import randint
from .rules import BLANK, ROTATIONS, circle_colour, count_names, encode, score_on, tile_value


@rule
def greedy_action(c, s, rng):
    """Return the placement with the most points and the number of scored ones."""
    best, best_points, scored = -1, -1, 0
    start = randint(rng, s.n_edge)
    for j in range(s.n_edge):
        k = (start + j) % s.n_edge
        at = np.int64(s.edge[k])
        for rotation in range(ROTATIONS):
            for name in range(count_names(c, s)):
                action = encode(k, rotation, name)
                score_on(c, s, at, rotation, name)
                points = 0
                for colour in range(len(s.gain)):
                    points += s.gain[colour]
                scored += 1
                if points > best_points:
                    best, best_points = action, points
    return best, scored


@rule
def best_placements(c, s, gain_keys, out):
    """Write the placements with the highest key, ascending, and return their number."""
    n, best = 0, np.int64(-1)
    kind = s.hands[s.seat, 0]
    for k in range(s.n_edge):
        at = np.int64(s.edge[k])
        top_left, top_right = circle_counts(c, s, at, 0), circle_counts(c, s, at, 1)
        bottom_right, bottom_left = circle_counts(c, s, at, 2), circle_counts(c, s, at, 3)
        for rotation in range(ROTATIONS):
            tile = tile_value(kind, rotation)
            gains, unnamed = NONE, NONE
            for corner in range(4):
                counts = top_left if corner == 0 else top_right if corner == 1 else bottom_right
                counts = bottom_left if corner == 3 else counts
                colour = c.corners[tile, corner]
                if colour == BLANK:
                    unnamed = counts
                else:
                    gains += colour_byte(counts, colour) << shift_of(colour)
            for name in range(count_names(c, s)):
                named = gains
                if name > 0:
                    named += colour_byte(unnamed, name - 1) << shift_of(name - 1)
                key = np.int64(0)
                for colour in range(len(s.gain)):
                    points = np.int64(colour_byte(named, colour))
                    key += gain_keys[colour, min(points, np.int64(c.cap - s.scores[s.seat, colour]))]
                if key > best:
                    n, best = 0, key
                if key == best:
                    out[n] = encode(k, rotation, name)
                    n += 1
    return n


@rule
def circle_counts(c, s, at, corner):
    """Return the numbers of other corners of a circle by colour, a byte for each."""
    counts = NONE
    for k in range(3):
        colour = circle_colour(c, s, at, corner, k)
        if colour != BLANK:
            counts += ONE << shift_of(colour)
    return counts


@rule
def shift_of(colour):
    """Return the position of a colour's byte in a word."""
    return np.uint64(8) * np.uint64(colour)


@rule
def colour_byte(word, colour):
    """Return the byte of a colour in a word."""
    return (word >> shift_of(colour)) & np.uint64(0xFF)


@rule
def has_extra_turn(c, s):
    """Return whether the seat that has just moved has an extra turn, for which it draws from the supply."""
    return s.from_supply


@rule
def progress(c, s):
    """Return the fraction of the game that has been played, by the stack of the seat to move."""
    return np.float32(1.0) - np.float32(s.stack[s.seat]) / np.float32(c.stack)


@rule
def top_placements(c, s, start, keep, scratch):
    """List up to `keep` placements with the highest utility, the best first, and return their number."""
    kept, least = 0, np.float32(NOTHING_YET)
    start %= np.int64(s.n_edge)
    for j in range(s.n_edge):
        k = (start + j) % s.n_edge
        at = np.int64(s.edge[k])
        for rotation in range(ROTATIONS):
            for name in range(count_names(c, s)):
                action = encode(k, rotation, name)
                score_on(c, s, at, rotation, name)
                value = gain_utility(s, scratch.utility)
                if value > least:
                    kept = insert(action, value, kept, keep, scratch)
                    least = threshold(kept, keep, scratch)
    return kept


@rule
def circle_match(c, s, at, corner, k):
    """Return the colour of the k-th other corner of a circle, and its count in the first k + 1 corners."""
    colour = circle_colour(c, s, at, corner, k)
    points = 0
    if colour != BLANK:
        for m in range(k + 1):
            points += circle_colour(c, s, at, corner, m) == colour
    return colour, points


@rule
def track_features(c, s, seat, out):
    """Write for each colour the most points of a circle, and the numbers of circles with two and one.

    The fourth feature is 0: when positions are evaluated, the seat has just moved and holds no tile.
    """
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
    """Return the utility of a seat's next placement with the best corners for it."""
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
