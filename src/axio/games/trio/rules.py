"""The rules of the edge-matching game, over a table record `t` and a state record `s`.

Kept up to date for every square: how many coloured squares of each colour lie beside it
(`s.match`) and which colours those are (`s.wants`, as bits). A tile covers empty squares only, so
the coloured neighbours of the squares it will cover all lie outside it.
"""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule, seldom
from ...engine.hands import find, give, put_aside, return_aside, take
from ...engine.lots import below, drawn
from ...engine.phases import DRAW, NO_TILE, OVER, PLACE, REMOVE
from ...reasons import (
    BAG_EMPTY,
    BAG_NOT_EMPTY,
    CAN_PLACE,
    COLOURS_DO_NOT_MATCH,
    EXCHANGE_TOO_MANY,
    GAME_OVER,
    NO_EDGE_MATCHES,
    NOT_IN_HAND,
    OCCUPIED,
    OK,
)

EMPTY = -1
BLACK = -2
EDGE = -3  # the one square beyond the edge
ARRANGEMENTS = 64  # of four colours on three squares
HAND = 3
SUBSETS = (1 << HAND) - 1  # ways to choose tiles of a hand
ENOUGH = 3  # matching edges for an extra turn


@rule
def placements(t):
    """How many actions are placements; after them come the exchanges and the pass."""
    return len(t.slots) * ARRANGEMENTS


@rule
def exchange_of(t, chosen):
    """The action that exchanges the tiles of the hand whose bits are set in `chosen`."""
    return placements(t) + chosen - 1


@rule
def passing(t):
    """The action that passes."""
    return placements(t) + SUBSETS


@rule
def encode(slot, arrangement):
    """The action that puts an arrangement of colours on a slot, its first colour on the first square."""
    return np.int64(slot) * ARRANGEMENTS + arrangement


# ---------------------------------------------------------------- where a tile fits


@rule
def fits(t, s, slot, arrangement):
    """`OK`, or why these colours may not lie on this free slot (5, 10)."""
    touched, matched, wrong = 0, 0, 0
    for k in range(3):
        wants = s.wants[t.slots[slot, k]]
        match = (wants >> t.colours[arrangement, k]) & 1
        touched |= wants
        matched |= match
        wrong |= (wants != 0) & (match == 0)
    if matched == 0 and (touched == 0 or t.children):
        return NO_EDGE_MATCHES
    if wrong and not t.children:
        return COLOURS_DO_NOT_MATCH
    return OK


@rule
def is_live(t, s, slot):
    """Whether a slot is free and touches any colour, so that some tile might fit."""
    if s.covered[slot]:
        return False
    return (s.wants[t.slots[slot, 0]] | s.wants[t.slots[slot, 1]] | s.wants[t.slots[slot, 2]]) != 0


@rule
def fits_any_way(t, s, slot, kind):
    """Whether a tile fits a slot, one way round or the other."""
    one, other = t.ways[kind, 0], t.ways[kind, 1]
    return fits(t, s, slot, one) == OK or (other != one and fits(t, s, slot, other) == OK)


@rule
def can_place(t, s, seat):
    """Whether a seat can place any tile of its hand."""
    if s.held[seat] > 0:
        for slot in range(len(t.slots)):
            if is_live(t, s, slot):
                for i in range(s.held[seat]):
                    if fits_any_way(t, s, slot, s.hands[seat, i]):
                        return True
    return False


@seldom
def anybody_could_place(t, s):
    """Whether any tile in a hand or in the bag fits anywhere (8)."""
    for slot in range(len(t.slots)):
        if is_live(t, s, slot):
            for kind in range(len(t.ways)):
                if s.bag[kind] > 0 and fits_any_way(t, s, slot, kind):
                    return True
    for seat in range(t.players):
        if can_place(t, s, seat):
            return True
    return False


# ---------------------------------------------------------------- what may be done


