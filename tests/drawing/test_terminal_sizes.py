"""Rendering in small terminals: tighter grids, brief panels and clipped boards."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from axiogames.drawing.scene import Content, Panel, PlacedTile, Scene, Track
from axiogames.drawing.symbols import SYMBOLS
from axiogames.drawing.text import render
from tests.drawing.contents import (
    CONTENTS,
    GAMES,
    hex_content,
    hexagons,
    rota_content,
    sample_scene,
    scene_of,
    squares,
    visible,
)

SIZES = [(80, 24), (100, 30), (60, 40)]


def ascii_lines(scene: Scene, width: int = 80, height: int | None = None) -> list[str]:
    text = render.render(scene, colour=False, unicode=False, width=width, height=height)
    assert text.isascii()
    return text.splitlines()


def display(width: int, height: int, last: str) -> Scene:
    """Return a growing board of `width` by `height` tiles, with 0,0 in the lower left corner."""
    tiles = tuple(PlacedTile("RGBO", (f"{x},{y}",)) for x in range(width) for y in range(height))
    return scene_of("rota", replace(rota_content(2), tiles=tiles, places=(), last=(last,)))


# --- Sizes


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("unicode", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("game", GAMES)
def test_games_fit_common_window_sizes(
    game: str, width: int, height: int, players: int, unicode: bool, colour: bool
) -> None:
    scene = sample_scene(game, players)
    text = render.render(scene, colour=colour, unicode=unicode, width=width, height=height)
    lines = visible(text)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert f"{scene.to_draw} to draw" in text


@pytest.mark.parametrize("width", [1, 10, 20, 33, 50, 79])
@pytest.mark.parametrize("game", GAMES)
def test_output_is_never_wider_than_requested(game: str, width: int) -> None:
    for height in (None, 6, 20):
        text = render.render(sample_scene(game, 4), colour=False, width=width, height=height)
        assert max(map(len, text.splitlines())) <= width


def test_long_names_are_truncated() -> None:
    panel = Panel("x" * 200, True, (Track("R", 1, 18), Track("G", 0, 18)), hidden=5, rank=1)
    scene = scene_of("axio", Content(cells=squares(3, 11), panels=(panel,) * 4))
    for width, height in ((80, 20), (60, 15), (25, 15)):
        lines = render.render(scene, colour=False, width=width, height=height).splitlines()
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize(("players", "height"), [(1, 24), (2, 24), (3, 26), (4, 26)])
def test_large_boards_are_whole_in_low_windows(players: int, height: int) -> None:
    for game in ("hex", "trio"):
        text = render.render(sample_scene(game, players), colour=False, height=height)
        assert len(text.splitlines()) <= height
        assert "outside" not in text


# --- Tighter grids


def glyphs(text: str) -> Counter[str]:
    return Counter(mark for mark in text if mark in {art.glyph for art in SYMBOLS.values()})


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_tighter_grids_show_the_same_symbols(game: str, colour: bool) -> None:
    content = replace(CONTENTS[game](4), panels=())
    scene = scene_of(game, content)
    normal = render.render(scene, colour=colour)
    seen = {normal}
    while len(visible(normal)) > 9:
        dense = render.render(scene, colour=colour, height=len(visible(normal)) - 1)
        if "outside" in dense or dense in seen:
            break
        seen.add(dense)
        assert glyphs(dense) == glyphs(normal)
        assert dense.count("+") == normal.count("+")
        normal = dense
    assert len(seen) > 1
    letters = "".join(placed.letters for placed in content.tiles) + "".join(content.loose.values())
    expected = Counter(SYMBOLS[letter].glyph for letter in letters.replace("_", ""))
    assert glyphs(normal) == expected + Counter(SYMBOLS[letter].glyph for letter in content.printed.values())


def test_sufficient_height_changes_nothing() -> None:
    for game in GAMES:
        normal = render.render(sample_scene(game))
        assert render.render(sample_scene(game), height=normal.count("\n")) == normal


DOMINOES = Content(
    cells=squares(1, 4),
    printed={"d4": "R"},
    tiles=(PlacedTile("GR", ("a1", "a2")), PlacedTile("BB", ("a3", "a4")), PlacedTile("PO", ("b2", "c2"))),
    last=("a3", "a4"),
)


def test_upright_tiles_are_linked_beside_their_symbols() -> None:
    scene = scene_of("axio", DOMINOES)
    assert ascii_lines(scene, height=5) == [
        "4 [B,] .   .  (R)",
        "3 [B'] .   .   .",
        "2  R,  P---O   .",
        "1  G'  .   .   .",
        "   a   b   c   d",
    ]
    assert render.render(scene, colour=False, height=5).splitlines()[2:4] == [
        "2  ✹┐  ○───■   ·",
        "1  ●┘  ·   ·   ·",
    ]


def test_a_narrow_window_has_three_columns_to_a_cell() -> None:
    assert ascii_lines(scene_of("axio", DOMINOES), width=15) == [
        "4 [B] .  . (R)",
        "   |",
        "3 [B] .  .  .",
        "",
        "2  R  P--O  .",
        "   |",
        "1  G  .  .  .",
        "",
        "   a  b  c  d",
    ]


def test_three_square_tile_is_linked_in_the_middle() -> None:
    content = Content(cells=squares(1, 3), tiles=(PlacedTile("RGB", ("b3", "b2", "b1")),))
    shown = render.render(scene_of("trio", content), colour=False, height=4).splitlines()
    assert [line[4:12].strip() for line in shown[:3]] == ["·   ✹┐  ·"[4:], "·   ●┤  ·"[4:], "·   ★┘  ·"[4:]]


def test_hexagon_tiles_are_linked_diagonally() -> None:
    content = Content(
        cells=hexagons(2),
        tiles=(
            PlacedTile("GR", ("b2", "c1")),
            PlacedTile("YY", ("b3", "a3")),
            PlacedTile("BP", ("b1", "a2")),
        ),
    )
    assert ascii_lines(scene_of("hex", content), height=4) == [
        "       a   b",
        "  3  Y---Y   c",
        "2  P\\  G\\  .",
        "  1  B   R",
    ]
    falling = replace(content, tiles=(PlacedTile("GR", ("b2", "b1")),), last=("b2", "b1"))
    assert ascii_lines(scene_of("hex", falling), height=4)[2:] == ["2  . [/G]  .", "  1 [R]  ."]


def test_tiles_of_a_growing_board_are_linked_in_the_middle() -> None:
    content = Content(tiles=(PlacedTile("RGBO", ("0,0",)), PlacedTile("PG_B", ("0,1",))), last=("0,1",))
    scene = scene_of("rota", content)
    assert ascii_lines(scene, height=10) == [
        " 2       .",
        "       [P,G]",
        " 1  .  [B'_]  .",
        "        R,G",
        " 0  .   O'B   .",
        "",
        "-1       .",
        "    -1   0    1",
    ]
    for colour in (False, True):
        assert "✹┬●" in visible(render.render(scene, colour=colour, height=10))[3]


def test_colour_blocks_are_linked_where_they_touch() -> None:
    text = render.render(scene_of("axio", DOMINOES), colour=True, height=5)
    assert "✹┐" in visible(text)[2]
    assert "┐" in text
    assert "───" not in text
    assert "┐" not in render.render(scene_of("axio", DOMINOES), colour=True)


# --- Panels


def test_brief_panels_contain_the_same_data() -> None:
    lines = ascii_lines(sample_scene("hex", 4), height=24)
    text = "\n".join(lines)
    assert re.search(r'> <Ann & "?.* R 0<G 3 B 6 O 9 P12 Y15', text)
    assert "RG BB OP GO RP YY" in text
    assert re.search(r"player 3 +R 0<G 3 B 6 O 9 P12 Y15 6\?$", text, re.MULTILINE)
    assert "84 to draw" in text


def test_brief_panels_are_beside_the_board_if_they_fit() -> None:
    lines = ascii_lines(sample_scene("axio", 4), height=24)
    assert len(lines) == 14
    assert lines[0].endswith('> <Ann & "Bo">')
    assert lines[1].endswith(" R 0<G 3 B 6 O 9 P12")


# --- Clipped boards


@pytest.mark.parametrize(
    ("last", "where"),
    [("0,1", "right"), ("19,1", "left"), ("10,1", "left, right")],
)
def test_wide_board_is_clipped_around_the_last_move(last: str, where: str) -> None:
    lines = render.render(display(20, 3, last), colour=False).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("[✹─●]" in line or "[■─★]" in line for line in lines) == 2
    (notice,) = (line for line in lines if "outside" in line)
    counts = {side: int(count) for count, side in re.findall(r"(\d+) (left|right|above|below)", notice)}
    assert ", ".join(counts) == where
    shown = sum(line.count("✹─●") for line in lines)
    assert notice.startswith(f"{60 - shown} tiles outside the picture: ")
    assert sum(counts.values()) == 60 - shown
    assert shown >= 3 * 13


def test_tall_board_is_clipped_to_the_height() -> None:
    for height in (16, 24, 33):
        lines = render.render(display(3, 30, "1,15"), colour=False, height=height).splitlines()
        assert len(lines) <= height
        (notice,) = (line for line in lines if "outside" in line)
        assert re.match(r"\d+ tiles outside the picture: \d+ above, \d+ below", notice)
        uppers, lowers = (sum(line.count(pair) for line in lines) for pair in ("✹┬●", "■┴★"))
        assert uppers == lowers, "no tile is cut in two"
        assert any(line.startswith("15 ") for line in lines), "rows keep their names"
        assert any(line.split()[:5] == ["-1", "0", "1", "2", "3"] for line in lines), "and columns"


def test_small_board_stays_whole_with_tall_panels() -> None:
    panels = tuple(replace(panel, hand=("RGBO",) * 9) for panel in rota_content(4).panels)
    tiles = (PlacedTile("RGBO", ("0,0",)), PlacedTile("RGBO", ("0,1",)))
    content = replace(rota_content(4), tiles=tiles, places=(), last=("0,1",), panels=panels)
    text = render.render(scene_of("rota", content), colour=False, width=60, height=11)
    assert text.count("✹┬●") == 2
    assert "outside" not in text


def test_board_is_clipped_in_both_directions() -> None:
    lines = render.render(display(20, 20, "10,10"), colour=False, width=70, height=24).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 70
    (notice,) = (line for line in lines if "outside" in line)
    assert all(side in notice for side in ("left", "right", "above", "below"))


def test_clipped_board_keeps_its_labels() -> None:
    content = replace(hex_content(4), panels=(), last=(), places=(), tiles=(), printed={})
    lines = ascii_lines(scene_of("hex", content), width=50)
    assert max(map(len, lines)) <= 50
    assert lines[-1] == "no tiles outside the picture"
    rows = [int(line.split()[0]) for line in lines if re.match(r" *\d", line)]
    assert rows == list(range(15, 0, -1))
    # Along the right edge each clipped line of cells ends with its letter.
    assert {line.split()[-1] for line in lines[:16] if re.search(r"[a-o]$", line)} >= set("hijklm")


def test_tile_at_the_edge_counts_as_hidden() -> None:
    cells = tuple(f"{chr(97 + x)}{y}" for x in range(26) for y in (1, 2))
    tiles = (PlacedTile("RG", ("a1", "b1")), PlacedTile("BB", ("x1", "y1")), PlacedTile("PO", ("y2", "z2")))
    scene = scene_of("axio", Content(cells=cells, tiles=tiles, last=("a1", "b1")))
    lines = ascii_lines(scene, width=40)
    assert lines[-1] == "2 tiles outside the picture: 2 right"
    assert "[R--G]" in "".join(lines)


# --- Legal placements


def test_placements_on_stars_differ_without_colour() -> None:
    content = Content(cells=squares(1, 3), stars=("a1", "c3"), places=(("a1", "b1", "c1"),))
    shown = render.render(scene_of("trio", content), colour=False)
    assert shown.splitlines()[-3].split() == ["1", "✦", "+", "+"]
    assert "✧" in shown.splitlines()[0]


def test_crowded_board_distinguishes_placements_from_cells() -> None:
    cells = squares(1, 13)
    places = tuple((a, b) for a, b in pairwise(cells) if a[1:] == b[1:] and a[0] != "m")
    for height in (None, 20):
        scene = scene_of("axio", Content(cells=cells, places=places))
        lines = render.render(scene, colour=False, height=height).splitlines()
        assert sum(line.count("+") for line in lines) == 13 * 13
        assert all("++" not in line and "+ +" not in line for line in lines)
