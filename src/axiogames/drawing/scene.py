"""Scenes: the interface between games and renderers.

A game turns the content of its board (`Content`: names of cells and letters of tiles) into a `Scene`:
polygons, symbols, tiles and marks with coordinates. `x` increases to the right and `y` downwards. A symbol is
about one unit wide. Renderers know no game.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
Outline = tuple[Point, ...]
"""The corners of a closed polygon in order, or empty."""

# --- Content: the input of a game, by names and letters -----------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile on the board: its letters in the order of the cells that it covers."""

    letters: str
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """The points of a seat in one colour, or in total where a game does not count colours."""

    colour: str
    points: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class Panel:
    """The data of a seat that is shown beside the board.

    `hand` has the letters of visible tiles, and `hidden` is the number of other tiles in hand. `rank` is set
    after the game.
    """

    name: str
    to_move: bool
    tracks: tuple[Track, ...]
    hand: tuple[str, ...] = ()
    hidden: int = 0
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a board, by the names of its cells.

    Attributes:
        cells: All cells; empty for a board that grows with its tiles.
        printed: Letters of printed symbols.
        stars: Cells with a printed star.
        blocked: Cells that no tile can cover.
        tiles: Tiles whose placement is known.
        loose: Letters on other covered cells.
        pyramids: Cells with a pyramid.
        spent: Cells that have lost their pyramid and stay empty.
        last: Cells of the last move.
        places: Cells of each legal placement that is shown.
        panels: Seats beside the board.
        to_draw: Number of tiles left to draw.
        title: Title of the picture; by default that of the game's board.
    """

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


# --- Scene: the input of the renderers -----------------------------------------------------------------

Ground = Literal["plain", "outer", "printed", "star", "blocked", "free"]
"""The kind of a cell: `outer` is outside the smallest board, `free` is not part of the board yet."""

MarkKind = Literal["last", "place", "pyramid", "spent"]
"""The kind of a mark: `last` is the last move, `place` a legal placement, and `spent` a cell that lost its
pyramid and stays empty."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of terminal characters over a scene: size of a character, and middle of the one at 0, 0."""

    dx: float
    dy: float
    origin: Point = (0.0, 0.0)

    def at(self, point: Point) -> tuple[int, int]:
        """Return column and line of the character at `point`."""
        return (
            math.floor((point[0] - self.origin[0]) / self.dx + 0.5),
            math.floor((point[1] - self.origin[1]) / self.dy + 0.5),
        )

    def middle(self, column: float, line: float) -> Point:
        """Return the point in the middle of a character, or of a fraction of one."""
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
    """A symbol by its colour letter; `_` is an empty position."""

    letter: str
    at: Point
    size: float


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: its outline, its symbols, the links between them, and the cells that it covers.

    `wells` are recesses in its face that hold the symbols.
    """

    outline: Outline
    symbols: tuple[Symbol, ...]
    cells: tuple[str, ...] = ()
    links: tuple[tuple[Point, Point], ...] = ()
    wells: tuple[Outline, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight: the centres of the cells and the outline around them."""

    kind: MarkKind
    centres: tuple[Point, ...]
    outline: Outline


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a row (`row`) or of a column.

    `along` is the direction from the label into its row or column. The label moves along it where only a part
    of the board is shown.
    """

    text: str
    at: Point
    row: bool
    along: Point


@dataclass(frozen=True, slots=True)
class Seat:
    """A panel whose hand is a tuple of scenes; `back` is the scene of a hidden tile."""

    name: str
    to_move: bool
    tracks: tuple[Track, ...]
    hand: tuple[Scene, ...] = ()
    hidden: int = 0
    rank: int | None = None
    back: Scene | None = None

    def lowest(self) -> int | None:
        """Return the points of the lowest colour, or None with fewer than two different scores."""
        points = {track.points for track in self.tracks}
        return min(points) if len(points) > 1 else None


@dataclass(frozen=True, slots=True)
class Scene:
    """A complete picture.

    `corner` and `size` bound everything except the seats; `frame` is the edge of the board. `tighter` are
    alternatives to `grid` for small terminals, in the order in which they are tried. `to_draw` is the number
    of tiles left.
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
