"""Layouts of states without holes, so that equal states are equal bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import INTERPRETED

WORD = 4  # bytes
Field = tuple[Any, ...]  # name, type and, for arrays, a shape: as NumPy takes it


def packed_dtype(*fields: Field) -> np.dtype[Any]:
    """A record of these fields, the widest numbers first, filled up to an odd number of whole words.

    Aligned, as a GPU needs it, but with no byte that belongs to nobody: such bytes are not copied
    reliably, and would make equal states look different. Odd, because then the same bytes of states
    side by side lie in many banks of a GPU's memory, and can be read at once.
    """
    widest_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    used = sum(np.dtype([field]).itemsize for field in widest_first)
    unit = max(WORD, np.dtype(widest_first[0][1]).alignment)
    units = -(-used // unit)
    units += units % 2 == 0
    if missing := units * unit - used:
        widest_first.append(("pad", np.uint8, missing))
    return np.dtype([field[:3] for field in widest_first], align=True)


def allocate(dtype: np.dtype[Any], count: int = 1) -> Any:
    """An array of `count` records; interpreted rules need them to have attributes."""
    records = np.zeros(count, dtype)
    return records.view(np.recarray) if INTERPRETED else records


# Fields of every game's constants, which shared loops and derived rules read.
CONSTANT_FIELDS: tuple[Field, ...] = (
    ("actions", np.int32),  # ids of moves, legal or not
    ("placements", np.int32),  # those of placements, which come first
    ("tiles", np.int16),  # in the bag at the start
    ("players", np.int8),
)
# Fields of every game's states by name: tracks are what points are counted in.
STATE_FIELDS = {
    "phase": "one of the phases below",
    "seat": "the seat to move or to draw",
    "due": "chance outcomes to come",
    "bag": "unseen tiles by kind",
    "in_bag": "tiles in the bag",
    "unseen": "tiles that `bag` counts: in a view also those in hidden hands",
    "hands": "sorted kinds of tiles by seat",
    "held": "tiles in hand by seat",
    "scores": "points by seat and track",
    "gain": "points by track of the placement that was scored last",
}

OVER = 0  # nothing: the game has ended
PLACE = 1  # the seat places a tile (or does what may be done instead)
OFFER = 2  # the seat may exchange its hand before the refill
DRAW = 3  # the seat draws `due` more tiles
START = 4  # a tile of the opening display is turned up
REMOVE = 5  # a tile is set aside unseen before the deal

# Entries of a hand that are no kind of tile.
NO_TILE = 255
HIDDEN = 254
