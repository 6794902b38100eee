"""Actions and points of a position as rows of numbers, and what the rows mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from axiogames.games.runtime.describing import (
    ACTION_KINDS,
    CELLS,
    KIND,
    MAX_POINT_ROWS,
    NAMED,
    PLACE_INDEX,
    TILE,
)
from axiogames.games.runtime.view_loops import describe_actions, preview
from axiogames.games.variant import State, Variant, copied
from axiogames.moves import Move


class Point(NamedTuple):
    """Points of one symbol: where it is, the cell and symbol for which it scores, the track, the points."""

    cell: str
    symbol: int
    target: str
    target_symbol: int
    track: str
    points: int


def described(variant: Variant, state: State, actions: np.ndarray) -> list[list[int]]:
    """Return actions as rows of numbers."""
    rows = np.full((len(actions), variant.action_columns), -7, np.int16)
    variant.kernels[describe_actions](variant.constants, state, actions, len(actions), rows)
    return rows.tolist()


def cell_name(variant: Variant, cell: list[int]) -> str:
    """Return the name of a cell, empty for none."""
    if variant.grows:
        return f"{cell[0]},{cell[1]}"
    names = list(getattr(variant, "names", ()))
    return names[cell[0]] if cell[0] >= 0 else ""


def move_of(variant: Variant, state: State, row: list[int]) -> Move:
    """Return the move that a row describes."""
    kind = ACTION_KINDS[row[KIND]]
    hand = variant.hand_of(state, int(state["seat"][0]))
    if kind != "place":
        assert set(row[NAMED:]) == {-1}
        return Move(kind, tiles=tuple(tile for i, tile in enumerate(hand) if row[TILE] >> i & 1))
    size = variant.tile_size * variant.cell_columns
    cells, colours = row[CELLS : CELLS + size], row[CELLS + size :]
    letters = "".join(variant.colours[colour] if colour >= 0 else "_" for colour in colours)
    assert variant.kind_of(letters) == variant.kinds.index(hand[row[TILE]])
    at = tuple(
        cell_name(variant, cells[i : i + variant.cell_columns]) for i in range(0, size, variant.cell_columns)
    )
    assert at == variant.cells_of(state, row[PLACE_INDEX])
    return Move("place", letters, at, variant.colours[row[NAMED]] if row[NAMED] >= 0 else None)


def previewed(variant: Variant, state: State, action: int) -> tuple[list[Point], State]:
    """Return where the points of an action come from, and the state after it."""
    after = copied(state)
    rows = np.full((MAX_POINT_ROWS, variant.point_columns), -7, np.int16)
    count = variant.kernels[preview](variant.constants, after, action, rows)
    width = variant.cell_columns
    points = [
        Point(
            cell_name(variant, row[:width]) if row[width] >= 0 else "",
            row[width],
            cell_name(variant, row[width + 1 : 2 * width + 1]) if row[2 * width + 1] >= 0 else "",
            row[2 * width + 1],
            variant.tracks[row[-2]],
            row[-1],
        )
        for row in rows[:count].tolist()
    ]
    assert (rows[count:] == -7).all()
    return points, after
