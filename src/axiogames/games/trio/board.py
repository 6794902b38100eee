"""The board of the edge-matching game: what suits a square, and where a tile fits.

Kept up to date for every square: how many coloured squares of each colour lie beside it
(`s.match`) and which colours those are (`s.wants`, as bits). A tile covers empty squares only, so
the coloured neighbours of the squares it will cover all lie outside it.
"""

from __future__ import annotations

import numpy as np

from ..runtime.compile import rule, rule_noinline
from ..runtime.state import HIDDEN

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


@rule
def set_cell(t, s, cell, colour):
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
def points_for(edges, star):
    """What so many matching edges score: double on a star (6)."""
    return np.int64(2 * edges if star else edges)


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


@rule_noinline
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
def count(ways):
    """How many arrangements a set has."""
    n = 0
    while ways != NOTHING:
        ways &= ways - ONE
        n += 1
    return n


@rule
def nth_arrangement(ways, nth):
    """The n-th arrangement of a set."""
    arrangement = -1
    while nth >= 0:
        arrangement += 1
        if (ways >> np.uint64(arrangement)) & ONE:
            nth -= 1
    return arrangement


@rule
def first_arrangement(ways):
    """The first arrangement of a set that is not empty."""
    arrangement = 0
    step = 32
    while step > 0:
        if ways & ((ONE << np.uint64(step)) - ONE) == NOTHING:
            ways >>= np.uint64(step)
            arrangement += step
        step //= 2
    return arrangement
