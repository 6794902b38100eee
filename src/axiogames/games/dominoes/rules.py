"""The turn in the domino family: legal actions and their effects.

Numbers in parentheses refer to the rules page of the square game; the hexagonal game has the same rules.
"""

from __future__ import annotations

import numpy as np

from ...errors import EXCHANGE_NOT_ALLOWED, FIRST_TILE, GAME_OVER, NOT_IN_HAND, OCCUPIED, OFFER_OPEN, OK
from ..runtime.bitsets import (
    NONE,
    ONE,
    WORD_BITS,
    as_bytes,
    count,
    iterate_from,
    lowest_member,
    next_word,
    nth,
    nth_in_word,
    without_lowest,
    write_bytes,
)
from ..runtime.compile import rule, rule_noinline
from ..runtime.describing import EXCHANGE, KEEP, describe_plain, describe_slot
from ..runtime.hands import draw_to_hand, find_in_hand, remove_from_hand, return_aside, set_aside
from ..runtime.state import DRAW, OFFER, OVER, PLACE
from ..runtime.xorshift import randint
from .board import PYRAMID, SPENT, decode, encode, is_free, placements, put_pyramids, set_cell
from .scoring import score

# ---------------------------------------------------------------- legal actions


@rule
def refusal(c, s, action):
    """Return the reason why an action is illegal for the seat to move, `OK` if it is legal."""
    if s.phase == OVER:
        return GAME_OVER
    if s.phase == OFFER:
        return OK if action >= placements(c) else OFFER_OPEN
    if action >= placements(c):
        return EXCHANGE_NOT_ALLOWED
    slot, ca, cb = decode(c, action)
    if not is_free(c, s, slot):
        return OCCUPIED
    if find_in_hand(s, s.seat, c.kind_of[ca, cb]) < 0:
        return NOT_IN_HAND
    if not suits_first(c, s, slot):
        return FIRST_TILE
    return OK


@rule
def is_first(s):
    """Return whether the seat to move has not placed a tile yet."""
    return not (s.begun >> s.seat) & 1


@rule
def suits_first(c, s, slot):
    """Return whether a slot suits a first tile: it touches an unclaimed printed symbol (5)."""
    return not is_first(s) or c.touch[slot] & ~s.claimed != 0


@rule
def legal_actions(c, s, out):
    """Write the legal actions, ascending, and return their number."""
    if s.phase == OFFER:
        out[0], out[1] = placements(c), placements(c) + 1
        return 2
    n = 0
    if s.phase == PLACE:
        kinds = 0
        for i in range(s.held[s.seat]):
            kinds |= np.int64(1) << s.hands[s.seat, i]
        colours = c.kind_of.shape[0]
        at, left = iterate_from(s.free, 0)
        for _ in range(s.n_free):
            at, left = next_word(s.free, at, left)
            slot, left = lowest_member(at, left), without_lowest(left)
            if suits_first(c, s, slot):
                for ca in range(colours):
                    for cb in range(colours):
                        if (kinds >> c.kind_of[ca, cb]) & 1:
                            out[n] = encode(c, slot, ca, cb)
                            n += 1
    return n


@rule
def sample_legal(c, s, rng):
    """Return a legal action, uniformly at random, without listing them."""
    if s.phase == OFFER:
        return placements(c) + randint(rng, np.int64(2))
    if is_first(s):
        slot = nth_first_slot(c, s, randint(rng, count_first_slots(c, s)))
    else:
        slot = nth(s.free, randint(rng, np.int64(s.n_free)))
    while True:  # reject repeated tiles of a kind and reversed doubles
        i, flip = divmod(randint(rng, 2 * s.held[s.seat]), 2)
        kind = s.hands[s.seat, i]
        if (i == 0 or s.hands[s.seat, i - 1] != kind) and flip < c.ways[kind]:
            return encode(c, slot, c.pairs[kind, flip], c.pairs[kind, 1 - flip])


@rule
def first_slots_in_word(c, s, word):
    """Return the free slots for a first tile in one word of the set of slots."""
    beside = NONE
    for printed in range(len(c.beside)):
        if not (s.claimed >> printed) & 1:
            beside |= c.beside[printed, word]
    return s.free[word] & beside


@rule_noinline
def count_first_slots(c, s):
    """Return the number of free slots for a first tile."""
    slots = NONE
    for word in range(len(s.free)):
        slots += count(first_slots_in_word(c, s, word))
    return np.int64(slots)


