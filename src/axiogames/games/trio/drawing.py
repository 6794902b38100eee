"""Drawing of the trio board with its starter squares, black squares and stars."""

from __future__ import annotations

from ...drawing import board
from ...drawing.scene import Content, PlacedTile, Scene, Tile


def scene(content: Content) -> Scene:
    """Return the board with coordinates around it."""
    return board.scene(
        content,
        board.SQUARES,
        title="Board of squares",
        labels=board.square_labels(content.cells),
        tile=tile,
        blank="___",
    )


def on_board(placed: PlacedTile) -> Tile:
    """Return a tile on the board."""
    return board.SQUARES.tile(placed)


def tile(letters: str) -> Scene:
    """Return a tile in hand."""
    return board.row(letters, board.SQUARES)
