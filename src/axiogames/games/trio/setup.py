"""Setup of trio: constants and opening state from the facts of the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..runtime.state import CONSTANT_FIELDS, DRAW, NO_TILE, REMOVE, allocate, packed_dtype
from .board import BLACK, EDGE, EMPTY, HAND, SUBSETS

NON_PLACEMENTS = SUBSETS + 1  # exchanges and the pass
SEATS = 4  # the same state layout, and therefore one compilation, for every number of players


@dataclass(frozen=True)
class TrioFacts:
    """Game components for one number of players and options."""

    colours: str
    tiles: Mapping[str, int]
    board: Sequence[str]  # rows from the top: `.` free, `*` star, `#` black, a letter for a starter
    players: int
    children: bool
    removed: int  # tiles removed before the deal

    @property
    def side(self) -> int:
        return len(self.board)

    def at(self, cell: int) -> str:
        """Return the character of a square in `board`; squares count row by row from the bottom left."""
        row, column = divmod(cell, self.side)
        return self.board[self.side - 1 - row][column]


def arrangements(colours: str) -> list[str]:
    """Return all sequences of colours on three squares, by index."""
    return ["".join(letters) for letters in product(colours, repeat=3)]


def canonical(letters: str) -> str:
    """Return the canonical one of the two readings of a tile."""
    return min(letters, letters[::-1])


def slots_of(facts: TrioFacts) -> list[tuple[int, int, int]]:
    """Return the slots: all rows of three squares that a tile can cover."""
    side = facts.side
    rows = (
        (cell, cell + step, cell + 2 * step)
        for cell in range(side * side)
        for step, room in ((1, cell % side < side - 2), (side, cell // side < side - 2))
        if room
    )
    return [row for row in rows if all(facts.at(cell) in ".*" for cell in row)]


def constants(facts: TrioFacts) -> Any:
    """Return the constants of a game as one record."""
    side, slots, kinds = facts.side, slots_of(facts), list(facts.tiles)
    cells = side * side
    names = arrangements(facts.colours)
    dtype = packed_dtype(
        ("near", np.uint16, (cells, 4)),
        ("slots", np.uint16, (len(slots), 3)),
        ("touching", np.uint16, (cells + 1, 6)),  # slots that cover a square
        ("star", np.uint8, cells),
        ("colours", np.uint8, (len(names), 3)),  # by arrangement
        ("kind_of", np.uint8, len(names)),  # by arrangement
        ("ways", np.uint64, len(kinds)),  # set of the arrangements of a kind
        # Set of the arrangements that suit a square of a slot, by the set of colours next to the square.
        ("suits", np.uint64, (3, 1 << len(facts.colours))),
        *CONSTANT_FIELDS,
        ("children", np.bool_),
    )
    c = allocate(dtype)
    for cell in range(cells):
        x, y = cell % side, cell // side
        for d, (dx, dy) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
            inside = 0 <= x + dx < side and 0 <= y + dy < side
            c["near"][0, cell, d] = cell + dx + dy * side if inside else cells
        over = [slot for slot, row in enumerate(slots) if cell in row]
        c["touching"][0, cell] = over + [len(slots)] * (6 - len(over))
        c["star"][0, cell] = facts.at(cell) == "*"
    c["touching"][0, cells] = len(slots)
    c["slots"] = slots
    for arrangement, letters in enumerate(names):
        kind = kinds.index(canonical(letters))
        c["colours"][0, arrangement] = [facts.colours.index(letter) for letter in letters]
        c["kind_of"][0, arrangement] = kind
        c["ways"][0, kind] |= np.uint64(1 << arrangement)
        for square, wants in product(range(3), range(1 << len(facts.colours))):
            shown = 1 << facts.colours.index(letters[square])
            if wants & shown or (wants == 0 and not facts.children):
                c["suits"][0, square, wants] |= np.uint64(1 << arrangement)
    c["placements"] = len(slots) * len(names)
    c["actions"] = c["placements"] + NON_PLACEMENTS
    c["tiles"] = sum(facts.tiles.values()) - facts.removed
    c["players"], c["children"] = facts.players, facts.children
    c["hides_exchanges"] = True
    return c


def opening(facts: TrioFacts, c: Any) -> Any:
    """Return the state before the first draw, without the starter squares and the derived fields."""
    cells, slots, kinds = facts.side**2, len(c["slots"][0]), len(facts.tiles)
    dtype = packed_dtype(
        ("in_bag", np.int16),
        ("unseen", np.int16),  # sum of `bag`; in a view it includes all hidden tiles
        ("phase", np.int8),
        ("seat", np.uint8),
        ("due", np.int8),
        ("dealing", np.int8),  # seats without their first hand
        ("idle", np.int8),  # consecutive exchanges
        ("n_aside", np.int8),
        ("again", np.bool_),  # whether the seat has an extra turn after the draw
        ("slot", np.uint8, slots + 1),  # `FREE`, `LIVE` or `COVERED`
        ("cells", np.int8, cells + 1),
        ("match", np.int8, (cells + 1, len(facts.colours))),  # neighbouring squares by colour
        ("wants", np.uint8, cells + 1),  # colours of neighbouring squares, as bits
        ("bag", np.int8, kinds),
        ("removed", np.int8, kinds),
        ("hands", np.uint8, (SEATS, HAND)),
        ("held", np.int8, SEATS),
        ("aside", np.uint8, HAND),
        ("scores", np.int16, (SEATS, 1)),
        ("gain", np.int16, 1),
    )
    s = allocate(dtype)
    s["cells"] = EMPTY
    s["cells"][0, cells] = EDGE
    s["hands"] = s["aside"] = NO_TILE
    s["bag"] = list(facts.tiles.values())
    s["in_bag"] = s["unseen"] = sum(facts.tiles.values())
    s["dealing"] = facts.players
    s["phase"], s["due"] = (REMOVE, facts.removed) if facts.removed else (DRAW, HAND)
    s["cells"][0, [cell for cell in range(cells) if facts.at(cell) == "#"]] = BLACK
    return s
