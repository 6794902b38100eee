"""The board of trio: matching colours, and the slots where a tile fits.

Two derived fields are updated for every square: the number of neighbouring squares of each colour
(`s.match`), and the set of these colours as bits (`s.wants`). A tile covers only empty squares, so all
coloured neighbours of its squares are outside the tile.

Numbers in parentheses refer to the rules page.
"""

from __future__ import annotations

import numpy as np

from ..runtime import bitsets
from ..runtime.bitsets import NONE, ONE
from ..runtime.compile import rule, rule_noinline
from ..runtime.state import HIDDEN

EMPTY = -1
BLACK = -2
EDGE = -3  # the square that represents everything beyond the edge
ARRANGEMENTS = 64  # of four colours on three squares
HAND = 3
SUBSETS = (1 << HAND) - 1  # non-empty subsets of a hand
EXTRA_TURN_EDGES = 3  # matching edges that win an extra turn

# A slot is empty without coloured neighbours, empty with some, or not empty.
FREE, LIVE, COVERED = 0, 1, 2


@rule
def placements(c):
    """Return the number of placement ids; the exchanges and the pass follow them."""
    return len(c.slots) * ARRANGEMENTS


@rule
def exchange_of(c, subset):
    """Return the action that exchanges a subset of the hand, given as bits."""
    return placements(c) + subset - 1


@rule
def passing(c):
    """Return the action that passes."""
    return placements(c) + SUBSETS


@rule
def encode(slot, arrangement):
    """Return the action that puts an arrangement on a slot, its first colour on the first square."""
    return np.int64(slot) * ARRANGEMENTS + arrangement


@rule
def set_cell(c, s, cell, colour):
    """Put a colour on an empty square."""
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


@rule_noinline
def restore(c, s):
    """Recompute the neighbours of squares and the contents of slots from `s.cells`."""
    for slot in range(len(s.slot)):
        s.slot[slot] = FREE
    s.slot[len(c.slots)] = COVERED  # the dummy slot that pads `touching`
    for cell in range(len(s.cells)):
        s.wants[cell] = 0
        for colour in range(s.match.shape[1]):
            s.match[cell, colour] = 0
    for cell in range(len(s.cells) - 1):
        if 0 <= s.cells[cell] < s.match.shape[1]:
            set_cell(c, s, cell, np.int64(s.cells[cell]))


@rule
def matching_edges(c, s, action):
    """Return the number of matching outer edges of a placement, and whether it covers a star (6)."""
    slot, arrangement = action // ARRANGEMENTS, action % ARRANGEMENTS
    edges, star = 0, 0
    for k in range(3):
        cell = c.slots[slot, k]
        edges += s.match[cell, c.colours[arrangement, k]]
        star |= c.star[cell]
    return edges, star


@rule
def points_for(edges, star):
    """Return the points for a number of matching edges: double on a star (6)."""
    return np.int64(2 * edges if star else edges)


# ---------------------------------------------------------------- slots where a tile fits
#
# A set of arrangements is a 64-bit word, so a whole hand can be tested on a slot at once.


@rule
def allowed(c, s, slot):
    """Return the set of arrangements whose colours suit a live slot (5, 10).

    Each square with coloured neighbours must show one of their colours; with the children's rule, one such
    square is enough. `c.suits` is built for the rule in force.
    """
    first = c.suits[0, s.wants[c.slots[slot, 0]]]
    second = c.suits[1, s.wants[c.slots[slot, 1]]]
    third = c.suits[2, s.wants[c.slots[slot, 2]]]
    return first | second | third if c.children else first & second & third


@rule
def in_hand(c, s, seat):
    """Return the set of arrangements of the known tiles in a hand."""
    arrangements = NONE
    for i in range(s.held[seat]):
        if s.hands[seat, i] != HIDDEN:
            arrangements |= c.ways[s.hands[seat, i]]
    return arrangements


@rule
def fits_somewhere(c, s, arrangements):
    """Return whether any arrangement of a set can be placed anywhere."""
    for slot in range(len(c.slots)):
        if s.slot[slot] == LIVE and allowed(c, s, slot) & arrangements != NONE:
            return True
    return False


@rule_noinline
def any_tile_fits(c, s):
    """Return whether any tile in a hand or in the bag fits anywhere (8)."""
    arrangements = NONE
    for kind in range(len(c.ways)):
        if s.bag[kind] > 0:
            arrangements |= c.ways[kind]
    for seat in range(c.players):
        arrangements |= in_hand(c, s, seat)
    return fits_somewhere(c, s, arrangements)


@rule
def count(ways):
    """Return the number of arrangements in a set."""
    return np.int64(bitsets.count(ways))


@rule
def nth_arrangement(ways, nth):
    """Return the n-th arrangement of a set, counted from 0."""
    return np.int64(bitsets.nth_in_word(ways, np.uint64(nth)))


@rule
def first_arrangement(ways):
    """Return the first arrangement of a non-empty set."""
    arrangement = 0
    step = 32
    while step > 0:
        if ways & ((ONE << np.uint64(step)) - ONE) == NONE:
            ways >>= np.uint64(step)
            arrangement += step
        step //= 2
    return arrangement
