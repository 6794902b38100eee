"""The pictures of the rules pages. A game declares them in `figures.json`; here they are drawn."""

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
"""Whose hand is shown; the rules pages call her so in every language."""


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture as data. A test plays it: what it shows must be possible, and what it says must be true.

    A picture of a board has `tiles` that lie there and, if anything happens, the tile that is placed now
    (`place`; `first` says that its player has none yet), the pyramids it sets, the symbols that are counted
    and what they bring. Each line of `count` names where one looks from and then every symbol that scores:
    `k8 k7 k6`. Where a cell has several symbols, their number follows: `1,0:2`. Tiles that are `refused`
    may not be placed as they are shown. `crop` names cells; the picture shows what lies between them.

    A picture of a `hand` shows it below the `points` of its player; one of `results` the points of
    several players, the best first.
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


def declared(game: Game) -> dict[str, Figure]:
    """The pictures that a game declares, by their names."""
    file = game.files / "figures.json"
    if not file.is_file():
        return {}
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Figure])


def find(game: Game, name: str) -> Figure:
    """A picture of a game by its name. Raises `UnknownFigure`."""
    known = declared(game)
    if name not in known:
        raise UnknownFigure(f"{game.id} has no figure {name!r}: choose one of {', '.join(known)}")
    return known[name]


def drawn(variant: Variant, shown: Figure, *, dark: bool = False) -> str:
    """A picture as SVG."""
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
    # Tiles that may not lie there do not belong to the board: it does not grow around them.
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
    return figure.Count(_point(scene, start), tuple(_lit(scene, spot) for spot in counted))


def _point(scene: Scene, spot: str) -> Point:
    """Where a spot is: the middle of a cell, or one of the symbols of a tile that covers a cell alone."""
    name, _, corner = spot.partition(":")
    if corner:
        return next(tile.symbols[int(corner)].at for tile in scene.tiles if tile.cells == (name,))
    return next(cell.centre for cell in scene.cells if cell.name == name)


def _lit(scene: Scene, spot: str) -> figure.Highlight:
    """The symbol on a spot, and the shape around it."""
    name, _, corner = spot.partition(":")
    symbols = [*scene.printed, *(symbol for tile in scene.tiles for symbol in tile.symbols)]
    symbol = next(symbol for symbol in symbols if symbol.at == _point(scene, spot))
    if corner:
        outline = next(tile.wells[int(corner)] for tile in scene.tiles if tile.cells == (name,))
    else:
        outline = inset(next(cell.outline for cell in scene.cells if cell.name == name), 0.085)
    return figure.Highlight(symbol, outline)


def _named(scene: Scene, placed: list[Move]) -> Iterator[Symbol]:
    """The colour that is named for the empty corner of a tile."""
    for move in placed:
        tile = next(tile for tile in scene.tiles if tile.cells == move.at)
        for symbol in tile.symbols:
            if symbol.letter == "_" and move.named:
                yield replace(symbol, letter=move.named)
