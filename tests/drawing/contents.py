"""Sample content for the board of each game."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from axiogames.drawing.scene import Content, Panel, PlacedTile, Scene, Track

GAMES = ("axio", "hex", "rota", "trio")
NAME = '<Ann & "Bö">'


def scene_of(game: str, content: Content) -> Scene:
    drawn = import_module(f"axiogames.games.{game}.drawing").scene(content)
    assert isinstance(drawn, Scene)
    return drawn


def hand_tile(game: str, letters: str) -> Scene:
    drawn = import_module(f"axiogames.games.{game}.drawing").tile(letters)
    assert isinstance(drawn, Scene)
    return drawn


def squares(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{chr(96 + x)}{y}" for y in range(first, last + 1) for x in range(first, last + 1))


def hexagons(side: int) -> tuple[str, ...]:
    indices = range(1, 2 * side)
    return tuple(f"{chr(96 + i)}{n}" for n in indices for i in indices if side < i + n < 3 * side)


def panels(players: int, colours: str, cap: int | None, hand: tuple[str, ...]) -> tuple[Panel, ...]:
    tracks = tuple(Track(colour, 3 * index % 19, cap) for index, colour in enumerate(colours))
    points = tracks if cap else (Track("points", 17, None),)
    others = (Panel(f"player {seat}", False, points, hidden=len(hand)) for seat in range(1, players))
    return (Panel(NAME, True, points, hand), *others)


def axio_content(players: int) -> Content:
    margin = {1: 2, 2: 2, 3: 1, 4: 0}[players]
    return Content(
        cells=squares(1 + margin, 13 - margin),
        printed={"g7": "P", "g11": "R", "k7": "G", "g3": "B", "c7": "O"},
        tiles=(
            PlacedTile("GR", ("k8", "j8")),
            PlacedTile("BB", ("d4", "d5")),
            PlacedTile("PO", ("e4", "f4")),
        ),
        loose={"h5": "O"},
        pyramids=("e5", "k11"),
        spent=("c11",),
        last=("e4", "f4"),
        places=(("g8", "g9"), ("g9", "g10")),
        panels=panels(players, "RGBOP", 18, ("RG", "BB", "OP", "GO", "RP")),
        to_draw=63,
    )


def hex_content(players: int) -> Content:
    side = {1: 6, 2: 6, 3: 7, 4: 8}[players]
    return Content(
        cells=hexagons(side),
        printed={"f6": "R", "g3": "Y"},
        tiles=(
            PlacedTile("GR", ("i7", "h8")),
            PlacedTile("YY", ("e6", "e7")),
            PlacedTile("PB", ("c8", "d8")),
        ),
        last=("i7", "h8"),
        places=(("f7", "g6"),),
        panels=panels(players, "RGBOPY", 18, ("RG", "BB", "OP", "GO", "RP", "YY")),
        to_draw=84,
    )


def rota_content(players: int) -> Content:
    return Content(
        tiles=(
            PlacedTile("RGBO", ("0,0",)),
            PlacedTile("RG_O", ("1,0",)),
            PlacedTile("PGBO", ("0,1",)),
            PlacedTile("ROBP", ("1,1",)),
            PlacedTile("BRG_", ("2,-1",)),
        ),
        last=("2,-1",),
        places=(("3,-1",), ("-1,0",)),
        panels=panels(players, "RGBOP", 12, ("BRG_",)),
        to_draw=40,
    )


def trio_content(players: int) -> Content:
    return Content(
        cells=squares(1, 16),
        printed={"h8": "R", "i9": "Y"},
        stars=("b2", "o15"),
        blocked=("d4", "m13"),
        tiles=(PlacedTile("RGB", ("h7", "h6", "h5")), PlacedTile("YYB", ("j9", "k9", "l9"))),
        last=("j9", "k9", "l9"),
        places=(("b2", "c2", "d2"),),
        panels=panels(players, "", None, ("RGB", "YYB", "RRR")),
        to_draw=41,
    )


CONTENTS: dict[str, Callable[[int], Content]] = {
    "axio": axio_content,
    "hex": hex_content,
    "rota": rota_content,
    "trio": trio_content,
}


def drawn(game: str, players: int = 2) -> Scene:
    return scene_of(game, CONTENTS[game](players))


def visible(text: str) -> list[str]:
    """Return the lines of terminal output without escape codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
