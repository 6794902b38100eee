"""Drawable data: what a game hands to the renderers, which know no game.

A game turns the content of its board (`Content`: names of cells and letters of tiles) into a
`Scene`: polygons, symbols, tiles and marks with coordinates. `x` runs to the right and `y` downwards;
a symbol has about one unit of room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
Outline = tuple[Point, ...]
"""The corners of a polygon in order; closed by itself, empty when there is none."""

# --- in: what a game knows, by names and letters -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile on the board: its letters as it lies, in the order of the cells it covers."""

    letters: str
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """One seat's points in one colour (or in all, where a game counts points only)."""

    colour: str
    points: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class Panel:
    """What is shown of a seat beside the board."""

    name: str
    to_move: bool
    tracks: tuple[Track, ...]
    hand: tuple[str, ...] = ()
    hidden: int = 0
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What lies on a board, by the names of its cells."""

    cells: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    tiles: tuple[PlacedTile, ...] = ()
    loose: Mapping[str, str] = field(default_factory=dict)
    pyramids: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    places: tuple[tuple[str, ...], ...] = ()
    panels: tuple[Panel, ...] = ()
    to_draw: int = 0
    title: str = ""

    def __hash__(self) -> int:
        return hash((frozenset(self.printed.items()), frozenset(self.loose.items()), self.tiles, self.panels))


# --- out: what the renderers draw --------------------------------------------------------------------

Ground = Literal["plain", "outer", "printed", "star", "blocked", "free"]
"""What a cell is made of: `outer` lies beyond the smallest board, `free` is room that is not board yet."""

MarkKind = Literal["last", "place", "pyramid", "spent"]
"""`spent` is a cell that lost its pyramid and stays empty for good."""


@dataclass(frozen=True, slots=True)
class Grid:
    """How a terminal lays characters over the picture: the size of one, and the middle of one."""

    dx: float
    dy: float
    origin: Point = (0.0, 0.0)

    def at(self, point: Point) -> tuple[int, int]:
        """Column and line of the character that shows `point`."""
        return (
            math.floor((point[0] - self.origin[0]) / self.dx + 0.5),
            math.floor((point[1] - self.origin[1]) / self.dy + 0.5),
        )

    def middle(self, column: float, line: float) -> Point:
        """The point under the middle of a character (or of a part of one)."""
        return self.origin[0] + column * self.dx, self.origin[1] + line * self.dy


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the board; `tint` is the colour letter of a printed one."""

    name: str
    centre: Point
    outline: Outline
    ground: Ground = "plain"
    tint: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol by its colour letter; `_` holds the place of a missing one."""

    letter: str
    at: Point
    size: float


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: its edge, its symbols, which of them are joined, and the cells it covers.

    `wells` are hollows in its face that the symbols lie in.
    """

    outline: Outline
    symbols: tuple[Symbol, ...]
    cells: tuple[str, ...] = ()
    links: tuple[tuple[Point, Point], ...] = ()
    wells: tuple[Outline, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Something pointed out: the cells' centres, and the edge around them."""

    kind: MarkKind
    centres: tuple[Point, ...]
    outline: Outline


@dataclass(frozen=True, slots=True)
class Label:
    """A name beside the board: of a row (`row`) or of a column.

    `along` leads from the label into the row or column that it names: where a part of the board is shown,
    the label moves that way.
    """

    text: str
    at: Point
    row: bool
    along: Point


@dataclass(frozen=True, slots=True)
class Seat:
    """A panel with its hand as small scenes; `back` is the back of a tile that is not shown."""

    name: str
    to_move: bool
    tracks: tuple[Track, ...]
    hand: tuple[Scene, ...] = ()
    hidden: int = 0
    place: int | None = None
    back: Scene | None = None

    def lowest(self) -> int | None:
        """The points of the colour that lags behind; None where none does."""
        points = {track.points for track in self.tracks}
        return min(points) if len(points) > 1 else None


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole picture. `corner` and `size` bound everything but the seats; `frame` is the board's edge.

    `tighter` are grids for a terminal that has too little room for `grid`, in the order in which they are
    tried. `to_draw` is how many tiles are left.
    """

    title: str
    corner: Point
    size: Point
    grid: Grid
    tighter: tuple[Grid, ...] = ()
    frame: Outline = ()
    cells: tuple[Cell, ...] = ()
    printed: tuple[Symbol, ...] = ()
    tiles: tuple[Tile, ...] = ()
    marks: tuple[Mark, ...] = ()
    labels: tuple[Label, ...] = ()
    seats: tuple[Seat, ...] = ()
    to_draw: int = 0
