"""The turn in the edge-matching game: who may do what, and what it leads to."""

from __future__ import annotations

import numpy as np

from ...errors import (
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
from ..runtime.compile import rule, rule_noinline
from ..runtime.hands import draw_to_hand, remove_from_hand, return_aside, set_aside
from ..runtime.state import DRAW, HIDDEN, NO_TILE, OVER, PLACE, REMOVE
from ..runtime.xorshift import randint
from .board import (
    ARRANGEMENTS,
    COVERED,
    EMPTY,
    ENOUGH,
    FREE,
    HAND,
    LIVE,
    NOTHING,
    ONE,
    SUBSETS,
    allowed,
    anybody_could_place,
    count,
    encode,
    exchange_of,
    fits_somewhere,
    in_hand,
    matching_edges,
    nth_arrangement,
    passing,
    placements,
    points_for,
    set_cell,
)

# ---------------------------------------------------------------- what may be done


@rule
def placement_refusal(c, s, slot, arrangement):
    """Why these colours may not lie on a slot, `OK` if they may."""
    if s.slot[slot] == COVERED:
        return OCCUPIED
    if not (in_hand(c, s, s.seat) >> np.uint64(arrangement)) & ONE:
        return NOT_IN_HAND
    if s.slot[slot] == FREE:
        return NO_EDGE_MATCHES
    if (allowed(c, s, slot) >> np.uint64(arrangement)) & ONE:
        return OK
    return NO_EDGE_MATCHES if c.children else COLOURS_DO_NOT_MATCH


@rule
def refusal(c, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    if action < placements(c):
        slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
        return placement_refusal(c, s, slot, arrangement)
    if action == passing(c):
        if fits_somewhere(c, s, in_hand(c, s, s.seat)):
            return CAN_PLACE
        return OK if s.in_bag == 0 else BAG_NOT_EMPTY
    if s.in_bag == 0:
        return BAG_EMPTY
    return exchange_refusal(c, s, action - placements(c) + 1)


@rule
def exchange_refusal(c, s, actions):
    """Why these tiles may not be exchanged (3, 7). Of equal tiles the first ones stand for any."""
    count = 0
    for i in range(HAND):
        if (actions >> i) & 1:
            count += 1
            if i >= s.held[s.seat]:
                return NOT_IN_HAND
            if i > 0 and s.hands[s.seat, i] == s.hands[s.seat, i - 1] and not (actions >> (i - 1)) & 1:
                return NOT_IN_HAND
    return EXCHANGE_TOO_MANY if count > s.in_bag else OK


@rule
def legal_actions(c, s, out):
    """Write all legal actions in ascending order; how many there are."""
    if s.phase != PLACE:
        return 0
    n = 0
    hand = in_hand(c, s, s.seat)
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            arrangement = 0
            while ways != NOTHING:
                if ways & ONE:
                    out[n] = encode(slot, arrangement)
                    n += 1
                ways >>= ONE
                arrangement += 1
    if s.in_bag > 0:
        for actions in range(1, SUBSETS + 1):
            if exchange_refusal(c, s, actions) == OK:
                out[n] = exchange_of(c, actions)
                n += 1
    elif n == 0:
        out[n] = passing(c)
        n += 1
    return n


# ---------------------------------------------------------------- what it leads to


@rule
def apply(c, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
    if s.phase == DRAW:
        draw(c, s, action)
    elif s.phase == REMOVE:
        remove(c, s, action)
    elif action < placements(c):
        place(c, s, action)
    elif action == passing(c):
        next_turn(c, s)
    else:
        exchange(c, s, action - placements(c) + 1)


@rule
def score(c, s, action):
    """Write the points of a placement into `s.gain` (6; alone 11). Other actions score nothing."""
    s.gain[0] = 0
    if action < placements(c):
        edges, star = matching_edges(c, s, action)
        s.gain[0] = points_for(edges, star)
        if c.players == 1 and edges >= ENOUGH:
            s.gain[0] += 3


@rule
def place(c, s, action):
    """Place and score a tile, then draw one while there are any."""
    score(c, s, action)
    edges, _ = matching_edges(c, s, action)
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    s.again = c.players > 1 and edges >= ENOUGH
    s.scores[s.seat, 0] += s.gain[0]
    s.idle = 0
    remove_from_hand(s, s.seat, c.kind_of[arrangement])
    for k in range(3):
        set_cell(c, s, c.slots[slot, k], c.colours[arrangement, k])
    if s.in_bag > 0:
        s.due = 1
        s.phase = DRAW
    else:
        next_turn(c, s)


@rule
def exchange(c, s, actions):
    """Lay tiles aside and draw as many; they return after the draw (3, 7)."""
    s.again = False
    s.idle += 1
    s.due = 0
    for i in range(HAND - 1, -1, -1):
        if (actions >> i) & 1:
            set_aside(s, s.seat, s.hands[s.seat, i])
            s.due += 1
    s.phase = DRAW


@rule
def draw(c, s, kind):
    """A drawn tile comes into the hand; after the last one the turn or the deal goes on."""
    draw_to_hand(s, s.seat, kind)
    s.due -= 1
    if s.due > 0:
        return
    if c.players == 1:  # alone, exchanged tiles leave the game (11)
        for i in range(s.n_aside):
            s.aside[i] = NO_TILE
        s.n_aside = 0
    else:
        return_aside(s)
    if s.dealing > 1:
        s.seat += 1
        s.due = HAND
    else:
        next_turn(c, s)
    s.dealing = max(s.dealing - 1, 0)


@rule_noinline
def remove(c, s, kind):
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
def next_turn(c, s):
    """The next turn, an extra one of the same seat or the next seat's, unless the game is over (6, 8)."""
    if not s.again:
        s.seat = (s.seat + 1) % c.players
    s.again = False
    s.phase = PLACE
    if (c.players > 1 and s.idle >= 3 * c.players) or (
        not fits_somewhere(c, s, in_hand(c, s, s.seat)) and not anybody_could_place(c, s)
    ):
        s.phase = OVER


@rule
def count_placements(c, s):
    """How many placements are legal."""
    hand = in_hand(c, s, s.seat)
    total = 0
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            total += count(allowed(c, s, slot) & hand)
    return total


@rule
def count_exchanges(c, s):
    """How many exchanges are legal."""
    total = 0
    if s.in_bag > 0:
        for actions in range(1, SUBSETS + 1):
            total += exchange_refusal(c, s, actions) == OK
    return total


@rule
def count_legal(c, s):
    """How many legal actions there are."""
    return max(count_placements(c, s) + count_exchanges(c, s), 1) if s.phase == PLACE else 0


@rule
def nth_placement(c, s, n):
    """The n-th legal placement in ascending order, counted from 0."""
    hand = in_hand(c, s, s.seat)
    slot = 0
    while True:
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            here = count(ways)
            if n < here:
                return encode(slot, nth_arrangement(ways, n))
            n -= here
        slot += 1


@rule
def nth_exchange(c, s, n):
    """The n-th legal exchange in ascending order, counted from 0."""
    actions = 0
    while n >= 0:
        actions += 1
        n -= exchange_refusal(c, s, actions) == OK
    return exchange_of(c, actions)


@rule
def nth_legal(c, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    placed = count_placements(c, s)
    if n < placed:
        return nth_placement(c, s, n)
    return nth_exchange(c, s, n - placed) if s.in_bag > 0 else passing(c)


@rule
def sample_legal(c, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    exchanges = count_exchanges(c, s)
    total = exchanges + count_placements(c, s)
    if total == 0:
        return passing(c)
    nth = randint(rng, total)
    return nth_exchange(c, s, nth) if nth < exchanges else nth_placement(c, s, nth - exchanges)


@rule
def legal_mask(c, s, mask):
    """Write 1 for every legal action into a mask of zeros."""
    if s.phase != PLACE:
        return
    hand = in_hand(c, s, s.seat)
    placed = 0
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            for arrangement in range(ARRANGEMENTS):
                if (ways >> np.uint64(arrangement)) & ONE:
                    mask[encode(slot, arrangement)] = 1
            placed |= ways != NOTHING
    if s.in_bag > 0:
        for actions in range(1, SUBSETS + 1):
            mask[exchange_of(c, actions)] = exchange_refusal(c, s, actions) == OK
    elif not placed:
        mask[passing(c)] = 1


@rule
def observe_board(c, s, places, out):
    """Write 1 where each plane shows something: a plane for each colour, then empty squares, then stars."""
    colours = s.match.shape[1]
    area = len(places)
    for cell in range(area):
        shows = np.int64(s.cells[cell])
        if shows >= EMPTY:
            out[(shows if shows >= 0 else colours) * area + places[cell]] = 1
        out[(colours + 1) * area + places[cell]] = c.star[cell]


@rule
def observe_counters(c, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.idle


@rule
def add_hidden(c, s, seat, counts, at):
    """Count tiles that are hidden elsewhere than in hands: those set aside, and others' exchanged ones."""
    for kind in range(len(s.removed)):
        counts[at + kind] += s.removed[kind]
    if s.seat != seat:
        for i in range(s.n_aside):
            if s.aside[i] != HIDDEN:
                counts[at + s.aside[i]] += 1
