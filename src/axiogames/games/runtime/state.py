"""State records without padding holes, the fields that all games share, and the phases of a game."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import INTERPRETED

WORD = 4  # bytes
Field = tuple[Any, ...]  # name, type and, for arrays, a shape: as NumPy takes it


def packed_dtype(*fields: Field) -> np.dtype[Any]:
    """Return the type of a record of these fields, the widest first, padded to an odd number of words.

    The record is aligned, as a GPU requires, and all padding is an explicit field: implicit padding bytes are
    not copied reliably, so equal states could differ in bytes. The number of words is odd so that the same
    bytes of adjacent states lie in different banks of GPU memory and can be read at once.
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
    """Return an array of `count` zeroed records; for interpreted rules, with fields as attributes."""
    records = np.zeros(count, dtype)
    return records.view(np.recarray) if INTERPRETED else records


# Fields of the constants of every game. Shared loops and derived rules read them.
CONSTANT_FIELDS: tuple[Field, ...] = (
    ("actions", np.int32),  # number of action ids, legal or not
    ("placements", np.int32),  # number of ids of placements, which come first
    ("tiles", np.int16),  # tiles in the bag at the start
    ("players", np.int8),
)
# Fields of the states of every game. A track counts points: one for each colour, unless the game says
# otherwise.
STATE_FIELDS = {
    "phase": "one of the phases below",
    "seat": "the seat to move or to draw",
    "due": "chance outcomes before the next decision",
    "bag": "unseen tiles by kind",
    "in_bag": "tiles in the bag",
    "unseen": "sum of `bag`; in a view it includes the tiles of hidden hands",
    "hands": "sorted kinds of tiles by seat",
    "held": "tiles in hand by seat",
    "scores": "points by seat and track",
    "gain": "points by track of the most recently scored placement",
}

# Phases. From `DRAW` on, chance acts.
OVER = 0  # the game has ended
PLACE = 1  # the seat places a tile, or takes an action that replaces a placement
OFFER = 2  # the seat may exchange its hand before the refill
DRAW = 3  # the seat draws `due` more tiles
START = 4  # a tile is laid in the opening display
REMOVE = 5  # a tile is removed unseen before the deal

# Entries of a hand that are not kinds of tiles.
NO_TILE = 255
HIDDEN = 254
