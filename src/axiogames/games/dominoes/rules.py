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
from ..runtime.xorshift import randint, sample_tile
from .board import PYRAMID, SPENT, decode, encode, is_free, placements, put_pyramids, set_cell
from .scoring import score

# ---------------------------------------------------------------- what may be done


@rule
def refusal(t, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    if s.phase == OFFER:
        return OK if action >= placements(t) else OFFER_OPEN
    if action >= placements(t):
        return EXCHANGE_NOT_ALLOWED
    slot, ca, cb = decode(t, action)
    if not is_free(t, s, slot):
        return OCCUPIED
    if find_in_hand(s, s.seat, t.kind_of[ca, cb]) < 0:
        return NOT_IN_HAND
    if not suits_first(t, s, slot):
        return FIRST_TILE
    return OK


@rule
def is_first(s):
    """Whether the seat to move has not placed a tile yet."""
    return not (s.begun >> s.seat) & 1


@rule
def suits_first(t, s, slot):
    """A first tile touches a printed symbol that no other first tile touches (5)."""
    return not is_first(s) or t.touch[slot] & ~s.claimed != 0


@rule
def legal_actions(t, s, out):
    """Write all legal actions in ascending order; how many there are."""
    if s.phase == OFFER:
        out[0], out[1] = placements(t), placements(t) + 1
        return 2
    n = 0
    if s.phase == PLACE:
        kinds = 0
        for i in range(s.held[s.seat]):
            kinds |= np.int64(1) << s.hands[s.seat, i]
        colours = t.kind_of.shape[0]
        at, left = iterate_from(s.free, 0)
        for _ in range(s.n_free):
            at, left = next_word(s.free, at, left)
            slot, left = lowest_member(at, left), without_lowest(left)
            if suits_first(t, s, slot):
                for ca in range(colours):
                    for cb in range(colours):
                        if (kinds >> t.kind_of[ca, cb]) & 1:
                            out[n] = encode(t, slot, ca, cb)
                            n += 1
    return n


@rule
def sample_legal(t, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    if s.phase == OFFER:
        return placements(t) + randint(rng, np.int64(2))
    if is_first(s):
        slot = nth_first(t, s, randint(rng, first_slots(t, s)))
    else:
        slot = nth(s.free, randint(rng, np.int64(s.n_free)))
    while True:  # until it is neither a tile like the one before it nor a double turned round
        i, turned = divmod(randint(rng, 2 * s.held[s.seat]), 2)
        kind = s.hands[s.seat, i]
        if (i == 0 or s.hands[s.seat, i - 1] != kind) and turned < t.ways[kind]:
            return encode(t, slot, t.pairs[kind, turned], t.pairs[kind, 1 - turned])


@rule
def suiting_first(t, s, word):
    """The free slots of one word that suit a first tile."""
    beside = NONE
    for printed in range(len(t.beside)):
        if not (s.claimed >> printed) & 1:
            beside |= t.beside[printed, word]
    return s.free[word] & beside


@rule_noinline
def first_slots(t, s):
    """How many slots there are for a first tile."""
    slots = NONE
    for word in range(len(s.free)):
        slots += count(suiting_first(t, s, word))
    return np.int64(slots)


@rule_noinline
def nth_first(t, s, n):
    """The n-th slot for a first tile, counted from 0; there is one."""
    left, word = np.uint64(n), 0
    slots = suiting_first(t, s, word)
    while left >= count(slots):
        left -= count(slots)
        word += 1
        slots = suiting_first(t, s, word)
    return np.int64(word * WORD + nth_in_word(slots, left))


@rule
def sample_chance(t, s, rng):
    """What chance does: any unseen tile, each as likely as any other."""
    return sample_tile(s.bag, s.unseen, rng)


# ---------------------------------------------------------------- what it leads to


@rule
def apply(t, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
    if s.phase == DRAW:
        draw(t, s, action)
    elif action < placements(t):
        place(t, s, action)
    elif action == placements(t):
        exchange(t, s)
    else:
        refill(t, s)


@rule
def place(t, s, action):
    """Place and score a tile, then set its pyramids (4-7); then an extra placement or the turn's end."""
    shut = score(t, s, action)
    slot, ca, cb = decode(t, action)
    a, b = t.slots[slot, 0], t.slots[slot, 1]
    if is_first(s):
        s.begun |= 1 << s.seat
        s.claimed |= t.touch[slot]
    remove_from_hand(s, s.seat, t.kind_of[ca, cb])
    set_cell(t, s, a, ca)
    set_cell(t, s, b, cb)
    if shut > 0:
        put_pyramids(t, s, a, b, shut)
    reached = count_points(t, s)
    s.extra += reached
    if t.solo:
        if s.n_free == 0:  # no tile is drawn when there is no room left for it (16)
            s.phase = OVER
        else:
            refill(t, s)
    elif reached > 0 and has_won(t, s):
        s.phase = OVER
    elif s.extra > 0:
        s.extra -= 1
        begin_placement(t, s)
    elif may_exchange(t, s):
        s.phase = OFFER
    else:
        refill(t, s)


@rule
def count_points(t, s):
    """Move the markers by `s.gain`; how many colours reached the cap by it (9, 10; never alone, 16)."""
    reached = 0
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
        reached += (s.gain[colour] > 0) & (s.scores[s.seat, colour] == t.cap)
    return 0 if t.solo else reached


@rule
def has_won(t, s):
    """The cap in every colour wins at once (11)."""
    for colour in range(len(s.gain)):
        if s.scores[s.seat, colour] < t.cap:
            return False
    return True


@rule
def begin_placement(t, s):
    """Let the seat place a tile; without room or tiles the game is over (14)."""
    if s.n_free == 0 or s.held[s.seat] == 0:
        s.phase = OVER
    else:
        s.phase = PLACE


@rule
def may_exchange(t, s):
    """A hand without any of the seat's lowest colours may be exchanged while the bag suffices (12)."""
    if s.in_bag < t.hand or s.held[s.seat] == 0:
        return False
    lowest = s.scores[s.seat, 0]
    for colour in range(1, len(s.gain)):
        lowest = min(lowest, s.scores[s.seat, colour])
    wanted, shown = 0, 0
    for colour in range(len(s.gain)):
        wanted |= (s.scores[s.seat, colour] == lowest) << colour
    for i in range(s.held[s.seat]):
        shown |= t.shows[s.hands[s.seat, i]]
    return wanted & shown == 0


@rule
def exchange(t, s):
    """Show the hand, draw a new one, then put what was shown back into the bag (12)."""
    while s.held[s.seat] > 0:
        set_aside(s, s.seat, s.hands[s.seat, s.held[s.seat] - 1])
    s.due = t.hand
    s.phase = DRAW


@rule
def refill(t, s):
    """Have the seat draw up to a full hand, as far as the bag reaches (13)."""
    s.due = min(t.hand - s.held[s.seat], s.in_bag)
    if s.due > 0:
        s.phase = DRAW
    else:
        next_turn(t, s)


@rule
def draw(t, s, kind):
    """A drawn tile comes into the hand; after the last one the next seat deals in or takes its turn."""
    draw_to_hand(s, s.seat, kind)
    s.due -= 1
    if s.due == 0:
        return_aside(s)
        if s.dealing > 1:
            s.seat += 1
            s.due = t.hand
        else:
            next_turn(t, s)
        s.dealing = max(s.dealing - 1, 0)


@rule
def next_turn(t, s):
    """The next seat takes its turn."""
    s.seat = s.seat + 1 if s.seat + 1 < t.players else 0  # a remainder would take longer
    begin_placement(t, s)


@rule
def ways_in_hand(t, s):
    """How many ways there are to lay a tile of the hand on one slot; equal tiles count once."""
    ways = 0
    for i in range(s.held[s.seat]):
        kind = s.hands[s.seat, i]
        if i == 0 or s.hands[s.seat, i - 1] != kind:
            ways += t.ways[kind]
    return ways


@rule
def count_legal(t, s):
    """How many legal actions there are."""
    if s.phase == PLACE:
        return ways_in_hand(t, s) * (first_slots(t, s) if is_first(s) else np.int64(s.n_free))
    return 2 if s.phase == OFFER else 0


@rule
def nth_legal(t, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    if s.phase == OFFER:
        return placements(t) + n
    ways = ways_in_hand(t, s)
    before, way = n // ways, n % ways
    slot = nth_first(t, s, before) if is_first(s) else nth(s.free, before)
    kinds = np.int64(0)
    for i in range(s.held[s.seat]):
        kinds |= np.int64(1) << s.hands[s.seat, i]
    colours = t.kind_of.shape[0]
    pair = -1
    while way >= 0:
        pair += 1
        way -= (kinds >> t.kind_of[pair // colours, pair % colours]) & 1
    return np.int64(slot) * colours * colours + pair


@rule
def legal_mask(t, s, mask):
    """Write 1 for every legal action into a mask of zeros."""
    if s.phase == OFFER:
        mask[placements(t)] = mask[placements(t) + 1] = 1
    elif s.phase == PLACE:
        first = is_first(s)
        colours, ways = t.kind_of.shape[0], NONE
        for i in range(s.held[s.seat]):
            kind = s.hands[s.seat, i]
            ca, cb = np.uint64(t.pairs[kind, 0]), np.uint64(t.pairs[kind, 1])
            ways |= ONE << (ca * np.uint64(colours) + cb)
            ways |= ONE << (cb * np.uint64(colours) + ca)
        size = np.uint64(colours * colours)
        for n in range(len(s.free)):
            word = suiting_first(t, s, n) if first else s.free[n]
            while word != NONE:  # the same bytes for every slot, eight at a time; the last eight overlap
                start = np.uint64(lowest_member(n, word)) * size
                word = without_lowest(word)
                for eight in range(colours * colours // 8):
                    write_bytes(mask, start + np.uint64(8 * eight), as_bytes(ways >> np.uint64(8 * eight)))
                last = size - np.uint64(8)
                write_bytes(mask, start + last, as_bytes(ways >> last))


@rule
def observe_board(t, s, places, out):
    """Write 1 where each plane shows something: a plane for each colour, empty cells, pyramids, spent cells.

    `places` says where a cell lies in a plane; boards without pyramids do not have the last two planes.
    """
    colours = t.kind_of.shape[0]
    area = len(out) // (colours + (3 if t.pyramids > 0 else 1))
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
def observe_counters(t, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.extra
    out[at + 1] = s.n_pyramids
    for turn in range(t.players):
        out[at + 2 + turn] = (s.begun >> ((seat + turn) % t.players)) & 1
    for printed in range(t.printed):
        out[at + 2 + t.players + printed] = (s.claimed >> printed) & 1


@rule
def add_hidden(t, s, seat, counts, at):
    """Count tiles that are hidden elsewhere than in hands: none."""
