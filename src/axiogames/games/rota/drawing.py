"""Drawing of the growing display of square tiles. Positions are "x,y", with y upwards."""

from __future__ import annotations

from functools import lru_cache

from ...drawing.board import seats, small
from ...drawing.geometry import box, inset, quarter, rectangle, square
from ...drawing.scene import (
    Cell,
    Content,
    Grid,
    Label,
    Mark,
    MarkKind,
    PlacedTile,
    Point,
    Scene,
    Symbol,
    Tile,
)

_SIDE = 2.0
_EDGE = 0.05
_SYMBOL = 0.66
_OFF = 0.54
_CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))
# A tile takes five characters by three lines: two lines of symbols and an empty one. The middle of a tile is
# between its lines; the small extra offset makes it round to the second line.
_GRID = Grid(_SIDE / 5, _SIDE / 3, (0.0, -_SIDE / 6 - 0.005))
_TIGHTER = (Grid(_SIDE / 5, _SIDE / 2, (0.0, -_SIDE / 4 - 0.005)),)  # without the empty line


def _position(name: str) -> tuple[int, int]:
    x, y = name.split(",")
    return int(x), int(y)


def _centre(position: tuple[int, int]) -> Point:
    return _SIDE * position[0], -_SIDE * position[1]


@lru_cache(4096)
def _tile(letters: str, centre: Point, cells: tuple[str, ...] = ()) -> Tile:
    x, y = centre
    at = [(x + _OFF * right, y + _OFF * down) for right, down in _CORNERS]
    outline = inset(square(centre, _SIDE), _EDGE)
    wells = (quarter(c, -0.92 * r, -0.92 * d) for c, (r, d) in zip(outline, _CORNERS, strict=True))
    return Tile(
        outline=outline,
        symbols=tuple(Symbol(letter, point, _SYMBOL) for letter, point in zip(letters, at, strict=True)),
        cells=cells,
        links=((at[0], at[1]), (at[3], at[2]), ((x, y - _OFF), (x, y + _OFF))),
        wells=tuple(wells),
    )


def scene(content: Content) -> Scene:
    """Return the display, the free positions around it, and the coordinates of columns and rows."""
    placed_tiles = (
        *content.tiles,
        *(PlacedTile(letters, (name,)) for name, letters in content.loose.items()),
    )
    taken = {_position(name) for placed in placed_tiles for name in placed.at}
    places = {_position(name) for place in content.places for name in place}
    around = {(x + dx, y + dy) for x, y in taken for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    free = sorted((around | places) - taken) or ([] if taken else [(0, 0)])
    shown = [*taken, *free]
    left, bottom = min(x for x, _ in shown), min(y for _, y in shown)
    labels = [
        Label(str(x), (_SIDE * x, -_SIDE * bottom + 1.4), False, (0.0, -1.0))
        for x in sorted({x for x, _ in shown})
    ]
    labels += [
        Label(str(y), (_SIDE * left - 1.4, -_SIDE * y), True, (1.0, 0.0))
        for y in sorted({y for _, y in shown})
    ]

    def mark(kind: MarkKind, name: str) -> Mark:
        centre = _centre(_position(name))
        return Mark(kind, (centre,), square(centre, _SIDE))

    cells = tuple(
        Cell(f"{x},{y}", at := _centre((x, y)), inset(square(at, _SIDE), 0.1), "free") for x, y in free
    )
    outlines = [corner for position in shown for corner in square(_centre(position), _SIDE)]
    corner, size = box([*outlines, *(label.at for label in labels)], 0.5)
    return Scene(
        title=content.title or "Display of tiles",
        corner=corner,
        size=size,
        grid=_GRID,
        tighter=_TIGHTER,
        frame=rectangle(corner, size),
        cells=cells,
        tiles=tuple(
            _tile(placed.letters, _centre(_position(placed.at[0])), placed.at) for placed in placed_tiles
        ),
        marks=(
            *(mark("place", name) for place in content.places for name in place),
            *(mark("last", name) for name in content.last),
        ),
        labels=tuple(labels),
        seats=seats(content.panels, tile, "____"),
        to_draw=content.to_draw,
    )


def on_board(placed: PlacedTile) -> Tile:
    """Return a tile of the display."""
    return _tile(placed.letters, _centre(_position(placed.at[0])), placed.at)


def tile(letters: str) -> Scene:
    """Return a tile in hand: four letters clockwise from the top left corner, `_` for an empty one."""
    return small(letters, _tile(letters, (0.0, 0.0)), _GRID)
