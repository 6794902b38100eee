"""Figures of a review page: the graph of values, the board of the whole game, and tiles in hand.

Colours are custom properties of the page. Every tile and mark on the board carries the ply after which it
appears. The script of the page shows a position by hiding the rest, and a candidate by showing its tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from ...drawing.canvas import Canvas, number
from ...drawing.scene import Mark, MarkKind, PlacedTile, Scene
from ...drawing.svg import BOARD, MARGIN, UNIT, Picture
from ...drawing.symbols import SYMBOLS
from ...drawing.theme import VARIABLES
from ...games.variant import State, Variant
from ...model.table import Table
from ...moves import Move
from ..html import Markup
from .remarks import Wording
from .review import Decision, Review, SeatReview

WIDTH, HEIGHT = 960.0, 300.0  # of the graph
LEFT, RIGHT, TOP, BOTTOM = 56.0, 16.0, 16.0, 36.0  # margins of the graph
# Line style, colour and marker shape by seat.
DASHES = ("", "7 4", "2 4", "10 3 2 3")
COLOURS = ("B", "O", "G", "P")
SHAPES = ("M-4 0A4 4 0 0 1 4 0A4 4 0 0 1-4 0Z", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5L5 0L0 5L-5 0Z")
MAX_GRID_LINES = 6

# ---------------------------------------------------------------- graph


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The coordinate system of the graph."""

    moves: int
    low: float
    high: float

    def x(self, move: float) -> float:
        """Return the horizontal position of a ply."""
        return LEFT + (WIDTH - LEFT - RIGHT) * move / max(self.moves, 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def plot_area(review: Review) -> PlotArea:
    """Return an area for all possible values of chances and ranks, or for all points that occur."""
    if review.scale.kind in ("win", "place"):
        return PlotArea(len(review.moves), 0.0, 1.0)
    values = [value for seat in review.seats for _, value in seat.line]
    margin = max(0.02, 0.1 * (max(values) - min(values)))
    return PlotArea(len(review.moves), max(0.0, min(values) - margin), max(values) + margin)


def render_graph(review: Review, wording: Wording) -> Markup:
    """Return the graph of values after each move as SVG."""
    area = plot_area(review)
    label = wording.text("graph_label", terms=wording.text(f"terms.{review.scale.kind}"))
    parts = [
        f'<svg id="graph" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-label="{escape(label)}">',
        *_grid(area, wording),
        '<rect id="cursor" class="cursor" width="3" height="0" hidden=""/>',
        *(part for index, seat in enumerate(review.seats) for part in _line(area, index, seat)),
        *_turning_points(area, review),
        *_strips(area),
        "</svg>",
    ]
    return Markup("".join(parts))


def legend_key(seat: int) -> Markup:
    """Return a seat's line and marker for the legend."""
    return Markup(
        f'<svg class="key" viewBox="0 0 44 14" aria-hidden="true"><path d="M2 7H42" {_pen(seat)}/>'
        f'<path d="{SHAPES[seat]}" transform="translate(22 7)" {_ink(seat)}/></svg>'
    )


def _pen(seat: int) -> str:
    dashes = f' stroke-dasharray="{DASHES[seat]}"' if DASHES[seat] else ""
    return f'class="line" fill="none" stroke="var(--{COLOURS[seat]}-rim)"{dashes}'


def _ink(seat: int) -> str:
    return f'fill="var(--{COLOURS[seat]}-rim)"'


def _grid(area: PlotArea, wording: Wording) -> Iterator[str]:
    for value in _levels(area, wording):
        y, text = number(area.y(value)), escape(wording.bare(value).removesuffix(".00").removesuffix(",00"))
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text class="axis" x="{LEFT - 8}" y="{y}" dy=".35em" text-anchor="end">{text}</text>'
    step = next((step for step in (1, 2, 5, 10, 20) if area.moves / step <= 12), 50)
    for move in range(0, area.moves + 1, step):
        x = number(area.x(move))
        yield f'<text class="axis" x="{x}" y="{HEIGHT - 12}" text-anchor="middle">{move}</text>'


def _levels(area: PlotArea, wording: Wording) -> list[float]:
    if wording.scale.kind == "win":
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    if wording.scale.kind == "place":
        return [place / wording.scale.full for place in range(round(wording.scale.full) + 1)]
    low, high = wording.scale.to_display(area.low), wording.scale.to_display(area.high)
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (high - low) / step <= MAX_GRID_LINES)
    return [n / wording.scale.full for n in range(0, int(high) + 1, step) if n >= low]


def _line(area: PlotArea, index: int, seat: SeatReview) -> Iterator[str]:
    points = [(area.x(move), area.y(value)) for move, value in seat.line]
    path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    yield f'<path d="M{path}" {_pen(index)}><title>{escape(seat.name)}</title></path>'
    for x, y in points[2::2]:
        yield (
            f'<path d="{SHAPES[index]}" transform="translate({number(x)} {number(y)}) scale(.8)"'
            f" {_ink(index)}/>"
        )


def _turning_points(area: PlotArea, review: Review) -> Iterator[str]:
    for turn in review.turning_points:
        x = number(area.x(min(turn.ply, area.moves)))
        yield f'<path class="turning" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'


def _strips(area: PlotArea) -> Iterator[str]:
    """Yield a transparent strip for every move, as a pointer target."""
    width = (WIDTH - LEFT - RIGHT) / max(area.moves, 1)
    size = f'width="{number(width)}" height="{HEIGHT - TOP - BOTTOM:.0f}"'
    for ply in range(1, area.moves + 1):
        x = number(area.x(ply) - width / 2)
        yield f'<rect class="strip" data-ply="{ply}" x="{x}" y="{TOP:.0f}" {size}/>'


