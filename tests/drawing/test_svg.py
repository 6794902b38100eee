"""Rendering to SVG and PNG."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from axiogames.drawing import cards, svg
from axiogames.drawing.scene import Content, Panel, PlacedTile, Track
from axiogames.drawing.svg import render_png
from axiogames.drawing.symbols import GLYPHS
from axiogames.drawing.theme import LIGHT
from tests.drawing.contents import (
    CONTENTS,
    GAMES,
    NAME,
    axio_content,
    hand_tile,
    rota_content,
    sample_scene,
    scene_of,
    squares,
)

SVG = "{http://www.w3.org/2000/svg}"


def symbols_in(picture: str, part: str) -> Counter[str]:
    root = ElementTree.fromstring(picture)
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == part]
    return Counter(use.get("data-symbol", "") for group in groups for use in group if use.get("data-symbol"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_svg_is_well_formed_and_stable(game: str, players: int, dark: bool) -> None:
    picture = svg.render(sample_scene(game, players), dark=dark)
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert picture == svg.render(sample_scene(game, players), dark=dark)
    for forbidden in ("<script", "<image", "url(", "http://", "https://"):
        assert forbidden not in picture.replace('xmlns="http://www.w3.org/2000/svg"', "")


@pytest.mark.parametrize("game", GAMES)
def test_svg_ids_are_defined_and_content_based(game: str) -> None:
    light, dark = (svg.render(sample_scene(game), dark=dark) for dark in (False, True))
    for picture in (light, dark):
        assert set(re.findall(r'href="#(\w+)"', picture)) == set(re.findall(r'id="(\w+)"', picture))
    # Two pictures on one page: equal ids must have equal content.
    definitions = [dict(re.findall(r'<\w+ id="(\w+)"(.*?)/?>', picture)) for picture in (light, dark)]
    for name in definitions[0].keys() & definitions[1].keys():
        assert definitions[0][name] == definitions[1][name]


@pytest.mark.parametrize("game", GAMES)
def test_svg_has_one_element_per_symbol(game: str) -> None:
    content = replace(CONTENTS[game](2), panels=())
    letters = "".join(placed.letters for placed in content.tiles) + "".join(content.loose.values())
    picture = svg.render(scene_of(game, content))
    assert symbols_in(picture, "tiles") == Counter(letters.replace("_", ""))
    assert symbols_in(picture, "printed") == Counter(content.printed.values())


def test_svg_escapes_names_and_titles() -> None:
    content = replace(axio_content(2), title="a <b> & c\x00\x1b")
    picture = svg.render(scene_of("axio", content))
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert NAME in texts
    assert root.findtext(f"{SVG}title") == "a <b> & c"


def test_svg_truncates_long_names() -> None:
    panel = replace(axio_content(1).panels[0], name="x" * 500)
    assert "x" * 60 not in svg.render(scene_of("axio", replace(axio_content(1), panels=(panel,))))


def test_svg_of_a_wide_board_has_panels_below() -> None:
    tiles = tuple(PlacedTile("RGBO", (f"{x},0",)) for x in range(12))
    root = ElementTree.fromstring(svg.render(scene_of("rota", replace(rota_content(4), tiles=tiles))))
    assert float(root.get("width", "0")) < 900


def test_svg_marks_lowest_colours_and_ranks() -> None:
    tracks = (Track("R", 5, 18), Track("G", 2, 18), Track("B", 2, 18))
    content = Content(cells=squares(3, 11), panels=(Panel("a", False, tracks, rank=1),))
    picture = svg.render(scene_of("axio", content))
    tints = {letter: picture.count(LIGHT.paints[letter].tint) for letter in "RGB"}
    assert tints["R"] == 0
    assert tints["G"] == tints["B"] > 0


@pytest.mark.parametrize("game", GAMES)
def test_hand_tiles_render_separately(game: str) -> None:
    letters = {"axio": "RG", "hex": "RY", "rota": "RGB_", "trio": "RGB"}[game]
    scene = hand_tile(game, letters)
    assert scene.title == letters
    assert symbols_in(svg.render(scene), "tiles") == Counter(letters.replace("_", ""))


def test_cell_names_have_glyphs() -> None:
    assert set("abcdefghijklmnop0123456789-,_RGBOPY") <= set(GLYPHS)


@pytest.mark.parametrize("game", GAMES)
def test_png_has_its_signature_and_width(game: str) -> None:
    picture = render_png(svg.render(sample_scene(game)), width=400)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">I", picture[16:20]) == (400,)


# --- Cells


@pytest.mark.parametrize("game", GAMES)
def test_svg_names_every_cell(game: str) -> None:
    content = CONTENTS[game](4)
    scene = scene_of(game, content)
    named = [use.get("data-cell") for use in ElementTree.fromstring(svg.render(scene)).iter(f"{SVG}use")]
    found = Counter(name for name in named if name)
    covered = {name for placed in content.tiles for name in placed.at} if not content.cells else set()
    assert set(found) == {cell.name for cell in scene.cells} | covered
    assert set(found.values()) == {1}


def test_full_board_is_a_small_file() -> None:
    rows = [[f"{chr(96 + x)}{y}" for x in range(1, 17)] for y in range(1, 17)]
    tiles = tuple(PlacedTile("RGB", tuple(row[at : at + 3])) for row in rows for at in (0, 3, 6, 9, 12))
    scene = scene_of("trio", replace(CONTENTS["trio"](4), tiles=tiles, places=()))
    assert len(svg.render(scene)) < 70_000


# --- Cards


def size(picture: str) -> tuple[float, float]:
    root = ElementTree.fromstring(picture)
    return float(root.get("width", "0")), float(root.get("height", "0"))


def test_hands_scale_with_the_available_height() -> None:
    roomy, cramped = (
        cards.lay_out(sample_scene("axio", 2), room=room, beside=True) for room in (720.0, 440.0)
    )
    assert roomy.unit > cramped.unit == 0, "several rows, or one that just fits"
    assert roomy.row > cramped.row
    assert roomy.size[1] <= 720


def test_tall_cards_use_two_columns() -> None:
    content = CONTENTS["hex"](4)
    own = replace(content, panels=(content.panels[0],) * 4)
    low, tall = (
        size(svg.render(scene_of("hex", content))) for content in (replace(own, panels=own.panels[:2]), own)
    )
    assert tall[0] == pytest.approx(low[0] + 312, abs=1)
    assert tall[1] < 1.2 * low[1]


def test_rail_ends_before_its_number() -> None:
    content = replace(
        CONTENTS["trio"](2), panels=tuple(Panel("a", False, (Track("points", n, None),)) for n in (7, 187))
    )
    picture = svg.render(scene_of("trio", content))
    ends = [float(end) for end in re.findall(r'H([.\d]+)" stroke="[^"]+" stroke-width="3.4"', picture)]
    number = re.findall(r"translate\(([.\d]+) [.\d]+\)scale\(3\.333\)", picture)
    assert len(ends) == len(number) == 2
    assert all(end < float(start) - 8 for end, start in zip(ends, number, strict=True))


def test_single_player_points_have_no_rail() -> None:
    content = replace(CONTENTS["trio"](1), panels=(Panel("a", False, (Track("points", 7, None),)),))
    assert 'stroke-width="3.4"' not in svg.render(scene_of("trio", content))


def test_equal_scores_have_no_lowest_colour() -> None:
    tracks = tuple(Track(colour, 3, 18) for colour in "RGB")
    content = Content(cells=squares(3, 11), panels=(Panel("a", False, tracks),))
    picture = svg.render(scene_of("axio", content))
    assert not any(LIGHT.paints[letter].tint in picture for letter in "RGB")


def test_wells_have_the_rounding_of_their_tile() -> None:
    body = svg.render(hand_tile("rota", "RGBO"))
    edge, wells = re.findall(r'<path d="([^"]+)"[^>]*fill="[^"]+"/>', body)[1:3]
    first = edge.split("L")[0]
    assert wells.startswith(f"{first}L")
