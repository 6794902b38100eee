"""Setup: constants and opening state of the game."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from axiogames.games.runtime.state import CONSTANT_FIELDS, DRAW, NO_TILE, allocate, packed_dtype

SIDE = 5
CELLS = {(x, y): f"{chr(ord('a') + x)}{y + 1}" for y in range(SIDE) for x in range(SIDE)}
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))
COPIES = 4
HAND = 2
SEATS = 4
EMPTY, EDGE = -1, -2

INDEX = {position: cell for cell, position in enumerate(CELLS)}
SLOTS = [
    (cell, INDEX[x + dx, y + dy])
    for (x, y), cell in INDEX.items()
    for dx, dy in DIRECTIONS[:2]
    if (x + dx, y + dy) in INDEX
]


def tile_set(colours: str) -> dict[str, int]:
    """Return the number of each kind of tile."""
    return {a + b: COPIES for a, b in combinations_with_replacement(colours, 2)}


def constants(colours: str, players: int) -> Any:
    """Return the constants of a game as one record."""
    kinds, ways = list(tile_set(colours)), list(product(range(len(colours)), repeat=2))
    c = allocate(
        packed_dtype(
            ("near", np.uint8, (len(CELLS), 4)),  # adjacent cell by direction; len(CELLS) beyond the edge
            ("slots", np.uint8, (len(SLOTS), 2)),
            ("ways", np.uint8, (len(ways), 2)),  # colours on the two cells of a slot
            ("kind_of", np.uint8, len(ways)),  # kind of tile of each way
            *CONSTANT_FIELDS,
        )
    )
    for (x, y), cell in INDEX.items():
        c["near"][0, cell] = [INDEX.get((x + dx, y + dy), len(CELLS)) for dx, dy in DIRECTIONS]
    c["slots"], c["ways"] = SLOTS, ways
    c["kind_of"] = [
        kinds.index("".join(sorted((colours[a], colours[b]), key=colours.index))) for a, b in ways
    ]
    c["actions"] = c["placements"] = len(SLOTS) * len(ways)
    c["tiles"], c["players"] = len(kinds) * COPIES, players
    return c


def empty_state(colours: str, players: int) -> Any:
    """Return the state before the first draw."""
    kinds = tile_set(colours)
    s = allocate(
        packed_dtype(
            ("phase", np.int8),
            ("seat", np.uint8),
            ("due", np.int8),  # tiles that the seat still has to draw
            ("dealing", np.int8),  # seats without their first hand
            ("in_bag", np.int16),
            ("unseen", np.int16),
            ("bag", np.int8, len(kinds)),
            ("hands", np.uint8, (SEATS, HAND)),
            ("held", np.int8, SEATS),
            ("cells", np.int8, len(CELLS) + 1),
            ("scores", np.int16, (SEATS, len(colours))),
            ("gain", np.int16, len(colours)),
        )
    )
    s["cells"], s["cells"][0, -1] = EMPTY, EDGE
    s["hands"] = NO_TILE
    s["bag"] = list(kinds.values())
    s["in_bag"] = s["unseen"] = sum(kinds.values())
    s["phase"], s["due"], s["dealing"] = DRAW, HAND, players
    return s
