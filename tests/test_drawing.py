"""Scenes of the four games, and the three renderers that draw them."""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

import axio.drawing
from axio.drawing import png, svg, terminal
from axio.drawing.geometry import contains, hexagon, inset, letter_number, square, union
from axio.drawing.lettering import GLYPHS
from axio.drawing.scene import Content, Laid, Panel, Scene, Track
from axio.drawing.symbols import SYMBOLS
from axio.drawing.theme import DARK, LIGHT, Theme

GAMES = ("axio", "hex", "rota", "trio")
ESCAPE = "\x1b"
NAME = '<Ann & "Bö">'


def scene_of(game: str, content: Content) -> Scene:
    drawn = import_module(f"axio.games.{game}.drawing").scene(content)
    assert isinstance(drawn, Scene)
    return drawn


def hand_tile(game: str, letters: str) -> Scene:
    drawn = import_module(f"axio.games.{game}.drawing").tile(letters)
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
        tiles=(Laid("GR", ("k8", "j8")), Laid("BB", ("d4", "d5")), Laid("PO", ("e4", "f4"))),
        loose={"h5": "O"},
        pyramids=("e5", "k11"),
        spent=("c11",),
        last=("e4", "f4"),
        places=(("g8", "g9"), ("g9", "g10")),
        panels=panels(players, "RGBOP", 18, ("RG", "BB", "OP", "GO", "RP")),
        unseen=63,
    )


def hex_content(players: int) -> Content:
    side = {1: 6, 2: 6, 3: 7, 4: 8}[players]
    return Content(
        cells=hexagons(side),
        printed={"f6": "R", "g3": "Y"},
        tiles=(Laid("GR", ("i7", "h8")), Laid("YY", ("e6", "e7")), Laid("PB", ("c8", "d8"))),
        last=("i7", "h8"),
        places=(("f7", "g6"),),
        panels=panels(players, "RGBOPY", 18, ("RG", "BB", "OP", "GO", "RP", "YY")),
        unseen=84,
    )


def rota_content(players: int) -> Content:
    return Content(
        tiles=(
            Laid("RGBO", ("0,0",)),
            Laid("RG_O", ("1,0",)),
            Laid("PGBO", ("0,1",)),
            Laid("ROBP", ("1,1",)),
            Laid("BRG_", ("2,-1",)),
        ),
        last=("2,-1",),
        places=(("3,-1",), ("-1,0",)),
        panels=panels(players, "RGBOP", 12, ("BRG_",)),
        unseen=40,
    )


