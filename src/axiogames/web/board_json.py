"""Boards and tiles as JSON, in hundredths of a cell: what the page draws."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import cast

import msgspec
from msgspec import Raw, Struct

from ..drawing.canvas import path
from ..drawing.geometry import inset
from ..drawing.scene import Cell, Outline, PlacedTile, Point, Scene, Tile
from ..games.variant import State, Variant

UNIT = 100  # per cell
CELL_GAP, CELL_ROUNDING = 0.022, 10.0
TILE_ROUNDING = 17.0
FRAME_ROUNDING = 55.0
MAX_PLACES = 4_000  # cached per variant; on growing boards tiles can lie almost anywhere


class Shape(Struct, frozen=True):
    """Drawing of a tile in one direction, relative to the centre of its symbols."""

    path: str
    wells: str
    spots: tuple[tuple[int, int, int], ...]
    box: tuple[int, int, int, int]


class Board(Struct, frozen=True):
    """Drawing of a board, in hundredths of a cell."""

    title: str
    box: tuple[int, int, int, int]
    frame: str
    outlines: tuple[str, ...]
    cells: tuple[tuple[str, int, int, int, str, str], ...]
    printed: tuple[tuple[str, int, int, int, str], ...]
    labels: tuple[tuple[str, int, int], ...]
    shapes: tuple[Shape, ...]
    hand: int


class BoardTile(Struct, frozen=True):
    """A tile on the board."""

    tile: str
    at: tuple[str, ...]
    shape: int
    x: int
    y: int


def _units(value: float) -> int:
    """Return a length in hundredths of a cell."""
    return round(value * UNIT)


def _relative(outline: Outline, centre: Point) -> Outline:
    """Return an outline relative to a centre, in hundredths of a cell."""
    return tuple(((x - centre[0]) * UNIT, (y - centre[1]) * UNIT) for x, y in outline)


def _box(outline: Outline) -> tuple[int, int, int, int]:
    """Return the bounding box of an outline as x, y, width and height."""
    xs, ys = [x for x, _ in outline], [y for _, y in outline]
    return round(min(xs)), round(min(ys)), round(max(xs) - min(xs)), round(max(ys) - min(ys))


class BoardEncoder:
    """Encodes boards and tiles of one variant. Shapes and places are cached."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._shapes: dict[tuple[tuple[int, int, int], ...], int] = {}
        self._shape_list: list[Shape] = []
        self._outlines: dict[tuple[tuple[int, int], ...], str] = {}
        self._places: dict[tuple[str, ...], tuple[int, int, int]] = {}
        self._fixed_board: Board | None = None
        hand = variant.drawing.tile(variant.kinds[0]).tiles[0]
        self._hand = self._shape(hand)[0]
        # Shapes are numbered as they are added. Adding all directions here makes the numbers constant.
        for at in variant.directions:
            self.place(at)

    def _shape(self, tile: Tile) -> tuple[int, int, int]:
        """Return the number of a tile's shape and the coordinates of its centre."""
        count = len(tile.symbols)
        centre = sum(s.at[0] for s in tile.symbols) / count, sum(s.at[1] for s in tile.symbols) / count
        spots = tuple(
            (_units(s.at[0] - centre[0]), _units(s.at[1] - centre[1]), _units(s.size)) for s in tile.symbols
        )
        number = self._shapes.setdefault(spots, len(self._shapes))
        if number == len(self._shape_list):
            edge = _relative(tile.outline, centre)
            wells = "".join(path(_relative(well, centre), TILE_ROUNDING, 1) for well in tile.wells)
            self._shape_list.append(Shape(path(edge, TILE_ROUNDING), wells, spots, _box(edge)))
        return number, _units(centre[0]), _units(centre[1])

    def place(self, at: tuple[str, ...]) -> tuple[int, int, int]:
        """Return the shape of a tile on these cells, and the coordinates of its centre."""
        found = self._places.get(at)
        if found is None:
            if len(self._places) >= MAX_PLACES:
                self._places.clear()
            blank = self._variant.kinds[0]
            found = self._places[at] = self._shape(self._variant.drawing.on_board(PlacedTile(blank, at)))
        return found

    def board_tile(self, tile: str, at: tuple[str, ...]) -> BoardTile:
        """Return a tile on the board."""
        return BoardTile(tile, at, *self.place(at))

    def board_tiles(self, tiles: Iterable[PlacedTile]) -> list[BoardTile]:
        """Return tiles on the board."""
        return [self.board_tile(tile.letters, tile.at) for tile in tiles]

    def board(self, state: State) -> Board:
        """Return the board as JSON. In most games it never changes."""
        if self._fixed_board is not None:
            return self._fixed_board
        content = self._variant.content(state, ())
        encoded = cast(Board, Raw(msgspec.json.encode(self._board(self._variant.drawing.scene(content)))))
        if not self._variant.grows:
            self._fixed_board = encoded
        return encoded

    def _board(self, scene: Scene) -> Board:
        outlines: dict[str, int] = {}
        cells = []
        for cell in scene.cells:
            number = outlines.setdefault(self.outline(cell), len(outlines))
            x, y = _units(cell.centre[0]), _units(cell.centre[1])
            cells.append((cell.name, x, y, number, cell.ground, cell.tint))
        names = {(x, y): name for name, x, y, *_ in cells}
        printed = []
        for symbol in scene.printed:
            x, y = _units(symbol.at[0]), _units(symbol.at[1])
            printed.append((symbol.letter, x, y, _units(symbol.size), names.get((x, y), "")))
        return Board(
            title=scene.title,
            box=(
                _units(scene.corner[0]),
                _units(scene.corner[1]),
                _units(scene.size[0]),
                _units(scene.size[1]),
            ),
            frame=path(_relative(scene.frame, (0.0, 0.0)), FRAME_ROUNDING) if scene.frame else "",
            outlines=tuple(outlines),
            cells=tuple(cells),
            printed=tuple(printed),
            labels=tuple((label.text, _units(label.at[0]), _units(label.at[1])) for label in scene.labels),
            shapes=tuple(self._shape_list),
            hand=self._hand,
        )

    def outline(self, cell: Cell) -> str:
        """Return the outline of a cell as a path. Most cells of a board have the same one."""
        shape = tuple((_units(x - cell.centre[0]), _units(y - cell.centre[1])) for x, y in cell.outline)
        if shape not in self._outlines:
            outline = _relative(inset(cell.outline, CELL_GAP), cell.centre)
            self._outlines[shape] = path(outline, CELL_ROUNDING)
        return self._outlines[shape]


@cache
def board_encoder(variant: Variant) -> BoardEncoder:
    """Return the encoder of a variant."""
    return BoardEncoder(variant)
