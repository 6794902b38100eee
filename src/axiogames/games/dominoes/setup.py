"""Setup of the domino family: constants and opening state from the facts of a board and a tile set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..runtime.bitsets import from_members, word_count
from ..runtime.state import CONSTANT_FIELDS, DRAW, NO_TILE, allocate, packed_dtype
from .board import EDGE, EMPTY

Coordinates = tuple[int, int]

NON_PLACEMENTS = 2  # to exchange the hand and to keep it


@dataclass(frozen=True)
class DominoFacts:
    """The differences between the games of the family, for one number of players."""

    cells: Mapping[Coordinates, str]  # names of the cells of the play area, by index
    directions: Sequence[Coordinates]  # the second half is opposite to the first
    printed: Mapping[str, str]  # colour by name of the cell
    colours: str
    tiles: Mapping[str, int]  # number of tiles by kind
    hand: int
    cap: int
    pyramids: int
    players: int

    @property
    def solo(self) -> bool:
        return self.players == 1


def pairs(colours: str) -> list[str]:
    """Return the kinds of tiles with these colours, by index."""
    return [a + b for a, b in combinations_with_replacement(colours, 2)]


def tile_mix(colours: str, mixed: int, double: int) -> dict[str, int]:
    """Return a tile set with `mixed` tiles of each pair of colours and `double` of each double."""
    return {tile: double if tile[0] == tile[1] else mixed for tile in pairs(colours)}


def slots_of(facts: DominoFacts) -> list[tuple[int, int]]:
    """Return the slots: all pairs of neighbouring cells without a printed symbol."""
    number = {at: i for i, at in enumerate(facts.cells)}
    blocked = {i for i, name in enumerate(facts.cells.values()) if name in facts.printed}
    half = len(facts.directions) // 2
    return [
        (a, number[x + dx, y + dy])
        for (x, y), a in number.items()
        for dx, dy in facts.directions[:half]
        if (x + dx, y + dy) in number and not {a, number[x + dx, y + dy]} & blocked
    ]


def constants(facts: DominoFacts) -> Any:
    """Return the constants of a game as one record."""
    number = {at: i for i, at in enumerate(facts.cells)}
    names = list(facts.cells.values())
    slots = slots_of(facts)
    kinds = pairs(facts.colours)
    words = word_count(len(slots))
    cells, directions, colours = len(number), len(facts.directions), len(facts.colours)
    dtype = packed_dtype(
        ("near", np.uint8, (cells + 1, directions)),  # adjacent cell by direction
        ("slots", np.uint8, (len(slots), 2)),
        ("keeps", np.uint64, (cells, words)),  # set of the slots that do not cover a cell
        ("beside", np.uint64, (len(facts.printed), words)),  # set of the slots beside a printed symbol
        ("touch", np.uint8, len(slots)),  # printed symbols that a slot touches, as bits
        ("pairs", np.uint8, (len(kinds), 2)),  # the colours of a kind of tile
        ("kind_of", np.uint8, (colours, colours)),
        ("shows", np.uint8, len(kinds)),  # colours of a kind as bits
        ("ways", np.int8, len(kinds)),  # distinct orientations of a kind: 1 for a double, else 2
        ("hand", np.int8),
        ("cap", np.int8),
        ("pyramids", np.int8),
        *CONSTANT_FIELDS,
        ("printed", np.int8),  # number of printed symbols
        ("solo", np.bool_),
    )
    c = allocate(dtype)
    near = c["near"][0]
    near[:] = cells  # the cell beyond the edge
    for (x, y), cell in number.items():
        for d, (dx, dy) in enumerate(facts.directions):
            near[cell, d] = number.get((x + dx, y + dy), cells)
    c["slots"][0] = slots
    for cell in range(cells):
        c["keeps"][0, cell] = ~from_members([n for n, slot in enumerate(slots) if cell in slot], len(slots))
    for n, (a, b) in enumerate(slots):
        for bit, printed in enumerate(facts.printed):
            if names.index(printed) in {*near[a], *near[b]}:
                c["touch"][0, n] |= 1 << bit
    for bit in range(len(facts.printed)):
        c["beside"][0, bit] = from_members(np.flatnonzero((c["touch"][0] >> bit) & 1), len(slots))
    for kind, letters in enumerate(kinds):
        i, j = (facts.colours.index(letter) for letter in letters)
        c["pairs"][0, kind] = i, j
        c["kind_of"][0, i, j] = c["kind_of"][0, j, i] = kind
        c["shows"][0, kind] = 1 << i | 1 << j
        c["ways"][0, kind] = 1 if i == j else 2
    c["hand"] = 1 if facts.solo else facts.hand
    c["cap"], c["pyramids"] = facts.cap, facts.pyramids
    c["placements"] = len(slots) * colours**2
    c["actions"] = c["placements"] + NON_PLACEMENTS
    c["tiles"] = sum(facts.tiles.values())
    c["players"], c["solo"], c["printed"] = facts.players, facts.solo, len(facts.printed)
    return c


def state_dtype(facts: DominoFacts, compact: bool = False) -> np.dtype[Any]:
    """Return the type of a state, tightly packed because a batch holds millions of them."""
    cells = len(facts.cells)
    kinds, colours = len(pairs(facts.colours)), len(facts.colours)
    seats = max(facts.players, 2)  # one and two players share their board and so their compiled rules
    return packed_dtype(
        ("n_free", np.int16),
        ("in_bag", np.int16),  # tiles in the bag
        ("unseen", np.int16),  # sum of `bag`; in a view it includes the tiles of hidden hands
        ("phase", np.int8),
        ("seat", np.uint8),
        ("due", np.int8),  # tiles that the seat still has to draw
        ("extra", np.int8),  # extra placements that the seat still has in this turn
        ("dealing", np.int8),  # seats without their first hand
        ("begun", np.uint8),  # seats that have placed their first tile, as bits
        ("claimed", np.uint8),  # printed symbols that first tiles touch, as bits
        ("n_pyramids", np.int8),  # pyramids set so far, moved ones counted again
        ("n_aside", np.int8),
        ("free", np.uint64, word_count(len(slots_of(facts)))),  # set of the slots with two empty cells
        ("cells", np.int8, cells + 1),
        ("sums", np.int8, (0 if compact else cells + 1, colours)),  # points of a symbol on an empty cell
        ("open", np.int8, cells + 1),  # empty cells beside a cell
        ("order", np.uint8, max(facts.pyramids, 1)),  # cells of the pyramids; a new one replaces the oldest
        ("bag", np.int8, kinds),
        ("hands", np.uint8, (seats, facts.hand)),
        ("held", np.int8, seats),
        ("aside", np.uint8, facts.hand),
        ("scores", np.int8, (seats, colours)),
        ("gain", np.int8, colours),  # points of the most recently scored placement
    )


def opening(facts: DominoFacts, c: Any, compact: bool = False) -> Any:
    """Return the state before the first draw, without the printed symbols and the derived fields."""
    s = allocate(state_dtype(facts, compact))
    s["cells"] = EMPTY
    s["cells"][0, -1] = EDGE
    s["hands"] = s["aside"] = NO_TILE
    s["bag"] = [facts.tiles[kind] for kind in pairs(facts.colours)]
    s["in_bag"] = s["unseen"] = sum(facts.tiles.values())
    s["phase"], s["due"], s["dealing"] = DRAW, c["hand"][0], facts.players
    return s
