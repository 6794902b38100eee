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
def placements(c):
    """How many actions are placements; after them come the exchanges and the pass."""
    return len(c.slots) * ARRANGEMENTS


@rule
def exchange_of(c, actions):
    """The action that exchanges the tiles of the hand whose bits are set in `actions`."""
    return placements(c) + actions - 1


@rule
def passing(c):
    """The action that passes."""
    return placements(c) + SUBSETS


@rule
def encode(slot, arrangement):
    """The action that puts an arrangement of colours on a slot, its first colour on the first square."""
    return np.int64(slot) * ARRANGEMENTS + arrangement


@rule
def set_cell(c, s, cell, colour):
    """Put a colour on a square."""
    s.cells[cell] = colour
    for k in range(c.touching.shape[1]):
        s.slot[c.touching[cell, k]] = COVERED
    for d in range(c.near.shape[1]):
        around = c.near[cell, d]
        s.match[around, colour] += 1
        if s.wants[around] == 0:
            for k in range(c.touching.shape[1]):
                if s.slot[c.touching[around, k]] == FREE:
                    s.slot[c.touching[around, k]] = LIVE
        s.wants[around] |= 1 << colour


@rule
def matching_edges(c, s, action):
    """How many outer edges of a placement meet their own colour, and whether it covers a star (6)."""
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    edges, star = 0, 0
    for k in range(3):
        cell = c.slots[slot, k]
        edges += s.match[cell, c.colours[arrangement, k]]
        star |= c.star[cell]
    return edges, star


@rule
def points_for(edges, star):
    """What so many matching edges score: double on a star (6)."""
    return np.int64(2 * edges if star else edges)


# ---------------------------------------------------------------- where a tile fits
#
# A set of arrangements is a number of 64 bits, so that a whole hand is tried on a slot at once.


@rule
def allowed(c, s, slot):
    """The arrangements whose colours suit a live slot (5, 10).

    Plainly, each square with coloured neighbours shows one of their colours. With the children's rule it
    is enough that any square does; the table is made for one or the other.
    """
    one = c.suits[0, s.wants[c.slots[slot, 0]]]
    two = c.suits[1, s.wants[c.slots[slot, 1]]]
    three = c.suits[2, s.wants[c.slots[slot, 2]]]
    return one | two | three if c.children else one & two & three


@rule
def in_hand(c, s, seat):
    """All arrangements of the tiles a seat holds, as far as they are known."""
    arrangements = NOTHING
    for i in range(s.held[seat]):
        if s.hands[seat, i] != HIDDEN:
            arrangements |= c.ways[s.hands[seat, i]]
    return arrangements


@rule
def fits_somewhere(c, s, arrangements):
    """Whether any of these arrangements can be placed anywhere."""
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE and allowed(c, s, slot) & arrangements != NOTHING:
            return True
    return False


@rule_noinline
def anybody_could_place(c, s):
    """Whether any tile in a hand or in the bag fits anywhere (8)."""
    arrangements = NOTHING
    for kind in range(len(c.ways)):
        if s.bag[kind] > 0:
            arrangements |= c.ways[kind]
    for seat in range(c.players):
        arrangements |= in_hand(c, s, seat)
    return fits_somewhere(c, s, arrangements)


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
