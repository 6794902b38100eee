"""The board of a whole game as one picture: every tile and mark knows after how many moves it is there.

A page shows a position by hiding what is not there yet, and a candidate by showing its tile. Colours are the
page's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from .review import Decision, Review, Summary

WIDTH, HEIGHT = 960.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 16.0, 16.0, 36.0
DASHES = ("", "7 4", "2 4", "10 3 2 3")
COLOURS = ("B", "O", "G", "P")
SHAPES = ("M-4 0A4 4 0 0 1 4 0A4 4 0 0 1-4 0Z", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5L5 0L0 5L-5 0Z")
ROUGHLY = 6  # lines across


@dataclass(frozen=True, slots=True)
class Plane:
    """Where moves and values lie in the picture; the best is on top."""

    moves: int
    low: float
    high: float

    def x(self, move: float) -> float:
        """How far to the right a number of moves is."""
        return LEFT + (WIDTH - LEFT - RIGHT) * move / max(self.moves, 1)

    def y(self, value: float) -> float:
        """How far down a value is."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def plane(review: Review) -> Plane:
    """Room for everything: all values where they are chances or places, else those that occur."""
    if review.terms.kind in ("win", "place"):
        return Plane(len(review.moves), 0.0, 1.0)
    values = [value for seat in review.seats for _, value in seat.line]
    margin = max(0.02, 0.1 * (max(values) - min(values)))
    return Plane(len(review.moves), max(0.0, min(values) - margin), max(values) + margin)


def graph(review: Review, wording: Wording) -> Markup:
    """The picture as SVG."""
    on = plane(review)
    label = wording.say("graph_label", terms=wording.say(f"terms.{review.terms.kind}"))
    parts = [
        f'<svg id="graph" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-label="{escape(label)}">',
        *_grid(on, wording),
        '<rect id="cursor" class="cursor" width="3" height="0" hidden=""/>',
        *(part for number, seat in enumerate(review.seats) for part in _line(on, number, seat)),
        *_turning(on, review),
        *_strips(on),
        "</svg>",
    ]
    return Markup("".join(parts))


def key(seat: int) -> Markup:
    """A seat's line and shape in small, for a legend."""
    return Markup(
        f'<svg class="key" viewBox="0 0 44 14" aria-hidden="true"><path d="M2 7H42" {_pen(seat)}/>'
        f'<path d="{SHAPES[seat]}" transform="translate(22 7)" {_ink(seat)}/></svg>'
    )


def _pen(seat: int) -> str:
    dashes = f' stroke-dasharray="{DASHES[seat]}"' if DASHES[seat] else ""
    return f'class="line" fill="none" stroke="var(--{COLOURS[seat]}-rim)"{dashes}'


def _ink(seat: int) -> str:
    return f'fill="var(--{COLOURS[seat]}-rim)"'


def _grid(on: Plane, wording: Wording) -> Iterator[str]:
    for value in _levels(on, wording):
        y, text = number(on.y(value)), escape(wording.bare(value).removesuffix(".00").removesuffix(",00"))
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text class="axis" x="{LEFT - 8}" y="{y}" dy=".35em" text-anchor="end">{text}</text>'
    step = next((step for step in (1, 2, 5, 10, 20) if on.moves / step <= 12), 50)
    for move in range(0, on.moves + 1, step):
        x = number(on.x(move))
        yield f'<text class="axis" x="{x}" y="{HEIGHT - 12}" text-anchor="middle">{move}</text>'


def _levels(on: Plane, wording: Wording) -> list[float]:
    if wording.terms.kind == "win":
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    if wording.terms.kind == "place":
        return [place / wording.terms.full for place in range(round(wording.terms.full) + 1)]
    low, high = wording.terms.told(on.low), wording.terms.told(on.high)
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (high - low) / step <= ROUGHLY)
    return [n / wording.terms.full for n in range(0, int(high) + 1, step) if n >= low]


def _line(on: Plane, number_of_seat: int, seat: Summary) -> Iterator[str]:
    points = [(on.x(move), on.y(value)) for move, value in seat.line]
    path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    yield f'<path d="M{path}" {_pen(number_of_seat)}><title>{escape(seat.name)}</title></path>'
    for x, y in points[2::2]:
        yield (
            f'<path d="{SHAPES[number_of_seat]}" transform="translate({number(x)} {number(y)}) scale(.8)"'
            f" {_ink(number_of_seat)}/>"
        )


def _turning(on: Plane, review: Review) -> Iterator[str]:
    for turn in review.turning:
        x = number(on.x(min(turn.ply, on.moves)))
        yield f'<path class="turning" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'


def _strips(on: Plane) -> Iterator[str]:
    """What a pointer meets: a strip for every move."""
    wide = (WIDTH - LEFT - RIGHT) / max(on.moves, 1)
    size = f'width="{number(wide)}" height="{HEIGHT - TOP - BOTTOM:.0f}"'
    for ply in range(1, on.moves + 1):
        x = number(on.x(ply) - wide / 2)
        yield f'<rect class="strip" data-ply="{ply}" x="{x}" y="{TOP:.0f}" {size}/>'


Draw = Callable[[Scene], None]


