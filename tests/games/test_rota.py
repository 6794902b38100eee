"""Rules of rota: tiles, opening, placement and circles (1-5), and `RULES`, the tests by rule."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest

import axiogames as axio
from axiogames.drawing.scene import PlacedTile
from axiogames.errors import Reason
from axiogames.games import find_variant
from axiogames.model.events import Draw, Start
from tests.games import test_rota_turn as turn
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at
from tests.games.positions_rota import (
    COLOURS,
    DIRECTIONS,
    INWARD,
    OPENING,
    RING,
    SQUARES,
    START,
    Display,
    display_of,
    open_places,
    position,
    refusal,
    same_tile,
    shown,
    stacks,
    supply,
    tiles,
)

# ---------------------------------------------------------------- 1: the tiles


def test_1_tile_set_has_60_tiles_30_with_an_empty_corner() -> None:
    assert len(tiles()) == 60
    assert sum("_" in tile for tile in tiles()) == 30


def test_1_tiles_have_different_colours_and_at_most_one_empty_corner() -> None:
    for tile in tiles():
        assert len(tile) == 4
        assert len(set(tile)) == 4, "a letter, or `_`, occurs twice"
        assert set(tile) <= set("RGBOP_")


def test_1_tiles_differ_in_every_rotation() -> None:
    assert len({same_tile(tile) for tile in tiles()}) == 60


def test_1_all_arrangements_of_four_colours_exist() -> None:
    # 5 * 4 * 3 * 2 = 120 sequences of four colours, four for each tile: 30 tiles.
    arrangements = {same_tile("".join(four)) for four in permutations("RGBOP", 4)}
    assert len(arrangements) == 30
    assert {same_tile(tile) for tile in tiles() if "_" not in tile} == arrangements


@pytest.mark.parametrize("colours", list(combinations("RGBOP", 3)), ids="".join)
def test_1_one_tile_of_each_mirror_pair_of_three_colours_exists(colours: tuple[str, str, str]) -> None:
    existing = {same_tile(tile) for tile in tiles() if "_" in tile and set(tile) == {*colours, "_"}}
    arrangements = {same_tile("".join(three) + "_") for three in permutations(colours)}
    pairs = {frozenset((tile, same_tile(tile[::-1]))) for tile in arrangements}
    assert len(arrangements) == 6
    assert len(pairs) == 3
    assert [len(pair & existing) for pair in pairs] == [1, 1, 1]


def test_1_tile_can_be_rotated() -> None:
    at = position(START, ["ROPB", "-"])
    letters = [move.tile for move in at.legal_moves() if move.at == ("2,0",)]
    assert sorted(letters) == sorted(["ROPB", "BROP", "PBRO", "OPBR"])


def test_1_tile_cannot_be_mirrored() -> None:
    # The mirror image of four colours is a different tile, that of three does not exist.
    assert refusal(position(START, ["RGPO", "-"]), "OPGR 2,0") is Reason.NOT_IN_HAND
    assert refusal(position(START, ["RGB_", "-"]), "BGR_ 2,0") is Reason.NO_SUCH_TILE
    for letters in ("_BGR", "R_BG", "GR_B"):
        assert refusal(position(START, ["RGB_", "-"]), f"{letters} 2,0") is Reason.NO_SUCH_TILE


# ---------------------------------------------------------------- 2: the opening


def test_2_opening_display_is_a_square_at_the_origin() -> None:
    table = axio.Table(find_variant("rota", 2))
    for left, (at, tile) in zip((4, 3, 2, 1), OPENING.items(), strict=True):
        assert table.draw_due == left
        with pytest.raises(axio.IllegalMove):
            table.draw(PlacedTile(tile, ("2,1",)))
        table.draw(PlacedTile(tile, (at,)))
    assert display_of(table) == shown(START)
    for seed in range(20):
        dealt = axio.new_game("rota", 2, seed=seed)
        assert set(display_of(dealt)) == {(0, 0), (1, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize("square", SQUARES)
def test_2_empty_corner_must_face_the_middle(square: str) -> None:
    table = axio.Table(find_variant("rota", 2))
    for before in SQUARES[: SQUARES.index(square)]:
        table.draw(PlacedTile(OPENING[before], (before,)))
    for rotated in ("RGB_", "_RGB", "B_RG", "GB_R"):
        if rotated[INWARD[square]] != "_":
            with pytest.raises(axio.IllegalMove):
                table.draw(PlacedTile(rotated, (square,)))
    (inward,) = (rotated for rotated in ("RGB_", "_RGB", "B_RG", "GB_R") if rotated[INWARD[square]] == "_")
    table.draw(PlacedTile(inward, (square,)))


def test_2_dealt_empty_corner_faces_the_middle() -> None:
    checked: set[str] = set()
    for seed in range(40):
        start = axio.new_game("rota", 2, seed=seed).events[0]
        assert isinstance(start, Start)
        for placed in start.display:
            if "_" in placed.tile:
                assert placed.tile[INWARD[placed.at]] == "_"
                checked.add(placed.at)
    assert checked == set(SQUARES)


def test_2_tiles_and_rotations_of_the_opening_are_uniform() -> None:
    table = axio.Table(find_variant("rota", 2))
    weights: Counter[str] = Counter()
    weights_of_rotations: dict[str, list[int]] = {}
    for action, weight in table.variant.chances(table.state):
        letters = table.variant.start_tile(table.state, action).letters
        weights[same_tile(letters)] += weight
        weights_of_rotations.setdefault(same_tile(letters), []).append(weight)
    assert len(weights) == 60
    assert len(set(weights.values())) == 1
    for tile, of_rotations in weights_of_rotations.items():
        assert len(of_rotations) == (1 if "_" in tile else 4)
        assert len(set(of_rotations)) == 1
    dealt = [display_of(axio.new_game("rota", 2, seed=seed)) for seed in range(40)]
    full = [tile for display in dealt for tile in display.values() if "_" not in tile]
    assert {tile.index(min(tile)) for tile in full} == {0, 1, 2, 3}


@pytest.mark.parametrize(("players", "left"), [(1, 44), (2, 32), (3, 20), (4, 8)])
def test_2_sizes_of_stacks_hands_and_supply(players: int, left: int) -> None:
    table = axio.new_game("rota", players, seed=5)
    assert [len(table.hand(seat)) for seat in range(players)] == [1] * players
    assert stacks(table) == (11,) * players  # twelve, less the one in hand
    assert supply(table) == left
    assert table.in_bag == 11 * players + left
    assert table.turn == 0


def test_2_first_tile_is_drawn_from_the_stack() -> None:
    table = axio.new_game("rota", 3, seed=5)
    draws = [event for event in table.events if isinstance(event, Draw)]
    assert [(draw.p, len(draw.tiles)) for draw in draws] == [(0, 1), (1, 1), (2, 1)]
    assert {draw.source for draw in draws} == {"stack"}


# ---------------------------------------------------------------- 3: legal placements


def test_3_tile_must_share_a_side_with_the_display() -> None:
    around = {"-1,0", "-1,1", "2,0", "2,1", "0,-1", "1,-1", "0,2", "1,2"}
    assert open_places(position(START, ["ROPB", "-"])) == around
    beside = {"3,0", "2,-1", "2,1"}  # added by a tile on 2,0
    grown = shown(START) | {(2, 0): "ROPB"}
    assert open_places(position(grown, ["RGOP", "-"])) == around - {"2,0"} | beside


@pytest.mark.parametrize("at", ["2,2", "-1,2", "-1,-1", "2,-1"])
def test_3_touching_at_a_corner_is_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("at", ["3,0", "0,3", "5,5", "-2,1", "1,-2"])
def test_3_tile_apart_from_the_display_is_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("at", SQUARES)
def test_3_occupied_position_is_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.OCCUPIED


def test_3_hole_in_the_display_can_be_filled() -> None:
    assert "1,2" in open_places(position(RING, ["RGBO", "-"]))


def test_3_x_is_to_the_right_and_y_upwards() -> None:
    # Each tile scores on one side of START only.
    assert position(START, ["ROPB", "-"]).gain("ROPB 2,0") == {"R": 2, "B": 1}  # right
    assert position(START, ["OPBG", "-"]).gain("OPBG 1,2") == {"G": 1, "B": 1}  # above
    assert position(START, ["PRBG", "-"]).gain("GPRB -1,0") == {"P": 1, "R": 1}  # left
    assert position(START, ["RGPB", "-"]).gain("RGPB 0,-1") == {"R": 1, "G": 1}  # below


@pytest.mark.parametrize("at", ["64,0", "66,0", "70,0", "-62,0", "-64,1", "0,64", "1,66", "0,-63", "130,0"])
def test_3_distant_positions_are_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_3_display_can_be_one_line_of_all_tiles(direction: str) -> None:
    # 59 tiles in one line and the last one in hand, longer than any game can get. No other position is open
    # or occupied, such as one that is the same square of a torus.
    dx, dy = DIRECTIONS[direction]
    full = sorted(tiles(), key=lambda tile: "_" not in tile)  # the last has no empty corner
    line: Display = {(dx * n, dy * n): tile for n, tile in enumerate(full[:59])}
    at = position(line, [full[59]], stacks=[0], supply=0)
    ends = {(-dx, -dy), (59 * dx, 59 * dy)}
    sides = {(dx * n + dy * side, dy * n + dx * side) for n in range(59) for side in (-1, 1)}
    assert open_places(at) == {f"{x},{y}" for x, y in ends | sides}
    assert len(at.legal_moves()) == 120 * 4
    for x, y in (*ends, *sides, *line):
        for away in (-64, 64):
            elsewhere = f"{x + away * abs(dx)},{y + away * abs(dy)}"
            with pytest.raises(axio.IllegalMove) as caught:
                at.action_of(f"{full[59]} {elsewhere}")
            assert caught.value.reason is Reason.NOT_BESIDE_DISPLAY


def test_3_ends_of_a_long_line_do_not_wrap() -> None:
    # 0,0 has O P on its left, 58,0 has R B on its right; ROPB is placed in both orientations.
    middle = [tile for tile in tiles() if same_tile(tile) not in map(same_tile, ("OGRP", "GRBP", "ROPB"))]
    line: Display = {(n + 1, 0): tile for n, tile in enumerate(middle)} | {(0, 0): "OGRP", (58, 0): "GRBP"}
    at = position(line, ["ROPB"], stacks=[0], supply=0)
    assert at.gain("ROPB 59,0") == {"R": 1, "B": 1}
    assert at.gain("OPBR 59,0") == {}
    assert at.gain("ROPB -1,0") == {"O": 1, "P": 1}
    assert at.gain("PBRO -1,0") == {}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_3_game_in_one_line(direction: str) -> None:
    dx, dy = DIRECTIONS[direction]
    table = axio.new_game("rota", 4, seed=f"line {direction}")
    x, y = (dx if dx > 0 else 0), (dy if dy > 0 else 0)
    line = [(x + dx * n, y + dy * n) for n in range(1, 49)]
    for x, y in line:
        assert table.turn is not None
        table.play(f"{table.hand(table.turn)[0]} {x},{y}")
    assert table.over  # four stacks of twelve, and no extra turn in such a game
    assert set(display_of(table)) == {(0, 0), (1, 0), (0, 1), (1, 1), *line}


# ---------------------------------------------------------------- 4: circles


def test_4_corner_scores_matching_symbols_of_its_circle() -> None:
    # On 2,0, the top left corner of the tile joins a circle of R (1,0), R (1,1) and O (2,1).
    at = position(shown(START) | {(2, 1): "PGBO"}, ["RGOP", "-"])
    assert at.gain("RGOP 2,0") == {"R": 2}
    assert at.gain("OPRG 2,0") == {"O": 1}
    assert at.gain("PRGO 2,0") == {}
    assert at.gain("GOPR 2,0") == {}


def test_4_three_matching_symbols_are_three_points() -> None:
    # The same with R on 2,1, so the circle has R three times.
    at = position(shown(START) | {(2, 1): "PGBR"}, ["RGOP", "-"])
    assert at.gain("RGOP 2,0") == {"R": 3}


def test_4_diagonal_tile_counts() -> None:
    # For each corner, a place where it matches only the diagonal tile.
    at = position(START, ["RGPO", "-"])
    assert at.gain("ORGP 1,-1") == {"O": 1}  # top left: G of 1,0 above, O of 0,0 across
    assert at.gain("GPOR -1,0") == {"P": 1}  # top right: B of 0,0 beside, P of 0,1 across
    assert at.gain("ORGP 0,2") == {"G": 1}  # bottom right: O of 0,1 below, G of 1,1 across
    assert at.gain("RGPO 1,2") == {"O": 1}  # bottom left: G of 1,1 below, O of 0,1 across


def test_4_incomplete_circle_scores() -> None:
    at = position(START, ["ROPB", "-"])
    assert at.gain("BROP 2,1") == {"B": 1}  # top left: only 1,1 is there
    assert at.gain("OPBR 2,1") == {"R": 2}  # bottom left: 1,1 and 1,0
    assert at.gain("PBRO 2,1") == {}


def test_4_all_four_corners_score() -> None:
    at = position(RING, ["RGBO", "-"])
    assert at.gain("RGBO 1,2") == {"R": 3, "G": 3, "B": 3, "O": 3}
    assert at.gain("ORGB 1,2") == {}
    assert at.gain("BORG 1,2") == {}
    assert at.gain("GBOR 1,2") == {}


def test_4_symbols_outside_the_circle_do_not_count() -> None:
    # O and G are on the far side of 1,0, so on 2,0 they meet only R, R and B.
    at = position(START, ["OPRG", "-"])
    assert at.gain("OPRG 2,0") == {}


def test_4_corner_without_neighbours_scores_nothing() -> None:
    # Rotated so that R and B face away from START.
    at = position(START, ["ROPB", "-"])
    assert at.gain("PBRO 2,0") == {}


# ---------------------------------------------------------------- 5: empty corners


def test_5_empty_corner_scores_the_named_colour() -> None:
    # At 2,0 the top left corner meets R R, the bottom left B.
    at = position(START, ["GBO_", "-"])
    assert at.gain("_GBO(R) 2,0") == {"R": 2}
    assert at.gain("_GBO(P) 2,0") == {}
    assert at.gain("GBO_(B) 2,0") == {"B": 1}
    assert at.gain("GBO_(R) 2,0") == {}


def test_5_colour_of_the_tile_can_be_named() -> None:
    at = position(START, ["RGB_", "-"])
    assert at.gain("_RGB(R) 2,0") == {"R": 2, "B": 1}
    # At -1,1: B at the top right meets B, the empty bottom right corner meets P and B.
    assert at.gain("GB_R(B) -1,1") == {"B": 2}
    assert at.gain("GB_R(P) -1,1") == {"B": 1, "P": 1}
    assert at.gain("GB_R(G) -1,1") == {"B": 1}


def test_5_unnamed_empty_corner_scores_nothing() -> None:
    at = position(START, ["RGB_", "-"])
    assert at.gain("_RGB 2,0") == {"B": 1}
    assert at.gain("GB_R -1,1") == {"B": 1}


def test_5_naming_is_part_of_the_move() -> None:
    # 8 places, 4 rotations, and no name or one of five for the empty corner.
    moves = position(START, ["RGB_", "-"]).legal_moves()
    assert len(moves) == 8 * 4 * 6
    names = {move.named for move in moves if move.at == ("2,0",) and move.tile == "_RGB"}
    assert names == {None, "R", "G", "B", "O", "P"}
    assert {move.named for move in position(START, ["ROPB", "-"]).legal_moves()} == {None}


def test_5_tile_without_an_empty_corner_cannot_name_a_colour() -> None:
    at = position(START, ["ROPB", "-"])
    for colour in COLOURS:
        assert refusal(at, f"ROPB({colour}) 2,0") is Reason.NOTHING_TO_NAME
    with pytest.raises(axio.IllegalMove):
        position(START, ["RGB_", "-"]).action_of("_RGB(Y) 2,0")  # yellow is not a colour of this game


def test_5_empty_corners_of_the_display_do_not_match() -> None:
    # The bottom right corner of 2,1 has only the empty top right corner of 2,0 in its circle.
    at = position(shown(START) | {(2, 0): "B_RG"}, ["OPG_", "-"])
    assert at.gain("PG_O 2,1") == {}
    for colour in COLOURS:
        assert at.gain(f"PG_O({colour}) 2,1") == {}


def test_5_named_colour_counts_only_once() -> None:
    table = table_at(position(START, ["GOP_", "OPRG"]))
    assert table.play("P_GO(R) 2,0") == {}  # P meets R R, O meets B, the empty corner nothing
    table.draw("RGB_")
    # The bottom right corner of 2,1, R, meets only the corner that was named R.
    assert table.play("OPRG 2,1") == {}


RULES: TestsByRule = {**by_rule(globals()), **turn.RULES}
