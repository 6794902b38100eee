"""The yardstick: the sketch from which the engine grew, kept as it was to be measured against.

Two players on the square board of 9 by 9 with random moves, without the first-tile rule, exchanges and the
limit on pyramids, scored by walking. It is no game anybody plays: machines differ and are shared, so a
speed means something only beside the speed of something fixed in the same run.
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


class Tables(NamedTuple):
    """The board and the tiles, as small arrays."""

    near: np.ndarray
    slots: np.ndarray
    touching: np.ndarray
    opening: np.ndarray
    pairs: np.ndarray
    counts: np.ndarray


def tables() -> Tables:
    """The tables of the board."""
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
    return Tables(near, np.array(slots, np.int16), touching, opening, pairs, counts)


BOARD = tables()

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
def below(s, n):
    """A number from 0 to n - 1."""
    x = np.uint32(s.rng)
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    s.rng = x
    return np.int32((np.uint64(x) * np.uint64(n)) >> np.uint64(32))


@rule
def draw(s, seat, i):
    """A tile from the bag."""
    left = below(s, s.in_bag)
    kind = 0
    while left >= s.bag[kind]:
        left -= s.bag[kind]
        kind += 1
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.hands[seat, i] = kind


@rule
def run(t, s, cell, other, colour):
    """Symbols of a colour in unbroken lines from a cell, not towards the other half."""
    total = 0
    for d in range(4):
        at = t.near[cell, d]
        if at != other:
            while at >= 0 and s.cells[at] == colour:
                total += 1
                at = t.near[at, d]
    return total


@rule
def gain(s, seat, colour, points):
    """Add points up to the cap; 1 if that reached it."""
    before = s.scores[seat, colour]
    after = min(before + points, CAP)
    s.scores[seat, colour] = after
    return 1 if before < CAP and after == CAP else 0


@rule
def cover(t, s, cell, colour):
    """Put a symbol on a cell and take its slots off the free ones."""
    s.cells[cell] = colour
    for k in range(4):
        slot = t.touching[cell, k]
        if slot >= 0 and s.where[slot] != GONE:
            last = s.free[s.n_free - 1]
            s.free[s.where[slot]] = last
            s.where[last] = s.where[slot]
            s.where[slot] = GONE
            s.n_free -= 1


@rule
def isolate(t, s, seat, cell):
    """A pyramid on a cell that is empty and shut in; how many caps its points reached."""
    if cell < 0 or s.cells[cell] != EMPTY:
        return 0
    for d in range(4):
        if t.near[cell, d] >= 0 and s.cells[t.near[cell, d]] == EMPTY:
            return 0
    s.cells[cell] = PYRAMID
    caps = 0
    for d in range(4):
        if t.near[cell, d] >= 0 and s.cells[t.near[cell, d]] >= 0:
            caps += gain(s, seat, s.cells[t.near[cell, d]], 1)
    return caps


@rule
def place(t, s, seat, kind, slot, turned):
    """Put a tile down and score it; how many colours reached the cap."""
    a, b = t.slots[slot, turned], t.slots[slot, 1 - turned]
    ca, cb = t.pairs[kind, 0], t.pairs[kind, 1]
    points_a, points_b = run(t, s, a, b, ca), run(t, s, b, a, cb)
    cover(t, s, a, ca)
    cover(t, s, b, cb)
    caps = gain(s, seat, ca, points_a) + gain(s, seat, cb, points_b)
    for d in range(4):
        caps += isolate(t, s, seat, t.near[a, d]) + isolate(t, s, seat, t.near[b, d])
    return caps


@rule
def playout(t, s, seed):
    """A whole game of random moves; the number of placements."""
    s.rng = np.uint32((seed * 2654435761 + 12345) & 0xFFFFFFFF) | np.uint32(1)
    for cell in range(CELLS):
        s.cells[cell] = t.opening[cell]
    s.n_free = len(t.slots)
    for slot in range(len(t.slots)):
        s.free[slot] = slot
        s.where[slot] = slot
    s.in_bag = 0
    for kind in range(len(t.pairs)):
        s.bag[kind] = t.counts[kind]
        s.in_bag += t.counts[kind]
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
            i = below(s, HAND - placed)
            caps = place(t, s, s.seat, s.hands[s.seat, i], s.free[below(s, s.n_free)], below(s, 2))
            placed += 1
            s.hands[s.seat, i] = s.hands[s.seat, HAND - placed]
            due += caps - 1
        for i in range(HAND - placed, HAND):
            draw(s, s.seat, i)
        s.seat = 1 - s.seat
        moves += placed
    return moves


@entry_point
def playouts(t, states, n, seed):
    """So many games; the number of placements."""
    moves = 0
    for i in range(n):
        moves += playout(t, states[0], seed + i)
    return moves


def new_states() -> np.ndarray:
    """Memory for one game."""
    states: np.ndarray = allocate(STATE)
    return states