# ---------------------------------------------------------------- board


def render_board(table: Table, decided: Sequence[Decision], review: Review) -> str:
    """Return the board of a whole game as SVG.

    Each group holds the content that is on the board from ply `data-from` to ply `data-to`, or the tile of a
    candidate.

    Args:
        table: the game, replayed to its end.
        decided: its decisions.
        review: its review, which contains the candidates.
    """
    candidates = {
        (move.ply, index): placed
        for move in review.moves
        for index, candidate in enumerate(move.candidates)
        if (placed := _placed_tile(Move.parse(candidate.move)))
    }
    board = _BoardFigure(table, candidates.values())
    board.add_marks([*(decision.view.state for decision in decided), table.state])
    board.add_tiles(table.laid(), decided)
    board.add_candidates(candidates)
    return board.document()


def _placed_tile(move: Move) -> PlacedTile | None:
    return PlacedTile(move.tile, move.at) if move.kind == "place" else None


class _BoardFigure:
    """The board of a game, drawn on a canvas with room for all tiles."""

    def __init__(self, table: Table, candidates: Iterable[PlacedTile]) -> None:
        self._variant = variant = table.variant
        self._canvas = Canvas(VARIABLES)
        content = replace(table.content(), panels=(), last=(), pyramids=(), spent=())
        self._whole = whole = variant.drawing.scene(replace(content, tiles=(*content.tiles, *candidates)))
        self._scale = min(UNIT, BOARD / max(whole.size))
        self._blank = replace(whole, frame=(), cells=(), printed=(), labels=(), tiles=(), marks=())
        cells = tuple(
            cell for cell in whole.cells if cell.ground != "free"
        )  # free cells change with each move
        self._draw(replace(whole, cells=cells, tiles=(), marks=()))

    def document(self) -> str:
        """Return the board as an SVG document."""
        width, height = (size * self._scale + 2 * MARGIN for size in self._whole.size)
        return self._canvas.document(self._whole.title, (width, height))

    def add_tiles(self, placed: Sequence[PlacedTile], decided: Sequence[Decision]) -> None:
        """Add the tiles of the game, in the order of their placement."""
        plies = [decision.ply for decision in decided if decision.move.kind == "place"]
        since = [0] * (len(placed) - len(plies)) + plies  # tiles of the opening are there from the start
        for ply, tile in zip(since, placed, strict=True):
            self._group(
                f'data-from="{ply}"', replace(self._blank, tiles=(self._variant.drawing.on_board(tile),))
            )

    def add_candidates(self, candidates: Mapping[tuple[int, int], PlacedTile]) -> None:
        """Add the tiles of candidates, by ply and index. They are initially hidden."""
        for (ply, index), placed in candidates.items():
            tile = self._variant.drawing.on_board(placed)
            edge = Mark("last", (tile.outline[0],), tile.outline)
            scene = replace(self._blank, tiles=(tile,), marks=(edge,))
            self._group(f'data-ply="{ply}" data-candidate="{index}" hidden=""', scene)

    def add_marks(self, states: Sequence[State]) -> None:
        """Add pyramids, and the cells that have lost theirs, from the states after 0, 1, 2, … moves."""
        variant = self._variant
        empty = replace(variant.content(variant.new_state(), ()), panels=(), last=())
        for cell, first, end in _presence([variant.pyramids(state) for state in states]):
            scene = variant.drawing.scene(replace(empty, pyramids=(cell,), spent=()))
            self._add_marks_of(scene, "pyramid", first, end)
        for cell, first, end in _presence([variant.spent(state) for state in states]):
            scene = variant.drawing.scene(replace(empty, pyramids=(), spent=(cell,)))
            self._add_marks_of(scene, "spent", first, end)

    def _add_marks_of(self, scene: Scene, kind: MarkKind, first: int, end: int) -> None:
        marks = tuple(mark for mark in scene.marks if mark.kind == kind)
        self._group(f'data-from="{first}" data-to="{end}"', replace(self._blank, marks=marks))

    def _group(self, attributes: str, scene: Scene) -> None:
        self._canvas.add(f"<g {attributes}>")
        self._draw(scene)
        self._canvas.add("</g>")

    def _draw(self, scene: Scene) -> None:
        Picture(self._canvas, scene, (MARGIN, MARGIN), self._scale).render()


def _presence(cells_by_move: Sequence[Sequence[str]]) -> Iterator[tuple[str, int, int]]:
    """Yield each cell with the first index at which it is listed, and the index after the last one."""
    for cell in dict.fromkeys(cell for cells in cells_by_move for cell in cells):
        listed = [index for index, cells in enumerate(cells_by_move) if cell in cells]
        yield cell, listed[0], listed[-1] + 1


# ---------------------------------------------------------------- tiles and symbols


def tiles_in_hand(variant: Variant, letters: Sequence[str]) -> dict[str, str]:
    """Return a picture of each distinct tile."""
    return {tile: _hand_tile(variant.drawing.tile(tile)) for tile in dict.fromkeys(letters)}


def _hand_tile(scene: Scene) -> str:
    canvas, scale = Canvas(VARIABLES), UNIT / 2
    Picture(canvas, scene, (2.0, 2.0), scale).render()
    return canvas.document(scene.title, (scene.size[0] * scale + 4, scene.size[1] * scale + 4))


def symbol_of(track: str, name: str) -> Markup | None:
    """Return the symbol of a colour, with `name` for screen readers; `None` for other tracks."""
    if track not in SYMBOLS:
        return None
    canvas = Canvas(VARIABLES)
    canvas.add(canvas.symbol(track, (10.0, 10.0), 18.0))
    return Markup(canvas.document(name, (20.0, 20.0)))
