"""Evaluation hooks of the domino family: greedy and best placements, features and expected gains."""

from __future__ import annotations

import numpy as np

from ..runtime.bitsets import iterate_from, lowest_member, next_word, nth, without_lowest
from ..runtime.compile import rule, rule_noinline
from ..runtime.evaluation import (
    MAX_POINTS,
    NOTHING_YET,
    expected_best,
    gain_key,
    insert,
    insert_ascending,
    threshold,
)
from ..runtime.state import OFFER
from ..runtime.xorshift import randint
from .board import COVERED, encode, line_points, placements
from .rules import is_first, suits_first
from .scoring import pyramids_made, score


@rule
def greedy_action(c, s, rng):
    """Return the placement with the most points and the number of scored ones; accept an offered exchange.

    The scan starts at a random slot and keeps the first of several best ones, so that no corner is preferred.
    """
    if s.phase == OFFER:
        return placements(c), 0
    best, best_points, scored = -1, -1, 0
    seat = s.seat
    at, left = iterate_from(s.free, nth(s.free, randint(rng, np.int64(s.n_free))))
    for _ in range(s.n_free):
        at, left = next_word(s.free, at, left)
        slot, left = lowest_member(at, left), without_lowest(left)
        if not suits_first(c, s, slot):
            continue
        a, b = c.slots[slot, 0], c.slots[slot, 1]
        simple = not c.solo and (c.pyramids == 0 or pyramids_made(c, s, a, b) == 0)
        for i in range(s.held[seat]):
            kind = s.hands[seat, i]
            if i > 0 and s.hands[seat, i - 1] == kind:
                continue
            for flip in range(c.ways[kind]):
                ca, cb = c.pairs[kind, flip], c.pairs[kind, 1 - flip]
                if simple:
                    points = capped_points(c, s, a, ca, b, cb)
                else:
                    points = total_points(c, s, encode(c, slot, ca, cb))
                scored += 1
                if points > best_points:
                    best, best_points = encode(c, slot, ca, cb), points
    return best, scored


@rule
def capped_points(c, s, a, ca, b, cb):
    """Return the points of both halves up to the cap, for a placement that makes no pyramid."""
    room_a = c.cap - s.scores[s.seat, ca]
    points_a, points_b = line_points(c, s, a, ca), line_points(c, s, b, cb)
    if ca == cb:
        return min(points_a + points_b, room_a)
    return min(points_a, room_a) + min(points_b, c.cap - s.scores[s.seat, cb])


@rule
def total_points(c, s, action):
    """Return the sum of the points of a placement over all colours."""
    score(c, s, action)
    points = 0
    for colour in range(len(s.gain)):
        points += s.gain[colour]
    return points


@rule
def best_placements(c, s, gain_keys, out):
    """Write the placements with the highest key, ascending, and return their number."""
    n, best = 0, np.int64(-1)
    if s.phase == OFFER:
        return n
    seat = s.seat
    first = is_first(s)
    at, left = iterate_from(s.free, 0)
    for _ in range(s.n_free):
        at, left = next_word(s.free, at, left)
        slot, left = lowest_member(at, left), without_lowest(left)
        if first and not suits_first(c, s, slot):
            continue
        a, b = c.slots[slot, 0], c.slots[slot, 1]
        simple = not c.solo and (c.pyramids == 0 or pyramids_made(c, s, a, b) == 0)
        if simple and most_of_half(c, s, a, gain_keys) + most_of_half(c, s, b, gain_keys) < best:
            continue
        for i in range(s.held[seat]):
            kind = s.hands[seat, i]
            if i > 0 and s.hands[seat, i - 1] == kind:
                continue
            for flip in range(c.ways[kind]):
                ca, cb = c.pairs[kind, flip], c.pairs[kind, 1 - flip]
                action = encode(c, slot, ca, cb)
                if simple:
                    key = key_of_halves(c, s, a, ca, b, cb, gain_keys)
                else:
                    score(c, s, action)
                    key = gain_key(s, gain_keys)
                if key > best:
                    n, best = 0, key
                if key == best:
                    n = insert_ascending(out, n, action)
    return n


