"""The reference game: a prototype of dominoes, kept unchanged, to which speeds are compared.

Two players make random moves on the square board of 9 by 9, without the first-tile rule, exchanges and the
limit on pyramids. Lines are scored by walking along them. The game is not offered to players. Machines differ
and are shared, so a speed is meaningful only relative to a fixed workload in the same run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...games.runtime.compile import entry_point, rule
from ...games.runtime.state import allocate

SIDE, COLOURS, HAND, CAP, EMPTY, PYRAMID = 9, 5, 5, 18, -1, -2
CELLS = SIDE * SIDE
PRINTED = {4: 0, 36: 1, 44: 2, 76: 3, 40: 4}
GONE = 255


class Constants(NamedTuple):
    """The board and the tiles."""

    near: np.ndarray  # by cell and direction: the adjacent cell, or -1
    slots: np.ndarray  # the two cells of each slot
    touching: np.ndarray  # by cell: the slots that contain it, or -1
    opening: np.ndarray  # the contents of cells at the start
    pairs: np.ndarray  # the two colours of each kind of tile
    counts: np.ndarray  # the number of tiles of each kind


def make_constants() -> Constants:
    """Return the constants of the reference game."""
    near = -np.ones((CELLS, 4), np.int16)
    slots = []
    for cell in range(CELLS):
        row, column = divmod(cell, SIDE)
        for d, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            if 0 <= row + down < SIDE and 0 <= column + right < SIDE:
                near[cell, d] = cell + down * SIDE + right
                if d in (1, 2) and cell not in PRINTED and near[cell, d] not in PRINTED:
                    slots.append((cell, int(near[cell, d])))
    touching = -np.ones((CELLS, 4), np.int16)
    for slot, pair in enumerate(slots):
        for cell in pair:
            touching[cell, np.argmax(touching[cell] < 0)] = slot
    opening = np.full(CELLS, EMPTY, np.int8)
    for cell, colour in PRINTED.items():
        opening[cell] = colour
    pairs = np.array([(a, b) for a in range(COLOURS) for b in range(a, COLOURS)], np.int8)
    counts = np.array([4 if a == b else 8 for a, b in pairs], np.int8)
    return Constants(near, np.array(slots, np.int16), touching, opening, pairs, counts)


BOARD = make_constants()

STATE = np.dtype(
    [
        ("cells", np.int8, CELLS),
        ("free", np.uint8, len(BOARD.slots)),
        ("where", np.uint8, len(BOARD.slots)),
        ("n_free", np.int16),
        ("bag", np.int8, len(BOARD.pairs)),
        ("in_bag", np.int16),
        ("hands", np.int8, (2, HAND)),
        ("scores", np.int8, (2, COLOURS)),
        ("seat", np.int8),
        ("rng", np.uint32),
    ],
    align=True,
)


@rule
def randint(s, n):
    """Return a random integer from 0 to n - 1."""
    x = np.uint32(s.rng)
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    s.rng = x
    return np.int32((np.uint64(x) * np.uint64(n)) >> np.uint64(32))


@rule
def draw(s, seat, i):
    """Draw tile `i` of a hand from the bag."""
    left = randint(s, s.in_bag)
    kind = 0
    while left >= s.bag[kind]:
        left -= s.bag[kind]
        kind += 1
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.hands[seat, i] = kind


@rule
def run(c, s, cell, other, colour):
    """Return the number of symbols of a colour in unbroken lines from a cell, except through `other`."""
    total = 0
    for d in range(4):
        at = c.near[cell, d]
        if at != other:
            while at >= 0 and s.cells[at] == colour:
                total += 1
                at = c.near[at, d]
    return total


@rule
def gain(s, seat, colour, points):
    """Add points up to the cap; return 1 if they reach it, else 0."""
    before = s.scores[seat, colour]
    after = min(before + points, CAP)
    s.scores[seat, colour] = after
    return 1 if before < CAP and after == CAP else 0


@rule
def cover(c, s, cell, colour):
    """Put a symbol on a cell and remove the slots of the cell from the free ones."""
    s.cells[cell] = colour
    for k in range(4):
        slot = c.touching[cell, k]
        if slot >= 0 and s.where[slot] != GONE:
            last = s.free[s.n_free - 1]
            s.free[s.where[slot]] = last
            s.where[last] = s.where[slot]
            s.where[slot] = GONE
            s.n_free -= 1


@rule
def isolate(c, s, seat, cell):
    """Put a pyramid on a cell if it is empty and enclosed; return the number of caps its points reach."""
    if cell < 0 or s.cells[cell] != EMPTY:
        return 0
    for d in range(4):
        if c.near[cell, d] >= 0 and s.cells[c.near[cell, d]] == EMPTY:
            return 0
    s.cells[cell] = PYRAMID
    caps = 0
    for d in range(4):
        if c.near[cell, d] >= 0 and s.cells[c.near[cell, d]] >= 0:
            caps += gain(s, seat, s.cells[c.near[cell, d]], 1)
    return caps


@rule
def place(c, s, seat, kind, slot, turned):
    """Place a tile and score it; return the number of caps that the points reach."""
    a, b = c.slots[slot, turned], c.slots[slot, 1 - turned]
    ca, cb = c.pairs[kind, 0], c.pairs[kind, 1]
    points_a, points_b = run(c, s, a, b, ca), run(c, s, b, a, cb)
    cover(c, s, a, ca)
    cover(c, s, b, cb)
    caps = gain(s, seat, ca, points_a) + gain(s, seat, cb, points_b)
    for d in range(4):
        caps += isolate(c, s, seat, c.near[a, d]) + isolate(c, s, seat, c.near[b, d])
    return caps


@rule
def playout(c, s, seed):
    """Play a random game and return the number of placements."""
    s.rng = np.uint32((seed * 2654435761 + 12345) & 0xFFFFFFFF) | np.uint32(1)
    for cell in range(CELLS):
        s.cells[cell] = c.opening[cell]
    s.n_free = len(c.slots)
    for slot in range(len(c.slots)):
        s.free[slot] = slot
        s.where[slot] = slot
    s.in_bag = 0
    for kind in range(len(c.pairs)):
        s.bag[kind] = c.counts[kind]
        s.in_bag += c.counts[kind]
    for seat in range(2):
        for colour in range(COLOURS):
            s.scores[seat, colour] = 0
        for i in range(HAND):
            draw(s, seat, i)
    s.seat = 0
    moves = 0
    while s.n_free > 0:
        placed, due = 0, 1
        while due > 0 and s.n_free > 0 and placed < HAND:
            i = randint(s, HAND - placed)
            caps = place(c, s, s.seat, s.hands[s.seat, i], s.free[randint(s, s.n_free)], randint(s, 2))
            placed += 1
            s.hands[s.seat, i] = s.hands[s.seat, HAND - placed]
            due += caps - 1
        for i in range(HAND - placed, HAND):
            draw(s, s.seat, i)
        s.seat = 1 - s.seat
        moves += placed
    return moves


@entry_point
def playouts(c, states, n, seed):
    """Play `n` random games and return the number of placements."""
    moves = 0
    for i in range(n):
        moves += playout(c, states[0], seed + i)
    return moves


def new_states() -> np.ndarray:
    """Return the memory for one game."""
    states: np.ndarray = allocate(STATE)
    return states
