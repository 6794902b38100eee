"""Drawing of the hexagonal board.

Numbers count the rows from the bottom. Lines of equal letters rise to the right, so the names of neighbouring
cells differ by one letter, by one number, or by one of each in opposite directions.
"""

from __future__ import annotations

from ...drawing import board
from ...drawing.geometry import ROW, hexagon, letter_number
from ...drawing.scene import Content, Grid, Label, PlacedTile, Point, Scene, Tile


def _point(letter: float, number: float) -> Point:
    return letter + number / 2, -ROW * number


def _centre(name: str) -> Point:
    return _point(*letter_number(name))


_LATTICE = board.Lattice(_centre, hexagon, Grid(1 / 4, ROW / 2), (Grid(1 / 4, ROW),))


def _labels(names: tuple[str, ...]) -> tuple[Label, ...]:
    """Return labels: numbers to the left of rows, letters above lines. No side of the board has both."""
    cells = [letter_number(name) for name in names]
    first = {number: min(i for i, n in cells if n == number) for _, number in cells}
    last = {letter: max(n for i, n in cells if i == letter) for letter, _ in cells}
    away = 0.82
    rows = (Label(str(n), _point(i - away, n), True, _point(1, 0)) for n, i in first.items())
    columns = (
        Label(chr(ord("a") + i - 1), _point(i, n + away), False, _point(0, -1)) for i, n in last.items()
    )
    return (*rows, *columns)


def scene(content: Content) -> Scene:
    """Return the board with coordinates around it."""
    side = (max((letter_number(name)[0] for name in content.cells), default=0) + 1) // 2

    def outer(name: str) -> bool:
        letter, number = (index - side for index in letter_number(name))
        return max(abs(letter), abs(number), abs(letter + number)) > 5

    return board.scene(
        content,
        _LATTICE,
        title="Board of hexagons",
        labels=_labels(content.cells),
        tile=tile,
        blank="__",
        outer=outer,
    )


def on_board(placed: PlacedTile) -> Tile:
    """Return a tile on the board."""
    return _LATTICE.tile(placed)


def tile(letters: str) -> Scene:
    """Return a tile in hand."""
    return board.row(letters, _LATTICE)