@rule
def most_of_half(c, s, cell, gain_keys):
    """Return the highest key of a symbol on a cell."""
    most = np.int64(0)
    for colour in range(len(s.gain)):
        most = max(most, key_up_to_cap(c, s, colour, line_points(c, s, cell, colour), gain_keys))
    return most


@rule
def key_of_halves(c, s, a, ca, b, cb, gain_keys):
    """Return the key of a placement that makes no pyramid."""
    points_a, points_b = line_points(c, s, a, ca), line_points(c, s, b, cb)
    if ca == cb:
        return key_up_to_cap(c, s, ca, points_a + points_b, gain_keys)
    return key_up_to_cap(c, s, ca, points_a, gain_keys) + key_up_to_cap(c, s, cb, points_b, gain_keys)


@rule
def key_up_to_cap(c, s, colour, points, gain_keys):
    """Return the key of points on a colour, which count up to the cap."""
    return gain_keys[colour, min(points, np.int64(c.cap - s.scores[s.seat, colour]), MAX_POINTS - 1)]


@rule
def progress(c, s):
    """Return the fraction of the game that has been played, by the slots that are no longer free."""
    return np.float32(1.0) - np.float32(s.n_free) / np.float32(len(c.slots))


@rule
def fallback_action(c, s, value, scratch):
    """Return the exchange if it is offered, else -1."""
    return np.int64(placements(c)) if s.phase == OFFER else np.int64(-1)


@rule
def top_placements(c, s, start, keep, scratch):
    """List up to `keep` placements with the highest utility, the best first, and return their number.

    The utility is an estimate: each point of a pyramid counts like a first point, although pyramids near the
    cap give less.
    """
    kept, least = 0, np.float32(NOTHING_YET)
    if s.phase == OFFER:
        return kept
    seat = s.seat
    first = is_first(s)
    at, left = iterate_from(s.free, nth(s.free, start % np.int64(s.n_free)))
    for _ in range(s.n_free):
        at, left = next_word(s.free, at, left)
        slot, left = lowest_member(at, left), without_lowest(left)
        if first and not suits_first(c, s, slot):
            continue
        pyramids = slot_utility(c, s, slot, scratch)
        if pyramids + scratch.most[0] + scratch.most[1] <= least:
            continue
        for i in range(s.held[seat]):
            kind = s.hands[seat, i]
            if i > 0 and s.hands[seat, i - 1] == kind:
                continue
            ca, cb = c.pairs[kind, 0], c.pairs[kind, 1]
            value = pyramids + scratch.halves[0, ca] + scratch.halves[1, cb]
            if ca == cb:
                value = pyramids + double_utility(c, s, slot, ca, scratch)
            if value > least:
                kept = insert(encode(c, slot, ca, cb), value, kept, keep, scratch)
                least = threshold(kept, keep, scratch)
            value = pyramids + scratch.halves[0, cb] + scratch.halves[1, ca]
            if value > least and ca != cb:
                kept = insert(encode(c, slot, cb, ca), value, kept, keep, scratch)
                least = threshold(kept, keep, scratch)
    return kept


@rule
def slot_utility(c, s, slot, scratch):
    """Write the utility of each colour on both cells of a slot; return that of the pyramids.

    The utilities of the colours are written to `scratch.halves`, with the points that pyramids give for the
    halves of the tile. The returned utility of the pyramids counts only symbols already on the board.
    """
    a, b = c.slots[slot, 0], c.slots[slot, 1]
    pyramids = np.float32(0.0)
    scratch.beside[0], scratch.beside[1] = 0, 0
    if c.pyramids > 0 and pyramids_made(c, s, a, b) > 0:
        pyramids = pyramid_utility(c, s, a, b, scratch)
    for half in range(2):
        cell = c.slots[slot, half]
        most = np.float32(0.0)
        for colour in range(len(s.gain)):
            points = line_points(c, s, cell, colour) + scratch.beside[half]
            value = scratch.utility[colour, min(points, MAX_POINTS - 1)]
            scratch.halves[half, colour] = value
            most = max(most, value)
        scratch.most[half] = most
    return pyramids


