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
from ...engine.phases import DRAW, HIDDEN, NO_TILE, OVER, PLACE, REMOVE
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

# What a slot of three squares is: empty with no colour beside it, empty with some, or not empty.
FREE, LIVE, COVERED = 0, 1, 2
NOTHING, ONE = np.uint64(0), np.uint64(1)


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
#
# A set of arrangements is a number of 64 bits, so that a whole hand is tried on a slot at once.


@rule
def allowed(t, s, slot):
    """The arrangements whose colours suit a live slot (5, 10).

    Plainly, each square with coloured neighbours shows one of their colours. With the children's rule it
    is enough that any square does; the table is made for one or the other.
    """
    one = t.suits[0, s.wants[t.slots[slot, 0]]]
    two = t.suits[1, s.wants[t.slots[slot, 1]]]
    three = t.suits[2, s.wants[t.slots[slot, 2]]]
    return one | two | three if t.children else one & two & three


@rule
def in_hand(t, s, seat):
    """All arrangements of the tiles a seat holds, as far as they are known."""
    arrangements = NOTHING
    for i in range(s.held[seat]):
        if s.hands[seat, i] != HIDDEN:
            arrangements |= t.ways[s.hands[seat, i]]
    return arrangements


@rule
def fits_somewhere(t, s, arrangements):
    """Whether any of these arrangements can be placed anywhere."""
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE and allowed(t, s, slot) & arrangements != NOTHING:
            return True
    return False


@seldom
def anybody_could_place(t, s):
    """Whether any tile in a hand or in the bag fits anywhere (8)."""
    arrangements = NOTHING
    for kind in range(len(t.ways)):
        if s.bag[kind] > 0:
            arrangements |= t.ways[kind]
    for seat in range(t.players):
        arrangements |= in_hand(t, s, seat)
    return fits_somewhere(t, s, arrangements)


@rule
def placement_refusal(t, s, slot, arrangement):
    """Why these colours may not lie on a slot, `OK` if they may."""
    if s.slot[slot] == COVERED:
        return OCCUPIED
    if not (in_hand(t, s, s.seat) >> np.uint64(arrangement)) & ONE:
        return NOT_IN_HAND
    if s.slot[slot] == FREE:
        return NO_EDGE_MATCHES
    if (allowed(t, s, slot) >> np.uint64(arrangement)) & ONE:
        return OK
    return NO_EDGE_MATCHES if t.children else COLOURS_DO_NOT_MATCH


# ---------------------------------------------------------------- what may be done


@rule
def refusal(t, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    if action < placements(t):
        slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
        return placement_refusal(t, s, slot, arrangement)
    if action == passing(t):
        if fits_somewhere(t, s, in_hand(t, s, s.seat)):
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
    hand = in_hand(t, s, s.seat)
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            arrangement = 0
            while ways != NOTHING:
                if ways & ONE:
                    out[n] = encode(slot, arrangement)
                    n += 1
                ways >>= ONE
                arrangement += 1
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
    hand = in_hand(t, s, s.seat)
    total = exchanges
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            total += count(allowed(t, s, slot) & hand)
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
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            here = count(ways)
            if nth < here:
                return encode(slot, nth_of(ways, nth))
            nth -= here
        slot += 1


@rule
def count(ways):
    """How many arrangements a set has."""
    n = 0
    while ways != NOTHING:
        ways &= ways - ONE
        n += 1
    return n


@rule
def nth_of(ways, nth):
    """The n-th arrangement of a set."""
    arrangement = -1
    while nth >= 0:
        arrangement += 1
        if (ways >> np.uint64(arrangement)) & ONE:
            nth -= 1
    return arrangement


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
    for k in range(t.touching.shape[1]):
        s.slot[t.touching[cell, k]] = COVERED
    for d in range(t.near.shape[1]):
        around = t.near[cell, d]
        s.match[around, colour] += 1
        if s.wants[around] == 0:
            for k in range(t.touching.shape[1]):
                if s.slot[t.touching[around, k]] == FREE:
                    s.slot[t.touching[around, k]] = LIVE
        s.wants[around] |= 1 << colour


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
    elif not fits_somewhere(t, s, in_hand(t, s, s.seat)) and not anybody_could_place(t, s):
        s.phase = OVER


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
