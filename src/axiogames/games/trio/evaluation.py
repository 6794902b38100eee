"""What players ask of the edge-matching game: the placement that is worth the most, and what is offered."""

from __future__ import annotations

import numpy as np

from ..runtime.compile import rule
from ..runtime.evaluation import (
    EXCHANGE,
    EXTRA_TURN,
    MAX_POINTS,
    NOTHING_YET,
    best_value,
    expected_best,
    insert,
    threshold,
)
from ..runtime.xorshift import randint
from .board import (
    ENOUGH,
    HAND,
    LIVE,
    NOTHING,
    ONE,
    allowed,
    count,
    encode,
    exchange_of,
    first_arrangement,
    in_hand,
    matching_edges,
    nth_arrangement,
    passing,
    placements,
    points_for,
)
from .rules import legal_actions, score


@rule
def greedy_action(t, s, rng):
    """A placement with the most points now, else all new tiles, and how many placements were rated."""
    best, best_points, rated = -1, -1, 0
    slots = len(t.slots)
    first = randint(rng, slots)
    hand = in_hand(t, s, s.seat)
    for j in range(slots):
        slot = (first + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            for nth in range(count(ways)):
                action = encode(slot, nth_arrangement(ways, nth))
                score(t, s, action)
                rated += 1
                if s.gain[0] > best_points:
                    best, best_points = action, s.gain[0]
    if best >= 0:
        return best, rated
    if s.in_bag == 0:
        return passing(t), rated
    most = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return exchange_of(t, (1 << most) - 1), rated


@rule
def has_extra_turn(t, s):
    """Whether the seat that has just moved has an extra turn."""
    return s.again


@rule
def progress(t, s):
    """How much of the game has been played, by the tiles that are left."""
    return np.float32(1.0) - np.float32(s.in_bag) / np.float32(t.tiles)


@rule
def fallback_action(t, s, value, desk):
    """What simple play does rather than make a placement that is worth so much: take all new tiles."""
    if s.in_bag == 0:
        return np.int64(-1) if value >= 0 else np.int64(passing(t))
    if value >= 0 and value >= desk.worth[1, EXCHANGE]:
        return np.int64(-1)
    most = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return np.int64(exchange_of(t, (1 << most) - 1))


@rule
def non_placements(t, s, kept, desk, room):
    """List all exchanges, or passing, where simple play would not make the best placement; how many then."""
    if fallback_action(t, s, best_value(kept, desk), desk) >= 0:
        n = legal_actions(t, s, room)
        while n > 0 and room[n - 1] >= placements(t):
            n -= 1
            desk.chosen[kept] = room[n]
            kept += 1
    return kept


@rule
def top_placements(t, s, start, keep, desk):
    """List the placements that are worth the most by `desk.worth`, extra turn included; how many."""
    kept, least = 0, np.float32(NOTHING_YET)
    slots = len(t.slots)
    start %= slots
    hand = in_hand(t, s, s.seat)
    for j in range(slots):
        slot = (start + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            if ways == NOTHING or ceiling(t, s, slot, desk.worth) <= least:
                continue
            while ways != NOTHING:
                action = encode(slot, first_arrangement(ways))
                value = worth_of(t, s, action, desk.worth)
                if value > least:
                    kept = insert(action, value, kept, keep, desk)
                    least = threshold(kept, keep, desk)
                ways &= ways - ONE
    return kept


@rule
def track_features(t, s, seat, out):
    """The best and second-best place on the board, the best with the hand, and how many places that has."""
    hand = in_hand(t, s, seat)
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            edges, star = most_edges(t, s, slot)
            points = np.float32(points_for(edges, star))
            if points > out[0, 0]:
                out[0, 1] = out[0, 0]
                out[0, 0] = points
            elif points > out[0, 1]:
                out[0, 1] = points
            ways = allowed(t, s, slot) & hand
            while ways != NOTHING:
                edges, star = matching_edges(t, s, encode(slot, first_arrangement(ways)))
                out[0, 2] = max(out[0, 2], np.float32(points_for(edges, star)))
                out[0, 3] += 1
                ways &= ways - ONE
    out[0, 0] *= np.float32(0.1)
    out[0, 1] *= np.float32(0.1)
    out[0, 2] *= np.float32(0.1)
    out[0, 3] *= np.float32(0.05)


@rule
def expected_gain(t, s, seat, known, desk):
    """What a seat's next placement is worth on average, extra turn included, as the board is now."""
    best, order = desk.best, desk.kinds
    for kind in range(len(t.ways)):
        best[kind] = 0
    least = np.float32(0.0)  # of the best so far: where nothing beats it, no tile needs to be tried
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE and ceiling(t, s, slot, desk.worth) > least:
            ways = allowed(t, s, slot)
            while ways != NOTHING:
                arrangement = first_arrangement(ways)
                kind = t.kind_of[arrangement]
                best[kind] = max(best[kind], worth_of(t, s, encode(slot, arrangement), desk.worth))
                ways &= ways - ONE
            least = best[0]
            for kind in range(1, len(t.ways)):
                least = min(least, best[kind])
    sure = np.float32(0.0)
    draws = np.int64(HAND)
    if known:
        for i in range(s.held[seat]):
            sure = max(sure, best[s.hands[seat, i]])
        draws -= s.held[seat]
    return expected_best(s.bag, np.int64(s.unseen), draws, sure, best, order)


@rule
def most_edges(t, s, slot):
    """How many outer edges of a place could meet their own colour, and whether it covers a star."""
    edges, star = 0, 0
    for k in range(3):
        cell = t.slots[slot, k]
        most = 0
        for colour in range(s.match.shape[1]):
            most = max(most, np.int64(s.match[cell, colour]))
        edges += most
        star |= t.star[cell]
    return edges, star


@rule
def ceiling(t, s, slot, worth):
    """What no tile on a place can be worth more than."""
    edges, star = most_edges(t, s, slot)
    return worth_of_edges(edges, star, worth)


@rule
def worth_of_edges(edges, star, worth):
    """What the points for matching edges and the extra turn for many are worth."""
    value = worth[0, min(points_for(edges, star), MAX_POINTS - 1)]
    return value + worth[1, EXTRA_TURN] if edges >= ENOUGH else value


@rule
def worth_of(t, s, action, worth):
    """What the points of a placement and its extra turn are worth."""
    edges, star = matching_edges(t, s, action)
    return worth_of_edges(edges, star, worth)
