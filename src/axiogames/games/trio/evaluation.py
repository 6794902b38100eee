"""Evaluation hooks of trio: greedy and best placements, exchanges, features and expected gains."""

from __future__ import annotations

import numpy as np

from ...errors import OK
from ..runtime.bitsets import NONE, without_lowest
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
    EXTRA_TURN_EDGES,
    HAND,
    LIVE,
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
from .rules import exchange_refusal, points_in_game, score


@rule
def greedy_action(c, s, rng):
    """Return the placement with the most points, else the largest exchange, and the number scored."""
    best, best_points, scored = -1, -1, 0
    slots = len(c.slots)
    start = randint(rng, slots)
    hand = in_hand(c, s, s.seat)
    for j in range(slots):
        slot = (start + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            for nth in range(count(ways)):
                action = encode(slot, nth_arrangement(ways, nth))
                score(c, s, action)
                scored += 1
                if s.gain[0] > best_points:
                    best, best_points = action, s.gain[0]
    if best >= 0:
        return best, scored
    if s.in_bag == 0:
        return passing(c), scored
    size = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return exchange_of(c, (1 << size) - 1), scored


@rule
def best_placements(c, s, gain_keys, out):
    """Write the placements with the highest key, which are those with the most points, ascending."""
    n, best = 0, 0
    hand = in_hand(c, s, s.seat)
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            if ways == NONE:
                continue
            edges, star = max_edges(c, s, slot)
            if points_in_game(c, edges, star) < best:
                continue
            while ways != NONE:
                action = encode(slot, first_arrangement(ways))
                edges, star = matching_edges(c, s, action)
                points = points_in_game(c, edges, star)
                if points > best:
                    n, best = 0, points
                if points == best:
                    out[n] = action
                    n += 1
                ways = without_lowest(ways)
    return n


@rule
def has_extra_turn(c, s):
    """Return whether the seat that has just moved has an extra turn."""
    return s.again


@rule
def fallback_action(c, s, value, scratch):
    """Return the largest exchange if its utility exceeds `value`, the pass if it is forced, else -1."""
    if s.in_bag == 0:
        return np.int64(-1) if value >= 0 else np.int64(passing(c))
    if value >= 0 and value >= scratch.utility[1, EXCHANGE]:
        return np.int64(-1)
    size = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return np.int64(exchange_of(c, (1 << size) - 1))


@rule
def non_placements(c, s, kept, scratch):
    """Append all exchanges, large ones first, or the pass, if there is a fallback action."""
    if fallback_action(c, s, best_value(kept, scratch), scratch) >= 0:
        if s.in_bag == 0:
            scratch.actions[kept] = passing(c)
            return kept + 1
        for subset in range(SUBSETS, 0, -1):
            if exchange_refusal(c, s, subset) == OK:
                scratch.actions[kept] = exchange_of(c, subset)
                kept += 1
    return kept


@rule
def top_placements(c, s, start, keep, scratch):
    """List up to `keep` placements with the highest utility, the best first, and return their number.

    Unlike in the default, the utility includes that of an extra turn.
    """
    kept, least = 0, np.float32(NOTHING_YET)
    slots = len(c.slots)
    start %= slots
    hand = in_hand(c, s, s.seat)
    for j in range(slots):
        slot = (start + j) % slots
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            if ways == NONE or max_utility(c, s, slot, scratch.utility) <= least:
                continue
            while ways != NONE:
                action = encode(slot, first_arrangement(ways))
                value = placement_utility(c, s, action, scratch.utility)
                if value > least:
                    kept = insert(action, value, kept, keep, scratch)
                    least = threshold(kept, keep, scratch)
                ways = without_lowest(ways)
    return kept


@rule
def track_features(c, s, seat, out):
    """Write the points of the two best slots, the most with the hand, and its number of placements."""
    hand = in_hand(c, s, seat)
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            edges, star = max_edges(c, s, slot)
            points = np.float32(points_for(edges, star))
            if points > out[0, 0]:
                out[0, 1] = out[0, 0]
                out[0, 0] = points
            elif points > out[0, 1]:
                out[0, 1] = points
            ways = allowed(c, s, slot) & hand
            while ways != NONE:
                edges, star = matching_edges(c, s, encode(slot, first_arrangement(ways)))
                out[0, 2] = max(out[0, 2], np.float32(points_for(edges, star)))
                out[0, 3] += 1
                ways = without_lowest(ways)
    out[0, 0] *= np.float32(0.1)
    out[0, 1] *= np.float32(0.1)
    out[0, 2] *= np.float32(0.1)
    out[0, 3] *= np.float32(0.05)


@rule
def expected_gain(c, s, seat, known, scratch):
    """Return the mean utility of a seat's next placement on the current board, with that of an extra turn.

    With `known`, the hand is the seat's current tiles and random draws; otherwise a random hand.
    """
    best, order = scratch.best, scratch.kinds
    for kind in range(len(c.ways)):
        best[kind] = 0
    least = np.float32(0.0)  # minimum of `best`; a slot that cannot exceed it is skipped
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE and max_utility(c, s, slot, scratch.utility) > least:
            ways = allowed(c, s, slot)
            while ways != NONE:
                arrangement = first_arrangement(ways)
                kind = c.kind_of[arrangement]
                best[kind] = max(
                    best[kind], placement_utility(c, s, encode(slot, arrangement), scratch.utility)
                )
                ways = without_lowest(ways)
            least = best[0]
            for kind in range(1, len(c.ways)):
                least = min(least, best[kind])
    known_best = np.float32(0.0)
    draws = np.int64(HAND)
    if known:
        for i in range(s.held[seat]):
            known_best = max(known_best, best[s.hands[seat, i]])
        draws -= s.held[seat]
    return expected_best(s.bag, np.int64(s.unseen), draws, known_best, best, order)


@rule
def max_edges(c, s, slot):
    """Return an upper bound of the matching edges on a slot, and whether it covers a star."""
    edges, star = 0, 0
    for k in range(3):
        cell = c.slots[slot, k]
        matches = 0
        for colour in range(s.match.shape[1]):
            matches = max(matches, np.int64(s.match[cell, colour]))
        edges += matches
        star |= c.star[cell]
    return edges, star


@rule
def max_utility(c, s, slot, utility):
    """Return an upper bound of the utility of placements on a slot."""
    edges, star = max_edges(c, s, slot)
    return edges_utility(edges, star, utility)


@rule
def edges_utility(edges, star, utility):
    """Return the utility of the points for matching edges and of the extra turn that they win."""
    value = utility[0, min(points_for(edges, star), MAX_POINTS - 1)]
    return value + utility[1, EXTRA_TURN] if edges >= EXTRA_TURN_EDGES else value


@rule
def placement_utility(c, s, action, utility):
    """Return the utility of the points of a placement and of its extra turn."""
    edges, star = matching_edges(c, s, action)
    return edges_utility(edges, star, utility)
