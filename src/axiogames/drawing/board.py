"""Scenes of boards with named cells of any shape."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise

from .geometry import box, hull, inset, square, square_centre, union
from .scene import (
    Cell,
    Content,
    Grid,
    Ground,
    Label,
    Mark,
    MarkKind,
    Outline,
    Panel,
    PlacedTile,
    Point,
    Scene,
    Seat,
    Symbol,
    Tile,
)

SYMBOL = 0.64
"""Size of a symbol in a cell of width 1."""

EDGE = 0.045
"""Gap between a tile and the edge of its cells."""

BORDER = 0.62
"""Width of the frame around the cells, which holds the row and column labels."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """The geometry of a board: centre of a named cell, outline around a centre, terminal grids."""

    centre: Callable[[str], Point]
    shape: Callable[[Point], Outline]
    grid: Grid
    tighter: tuple[Grid, ...] = ()

    def tile(self, placed: PlacedTile) -> Tile:
        """Return a tile over adjacent cells, with a symbol in the middle of each."""
        return self.tile_over(placed.letters, tuple(self.centre(name) for name in placed.at), placed.at)

    def tile_over(self, letters: str, centres: tuple[Point, ...], cells: tuple[str, ...] = ()) -> Tile:
        """Return a tile over the cells around `centres`."""
        return Tile(
            outline=inset(union(self.shape(centre) for centre in centres), EDGE),
            symbols=tuple(Symbol(letter, at, SYMBOL) for letter, at in zip(letters, centres, strict=True)),
            cells=cells,
            links=tuple(pairwise(centres)),
        )

    def mark(self, kind: MarkKind, names: tuple[str, ...]) -> Mark:
        """Return a mark around adjacent cells."""
        centres = tuple(self.centre(name) for name in names)
        return Mark(kind, centres, union(self.shape(centre) for centre in centres))


def scene(
    content: Content,
    lattice: Lattice,
    *,
    title: str,
    labels: Collection[Label],
    tile: Callable[[str], Scene],
    blank: str,
    outer: Callable[[str], bool] = lambda name: False,
) -> Scene:
    """Return the scene of a board.

    Args:
        content: the content of the board, by cell names.
        lattice: the geometry of the board.
        title: the title, unless `content` has one.
        labels: the names of rows and columns.
        tile: returns the scene of a tile in hand, given its letters.
        blank: the letters of a hidden tile.
        outer: returns whether a cell lies outside the smallest board.
    """
    grounds: dict[str, Ground] = {name: "outer" if outer(name) else "plain" for name in content.cells}
    grounds |= dict.fromkeys(content.stars, "star")
    grounds |= dict.fromkeys(content.blocked, "blocked")
    grounds |= dict.fromkeys(content.printed, "printed")
    cells = tuple(
        Cell(name, at := lattice.centre(name), lattice.shape(at), ground, content.printed.get(name, ""))
        for name, ground in grounds.items()
    )
    placed_tiles = (*content.tiles, *(PlacedTile(letter, (name,)) for name, letter in content.loose.items()))
    marks = [
        *(lattice.mark("spent", (name,)) for name in content.spent),
        *(lattice.mark("pyramid", (name,)) for name in content.pyramids),
        *(lattice.mark("place", place) for place in content.places),
    ]
    marks += (lattice.mark("last", names) for names in _pieces(content.last, placed_tiles))
    frame = inset(hull(corner for cell in cells for corner in cell.outline), -BORDER)
    corner, size = box(frame, 0.02)
    return Scene(
        title=content.title or title,
        corner=corner,
        size=size,
        grid=lattice.grid,
        tighter=lattice.tighter,
        frame=frame,
        cells=cells,
        printed=tuple(
            Symbol(letter, lattice.centre(name), SYMBOL) for name, letter in content.printed.items()
        ),
        tiles=tuple(lattice.tile(placed) for placed in placed_tiles),
        marks=tuple(marks),
        labels=tuple(labels),
        seats=seats(content.panels, tile, blank),
        to_draw=content.to_draw,
    )


SQUARES = Lattice(
    square_centre, square, Grid(1 / 4, 1 / 2), (Grid(1 / 4, 1), Grid(1 / 3, 1 / 2), Grid(1 / 3, 1))
)
"""The geometry of boards of unit squares. In a terminal a cell has 4 or 3 columns and 2 lines or 1."""


def _pieces(names: tuple[str, ...], placed_tiles: Collection[PlacedTile]) -> list[tuple[str, ...]]:
    """Group cells by the tiles that cover them; a cell without a tile is a group of its own."""
    tiles = [placed.at for placed in placed_tiles if set(placed.at) <= set(names)]
    covered = {name for at in tiles for name in at}
    return tiles + [(name,) for name in names if name not in covered]


def square_labels(names: Collection[str]) -> tuple[Label, ...]:
    """Return the labels of a square board: letters below the columns and numbers left of the rows."""
    away = 0.84
    points = {name: square_centre(name) for name in names}
    left = min((x for x, _ in points.values()), default=0.0)
    bottom = max((y for _, y in points.values()), default=0.0)
    up, right = (0.0, -1.0), (1.0, 0.0)
    columns = {name[0]: Label(name[0], (x, bottom + away), False, up) for name, (x, _) in points.items()}
    rows = {name[1:]: Label(name[1:], (left - away, y), True, right) for name, (_, y) in points.items()}
    return (*columns.values(), *rows.values())


def row(letters: str, lattice: Lattice) -> Scene:
    """Return the scene of a tile in hand whose cells lie side by side."""
    centres = tuple((float(index), 0.0) for index in range(len(letters)))
    return small(letters, lattice.tile_over(letters, centres), lattice.grid)


def small(letters: str, tile: Tile, grid: Grid) -> Scene:
    """Return the scene of one tile in hand, with its letters as the title."""
    corner, size = box(tile.outline, 0.06)  # the margin holds the shadow
    return Scene(title=letters, corner=corner, size=size, grid=grid, tiles=(tile,))


def seats(panels: tuple[Panel, ...], tile: Callable[[str], Scene], blank: str) -> tuple[Seat, ...]:
    """Return the seats of a scene, with the tiles of their hands as scenes."""
    return tuple(
        Seat(
            panel.name,
            panel.to_move,
            panel.tracks,
            tuple(tile(letters) for letters in panel.hand),
            panel.hidden,
            panel.rank,
            tile(blank),
        )
        for panel in panels
    )
