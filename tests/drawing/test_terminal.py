"""Rendering as terminal text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest

from axiogames.drawing.scene import Content, Panel, PlacedTile, Track
from axiogames.drawing.symbols import SYMBOLS
from axiogames.drawing.text import render
from tests.drawing.contents import (
    GAMES,
    axio_content,
    hexagons,
    sample_scene,
    scene_of,
    squares,
    trio_content,
    visible,
)

ESCAPE = "\x1b"


def test_glyphs_are_distinct_and_one_column_wide() -> None:
    glyphs = {art.glyph for art in SYMBOLS.values()}
    assert len(glyphs) == len(SYMBOLS) == 6
    assert all(unicodedata.east_asian_width(glyph) not in "WF" for glyph in glyphs)
    # Six loose symbols in a row of the board.
    content = Content(
        cells=squares(1, 6), loose=dict(zip(("a1", "b1", "c1", "d1", "e1", "f1"), SYMBOLS, strict=True))
    )
    line = render.render(scene_of("trio", content), colour=False).splitlines()[-3]
    assert line.split() == ["1", *(art.glyph for art in SYMBOLS.values())]


@pytest.mark.parametrize("unicode", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_terminal_fits_eighty_columns(game: str, players: int, unicode: bool) -> None:
    plain = render.render(sample_scene(game, players), colour=False, unicode=unicode)
    coloured = render.render(sample_scene(game, players), colour=True, unicode=unicode)
    assert ESCAPE not in plain
    assert ESCAPE in coloured
    assert max(map(len, visible(plain))) <= 80
    assert max(map(len, visible(coloured))) <= 80
    assert plain.isascii() or unicode
    assert coloured.isascii() or unicode
    assert coloured == render.render(sample_scene(game, players), colour=True, unicode=unicode)


def test_terminal_shows_a_square_board() -> None:
    content = replace(axio_content(2), panels=())
    assert render.render(scene_of("axio", content), colour=False, unicode=False).splitlines() == [
        "11  x   .   .   .  (R)  .   .   .   ^",
        "",
        "10  .   .   .   .   +   .   .   .   .",
        "",
        " 9  .   .   .   .   +   .   .   .   .",
        "",
        " 8  .   .   .   .   +   .   .   R---G",
        "",
        " 7 (O)  .   .   .  (P)  .   .   .  (G)",
        "",
        " 6  .   .   .   .   .   .   .   .   .",
        "",
        " 5  .   B   ^   .   .   O   .   .   .",
        "        |",
        " 4  .   B  [P---O]  .   .   .   .   .",
        "",
        " 3  .   .   .   .  (B)  .   .   .   .",
        "",
        "    c   d   e   f   g   h   i   j   k",
    ]


def test_terminal_shows_hexagons() -> None:
    content = Content(
        cells=hexagons(2),
        tiles=(PlacedTile("GR", ("b2", "c1")), PlacedTile("YY", ("a3", "b3"))),
        places=(("a2", "b1"),),
    )
    assert render.render(scene_of("hex", content), colour=False, unicode=False).splitlines() == [
        "       a   b",
        "",
        "  3  Y---Y   c",
        "",
        "2  +   G   .",
        "        \\",
        "  1  +   R",
    ]


def test_terminal_shows_a_growing_board() -> None:
    content = Content(
        tiles=(PlacedTile("RGBO", ("0,0",)), PlacedTile("PG_B", ("1,0",))), last=("1,0",), places=(("2,0",),)
    )
    assert render.render(scene_of("rota", content), colour=False, unicode=False).splitlines() == [
        " 1       .    .",
        "",
        "        R-G [P-G]",
        " 0  .   O-B [B-_]  +",
        "",
        "",
        "-1       .    .",
        "",
        "    -1   0    1    2",
    ]


def test_terminal_shows_stars_and_black_squares() -> None:
    lines = render.render(sample_scene("trio"), colour=False, unicode=False).splitlines()
    row = {line.split()[0]: line for line in lines if line.strip()}
    assert "*" in row["2"]
    assert "+" in row["2"]
    assert "###" in row["4"]


def test_terminal_panels_show_name_points_and_hand() -> None:
    text = render.render(sample_scene("axio"), colour=False, unicode=False)
    assert '> <Ann & "Bo">' in text
    assert "player 1  5 hidden" in text
    assert re.search(r"R \.+ +0 <", text)
    assert re.search(r"O =+\.+ +9\s", text)
    assert "RG  BB  OP  GO  RP" in text
    assert "63 to draw" in text
    shown = render.render(sample_scene("axio"), colour=False)
    assert f"{SYMBOLS['R'].glyph}{SYMBOLS['G'].glyph} RG" in shown


def test_terminal_shows_ranks_and_points() -> None:
    ended = tuple(
        replace(panel, to_move=False, rank=rank) for rank, panel in enumerate(trio_content(2).panels, 1)
    )
    text = render.render(scene_of("trio", replace(trio_content(2), panels=ended)), colour=False)
    assert "#1" in text
    assert "#2" in text
    assert re.search(r"points +17", text)


def test_terminal_strips_control_characters_from_names() -> None:
    panel = Panel("a\x1b[2Jb\u202ec\n", True, (Track("R", 1, 18),))
    text = render.render(scene_of("axio", Content(cells=squares(3, 11), panels=(panel,))), colour=False)
    assert ESCAPE not in text
    assert "\u202e" not in text
    assert "a[2Jbc" in text


def test_terminal_counts_wide_characters() -> None:
    panels = (
        Panel("\u9ed2\u767d" * 40, True, (Track("R", 1, 18),)),
        Panel("e\u0301", False, (Track("R", 1, 18),)),
    )
    text = render.render(scene_of("axio", Content(cells=squares(1, 13), panels=panels)), colour=False)
    wide = [
        sum(1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line) for line in text.splitlines()
    ]
    assert max(wide) <= 80
    assert "e\u0301" in text