@rule
def refusal(t, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    if action < placements(t):
        slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
        if s.covered[slot]:
            return OCCUPIED
        if find(s, s.seat, t.kind_of[arrangement]) < 0:
            return NOT_IN_HAND
        return fits(t, s, slot, arrangement)
    if action == passing(t):
        if can_place(t, s, s.seat):
            return CAN_PLACE
        return OK if s.in_bag == 0 else BAG_NOT_EMPTY
    if s.in_bag == 0:
        return BAG_EMPTY
    return exchange_refusal(t, s, action - placements(t) + 1)


@rule
def exchange_refusal(t, s, chosen):
    """Why these tiles may not be exchanged (3, 7). Of equal tiles the first ones stand for any."""
    count = 0
    for i in range(HAND):
        if (chosen >> i) & 1:
            count += 1
            if i >= s.held[s.seat]:
                return NOT_IN_HAND
            if i > 0 and s.hands[s.seat, i] == s.hands[s.seat, i - 1] and not (chosen >> (i - 1)) & 1:
                return NOT_IN_HAND
    return EXCHANGE_TOO_MANY if count > s.in_bag else OK


@rule
def legal(t, s, out):
    """Write all legal actions in ascending order; how many there are."""
    if s.phase != PLACE:
        return 0
    n = 0
    for slot in range(len(t.slots)):
        if is_live(t, s, slot):
            for arrangement in range(ARRANGEMENTS):
                if find(s, s.seat, t.kind_of[arrangement]) >= 0 and fits(t, s, slot, arrangement) == OK:
                    out[n] = encode(slot, arrangement)
                    n += 1
    if s.in_bag > 0:
        for chosen in range(1, SUBSETS + 1):
            if exchange_refusal(t, s, chosen) == OK:
                out[n] = exchange_of(t, chosen)
                n += 1
    elif n == 0:
        out[n] = passing(t)
        n += 1
    return n


@rule
def pick(t, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    exchanges = 0
    if s.in_bag > 0:
        for chosen in range(1, SUBSETS + 1):
            exchanges += exchange_refusal(t, s, chosen) == OK
    total = exchanges
    for slot in range(len(t.slots)):
        if is_live(t, s, slot):
            total += ways_on(t, s, slot, -1)
    if total == 0:
        return passing(t)
    nth = below(rng, total)
    if nth < exchanges:
        chosen = 0
        while nth >= 0:
            chosen += 1
            nth -= exchange_refusal(t, s, chosen) == OK
        return exchange_of(t, chosen)
    nth -= exchanges
    slot = 0
    while True:
        if is_live(t, s, slot):
            ways = ways_on(t, s, slot, -1)
            if nth < ways:
                return encode(slot, ways_on(t, s, slot, nth))
            nth -= ways
        slot += 1


@rule
def ways_on(t, s, slot, nth):
    """How many ways the hand fits a slot; for `nth` from 0 on, the arrangement of that way instead."""
    count = 0
    for i in range(s.held[s.seat]):
        kind = s.hands[s.seat, i]
        if i > 0 and s.hands[s.seat, i - 1] == kind:
            continue
        one, other = t.ways[kind, 0], t.ways[kind, 1]
        if fits(t, s, slot, one) == OK:
            if count == nth:
                return np.int64(one)
            count += 1
        if other != one and fits(t, s, slot, other) == OK:
            if count == nth:
                return np.int64(other)
            count += 1
    return count


@rule
def lot(t, s, rng):
    """What chance does: any unseen tile, each as likely as any other."""
    return drawn(s.bag, s.unseen, rng)


# ---------------------------------------------------------------- what it leads to


@rule
def apply(t, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
    if s.phase == DRAW:
        draw(t, s, action)
    elif s.phase == REMOVE:
        remove(t, s, action)
    elif action < placements(t):
        place(t, s, action)
    elif action == passing(t):
        next_turn(t, s)
    else:
        exchange(t, s, action - placements(t) + 1)


@rule
def matching_edges(t, s, action):
    """How many outer edges of a placement meet their own colour, and whether it covers a star (6)."""
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    edges, star = 0, 0
    for k in range(3):
        cell = t.slots[slot, k]
        edges += s.match[cell, t.colours[arrangement, k]]
        star |= t.star[cell]
    return edges, star


@rule
def rate(t, s, action):
    """Write the points of a placement into `s.gain` (6; alone 11). Other actions score nothing."""
    s.gain[0] = 0
    if action < placements(t):
        edges, star = matching_edges(t, s, action)
        s.gain[0] = 2 * edges if star else edges
        if t.players == 1 and edges >= ENOUGH:
            s.gain[0] += 3


@rule
def place(t, s, action):
    """Place and score a tile, then draw one while there are any."""
    rate(t, s, action)
    edges, _ = matching_edges(t, s, action)
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    s.again = t.players > 1 and edges >= ENOUGH
    s.scores[s.seat, 0] += s.gain[0]
    s.idle = 0
    give(s, s.seat, find(s, s.seat, t.kind_of[arrangement]))
    for k in range(3):
        lay(t, s, t.slots[slot, k], t.colours[arrangement, k])
    if s.in_bag > 0:
        s.due = 1
        s.phase = DRAW
    else:
        next_turn(t, s)


@rule
def lay(t, s, cell, colour):
    """Put a colour on a square."""
    s.cells[cell] = colour
    for d in range(t.near.shape[1]):
        around = t.near[cell, d]
        s.match[around, colour] += 1
        s.wants[around] |= 1 << colour
    for k in range(t.touching.shape[1]):
        s.covered[t.touching[cell, k]] = 1


@rule
def exchange(t, s, chosen):
    """Lay tiles aside and draw as many; they return after the draw (3, 7)."""
    s.again = False
    s.idle += 1
    s.due = 0
    for i in range(HAND - 1, -1, -1):
        if (chosen >> i) & 1:
            put_aside(s, s.seat, i)
            s.due += 1
    s.phase = DRAW


@rule
def draw(t, s, kind):
    """A drawn tile comes into the hand; after the last one the turn or the deal goes on."""
    take(s, s.seat, kind)
    s.due -= 1
    if s.due > 0:
        return
    if t.players == 1:  # alone, exchanged tiles leave the game (11)
        for i in range(s.n_aside):
            s.aside[i] = NO_TILE
        s.n_aside = 0
    else:
        return_aside(s)
    if s.dealing > 1:
        s.seat += 1
        s.due = HAND
    else:
        next_turn(t, s)
    s.dealing = max(s.dealing - 1, 0)


@seldom
def remove(t, s, kind):
    """Set a tile aside unseen for the short game (10); after the last one the deal begins."""
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    s.removed[kind] += 1
    s.due -= 1
    if s.due == 0:
        s.due = HAND
        s.phase = DRAW


@rule
def next_turn(t, s):
    """The next turn, an extra one of the same seat or the next seat's, unless the game is over (6, 8)."""
    if not s.again:
        s.seat = (s.seat + 1) % t.players
    s.again = False
    s.phase = PLACE
    if t.players > 1 and s.idle >= 3 * t.players:
        s.phase = OVER
    elif not can_place(t, s, s.seat) and not anybody_could_place(t, s):
        s.phase = OVER


@rule
def greediest(t, s, rng):
    """A placement with the most points now, else all new tiles, and how many placements were rated."""
    best, best_points, rated = -1, -1, 0
    slots = len(t.slots)
    first = below(rng, slots)
    for j in range(slots):
        slot = (first + j) % slots
        if is_live(t, s, slot):
            for nth in range(ways_on(t, s, slot, -1)):
                action = encode(slot, ways_on(t, s, slot, nth))
                rate(t, s, action)
                rated += 1
                if s.gain[0] > best_points:
                    best, best_points = action, s.gain[0]
    if best >= 0:
        return best, rated
    if s.in_bag == 0:
        return passing(t), rated
    count = min(np.int64(s.held[s.seat]), np.int64(s.in_bag))
    return exchange_of(t, (1 << count) - 1), rated
