"""State records without padding holes, the fields that all games share, and the phases of a game."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import INTERPRETED

WORD_BYTES = 4
Field = tuple[Any, ...]  # name, type and, for arrays, a shape: as NumPy takes it


def packed_dtype(*fields: Field) -> np.dtype[Any]:
    """Return the type of a record of these fields, the widest first, padded to an odd number of words.

    The record is aligned, as a GPU requires, and all padding is an explicit field: implicit padding bytes are
    not copied reliably, so equal states could differ in bytes. The number of words is odd so that the same
    bytes of adjacent states lie in different banks of GPU memory and can be read at once.
    """
    widest_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    used = sum(np.dtype([field]).itemsize for field in widest_first)
    unit = max(WORD_BYTES, np.dtype(widest_first[0][1]).alignment)
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
    ("hides_exchanges", np.bool_),  # whether only the seat that exchanges tiles sees them
)
# Fields of the states of every game. Games choose the types of numbers; kinds of tiles are `uint8`. A track
# counts points: one for each colour, unless the game says otherwise.
STATE_FIELDS = {
    "phase": "one of the phases below",
    "seat": "the seat to move or to draw",
    "due": "chance outcomes before the next decision",
    "dealing": "seats without their first hand, the one that draws included; 0 after the deal",
    "bag": "unseen tiles by kind, at most 127 in all",
    "in_bag": "tiles in the bag",
    "unseen": "sum of `bag`; in a view it includes the tiles of hidden hands",
    "hands": "sorted kinds of tiles by seat",
    "held": "tiles in hand by seat",
    "scores": "points by seat and track",
    "gain": "points by track of the most recently scored placement",
}
# Fields of only some games that shared code reads if they exist.
OPTIONAL_STATE_FIELDS = {
    "cells": "colour of each cell, and an entry for everything beyond the edge; required by `FixedBoard`",
    "aside": "kinds of the tiles set aside during an exchange, sorted descending; goes with `n_aside`",
    "n_aside": "tiles set aside",
    "removed": "tiles removed unseen before the deal, by kind",
    "stack": "tiles left in the stack of each seat",
    "extra": "extra placements or turns that the seat to move still has",
    "again": "whether the seat to move has an extra turn after the draw",
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
