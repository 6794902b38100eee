"""Drawing of the board."""

from __future__ import annotations

from axiogames.drawing import board
from axiogames.drawing.scene import Content, PlacedTile, Scene, Tile


def scene(content: Content) -> Scene:
    """Return the board with coordinates around it."""
    labels = board.square_labels(content.cells)
    return board.scene(content, board.SQUARES, title="5×5", labels=labels, tile=tile, blank="__")


def on_board(placed: PlacedTile) -> Tile:
    """Return a tile on the board."""
    return board.SQUARES.tile(placed)


def tile(letters: str) -> Scene:
    """Return a tile in hand."""
    return board.row(letters, board.SQUARES)
