"""The turn in trio: legal actions and their effects. Numbers in parentheses refer to the rules page."""

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
from ..runtime.bitsets import NONE, ONE
from ..runtime.compile import rule, rule_noinline
from ..runtime.describing import EXCHANGE, PASS, describe_plain, describe_slot, write_bonus, write_point
from ..runtime.hands import draw_to_hand, remove_from_hand, return_aside, set_aside
from ..runtime.state import DRAW, HIDDEN, NO_TILE, OVER, PLACE, REMOVE
from ..runtime.xorshift import randint
from .board import (
    ARRANGEMENTS,
    COVERED,
    EMPTY,
    EXTRA_TURN_EDGES,
    FREE,
    HAND,
    LIVE,
    SUBSETS,
    allowed,
    any_tile_fits,
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

# ---------------------------------------------------------------- legal actions


@rule
def placement_refusal(c, s, slot, arrangement):
    """Return the reason why an arrangement cannot be placed on a slot, `OK` if it can."""
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
    """Return the reason why an action is illegal for the seat to move, `OK` if it is legal."""
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
def exchange_refusal(c, s, subset):
    """Return the reason why a subset of the hand cannot be exchanged, `OK` if it can (3, 7).

    Subsets with the same tiles have one id: of several equal tiles, the first ones must be chosen.
    """
    size = 0
    for i in range(HAND):
        if (subset >> i) & 1:
            size += 1
            if i >= s.held[s.seat]:
                return NOT_IN_HAND
            if i > 0 and s.hands[s.seat, i] == s.hands[s.seat, i - 1] and not (subset >> (i - 1)) & 1:
                return NOT_IN_HAND
    return EXCHANGE_TOO_MANY if size > s.in_bag else OK


@rule
def legal_actions(c, s, out):
    """Write the legal actions, ascending, and return their number."""
    if s.phase != PLACE:
        return 0
    n = 0
    hand = in_hand(c, s, s.seat)
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            arrangement = 0
            while ways != NONE:
                if ways & ONE:
                    out[n] = encode(slot, arrangement)
                    n += 1
                ways >>= ONE
                arrangement += 1
    if s.in_bag > 0:
        for subset in range(1, SUBSETS + 1):
            if exchange_refusal(c, s, subset) == OK:
                out[n] = exchange_of(c, subset)
                n += 1
    elif n == 0:
        out[n] = passing(c)
        n += 1
    return n


# ---------------------------------------------------------------- effects of actions


@rule
def apply(c, s, action):
    """Apply a legal action or a chance outcome, up to the next decision or draw."""
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
    """Write the points of a placement into `s.gain` (6; solo 11). Other actions score nothing."""
    s.gain[0] = 0
    if action < placements(c):
        edges, star = matching_edges(c, s, action)
        s.gain[0] = points_in_game(c, edges, star)


@rule
def points_in_game(c, edges, star):
    """Return the points for matching edges, in a solo game with those in place of an extra turn (6, 11)."""
    points = points_for(edges, star)
    return points + 3 if c.players == 1 and edges >= EXTRA_TURN_EDGES else points


@rule_noinline
def explain(c, s, action, rows):
    """Write the squares that match a neighbouring square of the tile, return their number (6; solo 11)."""
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    edges, star = matching_edges(c, s, action)
    n = np.int64(0)
    for k in range(3):
        cell = c.slots[slot, k]
        for d in range(c.near.shape[1]):
            if s.cells[c.near[cell, d]] == c.colours[arrangement, k]:
                n = write_point(rows, n, c.near[cell, d], cell, 0, points_for(1, star))
    score(c, s, action)
    bonus = s.gain[0] - points_for(edges, star)
    return write_bonus(rows, n, 0, bonus) if bonus > 0 else n


@rule
def describe(c, s, action, rows, at):
    """Write an action as numbers to the row `at`: a placement, the exchange of some tiles, or the pass."""
    if action < placements(c):
        slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
        describe_slot(c, s, slot, arrangement, c.kind_of[arrangement], rows, at)
    elif action < passing(c):
        describe_plain(EXCHANGE, action - placements(c) + 1, rows, at)
    else:
        describe_plain(PASS, 0, rows, at)


@rule
def place(c, s, action):
    """Place and score a tile, then draw one if the bag is not empty."""
    score(c, s, action)
    edges, _ = matching_edges(c, s, action)
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    s.again = c.players > 1 and edges >= EXTRA_TURN_EDGES
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
def exchange(c, s, subset):
    """Set a subset of the hand aside and draw as many tiles; the old ones return after the draw (3, 7)."""
    s.again = False
    s.idle += 1
    s.due = 0
    for i in range(HAND - 1, -1, -1):
        if (subset >> i) & 1:
            set_aside(s, s.seat, s.hands[s.seat, i])
            s.due += 1
    s.phase = DRAW


@rule
def tiles_exchanged(c, s, action):
    """Return the number of tiles that an exchange or a pass exchanges."""
    return np.int64(0) if action == passing(c) else count(np.uint64(action - placements(c) + 1))


@rule
def draw(c, s, kind):
    """Move a drawn tile to the hand; after the last one, continue the deal or start the next turn."""
    draw_to_hand(s, s.seat, kind)
    s.due -= 1
    if s.due > 0:
        return
    if c.players == 1:  # solo, exchanged tiles leave the game (11)
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
    """Remove a tile unseen for the short game (10); after the last one, start the deal."""
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
    """Start the next turn, an extra one of the same seat or that of the next seat, or end the game (6, 8)."""
    if not s.again:
        s.seat = (s.seat + 1) % c.players
    s.again = False
    s.phase = PLACE
    if (c.players > 1 and s.idle >= 3 * c.players) or (
        not fits_somewhere(c, s, in_hand(c, s, s.seat)) and not any_tile_fits(c, s)
    ):
        s.phase = OVER


# ---------------------------------------------------------------- legal actions by index, and as a mask


@rule
def count_placements(c, s):
    """Return the number of legal placements."""
    hand = in_hand(c, s, s.seat)
    total = 0
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE:
            total += count(allowed(c, s, slot) & hand)
    return total


@rule
def count_exchanges(c, s):
    """Return the number of legal exchanges."""
    total = 0
    if s.in_bag > 0:
        for subset in range(1, SUBSETS + 1):
            total += exchange_refusal(c, s, subset) == OK
    return total


@rule
def count_legal(c, s):
    """Return the number of legal actions."""
    return max(count_placements(c, s) + count_exchanges(c, s), 1) if s.phase == PLACE else 0


@rule
def nth_placement(c, s, n):
    """Return the n-th legal placement in ascending order, counted from 0."""
    hand = in_hand(c, s, s.seat)
    slot = 0
    while True:
        if s.slot[slot] == LIVE:
            ways = allowed(c, s, slot) & hand
            size = count(ways)
            if n < size:
                return encode(slot, nth_arrangement(ways, n))
            n -= size
        slot += 1


@rule
def nth_exchange(c, s, n):
    """Return the n-th legal exchange in ascending order, counted from 0."""
    subset = 0
    while n >= 0:
        subset += 1
        n -= exchange_refusal(c, s, subset) == OK
    return exchange_of(c, subset)


@rule
def nth_legal(c, s, n):
    """Return the n-th legal action in ascending order, counted from 0."""
    placed = count_placements(c, s)
    if n < placed:
        return nth_placement(c, s, n)
    return nth_exchange(c, s, n - placed) if s.in_bag > 0 else passing(c)


@rule
def sample_legal(c, s, rng):
    """Return a legal action, uniformly at random, without listing them."""
    exchanges = count_exchanges(c, s)
    total = exchanges + count_placements(c, s)
    if total == 0:
        return passing(c)
    nth = randint(rng, total)
    return nth_exchange(c, s, nth) if nth < exchanges else nth_placement(c, s, nth - exchanges)


@rule
def legal_mask(c, s, mask):
    """Write 1 for each legal action into a mask of zeros."""
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
            placed |= ways != NONE
    if s.in_bag > 0:
        for subset in range(1, SUBSETS + 1):
            mask[exchange_of(c, subset)] = exchange_refusal(c, s, subset) == OK
    elif not placed:
        mask[passing(c)] = 1


# ---------------------------------------------------------------- observations


@rule
def observe_board(c, s, places, out):
    """Write planes of zeros and ones: one for each colour, then empty squares, then stars."""
    colours = s.match.shape[1]
    area = len(places)
    for cell in range(area):
        shows = np.int64(s.cells[cell])
        if shows >= EMPTY:
            out[(shows if shows >= 0 else colours) * area + places[cell]] = 1
        out[(colours + 1) * area + places[cell]] = c.star[cell]


@rule
def observe_counters(c, s, seat, out, at):
    """Write the number of consecutive exchanges to `out[at]`."""
    out[at] = s.idle


@rule
def add_hidden(c, s, seat, counts, at):
    """Count removed tiles, and tiles that another seat exchanges, by kind."""
    for kind in range(len(s.removed)):
        counts[at + kind] += s.removed[kind]
    if s.seat != seat:
        for i in range(s.n_aside):
            if s.aside[i] != HIDDEN:
                counts[at + s.aside[i]] += 1
