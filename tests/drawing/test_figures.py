"""Cropped scenes, and figures of the rules pages."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from axiogames.drawing import figure
from axiogames.drawing.crop import crop
from axiogames.drawing.figure import Count, Highlight, Notes
from axiogames.drawing.geometry import contains, rectangle
from axiogames.drawing.scene import Scene, Symbol
from axiogames.drawing.theme import LIGHT
from tests.drawing.contents import CONTENTS, GAMES, sample_scene, scene_of

SVG = "{http://www.w3.org/2000/svg}"
PARTS = {"axio": ("h9", "k6"), "hex": ("d7", "g6"), "rota": ("0,0", "1,1"), "trio": ("g9", "l6")}


def bare(game: str) -> Scene:
    return scene_of(game, replace(CONTENTS[game](2), panels=()))


@pytest.mark.parametrize("game", GAMES)
def test_crop_contains_the_requested_cells(game: str) -> None:
    scene = bare(game)
    part = crop(scene, PARTS[game])
    edge = rectangle(part.corner, part.size)
    middles = {cell.name: cell.centre for cell in scene.cells}
    middles |= {tile.cells[0]: tile.outline[0] for tile in scene.tiles if len(tile.cells) == 1}
    assert all(contains(edge, middles[name]) for name in PARTS[game])
    assert len(part.cells) < len(scene.cells)
    assert not any(contains(edge, label.at) for label in part.labels)


def test_crop_moves_labels_along_rows_and_columns() -> None:
    part = crop(bare("axio"), ("h9", "i6"))
    assert {label.text for label in part.labels if label.row} == {"6", "7", "8", "9"}
    assert {label.text for label in part.labels if not label.row} == {"h", "i"}
    for label in part.labels:
        cell = next(
            cell for cell in part.cells if cell.name == ("h" + label.text if label.row else label.text + "6")
        )
        assert cell.centre[1 if label.row else 0] == pytest.approx(label.at[1 if label.row else 0])


def test_crop_includes_the_border_at_board_edges() -> None:
    scene = bare("axio")
    (left, top), (_, height) = scene.corner, scene.size
    corner = crop(scene, ("c3", "d4"))
    assert corner.corner[0] == left
    assert corner.corner[1] + corner.size[1] == pytest.approx(top + height)
    whole = crop(scene, ("c3", "k11"))
    assert whole.corner == pytest.approx(scene.corner)
    assert whole.size == pytest.approx(scene.size)
    assert len(whole.cells) == len(scene.cells)


def test_scoring_symbols_are_highlighted_and_listed() -> None:
    scene = bare("axio")
    at = {cell.name: cell for cell in scene.cells}
    lit = Highlight(Symbol("G", at["k7"].centre, 0.6), at["k7"].outline)
    notes = Notes(counts=(Count(at["k8"].centre, (lit,)),), gain={"G": 1})
    plain, explained = figure.board(scene, Notes()), figure.board(scene, notes)
    green = LIGHT.paints["G"]
    assert explained.count(f'fill="{green.tint}" stroke="{green.rim}"') == 1
    assert plain.count(f'fill="{green.tint}" stroke="{green.rim}"') == 0
    symbols = [Counter(re.findall(r'data-symbol="(\w)"', picture)) for picture in (plain, explained)]
    assert symbols[1] - symbols[0] == Counter(G=2), "highlighted once more, and once in the legend"
    heights = [float(ElementTree.fromstring(picture).get("height", "0")) for picture in (plain, explained)]
    assert heights[1] == pytest.approx(heights[0] + figure.LEGEND, abs=0.2)


def test_uncoloured_points_show_the_product() -> None:
    scene = bare("trio")
    lit = Highlight(Symbol("R", scene.cells[0].centre, 0.6), scene.cells[0].outline)
    counts = (Count(scene.cells[1].centre, (lit,)),) * 2
    once, twice = (
        len(
            ElementTree.fromstring(figure.board(scene, Notes(counts, {"points": points}))).findall(
                f".//{SVG}use"
            )
        )
        for points in (2, 4)
    )
    assert twice - once == len("2×2=4") - len("+2")


def test_equal_results_have_no_deciding_column() -> None:
    same = [{"R": 1, "G": 2}, {"G": 1, "R": 2}]
    assert figure.results("", same).count("<rect") == 1
    assert figure.results("", [{"R": 1, "G": 2}, {"G": 1, "R": 1}]).count("<rect") == 2


@pytest.mark.parametrize("dark", [False, True])
def test_hand_figure_has_no_board(dark: bool) -> None:
    picture = figure.hand(sample_scene("axio", 1), dark=dark)
    ElementTree.fromstring(picture)
    assert "data-cell" not in picture
