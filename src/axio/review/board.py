"""The board of a whole game as one picture: every tile and mark knows after how many moves it is there.

A page shows a position by hiding what is not there yet, and a candidate by showing its tile. Colours are the
page's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..drawing.canvas import Canvas
from ..drawing.scene import Laid, Mark, MarkKind, Scene
from ..drawing.svg import BOARD, MARGIN, UNIT, Picture
from ..drawing.symbols import SYMBOLS
from ..drawing.variables import VARIABLES
from ..games.variant import State, Variant
from ..moves import Move
from ..table import Table
from .game import Decision, Review
from .markup import Markup

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
    whole = variant.scene(replace(content, tiles=(*content.tiles, *tried.values())))
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


def _laid(move: Move) -> Laid | None:
    return Laid(move.tile, move.at) if move.kind == "place" else None


def _tiles(
    canvas: Canvas,
    draw: Draw,
    nothing: Scene,
    variant: Variant,
    laid: Sequence[Laid],
    made: Sequence[Decision],
) -> None:
    placed = [decision.ply for decision in made if decision.move.kind == "place"]
    since = [0] * (len(laid) - len(placed)) + placed  # an opening display lies there from the start
    for ply, one in zip(since, laid, strict=True):
        canvas.add(f'<g data-from="{ply}">')
        draw(replace(nothing, tiles=(variant.drawn(one),)))
        canvas.add("</g>")


def _candidates(
    canvas: Canvas, draw: Draw, nothing: Scene, variant: Variant, tried: Mapping[tuple[int, int], Laid]
) -> None:
    for (ply, number), one in tried.items():
        tile = variant.drawn(one)
        edge = Mark("last", (tile.outline[0],), tile.outline)
        canvas.add(f'<g data-ply="{ply}" data-candidate="{number}" hidden="">')
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
            variant.scene(replace(empty, pyramids=(cell,), spent=())),
            "pyramid",
            first,
            end,
        )
    for cell, first, end in _times([variant.spent(state) for state in states]):
        _mark(
            canvas,
            draw,
            nothing,
            variant.scene(replace(empty, pyramids=(), spent=(cell,))),
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
    return {tile: _small(variant.drawn_in_hand(tile)) for tile in dict.fromkeys(letters)}


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