def board(table: Table, made: Sequence[Decision], review: Review) -> str:
    """The picture of a game.

    What is there after `data-from` moves, and no more after `data-to`, is a group; so is a candidate's tile.
    """
    variant, canvas = table.variant, Canvas(VARIABLES)
    tried = {
        (move.ply, number): laid
        for move in review.moves
        for number, candidate in enumerate(move.candidates)
        if (laid := _laid(Move.parse(candidate.move)))
    }
    content = replace(table.content(), panels=(), last=(), pyramids=(), spent=())
    whole = variant.drawing.scene(replace(content, tiles=(*content.tiles, *tried.values())))
    scale = min(UNIT, BOARD / max(whole.size))
    nothing = replace(whole, frame=(), cells=(), printed=(), labels=(), tiles=(), marks=())

    def draw(scene: Scene) -> None:
        Picture(canvas, scene, (MARGIN, MARGIN), scale).draw()

    ground = tuple(cell for cell in whole.cells if cell.ground != "free")  # room changes from move to move
    draw(replace(whole, cells=ground, tiles=(), marks=()))
    _marks(canvas, draw, nothing, variant, [*(one.view.state for one in made), table.state])
    _tiles(canvas, draw, nothing, variant, table.laid(), made)
    _candidates(canvas, draw, nothing, variant, tried)
    return canvas.document(
        whole.title, (whole.size[0] * scale + 2 * MARGIN, whole.size[1] * scale + 2 * MARGIN)
    )


def _laid(move: Move) -> PlacedTile | None:
    return PlacedTile(move.tile, move.at) if move.kind == "place" else None


def _tiles(
    canvas: Canvas,
    draw: Draw,
    nothing: Scene,
    variant: Variant,
    laid: Sequence[PlacedTile],
    made: Sequence[Decision],
) -> None:
    placed = [decision.ply for decision in made if decision.move.kind == "place"]
    since = [0] * (len(laid) - len(placed)) + placed  # an opening display lies there from the start
    for ply, one in zip(since, laid, strict=True):
        canvas.add(f'<g data-from="{ply}">')
        draw(replace(nothing, tiles=(variant.drawing.on_board(one),)))
        canvas.add("</g>")


def _candidates(
    canvas: Canvas, draw: Draw, nothing: Scene, variant: Variant, tried: Mapping[tuple[int, int], PlacedTile]
) -> None:
    for (ply, candidate), one in tried.items():
        tile = variant.drawing.on_board(one)
        edge = Mark("last", (tile.outline[0],), tile.outline)
        canvas.add(f'<g data-ply="{ply}" data-candidate="{candidate}" hidden="">')
        draw(replace(nothing, tiles=(tile,), marks=(edge,)))
        canvas.add("</g>")


def _marks(canvas: Canvas, draw: Draw, nothing: Scene, variant: Variant, states: Sequence[State]) -> None:
    """Pyramids, and the cells that have lost theirs, from when to when they are there."""
    empty = replace(variant.content(variant.new_state(), ()), panels=(), last=())
    for cell, first, end in _times([variant.pyramids(state) for state in states]):
        _mark(
            canvas,
            draw,
            nothing,
            variant.drawing.scene(replace(empty, pyramids=(cell,), spent=())),
            "pyramid",
            first,
            end,
        )
    for cell, first, end in _times([variant.spent(state) for state in states]):
        _mark(
            canvas,
            draw,
            nothing,
            variant.drawing.scene(replace(empty, pyramids=(), spent=(cell,))),
            "spent",
            first,
            end,
        )


def _mark(
    canvas: Canvas, draw: Draw, nothing: Scene, shown: Scene, kind: MarkKind, first: int, end: int
) -> None:
    canvas.add(f'<g data-from="{first}" data-to="{end}">')
    draw(replace(nothing, marks=tuple(mark for mark in shown.marks if mark.kind == kind)))
    canvas.add("</g>")


def _times(there: Sequence[Sequence[str]]) -> Iterator[tuple[str, int, int]]:
    """For each cell the numbers of moves from which on, and up to which, it is listed."""
    for cell in dict.fromkeys(cell for cells in there for cell in cells):
        listed = [number for number, cells in enumerate(there) if cell in cells]
        yield cell, listed[0], listed[-1] + 1


def tiles_in_hand(variant: Variant, letters: Sequence[str]) -> dict[str, str]:
    """Pictures of tiles in hand, each once."""
    return {tile: _small(variant.drawing.tile(tile)) for tile in dict.fromkeys(letters)}


def symbol_of(track: str, name: str) -> Markup | None:
    """A picture of a colour's symbol, with a name for those who do not see it; `None` for other tracks."""
    if track not in SYMBOLS:
        return None
    canvas = Canvas(VARIABLES)
    canvas.add(canvas.symbol(track, (10.0, 10.0), 18.0))
    return Markup(canvas.document(name, (20.0, 20.0)))


def _small(scene: Scene) -> str:
    canvas, scale = Canvas(VARIABLES), UNIT / 2
    Picture(canvas, scene, (2.0, 2.0), scale).draw()
    return canvas.document(scene.title, (scene.size[0] * scale + 4, scene.size[1] * scale + 4))
