"""Figures of the rules pages: games declare them in `figures.json`, and this module renders them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from ..drawing import figure
from ..drawing.crop import crop
from ..drawing.geometry import inset
from ..drawing.scene import Content, Panel, PlacedTile, Point, Scene, Symbol, Track
from ..errors import UnknownFigure
from ..moves import Move
from .protocol import Game
from .variant import Variant

PLAYER = "Ann"
"""Name of the player in figures of hands, the same on the rules pages in all languages."""


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared figure. A test plays it, so its position must be possible and its points must be right.

    It is a figure of a board, unless it has a `hand` or `results`.

    Attributes:
        players: Number of players.
        options: Options of the game.
        tiles: Tiles on the board, as moves.
        place: Move that the figure explains, if any.
        first: Whether the move is the first of its player.
        pyramids: Cells of pyramids.
        count: Lines of spots: the cell that scores, then all symbols that it counts, such as `k8 k7 k6`. On a
            cell with several symbols, their index follows: `1,0:2`.
        gain: Points of the move by colour.
        refused: Illegal placements, shown crossed out.
        crop: Cells whose bounding box is shown.
        hand: Tiles of a figure of a hand, below the scores of its player.
        points: Scores by track of a figure of a hand.
        results: Scores by track and player, the best player first.
    """

    players: int = 2
    options: dict[str, bool] = {}
    tiles: list[str] = []
    place: str = ""
    first: bool = False
    pyramids: list[str] = []
    count: list[str] = []
    gain: dict[str, int] = {}
    refused: list[str] = []
    crop: list[str] = []
    hand: list[str] = []
    points: dict[str, int] = {}
    results: list[dict[str, int]] = []


def load_figures(game: Game) -> dict[str, Figure]:
    """Return the figures that a game declares, by id."""
    file = game.files / "figures.json"
    if not file.is_file():
        return {}
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Figure])


def find_figure(game: Game, figure_id: str) -> Figure:
    """Return a figure of a game. Raises `UnknownFigure`."""
    known = load_figures(game)
    if figure_id not in known:
        raise UnknownFigure(f"{game.id} has no figure {figure_id!r}: choose one of {', '.join(known)}")
    return known[figure_id]


def render(variant: Variant, shown: Figure, *, dark: bool = False) -> str:
    """Return a figure as SVG."""
    title = variant.game.name
    if shown.results:
        return figure.results(title, shown.results, dark=dark)
    if shown.hand:
        tracks = tuple(Track(track, points, variant.cap) for track, points in shown.points.items())
        panel = Panel(PLAYER, False, tracks, tuple(shown.hand))
        return figure.hand(variant.drawing.scene(Content(panels=(panel,), title=title)), dark=dark)
    placed = [Move.parse(shown.place)] if shown.place else []
    refused = [Move.parse(text) for text in shown.refused]
    content = replace(
        variant.content(variant.opening, ()),
        tiles=_laid([*map(Move.parse, shown.tiles), *placed]),
        pyramids=tuple(shown.pyramids),
        last=tuple(cell for move in placed for cell in move.at),
        title=title,
    )
    # Illegal tiles are drawn on the finished scene, so that a growing board does not grow around them.
    crossed = variant.drawing.scene(replace(content, tiles=_laid(refused))).tiles
    scene = variant.drawing.scene(content)
    scene = replace(scene, tiles=scene.tiles + crossed)
    notes = figure.Notes(
        counts=tuple(_count(scene, line.split()) for line in shown.count),
        gain=shown.gain,
        refused=tuple(tile.outline for tile in crossed),
        named=tuple(_named(scene, placed)),
        covered=tuple(
            cell.centre for cell in scene.cells if cell.ground == "star" and cell.name in content.last
        ),
    )
    return figure.board(crop(scene, shown.crop) if shown.crop else scene, notes, dark=dark)


def _laid(moves: list[Move]) -> tuple[PlacedTile, ...]:
    return tuple(PlacedTile(move.tile, move.at) for move in moves)


def _count(scene: Scene, spots: list[str]) -> figure.Count:
    start, *counted = spots
    return figure.Count(_point(scene, start), tuple(_highlight(scene, spot) for spot in counted))


def _point(scene: Scene, spot: str) -> Point:
    """Return the position of a spot: the centre of a cell, or a symbol of a tile on a single cell."""
    name, _, corner = spot.partition(":")
    if corner:
        return next(tile.symbols[int(corner)].at for tile in scene.tiles if tile.cells == (name,))
    return next(cell.centre for cell in scene.cells if cell.name == name)


def _highlight(scene: Scene, spot: str) -> figure.Highlight:
    """Return the highlighted symbol of a spot and the shape around it."""
    name, _, corner = spot.partition(":")
    symbols = [*scene.printed, *(symbol for tile in scene.tiles for symbol in tile.symbols)]
    symbol = next(symbol for symbol in symbols if symbol.at == _point(scene, spot))
    if corner:
        outline = next(tile.wells[int(corner)] for tile in scene.tiles if tile.cells == (name,))
    else:
        outline = inset(next(cell.outline for cell in scene.cells if cell.name == name), 0.085)
    return figure.Highlight(symbol, outline)


def _named(scene: Scene, placed: list[Move]) -> Iterator[Symbol]:
    """Yield the symbols that are named for empty corners of placed tiles."""
    for move in placed:
        tile = next(tile for tile in scene.tiles if tile.cells == move.at)
        for symbol in tile.symbols:
            if symbol.letter == "_" and move.named:
                yield replace(symbol, letter=move.named)
