"""What players ask of the edge-matching game: the placement that is worth the most, and what is offered."""

from __future__ import annotations

import numpy as np

from ...errors import OK
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
    SUBSETS,
    allowed,
    count,
    encode,
    exchange_of,
    first_arrangement,
    in_hand,
    matching_edges,
    nth_arrangement,
    passing,
    points_for,
)
from .rules import exchange_refusal, score


@rule
def greedy_action(c, s, rng):
    """A placement with the most points now, else all new tiles, and how many placements were rated."""
    best, best_points, rated = -1, -1, 0
    slots = len(c.slots)
    first = randint(rng, slots)
    hand = in_hand(c, s, s.seat)
    for j in range(slots):
        slot = (first + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            for nth in range(count(ways)):
                action = encode(slot, nth_arrangement(ways, nth))
                score(c, s, action)
                rated += 1
                if s.gain[0] > best_points:
                    best, best_points = action, s.gain[0]
    if best >= 0:
        return best, rated
    if s.in_bag == 0:
        return passing(c), rated
    most = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return exchange_of(c, (1 << most) - 1), rated


@rule
def has_extra_turn(c, s):
    """Whether the seat that has just moved has an extra turn."""
    return s.again


@rule
def fallback_action(c, s, value, scratch):
    """What simple play does rather than make a placement that is worth so much: take all new tiles."""
    if s.in_bag == 0:
        return np.int64(-1) if value >= 0 else np.int64(passing(c))
    if value >= 0 and value >= scratch.utility[1, EXCHANGE]:
        return np.int64(-1)
    most = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return np.int64(exchange_of(c, (1 << most) - 1))


@rule
def non_placements(c, s, kept, scratch):
    """Append all exchanges, of most tiles first, or passing, where simple play would not place a tile."""
    if fallback_action(c, s, best_value(kept, scratch), scratch) >= 0:
        if s.in_bag == 0:
            scratch.actions[kept] = passing(c)
            return kept + 1
        for actions in range(SUBSETS, 0, -1):
            if exchange_refusal(c, s, actions) == OK:
                scratch.actions[kept] = exchange_of(c, actions)
                kept += 1
    return kept


@rule
def top_placements(c, s, start, keep, scratch):
    """List the placements that are worth the most by `scratch.utility`, extra turn included; how many."""
    kept, least = 0, np.float32(NOTHING_YET)
    slots = len(c.slots)
    start %= slots
    hand = in_hand(c, s, s.seat)
    for j in range(slots):
        slot = (start + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            if ways == NOTHING or ceiling(c, s, slot, scratch.utility) <= least:
                continue
            while ways != NOTHING:
                action = encode(slot, first_arrangement(ways))
                value = worth_of(c, s, action, scratch.utility)
                if value > least:
                    kept = insert(action, value, kept, keep, scratch)
                    least = threshold(kept, keep, scratch)
                ways &= ways - ONE
    return kept


@rule
def track_features(c, s, seat, out):
    """The best and second-best place on the board, the best with the hand, and how many places that has."""
    hand = in_hand(c, s, seat)
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            edges, star = most_edges(c, s, slot)
            points = np.float32(points_for(edges, star))
            if points > out[0, 0]:
                out[0, 1] = out[0, 0]
                out[0, 0] = points
            elif points > out[0, 1]:
                out[0, 1] = points
            ways = allowed(c, s, slot) & hand
            while ways != NOTHING:
                edges, star = matching_edges(c, s, encode(slot, first_arrangement(ways)))
                out[0, 2] = max(out[0, 2], np.float32(points_for(edges, star)))
                out[0, 3] += 1
                ways &= ways - ONE
    out[0, 0] *= np.float32(0.1)
    out[0, 1] *= np.float32(0.1)
    out[0, 2] *= np.float32(0.1)
    out[0, 3] *= np.float32(0.05)


@rule
def expected_gain(c, s, seat, known, scratch):
    """What a seat's next placement is worth on average, extra turn included, as the board is now."""
    best, order = scratch.best, scratch.kinds
    for kind in range(len(c.ways)):
        best[kind] = 0
    least = np.float32(0.0)  # of the best so far: where nothing beats it, no tile needs to be tried
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE and ceiling(c, s, slot, scratch.utility) > least:
            ways = allowed(c, s, slot)
            while ways != NOTHING:
                arrangement = first_arrangement(ways)
                kind = c.kind_of[arrangement]
                best[kind] = max(best[kind], worth_of(c, s, encode(slot, arrangement), scratch.utility))
                ways &= ways - ONE
            least = best[0]
            for kind in range(1, len(c.ways)):
                least = min(least, best[kind])
    sure = np.float32(0.0)
    draws = np.int64(HAND)
    if known:
        for i in range(s.held[seat]):
            sure = max(sure, best[s.hands[seat, i]])
        draws -= s.held[seat]
    return expected_best(s.bag, np.int64(s.unseen), draws, sure, best, order)


@rule
def most_edges(c, s, slot):
    """How many outer edges of a place could meet their own colour, and whether it covers a star."""
    edges, star = 0, 0
    for k in range(3):
        cell = c.slots[slot, k]
        most = 0
        for colour in range(s.match.shape[1]):
            most = max(most, np.int64(s.match[cell, colour]))
        edges += most
        star |= c.star[cell]
    return edges, star


@rule
def ceiling(c, s, slot, utility):
    """What no tile on a place can be worth more than."""
    edges, star = most_edges(c, s, slot)
    return worth_of_edges(edges, star, utility)


@rule
def worth_of_edges(edges, star, utility):
    """What the points for matching edges and the extra turn for many are worth."""
    value = utility[0, min(points_for(edges, star), MAX_POINTS - 1)]
    return value + utility[1, EXTRA_TURN] if edges >= ENOUGH else value


@rule
def worth_of(c, s, action, utility):
    """What the points of a placement and its extra turn are worth."""
    edges, star = matching_edges(c, s, action)
    return worth_of_edges(edges, star, utility)
