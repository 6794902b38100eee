"""Setup of AXIO rota: constants and opening state from the facts of the game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime.state import CONSTANT_FIELDS, NO_TILE, START, allocate, packed_dtype
from .rules import ACTIONS, BLANK, MAX_FREE, ROTATIONS, SIDE

SEATS = 4  # the same state layout, and therefore one compilation, for every number of players

# For each corner, clockwise from the top left: the other three corners of its circle as
# (offset to the right, offset upwards, corner of that tile).
CIRCLES = (
    ((-1, 0, 1), (-1, 1, 2), (0, 1, 3)),
    ((1, 0, 0), (1, 1, 3), (0, 1, 2)),
    ((1, 0, 3), (1, -1, 0), (0, -1, 1)),
    ((-1, 0, 2), (-1, -1, 1), (0, -1, 0)),
)
# The corner that faces the middle of the opening display, for its squares (0,0) (1,0) (0,1) (1,1).
MIDDLE = (1, 0, 2, 3)


@dataclass(frozen=True)
class RotaFacts:
    """Game components for one number of players."""

    colours: str
    tiles: Mapping[str, int]  # number of tiles by kind, clockwise from the top left, `_` for an empty corner
    stack: int
    cap: int
    players: int


def rotate(letters: str, times: int) -> str:
    """Return the letters of a tile after a number of clockwise quarter turns."""
    times %= len(letters)
    return letters[len(letters) - times :] + letters[: len(letters) - times]


def constants(facts: RotaFacts) -> Any:
    """Return the constants of a game as one record."""
    kinds = list(facts.tiles)
    dtype = packed_dtype(
        ("corners", np.uint8, (256, 4)),  # colours by content of a square
        ("has_blank", np.uint8, len(kinds)),
        ("inward", np.uint8, (4, len(kinds))),  # rotation that turns the blank to the middle
        ("circle", np.int8, (4, 3, 3)),
        ("sides", np.int8, (4, 2)),
        ("cap", np.int8),
        *CONSTANT_FIELDS,
        ("stack", np.int8),
    )
    c = allocate(dtype)
    c["corners"] = BLANK
    for kind, letters in enumerate(kinds):
        for rotation in range(ROTATIONS):
            rotated = rotate(letters, rotation)
            for corner, letter in enumerate(rotated):
                if letter != "_":
                    c["corners"][0, kind * ROTATIONS + rotation + 1, corner] = facts.colours.index(letter)
            for square, corner in enumerate(MIDDLE):
                if rotated[corner] == "_":
                    c["inward"][0, square, kind] = rotation
        c["has_blank"][0, kind] = "_" in letters
    c["circle"] = CIRCLES
    c["sides"] = ((1, 0), (0, 1), (-1, 0), (0, -1))
    c["actions"] = c["placements"] = ACTIONS
    c["tiles"] = sum(facts.tiles.values())
    c["cap"], c["players"], c["stack"] = facts.cap, facts.players, facts.stack
    return c


def opening(facts: RotaFacts) -> Any:
    """Return the state before the first tile of the opening display is laid."""
    kinds, colours = len(facts.tiles), len(facts.colours)
    dtype = packed_dtype(
        ("n_edge", np.int16),
        ("in_bag", np.int16),  # tiles in the stacks and the supply, all face down
        ("unseen", np.int16),  # sum of `bag`; in a view it includes the tiles of hidden hands
        ("phase", np.int8),
        ("seat", np.uint8),
        ("due", np.int8),
        ("extra", np.int8),  # extra turns that the seat still has
        ("from_supply", np.bool_),  # whether the tile that is due comes from the supply
        ("dealing", np.int8),  # seats without their first tile
        ("supply", np.int8),
        ("stack", np.int8, SEATS),
        ("low_x", np.int8),  # lowest coordinates of the display, which make positions on the torus unique
        ("low_y", np.int8),
        ("edge", np.uint16, MAX_FREE),
        ("grid", np.uint8, SIDE * SIDE),
        ("bag", np.int8, kinds),
        ("hands", np.uint8, (SEATS, 1)),
        ("held", np.int8, SEATS),
        ("scores", np.int8, (SEATS, colours)),
        ("gain", np.int8, colours),
    )
    s = allocate(dtype)
    s["bag"] = list(facts.tiles.values())
    s["in_bag"] = s["unseen"] = sum(facts.tiles.values())
    s["stack"][0, : facts.players] = facts.stack
    s["supply"] = s["in_bag"] - 4 - facts.players * facts.stack
    s["hands"] = NO_TILE
    s["phase"], s["due"], s["dealing"] = START, 4, facts.players
    return s
