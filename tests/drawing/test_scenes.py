"""Scenes of all games, and geometry."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import axiogames.drawing
from axiogames.drawing import svg
from axiogames.drawing.geometry import contains, hexagon, inset, letter_number, square, union
from axiogames.drawing.scene import Content
from axiogames.drawing.text import render
from tests.drawing.contents import GAMES, axio_content, hand_tile, hex_content, sample_scene, scene_of


def test_neighbouring_hexagons_have_distance_one() -> None:
    centres = {letter_number(cell.name): cell.centre for cell in sample_scene("hex", 4).cells}
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
        assert math.dist(centres[8, 8], centres[8 + dx, 8 + dy]) == pytest.approx(1)
    assert math.dist(centres[8, 8], centres[9, 9]) > 1.5


def test_rows_of_a_square_board_count_upwards() -> None:
    centres = {cell.name: cell.centre for cell in sample_scene("axio", 4).cells}
    assert centres["a1"][0] < centres["b1"][0]
    assert centres["a1"][1] > centres["a2"][1]


def test_rota_rows_count_upwards_and_free_cells_are_shown() -> None:
    scene = sample_scene("rota")
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
def test_axio_marks_outer_cells_of_larger_boards(players: int, count: int, outer: int) -> None:
    cells = sample_scene("axio", players).cells
    assert len(cells) == count
    assert sum(cell.ground == "outer" for cell in cells) == outer


@pytest.mark.parametrize(("players", "count", "outer"), [(2, 91, 0), (3, 127, 36), (4, 169, 78)])
def test_hex_marks_outer_cells_of_larger_boards(players: int, count: int, outer: int) -> None:
    content = replace(hex_content(players), printed={})
    cells = scene_of("hex", content).cells
    assert len(cells) == count
    assert sum(cell.ground == "outer" for cell in cells) == outer


def test_last_move_has_a_mark_for_each_tile() -> None:
    content = replace(axio_content(2), last=("d4", "d5", "k8", "j8", "h5"))
    marks = [mark for mark in scene_of("axio", content).marks if mark.kind == "last"]
    assert sorted(len(mark.centres) for mark in marks) == [1, 2, 2]


@pytest.mark.parametrize("game", GAMES)
def test_scene_is_within_its_bounds(game: str) -> None:
    scene = sample_scene(game, 4)
    (left, top), (width, height) = scene.corner, scene.size
    points = [point for cell in scene.cells for point in cell.outline]
    points += [point for tile in scene.tiles for point in tile.outline]
    points += [label.at for label in scene.labels]
    assert all(left <= x <= left + width and top <= y <= top + height for x, y in points)


@pytest.mark.parametrize("game", GAMES)
def test_empty_scene_is_rendered(game: str) -> None:
    scene = scene_of(game, Content())
    ElementTree.fromstring(svg.render(scene))
    assert render.render(scene, colour=False).count("\n") == (3 if scene.cells else 0)


@pytest.mark.parametrize("name", ["", "7a", "a", "aa1", "a-1", "A1"])
def test_invalid_cell_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a cell"):
        letter_number(name)


def test_union_drops_the_shared_side() -> None:
    assert len(union([square((0, 0)), square((1, 0))])) == 4
    assert len(union([hexagon((0, 0)), hexagon((1, 0))])) == 10


def test_inset_moves_every_side() -> None:
    assert inset(square((0, 0)), 0.25) == square((0, 0), 0.5)
    assert inset(square((0, 0)), -0.5) == square((0, 0), 2)
    assert inset(square((0, 0))[::-1], 0.25) == square((0, 0), 0.5)[::-1]


def test_points_inside_a_polygon_are_contained() -> None:
    assert contains(hexagon((0, 0)), (0.4, 0.2))
    assert not contains(hexagon((0, 0)), (0.4, 0.5))


def test_modules_contain_no_game_name() -> None:
    folder = Path(axiogames.drawing.__file__).parent
    modules = sorted(folder.rglob("*.py"))
    assert {"svg.py", "scene.py", "theme.py"} <= {module.name for module in modules}
    for module in modules:
        assert not re.search(r"\b(hex|rota|trio)\b", module.read_text(encoding="utf-8")), module.name
        assert "axiogames.games" not in module.read_text(encoding="utf-8"), module.name