def trio_content(players: int) -> Content:
    return Content(
        cells=squares(1, 16),
        printed={"h8": "R", "i9": "Y"},
        stars=("b2", "o15"),
        blocked=("d4", "m13"),
        tiles=(Laid("RGB", ("h7", "h6", "h5")), Laid("YYB", ("j9", "k9", "l9"))),
        last=("j9", "k9", "l9"),
        places=(("b2", "c2", "d2"),),
        panels=panels(players, "", None, ("RGB", "YYB", "RRR")),
        unseen=41,
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
    """Lines of terminal output without escape codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def symbols_in(picture: str, part: str) -> Counter[str]:
    root = ElementTree.fromstring(picture)
    groups = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("class") == part]
    return Counter(use.get("data-symbol", "") for group in groups for use in group if use.get("data-symbol"))


# --- scenes ------------------------------------------------------------------------------------------


def test_neighbouring_hexagons_are_one_apart() -> None:
    centres = {letter_number(cell.name): cell.centre for cell in drawn("hex", 4).cells}
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
        assert math.dist(centres[8, 8], centres[8 + dx, 8 + dy]) == pytest.approx(1)
    assert math.dist(centres[8, 8], centres[9, 9]) > 1.5


def test_rows_of_a_square_board_count_upwards() -> None:
    centres = {cell.name: cell.centre for cell in drawn("axio", 4).cells}
    assert centres["a1"][0] < centres["b1"][0]
    assert centres["a1"][1] > centres["a2"][1]


def test_rota_counts_upwards_and_shows_the_room_around() -> None:
    scene = drawn("rota")
    at = {tile.cells[0]: tile.symbols[0].at for tile in scene.tiles}
    assert at["0,1"][1] < at["0,0"][1]
    assert at["1,0"][0] > at["0,0"][0]
    free = {cell.name for cell in scene.cells}
    assert {"-1,0", "3,-1", "2,0"} <= free
    assert not free & set(at)


def test_rota_letters_run_clockwise_from_the_top_left() -> None:
    first, second, third, fourth = (symbol.at for symbol in hand_tile("rota", "RGBO").tiles[0].symbols)
    assert first[0] < second[0]
    assert first[1] == second[1] < third[1] == fourth[1]
    assert third[0] > fourth[0]


@pytest.mark.parametrize(("players", "count", "outer"), [(2, 81, 0), (3, 121, 40), (4, 169, 88)])
def test_axio_shows_what_the_larger_boards_add(players: int, count: int, outer: int) -> None:
    cells = drawn("axio", players).cells
    assert len(cells) == count
    assert sum(cell.ground == "outer" for cell in cells) == outer


@pytest.mark.parametrize(("players", "count", "outer"), [(2, 91, 0), (3, 127, 36), (4, 169, 78)])
def test_hex_shows_what_the_larger_boards_add(players: int, count: int, outer: int) -> None:
    content = replace(hex_content(players), printed={})
    cells = scene_of("hex", content).cells
    assert len(cells) == count
    assert sum(cell.ground == "outer" for cell in cells) == outer


def test_last_move_of_several_tiles_has_a_mark_for_each() -> None:
    content = replace(axio_content(2), last=("d4", "d5", "k8", "j8", "h5"))
    marks = [mark for mark in scene_of("axio", content).marks if mark.kind == "last"]
    assert sorted(len(mark.centres) for mark in marks) == [1, 2, 2]


@pytest.mark.parametrize("game", GAMES)
def test_everything_lies_inside_the_bounds(game: str) -> None:
    scene = drawn(game, 4)
    (left, top), (width, height) = scene.corner, scene.size
    points = [point for cell in scene.cells for point in cell.outline]
    points += [point for tile in scene.tiles for point in tile.outline]
    points += [label.at for label in scene.labels]
    assert all(left <= x <= left + width and top <= y <= top + height for x, y in points)


@pytest.mark.parametrize("game", GAMES)
def test_a_scene_without_anything_is_drawn(game: str) -> None:
    scene = scene_of(game, Content())
    ElementTree.fromstring(svg.render(scene))
    assert terminal.render(scene, colour=False).count("\n") == (3 if scene.cells else 0)


@pytest.mark.parametrize("name", ["", "7a", "a", "aa1", "a-1", "A1"])
def test_a_wrong_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a cell"):
        letter_number(name)


# --- geometry ----------------------------------------------------------------------------------------


def test_union_of_two_cells_leaves_out_what_lies_between() -> None:
    assert len(union([square((0, 0)), square((1, 0))])) == 4
    assert len(union([hexagon((0, 0)), hexagon((1, 0))])) == 10


def test_inset_moves_every_side() -> None:
    assert inset(square((0, 0)), 0.25) == square((0, 0), 0.5)
    assert inset(square((0, 0)), -0.5) == square((0, 0), 2)
    assert inset(square((0, 0))[::-1], 0.25) == square((0, 0), 0.5)[::-1]


def test_contains() -> None:
    assert contains(hexagon((0, 0)), (0.4, 0.2))
    assert not contains(hexagon((0, 0)), (0.4, 0.5))


# --- SVG ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_svg_is_well_formed_and_stable(game: str, players: int, dark: bool) -> None:
    picture = svg.render(drawn(game, players), dark=dark)
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert picture == svg.render(drawn(game, players), dark=dark)
    for forbidden in ("<script", "<image", "url(", "http://", "https://"):
        assert forbidden not in picture.replace('xmlns="http://www.w3.org/2000/svg"', "")


@pytest.mark.parametrize("game", GAMES)
def test_svg_uses_only_what_it_defines_and_names_it_by_content(game: str) -> None:
    light, dark = (svg.render(drawn(game), dark=dark) for dark in (False, True))
    for picture in (light, dark):
        assert set(re.findall(r'href="#(\w+)"', picture)) == set(re.findall(r'id="(\w+)"', picture))
    # Two pictures on one page: what has the same name must be the same.
    definitions = [dict(re.findall(r'<\w+ id="(\w+)"(.*?)/?>', picture)) for picture in (light, dark)]
    for name in definitions[0].keys() & definitions[1].keys():
        assert definitions[0][name] == definitions[1][name]


@pytest.mark.parametrize("game", GAMES)
def test_svg_has_one_symbol_for_each_that_is_laid(game: str) -> None:
    content = replace(CONTENTS[game](2), panels=())
    letters = "".join(laid.letters for laid in content.tiles) + "".join(content.loose.values())
    picture = svg.render(scene_of(game, content))
    assert symbols_in(picture, "tiles") == Counter(letters.replace("_", ""))
    assert symbols_in(picture, "printed") == Counter(content.printed.values())


def test_svg_escapes_names_and_titles() -> None:
    content = replace(axio_content(2), title="a <b> & c\x00\x1b")
    picture = svg.render(scene_of("axio", content))
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert NAME in texts
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "a <b> & c"


def test_svg_cuts_a_name_that_is_too_long() -> None:
    panel = replace(axio_content(1).panels[0], name="x" * 500)
    assert "x" * 60 not in svg.render(scene_of("axio", replace(axio_content(1), panels=(panel,))))


def test_svg_of_a_wide_display_has_its_panels_below() -> None:
    tiles = tuple(Laid("RGBO", (f"{x},0",)) for x in range(12))
    root = ElementTree.fromstring(svg.render(scene_of("rota", replace(rota_content(4), tiles=tiles))))
    assert float(root.get("width", "0")) < 900


def test_svg_marks_lowest_colours_and_places() -> None:
    tracks = (Track("R", 5, 18), Track("G", 2, 18), Track("B", 2, 18))
    content = Content(cells=squares(3, 11), panels=(Panel("a", False, tracks, place=1),))
    picture = svg.render(scene_of("axio", content))
    tints = {letter: picture.count(LIGHT.paints[letter].tint) for letter in "RGB"}
    assert tints["R"] == 0
    assert tints["G"] == tints["B"] > 0


@pytest.mark.parametrize("game", GAMES)
def test_hand_tiles_are_small_pictures(game: str) -> None:
    letters = {"axio": "RG", "hex": "RY", "rota": "RGB_", "trio": "RGB"}[game]
    scene = hand_tile(game, letters)
    assert scene.title == letters
    assert symbols_in(svg.render(scene), "tiles") == Counter(letters.replace("_", ""))


def luminance(colour: str) -> float:
    parts = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_symbols_and_text_stand_out(theme: Theme) -> None:
    for letter, paint in theme.paints.items():
        assert max(contrast(paint.fill, theme.tile), contrast(paint.rim, theme.tile)) >= 3, letter
        assert max(contrast(paint.fill, paint.tint), contrast(paint.rim, paint.tint)) >= 3, letter
    assert contrast(theme.muted, theme.card) >= 4.5
    assert contrast(theme.ink, theme.card) >= 7


def test_every_name_of_a_cell_can_be_lettered() -> None:
    assert set("abcdefghijklmnop0123456789-,_RGBOPY") <= set(GLYPHS)


# --- terminal ----------------------------------------------------------------------------------------


def test_every_colour_has_its_own_glyph_of_one_column() -> None:
    glyphs = {art.glyph for art in SYMBOLS.values()}
    assert len(glyphs) == len(SYMBOLS) == 6
    assert all(unicodedata.east_asian_width(glyph) not in "WF" for glyph in glyphs)
    # Six loose symbols in a row, read off the board.
    content = Content(
        cells=squares(1, 6), loose=dict(zip(("a1", "b1", "c1", "d1", "e1", "f1"), SYMBOLS, strict=True))
    )
    line = terminal.render(scene_of("trio", content), colour=False).splitlines()[-3]
    assert line.split() == ["1", *(art.glyph for art in SYMBOLS.values())]


@pytest.mark.parametrize("unicode", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_terminal_fits_eighty_columns(game: str, players: int, unicode: bool) -> None:
    plain = terminal.render(drawn(game, players), colour=False, unicode=unicode)
    coloured = terminal.render(drawn(game, players), colour=True, unicode=unicode)
    assert ESCAPE not in plain
    assert ESCAPE in coloured
    assert max(map(len, visible(plain))) <= 80
    assert max(map(len, visible(coloured))) <= 80
    assert plain.isascii() or unicode
    assert coloured.isascii() or unicode
    assert coloured == terminal.render(drawn(game, players), colour=True, unicode=unicode)


def test_terminal_shows_a_square_board() -> None:
    content = replace(axio_content(2), panels=())
    assert terminal.render(scene_of("axio", content), colour=False, unicode=False).splitlines() == [
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
        cells=hexagons(2), tiles=(Laid("GR", ("b2", "c1")), Laid("YY", ("a3", "b3"))), places=(("a2", "b1"),)
    )
    assert terminal.render(scene_of("hex", content), colour=False, unicode=False).splitlines() == [
        "       a   b",
        "",
        "  3  Y---Y   c",
        "",
        "2  +   G   .",
        "        \\",
        "  1  +   R",
    ]


def test_terminal_shows_a_display() -> None:
    content = Content(
        tiles=(Laid("RGBO", ("0,0",)), Laid("PG_B", ("1,0",))), last=("1,0",), places=(("2,0",),)
    )
    assert terminal.render(scene_of("rota", content), colour=False, unicode=False).splitlines() == [
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
    lines = terminal.render(drawn("trio"), colour=False, unicode=False).splitlines()
    row = {line.split()[0]: line for line in lines if line.strip()}
    assert "*" in row["2"]
    assert "+" in row["2"]
    assert "###" in row["4"]


def test_terminal_panels_tell_what_a_person_needs() -> None:
    text = terminal.render(drawn("axio"), colour=False, unicode=False)
    assert '> <Ann & "Bo">' in text
    assert "player 1  5 hidden" in text
    assert re.search(r"R \.+ +0 <", text)
    assert re.search(r"O =+\.+ +9\s", text)
    assert "RG  BB  OP  GO  RP" in text
    assert "63 unseen" in text
    shown = terminal.render(drawn("axio"), colour=False)
    assert f"{SYMBOLS['R'].glyph}{SYMBOLS['G'].glyph} RG" in shown


def test_terminal_shows_places_and_points() -> None:
    ended = tuple(
        replace(panel, to_move=False, place=rank) for rank, panel in enumerate(trio_content(2).panels, 1)
    )
    text = terminal.render(scene_of("trio", replace(trio_content(2), panels=ended)), colour=False)
    assert "#1" in text
    assert "#2" in text
    assert re.search(r"points +17", text)


def test_terminal_takes_no_orders_from_names() -> None:
    panel = Panel("a\x1b[2Jb\u202ec\n", True, (Track("R", 1, 18),))
    text = terminal.render(scene_of("axio", Content(cells=squares(3, 11), panels=(panel,))), colour=False)
    assert ESCAPE not in text
    assert "\u202e" not in text
    assert "a[2Jbc" in text


def test_terminal_counts_wide_characters() -> None:
    panels = (
        Panel("\u9ed2\u767d" * 40, True, (Track("R", 1, 18),)),
        Panel("e\u0301", False, (Track("R", 1, 18),)),
    )
    text = terminal.render(scene_of("axio", Content(cells=squares(1, 13), panels=panels)), colour=False)
    wide = [
        sum(1 + (unicodedata.east_asian_width(mark) in "WF") for mark in line) for line in text.splitlines()
    ]
    assert max(wide) <= 80
    assert "e\u0301" in text


# --- PNG and the rule that renderers know no game ----------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_png_has_its_signature_and_width(game: str) -> None:
    picture = png.render(svg.render(drawn(game)), width=400)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">I", picture[16:20]) == (400,)


def test_no_module_here_names_a_game() -> None:
    folder = Path(axio.drawing.__file__).parent
    modules = sorted(folder.glob("*.py"))
    assert {"svg.py", "terminal.py", "png.py", "scene.py"} <= {module.name for module in modules}
    for module in modules:
        assert not re.search(r"\b(hex|rota|trio)\b", module.read_text(encoding="utf-8")), module.name
        assert "axio.games" not in module.read_text(encoding="utf-8"), module.name
