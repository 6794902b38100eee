"""The turn in the edge-matching game: who may do what, and what it leads to."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule, seldom
from ...engine.hands import give, put_aside, return_aside, take
from ...engine.lots import drawn
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
from .board import (
    ARRANGEMENTS,
    COVERED,
    ENOUGH,
    FREE,
    HAND,
    LIVE,
    NOTHING,
    ONE,
    SUBSETS,
    allowed,
    anybody_could_place,
    encode,
    exchange_of,
    fits_somewhere,
    in_hand,
    lay,
    matching_edges,
    passing,
    placements,
    points_for,
)

# ---------------------------------------------------------------- what may be done


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
def rate(t, s, action):
    """Write the points of a placement into `s.gain` (6; alone 11). Other actions score nothing."""
    s.gain[0] = 0
    if action < placements(t):
        edges, star = matching_edges(t, s, action)
        s.gain[0] = points_for(edges, star)
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
    give(s, s.seat, t.kind_of[arrangement])
    for k in range(3):
        lay(t, s, t.slots[slot, k], t.colours[arrangement, k])
    if s.in_bag > 0:
        s.due = 1
        s.phase = DRAW
    else:
        next_turn(t, s)


@rule
def exchange(t, s, chosen):
    """Lay tiles aside and draw as many; they return after the draw (3, 7)."""
    s.again = False
    s.idle += 1
    s.due = 0
    for i in range(HAND - 1, -1, -1):
        if (chosen >> i) & 1:
            put_aside(s, s.seat, s.hands[s.seat, i])
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
