"""The turn in the domino family: who may do what, and what it leads to.

The numbers in brackets are the rules of the square game; the other game of the family has the same.
"""

from __future__ import annotations

import numpy as np

from ...errors import EXCHANGE_NOT_ALLOWED, FIRST_TILE, GAME_OVER, NOT_IN_HAND, OCCUPIED, OFFER_OPEN, OK
from ..runtime.bitsets import (
    NONE,
    ONE,
    WORD,
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
from ..runtime.hands import draw_to_hand, find_in_hand, remove_from_hand, return_aside, set_aside
from ..runtime.state import DRAW, OFFER, OVER, PLACE
from ..runtime.xorshift import randint
from .board import PYRAMID, SPENT, decode, encode, is_free, placements, put_pyramids, set_cell
from .scoring import score

# ---------------------------------------------------------------- what may be done


@rule
def refusal(c, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
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
    """Whether the seat to move has not placed a tile yet."""
    return not (s.begun >> s.seat) & 1


@rule
def suits_first(c, s, slot):
    """A first tile touches a printed symbol that no other first tile touches (5)."""
    return not is_first(s) or c.touch[slot] & ~s.claimed != 0


@rule
def legal_actions(c, s, out):
    """Write all legal actions in ascending order; how many there are."""
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
    """One of the legal actions, each as likely as any other, without listing them."""
    if s.phase == OFFER:
        return placements(c) + randint(rng, np.int64(2))
    if is_first(s):
        slot = nth_first(c, s, randint(rng, first_slots(c, s)))
    else:
        slot = nth(s.free, randint(rng, np.int64(s.n_free)))
    while True:  # until it is neither a tile like the one before it nor a double turned round
        i, turned = divmod(randint(rng, 2 * s.held[s.seat]), 2)
        kind = s.hands[s.seat, i]
        if (i == 0 or s.hands[s.seat, i - 1] != kind) and turned < c.ways[kind]:
            return encode(c, slot, c.pairs[kind, turned], c.pairs[kind, 1 - turned])


@rule
def suiting_first(c, s, word):
    """The free slots of one word that suit a first tile."""
    beside = NONE
    for printed in range(len(c.beside)):
        if not (s.claimed >> printed) & 1:
            beside |= c.beside[printed, word]
    return s.free[word] & beside


@rule_noinline
def first_slots(c, s):
    """How many slots there are for a first tile."""
    slots = NONE
    for word in range(len(s.free)):
        slots += count(suiting_first(c, s, word))
    return np.int64(slots)


@rule_noinline
def nth_first(c, s, n):
    """The n-th slot for a first tile, counted from 0; there is one."""
    left, word = np.uint64(n), 0
    slots = suiting_first(c, s, word)
    while left >= count(slots):
        left -= count(slots)
        word += 1
        slots = suiting_first(c, s, word)
    return np.int64(word * WORD + nth_in_word(slots, left))


# ---------------------------------------------------------------- what it leads to


@rule
def apply(c, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
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
    """Place and score a tile, then set its pyramids (4-7); then an extra placement or the turn's end."""
    shut = score(c, s, action)
    slot, ca, cb = decode(c, action)
    a, b = c.slots[slot, 0], c.slots[slot, 1]
    if is_first(s):
        s.begun |= 1 << s.seat
        s.claimed |= c.touch[slot]
    remove_from_hand(s, s.seat, c.kind_of[ca, cb])
    set_cell(c, s, a, ca)
    set_cell(c, s, b, cb)
    if shut > 0:
        put_pyramids(c, s, a, b, shut)
    reached = count_points(c, s)
    s.extra += reached
    if c.solo:
        if s.n_free == 0:  # no tile is drawn when there is no room left for it (16)
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
    """Move the markers by `s.gain`; how many colours reached the cap by it (9, 10; never alone, 16)."""
    reached = 0
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
        reached += (s.gain[colour] > 0) & (s.scores[s.seat, colour] == c.cap)
    return 0 if c.solo else reached


@rule
def has_won(c, s):
    """The cap in every colour wins at once (11)."""
    for colour in range(len(s.gain)):
        if s.scores[s.seat, colour] < c.cap:
            return False
    return True


@rule
def begin_placement(c, s):
    """Let the seat place a tile; without room or tiles the game is over (14)."""
    if s.n_free == 0 or s.held[s.seat] == 0:
        s.phase = OVER
    else:
        s.phase = PLACE


@rule
def may_exchange(c, s):
    """A hand without any of the seat's lowest colours may be exchanged while the bag suffices (12)."""
    if s.in_bag < c.hand or s.held[s.seat] == 0:
        return False
    lowest = s.scores[s.seat, 0]
    for colour in range(1, len(s.gain)):
        lowest = min(lowest, s.scores[s.seat, colour])
    wanted, shown = 0, 0
    for colour in range(len(s.gain)):
        wanted |= (s.scores[s.seat, colour] == lowest) << colour
    for i in range(s.held[s.seat]):
        shown |= c.shows[s.hands[s.seat, i]]
    return wanted & shown == 0


@rule
def exchange(c, s):
    """Show the hand, draw a new one, then put what was shown back into the bag (12)."""
    while s.held[s.seat] > 0:
        set_aside(s, s.seat, s.hands[s.seat, s.held[s.seat] - 1])
    s.due = c.hand
    s.phase = DRAW


@rule
def refill(c, s):
    """Have the seat draw up to a full hand, as far as the bag reaches (13)."""
    s.due = min(c.hand - s.held[s.seat], s.in_bag)
    if s.due > 0:
        s.phase = DRAW
    else:
        next_turn(c, s)


@rule
def draw(c, s, kind):
    """A drawn tile comes into the hand; after the last one the next seat deals in or takes its turn."""
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
    """The next seat takes its turn."""
    s.seat = s.seat + 1 if s.seat + 1 < c.players else 0  # a remainder would take longer
    begin_placement(c, s)


@rule
def ways_in_hand(c, s):
    """How many ways there are to lay a tile of the hand on one slot; equal tiles count once."""
    ways = 0
    for i in range(s.held[s.seat]):
        kind = s.hands[s.seat, i]
        if i == 0 or s.hands[s.seat, i - 1] != kind:
            ways += c.ways[kind]
    return ways


@rule
def count_legal(c, s):
    """How many legal actions there are."""
    if s.phase == PLACE:
        return ways_in_hand(c, s) * (first_slots(c, s) if is_first(s) else np.int64(s.n_free))
    return 2 if s.phase == OFFER else 0


@rule
def nth_legal(c, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    if s.phase == OFFER:
        return placements(c) + n
    ways = ways_in_hand(c, s)
    before, way = n // ways, n % ways
    slot = nth_first(c, s, before) if is_first(s) else nth(s.free, before)
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
    """Write 1 for every legal action into a mask of zeros."""
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
            word = suiting_first(c, s, n) if first else s.free[n]
            while word != NONE:  # the same bytes for every slot, eight at a time; the last eight overlap
                start = np.uint64(lowest_member(n, word)) * size
                word = without_lowest(word)
                for eight in range(colours * colours // 8):
                    write_bytes(mask, start + np.uint64(8 * eight), as_bytes(ways >> np.uint64(8 * eight)))
                last = size - np.uint64(8)
                write_bytes(mask, start + last, as_bytes(ways >> last))


@rule
def observe_board(c, s, places, out):
    """Write 1 where each plane shows something: a plane for each colour, empty cells, pyramids, spent cells.

    `places` says where a cell lies in a plane; boards without pyramids do not have the last two planes.
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
    """Write what else there is to know from place `at` on."""
    out[at] = s.extra
    out[at + 1] = s.n_pyramids
    for turn in range(c.players):
        out[at + 2 + turn] = (s.begun >> ((seat + turn) % c.players)) & 1
    for printed in range(c.printed):
        out[at + 2 + c.players + printed] = (s.claimed >> printed) & 1