@rule_noinline
def nth_first_slot(c, s, n):
    """Return the n-th free slot for a first tile, counted from 0; it must exist."""
    left, word = np.uint64(n), 0
    slots = first_slots_in_word(c, s, word)
    while left >= count(slots):
        left -= count(slots)
        word += 1
        slots = first_slots_in_word(c, s, word)
    return np.int64(word * WORD_BITS + nth_in_word(slots, left))


# ---------------------------------------------------------------- effects of actions


@rule
def apply(c, s, action):
    """Apply a legal action or a chance outcome, up to the next decision or draw."""
    if s.phase == DRAW:
        draw(c, s, action)
    elif action < placements(c):
        place(c, s, action)
    elif action == placements(c):
        exchange(c, s)
    else:
        refill(c, s)


@rule
def place(c, s, action):
    """Place and score a tile and set its pyramids (4-7); then start an extra placement or end the turn."""
    pyramids = score(c, s, action)
    slot, ca, cb = decode(c, action)
    a, b = c.slots[slot, 0], c.slots[slot, 1]
    if is_first(s):
        s.begun |= 1 << s.seat
        s.claimed |= c.touch[slot]
    remove_from_hand(s, s.seat, c.kind_of[ca, cb])
    set_cell(c, s, a, ca)
    set_cell(c, s, b, cb)
    if pyramids > 0:
        put_pyramids(c, s, a, b, pyramids)
    reached = count_points(c, s)
    s.extra += reached
    if c.solo:
        if s.n_free == 0:  # no tile is drawn if there is no room for it (16)
            s.phase = OVER
        else:
            refill(c, s)
    elif reached > 0 and has_won(c, s):
        s.phase = OVER
    elif s.extra > 0:
        s.extra -= 1
        begin_placement(c, s)
    elif may_exchange(c, s):
        s.phase = OFFER
    else:
        refill(c, s)


@rule
def count_points(c, s):
    """Add `s.gain` to the scores; return the number of colours that reach the cap (9, 10), 0 if solo (16)."""
    reached = 0
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
        reached += (s.gain[colour] > 0) & (s.scores[s.seat, colour] == c.cap)
    return 0 if c.solo else reached


@rule
def has_won(c, s):
    """Return whether the seat has reached the cap in every colour, which wins at once (11)."""
    for colour in range(len(s.gain)):
        if s.scores[s.seat, colour] < c.cap:
            return False
    return True


@rule
def begin_placement(c, s):
    """Let the seat place a tile; without a free slot or a tile, end the game (14)."""
    if s.n_free == 0 or s.held[s.seat] == 0:
        s.phase = OVER
    else:
        s.phase = PLACE


@rule
def may_exchange(c, s):
    """Return whether the seat may exchange its hand: it shows none of its lowest colours (12)."""
    if s.in_bag < c.hand or s.held[s.seat] == 0:
        return False
    lowest = s.scores[s.seat, 0]
    for colour in range(1, len(s.gain)):
        lowest = min(lowest, s.scores[s.seat, colour])
    lowest_colours, shown = 0, 0
    for colour in range(len(s.gain)):
        lowest_colours |= (s.scores[s.seat, colour] == lowest) << colour
    for i in range(s.held[s.seat]):
        shown |= c.shows[s.hands[s.seat, i]]
    return lowest_colours & shown == 0


@rule
def exchange(c, s):
    """Set the hand aside and draw a new one; the old tiles return to the bag after the draw (12)."""
    while s.held[s.seat] > 0:
        set_aside(s, s.seat, s.hands[s.seat, s.held[s.seat] - 1])
    s.due = c.hand
    s.phase = DRAW


@rule
def tiles_exchanged(c, s, action):
    """Return the number of tiles that an action exchanges: all of the hand, or none."""
    return np.int64(s.held[s.seat]) if action == placements(c) else np.int64(0)


@rule
def refill(c, s):
    """Let the seat draw up to a full hand, as far as the bag allows (13)."""
    s.due = min(c.hand - s.held[s.seat], s.in_bag)
    if s.due > 0:
        s.phase = DRAW
    else:
        next_turn(c, s)


@rule
def draw(c, s, kind):
    """Move a drawn tile to the hand; after the last one, deal to the next seat or start its turn."""
    draw_to_hand(s, s.seat, kind)
    s.due -= 1
    if s.due == 0:
        return_aside(s)
        if s.dealing > 1:
            s.seat += 1
            s.due = c.hand
        else:
            next_turn(c, s)
        s.dealing = max(s.dealing - 1, 0)