@rule
def double_utility(c, s, slot, colour, scratch):
    """Return the utility of a double on a slot, after `slot_utility` has been called for it."""
    points = line_points(c, s, c.slots[slot, 0], colour) + line_points(c, s, c.slots[slot, 1], colour)
    return scratch.utility[colour, min(points + scratch.beside[0] + scratch.beside[1], MAX_POINTS - 1)]


@rule_noinline
def pyramid_utility(c, s, a, b, scratch):
    """Return the utility of the pyramids that a tile on `a` and `b` makes; count those beside each half."""
    value = np.float32(0.0)
    for half in range(2):
        for d in range(c.near.shape[1]):
            cell = c.near[a, d] if half == 0 else c.near[b, d]
            if s.open[cell] == 1 and cell != a and cell != b:
                scratch.beside[half] += 1
                for e in range(c.near.shape[1]):
                    colour = s.cells[c.near[cell, e]]
                    if colour >= 0:
                        value += scratch.utility[colour, 1]
    return value


@rule
def track_features(c, s, seat, out):
    """Write for each colour the points of its two best cells, the best if in hand, and its count in hand."""
    colours = len(s.gain)
    for cell in range(len(s.cells) - 1):
        if s.open[cell] > 0 and s.open[cell] < COVERED:
            for colour in range(colours):
                points = np.float32(line_points(c, s, cell, colour))
                if points > out[colour, 0]:
                    out[colour, 1] = out[colour, 0]
                    out[colour, 0] = points
                elif points > out[colour, 1]:
                    out[colour, 1] = points
    for i in range(s.held[seat]):
        kind = s.hands[seat, i]
        out[c.pairs[kind, 0], 3] += 1
        out[c.pairs[kind, 1], 3] += 1
    for colour in range(colours):
        out[colour, 0] *= np.float32(0.125)
        out[colour, 1] *= np.float32(0.125)
        out[colour, 2] = out[colour, 0] if out[colour, 3] > 0 else np.float32(0.0)
        out[colour, 3] *= np.float32(0.25)


@rule
def expected_gain(c, s, seat, known, scratch):
    """Return the mean utility of a seat's next placement on the current board.

    With `known`, the hand is the seat's current tiles and random draws; otherwise a random hand.
    """
    kinds = len(c.pairs)
    best = scratch.best
    for kind in range(kinds):
        best[kind] = 0
    least = np.float32(0.0)  # minimum of `best`; a slot that cannot exceed it is skipped
    at, left = iterate_from(s.free, 0)
    for _ in range(s.n_free):
        at, left = next_word(s.free, at, left)
        slot, left = lowest_member(at, left), without_lowest(left)
        pyramids = slot_utility(c, s, slot, scratch)
        if pyramids + scratch.most[0] + scratch.most[1] <= least:
            continue
        least = np.float32(1e9)
        for kind in range(kinds):
            ca, cb = c.pairs[kind, 0], c.pairs[kind, 1]
            if ca == cb:
                value = double_utility(c, s, slot, ca, scratch)
            else:
                value = max(
                    scratch.halves[0, ca] + scratch.halves[1, cb],
                    scratch.halves[0, cb] + scratch.halves[1, ca],
                )
            best[kind] = max(best[kind], pyramids + value)
            least = min(least, best[kind])
    known_best = np.float32(0.0)
    draws = np.int64(c.hand)
    if known:
        for i in range(s.held[seat]):
            known_best = max(known_best, best[s.hands[seat, i]])
        draws -= s.held[seat]
    return expected_best(s.bag, np.int64(s.unseen), draws, known_best, best, scratch.kinds)
