"""How the board with starter squares, black squares and stars is drawn."""

from __future__ import annotations

from ...drawing import board
from ...drawing.scene import Content, PlacedTile, Scene, Tile


def scene(content: Content) -> Scene:
    """The board with its names around it."""
    return board.scene(
        content,
        board.SQUARES,
        title="Board of squares",
        labels=board.square_labels(content.cells),
        tile=tile,
        blank="___",
    )


def on_board(laid: PlacedTile) -> Tile:
    """A tile on the board."""
    return board.SQUARES.tile(laid)


def tile(letters: str) -> Scene:
    """A straight tile of three squares in hand."""
    return board.row(letters, board.SQUARES)