@rule
def next_turn(c, s):
    """Start the turn of the next seat."""
    s.seat = s.seat + 1 if s.seat + 1 < c.players else 0  # faster than a remainder
    begin_placement(c, s)


# ---------------------------------------------------------------- legal actions by index, and as a mask


@rule
def ways_in_hand(c, s):
    """Return the number of ways to place a tile of the hand on one slot; equal tiles count once."""
    ways = 0
    for i in range(s.held[s.seat]):
        kind = s.hands[s.seat, i]
        if i == 0 or s.hands[s.seat, i - 1] != kind:
            ways += c.ways[kind]
    return ways


@rule
def count_legal(c, s):
    """Return the number of legal actions."""
    if s.phase == PLACE:
        return ways_in_hand(c, s) * (count_first_slots(c, s) if is_first(s) else np.int64(s.n_free))
    return 2 if s.phase == OFFER else 0


@rule
def nth_legal(c, s, n):
    """Return the n-th legal action in ascending order, counted from 0."""
    if s.phase == OFFER:
        return placements(c) + n
    ways = ways_in_hand(c, s)
    nth_slot, way = n // ways, n % ways
    slot = nth_first_slot(c, s, nth_slot) if is_first(s) else nth(s.free, nth_slot)
    kinds = np.int64(0)
    for i in range(s.held[s.seat]):
        kinds |= np.int64(1) << s.hands[s.seat, i]
    colours = c.kind_of.shape[0]
    pair = -1
    while way >= 0:
        pair += 1
        way -= (kinds >> c.kind_of[pair // colours, pair % colours]) & 1
    return np.int64(slot) * colours * colours + pair


@rule
def legal_mask(c, s, mask):
    """Write 1 for each legal action into a mask of zeros."""
    if s.phase == OFFER:
        mask[placements(c)] = mask[placements(c) + 1] = 1
    elif s.phase == PLACE:
        first = is_first(s)
        colours, ways = c.kind_of.shape[0], NONE
        for i in range(s.held[s.seat]):
            kind = s.hands[s.seat, i]
            ca, cb = np.uint64(c.pairs[kind, 0]), np.uint64(c.pairs[kind, 1])
            ways |= ONE << (ca * np.uint64(colours) + cb)
            ways |= ONE << (cb * np.uint64(colours) + ca)
        size = np.uint64(colours * colours)
        for n in range(len(s.free)):
            word = first_slots_in_word(c, s, n) if first else s.free[n]
            while word != NONE:  # every slot gets the same bytes, eight at a time; the last eight overlap
                start = np.uint64(lowest_member(n, word)) * size
                word = without_lowest(word)
                for eight in range(colours * colours // 8):
                    write_bytes(mask, start + np.uint64(8 * eight), as_bytes(ways >> np.uint64(8 * eight)))
                last = size - np.uint64(8)
                write_bytes(mask, start + last, as_bytes(ways >> last))


# ---------------------------------------------------------------- descriptions


@rule
def describe(c, s, action, rows, at):
    """Write an action to the row `at`: a placement, the exchange of the whole hand, or to keep it."""
    if action == placements(c):
        describe_plain(EXCHANGE, (1 << np.int64(s.held[s.seat])) - 1, rows, at)
    elif action > placements(c):
        describe_plain(KEEP, 0, rows, at)
    else:
        slot, ca, cb = decode(c, action)
        way = np.int64(action) % c.kind_of.size
        describe_slot(c, s, slot, way, c.kind_of[ca, cb], rows, at)


# ---------------------------------------------------------------- observations


@rule
def observe_board(c, s, places, out):
    """Write one-hot planes: one for each colour, empty cells, pyramids, spent cells.

    `places` holds the index of each cell in a plane. Boards without pyramids lack the last two planes.
    """
    colours = c.kind_of.shape[0]
    area = len(out) // (colours + (3 if c.pyramids > 0 else 1))
    for cell in range(len(places)):
        shows = np.int64(s.cells[cell])
        if shows == PYRAMID:
            plane = colours + 1
        elif shows == SPENT:
            plane = colours + 2
        else:
            plane = shows if shows >= 0 else colours
        out[plane * area + places[cell]] = 1


@rule
def observe_counters(c, s, seat, out, at):
    """Write extra placements, pyramids, seats that have begun, and claimed symbols from `out[at]` on."""
    out[at] = s.extra
    out[at + 1] = s.n_pyramids
    for offset in range(c.players):
        out[at + 2 + offset] = (s.begun >> ((seat + offset) % c.players)) & 1
    for printed in range(c.printed):
        out[at + 2 + c.players + printed] = (s.claimed >> printed) & 1
