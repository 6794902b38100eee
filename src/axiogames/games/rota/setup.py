"""From the facts of the game to the tables and the opening state that its rules run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime.state import CONSTANT_FIELDS, NO_TILE, START, allocate, packed_dtype
from .rules import ACTIONS, BLANK, MAX_FREE, SIDE, TURNS

SEATS = 4  # one layout, and so one compilation, for every number of players

# For each corner, clockwise from the top left: where the other three corners of its circle lie.
# (x to the right, y upwards, then which corner of that tile)
CIRCLES = (
    ((-1, 0, 1), (-1, 1, 2), (0, 1, 3)),
    ((1, 0, 0), (1, 1, 3), (0, 1, 2)),
    ((1, 0, 3), (1, -1, 0), (0, -1, 1)),
    ((-1, 0, 2), (-1, -1, 1), (0, -1, 0)),
)
# The corner that faces the middle, for the squares (0,0) (1,0) (0,1) (1,1) of the opening display.
MIDDLE = (1, 0, 2, 3)


@dataclass(frozen=True)
class Facts:
    """What the game is made of, for one number of players."""

    colours: str
    tiles: Mapping[str, int]  # tile, clockwise from the top left, `_` for an empty corner
    stack: int
    cap: int
    players: int


def turn(letters: str, times: int) -> str:
    """A tile's letters after so many quarter turns clockwise."""
    times %= len(letters)
    return letters[len(letters) - times :] + letters[: len(letters) - times]


def constants(facts: Facts) -> Any:
    """Everything that never changes during a game, as one record."""
    kinds = list(facts.tiles)
    dtype = packed_dtype(
        ("corners", np.uint8, (256, 4)),  # the colours of a turned tile; none where none lies
        ("has_blank", np.uint8, len(kinds)),
        ("inward", np.uint8, (4, len(kinds))),  # the turn that brings the blank to the middle
        ("circle", np.int8, (4, 3, 3)),
        ("sides", np.int8, (4, 2)),
        ("cap", np.int8),
        *CONSTANT_FIELDS,
        ("stack", np.int8),
    )
    c = allocate(dtype)
    c["corners"] = BLANK
    for kind, letters in enumerate(kinds):
        for times in range(TURNS):
            lying = turn(letters, times)
            for corner, letter in enumerate(lying):
                if letter != "_":
                    c["corners"][0, kind * TURNS + times + 1, corner] = facts.colours.index(letter)
            for square, corner in enumerate(MIDDLE):
                if lying[corner] == "_":
                    c["inward"][0, square, kind] = times
        c["has_blank"][0, kind] = "_" in letters
    c["circle"] = CIRCLES
    c["sides"] = ((1, 0), (0, 1), (-1, 0), (0, -1))
    c["actions"] = c["placements"] = ACTIONS
    c["tiles"] = sum(facts.tiles.values())
    c["cap"], c["players"], c["stack"] = facts.cap, facts.players, facts.stack
    return c


def opening(facts: Facts) -> Any:
    """The state before the first tile is turned up."""
    kinds, colours = len(facts.tiles), len(facts.colours)
    dtype = packed_dtype(
        ("n_edge", np.int16),
        ("in_bag", np.int16),  # tiles in stacks and supply: nobody has seen any of them
        ("unseen", np.int16),  # tiles that `bag` counts: in a view also those in hidden hands
        ("phase", np.int8),
        ("seat", np.uint8),
        ("due", np.int8),
        ("extra", np.int8),  # extra turns the seat still has
        ("from_supply", np.bool_),  # where the tile that is due comes from
        ("dealing", np.int8),  # seats that have not drawn their first tile yet
        ("supply", np.int8),
        ("stack", np.int8, SEATS),
        ("low_x", np.int8),  # the display's lowest coordinates: they tell positions on the torus apart
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
