"""Drawing of the square board."""

from __future__ import annotations

from ...drawing import board
from ...drawing.geometry import letter_number
from ...drawing.scene import Content, PlacedTile, Scene, Tile

_INNER = range(3, 12)
"""Rows and columns of the smallest play area."""


def _outer(name: str) -> bool:
    return not all(index in _INNER for index in letter_number(name))


def scene(content: Content) -> Scene:
    """Return the play area with coordinates around it."""
    return board.scene(
        content,
        board.SQUARES,
        title="Square board",
        labels=board.square_labels(content.cells),
        tile=tile,
        blank="__",
        outer=_outer,
    )


def on_board(placed: PlacedTile) -> Tile:
    """Return a tile on the board."""
    return board.SQUARES.tile(placed)


def tile(letters: str) -> Scene:
    """Return a tile in hand."""
    return board.row(letters, board.SQUARES)
