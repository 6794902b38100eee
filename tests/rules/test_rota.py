"""The numbered rules of rota, each with its tests; `RULES` at the end says which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations

import pytest

import axio
from axio.drawing.scene import Laid
from axio.events import Draw, Place, Start
from axio.games import find_variant
from axio.reasons import Reason
from tests.rules.positions_rota import (
    ALL_BUT_RED,
    COLOURS,
    DIRECTIONS,
    INWARD,
    NOTHING,
    ONE_GREEN_ONE_BLUE,
    OPENING,
    RING,
    SQUARES,
    START,
    TWO_RED_ONE_BLUE,
    Display,
    after,
    lying,
    open_places,
    places,
    play_on,
    position,
    refusal,
    same_tile,
    shown,
    stacks,
    supply,
    tiles,
    turns_left,
)

# ---------------------------------------------------------------- 1: the tiles


def test_1_sixty_tiles_thirty_of_them_with_an_empty_corner() -> None:
    assert len(tiles()) == 60
    assert sum("_" in tile for tile in tiles()) == 30


def test_1_four_corners_no_colour_twice_and_at_most_one_empty() -> None:
    for tile in tiles():
        assert len(tile) == 4
        assert len(set(tile)) == 4, "a letter, or `_`, stands twice"
        assert set(tile) <= set("RGBOP_")


def test_1_no_two_tiles_are_the_same_when_turned() -> None:
    assert len({same_tile(tile) for tile in tiles()}) == 60


def test_1_every_arrangement_of_four_different_colours_is_there() -> None:
    # 5 * 4 * 3 * 2 = 120 ways to write four of five colours, four ways for each tile: 30.
    arrangements = {same_tile("".join(four)) for four in permutations("RGBOP", 4)}
    assert len(arrangements) == 30
    assert {same_tile(tile) for tile in tiles() if "_" not in tile} == arrangements


@pytest.mark.parametrize("colours", list(combinations("RGBOP", 3)), ids="".join)
def test_1_of_three_colours_one_of_each_mirror_pair_is_there(colours: tuple[str, str, str]) -> None:
    there = {same_tile(tile) for tile in tiles() if "_" in tile and set(tile) == {*colours, "_"}}
    arrangements = {same_tile("".join(three) + "_") for three in permutations(colours)}
    pairs = {frozenset((tile, same_tile(tile[::-1]))) for tile in arrangements}
    assert len(arrangements) == 6
    assert len(pairs) == 3
    assert [len(pair & there) for pair in pairs] == [1, 1, 1]


def test_1_a_tile_may_be_turned() -> None:
    at = position(START, ["ROPB", "-"])
    here = [move.tile for move in at.legal_moves() if move.at == ("2,0",)]
    assert sorted(here) == sorted(["ROPB", "BROP", "PBRO", "OPBR"])


def test_1_a_tile_is_never_mirrored() -> None:
    # The mirror image of four colours is a tile of its own, that of three is not in the game.
    assert refusal(position(START, ["RGPO", "-"]), "OPGR 2,0") is Reason.NOT_IN_HAND
    assert refusal(position(START, ["RGB_", "-"]), "BGR_ 2,0") is Reason.NO_SUCH_TILE
    for letters in ("_BGR", "R_BG", "GR_B"):
        assert refusal(position(START, ["RGB_", "-"]), f"{letters} 2,0") is Reason.NO_SUCH_TILE


# ---------------------------------------------------------------- 2: the opening


def test_2_four_tiles_start_as_a_square_at_the_origin() -> None:
    table = axio.Table(find_variant("rota", 2))
    for left, (at, tile) in zip((4, 3, 2, 1), OPENING.items(), strict=True):
        assert table.draw_due == left
        with pytest.raises(axio.IllegalMove):
            table.draw(Laid(tile, ("2,1",)))
        table.draw(Laid(tile, (at,)))
    assert lying(table) == shown(START)
    for seed in range(20):
        dealt = axio.new_game("rota", 2, seed=seed)
        assert set(lying(dealt)) == {(0, 0), (1, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize("square", SQUARES)
def test_2_an_empty_corner_is_turned_to_the_middle(square: str) -> None:
    table = axio.Table(find_variant("rota", 2))
    for before in SQUARES[: SQUARES.index(square)]:
        table.draw(Laid(OPENING[before], (before,)))
    for turned in ("RGB_", "_RGB", "B_RG", "GB_R"):
        if turned[INWARD[square]] != "_":
            with pytest.raises(axio.IllegalMove):
                table.draw(Laid(turned, (square,)))
    (inward,) = (turned for turned in ("RGB_", "_RGB", "B_RG", "GB_R") if turned[INWARD[square]] == "_")
    table.draw(Laid(inward, (square,)))


def test_2_a_dealt_empty_corner_is_turned_to_the_middle() -> None:
    seen: set[str] = set()
    for seed in range(40):
        start = axio.new_game("rota", 2, seed=seed).events[0]
        assert isinstance(start, Start)
        for lies in start.display:
            if "_" in lies.tile:
                assert lies.tile[INWARD[lies.at]] == "_"
                seen.add(lies.at)
    assert seen == set(SQUARES)


def test_2_every_tile_is_as_likely_and_a_full_one_lies_in_any_rotation() -> None:
    table = axio.Table(find_variant("rota", 2))
    weights: Counter[str] = Counter()
    ways: dict[str, list[int]] = {}
    for action, weight in table.variant.chances(table.state):
        letters = table.variant.starting(table.state, action).letters
        weights[same_tile(letters)] += weight
        ways.setdefault(same_tile(letters), []).append(weight)
    assert len(weights) == 60
    assert len(set(weights.values())) == 1
    for tile, of_turns in ways.items():
        assert len(of_turns) == (1 if "_" in tile else 4)
        assert len(set(of_turns)) == 1
    dealt = [lying(axio.new_game("rota", 2, seed=seed)) for seed in range(40)]
    full = [tile for display in dealt for tile in display.values() if "_" not in tile]
    assert {tile.index(min(tile)) for tile in full} == {0, 1, 2, 3}


@pytest.mark.parametrize(("players", "left"), [(1, 44), (2, 32), (3, 20), (4, 8)])
def test_2_stacks_of_twelve_one_tile_in_hand_the_rest_is_the_supply(players: int, left: int) -> None:
    table = axio.new_game("rota", players, seed=5)
    assert [len(table.hand(seat)) for seat in range(players)] == [1] * players
    assert stacks(table) == (11,) * players  # twelve, less the one in hand
    assert supply(table) == left
    assert table.in_bag == 11 * players + left
    assert table.turn == 0


def test_2_the_tile_in_hand_is_drawn_from_the_stack() -> None:
    table = axio.new_game("rota", 3, seed=5)
    draws = [event for event in table.events if isinstance(event, Draw)]
    assert [(draw.p, len(draw.tiles)) for draw in draws] == [(0, 1), (1, 1), (2, 1)]
    assert {draw.source for draw in draws} == {"stack"}


# ---------------------------------------------------------------- 3: where a tile may lie


def test_3_a_tile_shares_a_side_with_the_display() -> None:
    around = {"-1,0", "-1,1", "2,0", "2,1", "0,-1", "1,-1", "0,2", "1,2"}
    assert open_places(position(START, ["ROPB", "-"])) == around
    beside = {"3,0", "2,-1", "2,1"}  # what a tile at 2,0 adds
    grown = shown(START) | {(2, 0): "ROPB"}
    assert open_places(position(grown, ["RGOP", "-"])) == around - {"2,0"} | beside


@pytest.mark.parametrize("at", ["2,2", "-1,2", "-1,-1", "2,-1"])
def test_3_touching_only_at_a_corner_is_not_enough(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("at", ["3,0", "0,3", "5,5", "-2,1", "1,-2"])
def test_3_a_tile_away_from_the_display_is_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("at", SQUARES)
def test_3_an_occupied_position_is_refused(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.OCCUPIED


def test_3_a_hole_in_the_display_may_be_filled() -> None:
    assert "1,2" in open_places(position(RING, ["RGBO", "-"]))


def test_3_x_runs_to_the_right_and_y_upwards() -> None:
    # A tile that shows only what the named side of START shows scores there and on no other side.
    assert position(START, ["ROPB", "-"]).gain("ROPB 2,0") == {"R": 2, "B": 1}  # right
    assert position(START, ["OPBG", "-"]).gain("OPBG 1,2") == {"G": 1, "B": 1}  # above
    assert position(START, ["PRBG", "-"]).gain("GPRB -1,0") == {"P": 1, "R": 1}  # left
    assert position(START, ["RGPB", "-"]).gain("RGPB 0,-1") == {"R": 1, "G": 1}  # below


@pytest.mark.parametrize("at", ["64,0", "66,0", "70,0", "-62,0", "-64,1", "0,64", "1,66", "0,-63", "130,0"])
def test_3_no_position_far_away_stands_for_a_near_one(at: str) -> None:
    assert refusal(position(START, ["ROPB", "-"]), f"ROPB {at}") is Reason.NOT_BESIDE_DISPLAY


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_3_the_display_grows_as_far_as_the_tiles_reach(direction: str) -> None:
    # 59 tiles in one line and the sixtieth in hand: further than any game can get. No other position,
    # such as one that a display on a torus would take for the same, is open or occupied.
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


def test_3_the_two_ends_of_a_long_line_do_not_meet() -> None:
    # 0,0 shows O P on its left, 58,0 shows R B on its right; ROPB turned either way.
    middle = [tile for tile in tiles() if same_tile(tile) not in map(same_tile, ("OGRP", "GRBP", "ROPB"))]
    line: Display = {(n + 1, 0): tile for n, tile in enumerate(middle)} | {(0, 0): "OGRP", (58, 0): "GRBP"}
    at = position(line, ["ROPB"], stacks=[0], supply=0)
    assert at.gain("ROPB 59,0") == {"R": 1, "B": 1}
    assert at.gain("OPBR 59,0") == {}
    assert at.gain("ROPB -1,0") == {"O": 1, "P": 1}
    assert at.gain("PBRO -1,0") == {}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_3_a_whole_game_can_be_laid_in_one_line(direction: str) -> None:
    dx, dy = DIRECTIONS[direction]
    table = axio.new_game("rota", 4, seed=f"line {direction}")
    x, y = (dx if dx > 0 else 0), (dy if dy > 0 else 0)
    line = [(x + dx * n, y + dy * n) for n in range(1, 49)]
    for x, y in line:
        assert table.turn is not None
        table.play(f"{table.hand(table.turn)[0]} {x},{y}")
    assert table.over  # four stacks of twelve, and no extra turn in such a game
    assert set(lying(table)) == {(0, 0), (1, 0), (0, 1), (1, 1), *line}


# ---------------------------------------------------------------- 4: circles


def test_4_a_corner_scores_one_point_per_matching_symbol_in_its_circle() -> None:
    # The tile goes to 2,0: its top left corner joins a circle of R (1,0), R (1,1) and O (2,1).
    at = position(shown(START) | {(2, 1): "PGBO"}, ["RGOP", "-"])
    assert at.gain("RGOP 2,0") == {"R": 2}
    assert at.gain("OPRG 2,0") == {"O": 1}
    assert at.gain("PRGO 2,0") == {}
    assert at.gain("GOPR 2,0") == {}


def test_4_three_matching_symbols_are_three_points() -> None:
    # The same with R at 2,1, so that the circle shows R three times.
    at = position(shown(START) | {(2, 1): "PGBR"}, ["RGOP", "-"])
    assert at.gain("RGOP 2,0") == {"R": 3}


def test_4_the_tile_diagonally_across_counts() -> None:
    # For each corner of the tile a place where it matches the tile diagonally across and none beside.
    at = position(START, ["RGPO", "-"])
    assert at.gain("ORGP 1,-1") == {"O": 1}  # top left: G of 1,0 above, O of 0,0 across
    assert at.gain("GPOR -1,0") == {"P": 1}  # top right: B of 0,0 beside, P of 0,1 across
    assert at.gain("ORGP 0,2") == {"G": 1}  # bottom right: O of 0,1 below, G of 1,1 across
    assert at.gain("RGPO 1,2") == {"O": 1}  # bottom left: G of 1,1 below, O of 0,1 across


def test_4_a_circle_need_not_be_complete() -> None:
    at = position(START, ["ROPB", "-"])
    assert at.gain("BROP 2,1") == {"B": 1}  # top left: only 1,1 is there
    assert at.gain("OPBR 2,1") == {"R": 2}  # bottom left: 1,1 and 1,0
    assert at.gain("PBRO 2,1") == {}


def test_4_each_of_the_four_corners_scores_in_its_own_circle() -> None:
    at = position(RING, ["RGBO", "-"])
    assert at.gain("RGBO 1,2") == {"R": 3, "G": 3, "B": 3, "O": 3}
    assert at.gain("ORGB 1,2") == {}
    assert at.gain("BORG 1,2") == {}
    assert at.gain("GBOR 1,2") == {}


def test_4_symbols_outside_the_circle_do_not_count() -> None:
    # 1,0 shows O and G on its far side: O and G on the near side of 2,0 meet only R, R and B.
    at = position(START, ["OPRG", "-"])
    assert at.gain("OPRG 2,0") == {}


def test_4_a_corner_that_meets_no_tile_scores_nothing() -> None:
    # Turned so that R and B point away from START.
    at = position(START, ["ROPB", "-"])
    assert at.gain("PBRO 2,0") == {}


# ---------------------------------------------------------------- 5: empty corners


def test_5_an_empty_corner_scores_the_colour_that_is_named() -> None:
    # At 2,0 the top left corner meets R R, the bottom left B.
    at = position(START, ["GBO_", "-"])
    assert at.gain("_GBO(R) 2,0") == {"R": 2}
    assert at.gain("_GBO(P) 2,0") == {}
    assert at.gain("GBO_(B) 2,0") == {"B": 1}
    assert at.gain("GBO_(R) 2,0") == {}


def test_5_a_colour_that_stands_on_the_tile_may_be_named() -> None:
    at = position(START, ["RGB_", "-"])
    assert at.gain("_RGB(R) 2,0") == {"R": 2, "B": 1}
    # At -1,1: B at the top right meets B, the empty bottom right corner meets P and B.
    assert at.gain("GB_R(B) -1,1") == {"B": 2}
    assert at.gain("GB_R(P) -1,1") == {"B": 1, "P": 1}
    assert at.gain("GB_R(G) -1,1") == {"B": 1}


def test_5_without_a_name_the_empty_corner_scores_nothing() -> None:
    at = position(START, ["RGB_", "-"])
    assert at.gain("_RGB 2,0") == {"B": 1}
    assert at.gain("GB_R -1,1") == {"B": 1}


def test_5_naming_is_part_of_the_move() -> None:
    # 8 places, 4 turns, and for the empty corner no name or one of five.
    moves = position(START, ["RGB_", "-"]).legal_moves()
    assert len(moves) == 8 * 4 * 6
    here = {move.named for move in moves if move.at == ("2,0",) and move.tile == "_RGB"}
    assert here == {None, "R", "G", "B", "O", "P"}
    assert {move.named for move in position(START, ["ROPB", "-"]).legal_moves()} == {None}


def test_5_a_tile_without_an_empty_corner_names_nothing() -> None:
    at = position(START, ["ROPB", "-"])
    for colour in COLOURS:
        assert refusal(at, f"ROPB({colour}) 2,0") is Reason.NOTHING_TO_NAME
    with pytest.raises(axio.IllegalMove):
        position(START, ["RGB_", "-"]).action_of("_RGB(Y) 2,0")  # yellow is no colour of this game


def test_5_empty_corners_already_lying_never_match() -> None:
    # The bottom right corner of 2,1 has only the empty top right corner of 2,0 in its circle.
    at = position(shown(START) | {(2, 0): "B_RG"}, ["OPG_", "-"])
    assert at.gain("PG_O 2,1") == {}
    for colour in COLOURS:
        assert at.gain(f"PG_O({colour}) 2,1") == {}


def test_5_a_name_counts_for_its_own_scoring_only() -> None:
    table = play_on(position(START, ["GOP_", "OPRG"]))
    assert table.play("P_GO(R) 2,0") == {}  # P meets R R, O meets B, the empty corner nothing
    table.draw("RGB_")
    # The bottom right corner of 2,1, R, meets only the corner that was named R.
    assert table.play("OPRG 2,1") == {}


# ---------------------------------------------------------------- 6: twelve points and extra turns


def test_6_points_beyond_12_are_lost() -> None:
    table = play_on(position(START, ["ROPB", "RGOP"], scores=[{"R": 11}, {}]))
    assert table.play(TWO_RED_ONE_BLUE) == {"R": 1, "B": 1}  # 11 + 2 stops at 12
    assert table.scores[0] == {"R": 12, "G": 0, "B": 1, "O": 0, "P": 0}


def test_6_a_colour_that_stands_at_12_scores_no_more_and_gives_no_more_turns() -> None:
    table = play_on(position(START, ["ROPB", "RGOP"], scores=[{"R": 12}, {}]))
    assert table.play(TWO_RED_ONE_BLUE) == {"B": 1}
    table.draw("RGB_")
    assert turns_left(table) == (1, 32, (10, 11))


@pytest.mark.parametrize("red", [10, 11])
def test_6_reaching_12_gives_an_extra_turn_from_the_supply(red: int) -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": red}, {}])
    assert turns_left(play_on(start)) == (0, 32, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.draw_due == 1
    table.draw("OPBG")
    assert turns_left(table) == (0, 31, (11, 11))
    assert same_tile(table.hand(0)[0]) == same_tile("OPBG")


def test_6_eleven_points_give_no_extra_turn() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 9, "B": 10}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (1, 32, (10, 11))


def test_6_the_stack_is_drawn_from_only_after_the_extra_turn() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE)
    assert table.scores[0] == {"R": 12, "G": 1, "B": 2, "O": 0, "P": 0}
    assert table.draw_due == 1
    table.draw("RGB_")
    assert turns_left(table) == (1, 31, (10, 11))


def test_6_two_colours_that_reach_12_at_once_give_two_extra_turns() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 10, "B": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 31, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP")
    assert turns_left(table) == (0, 30, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP", NOTHING, "RGB_")
    assert turns_left(table) == (1, 30, (10, 11))


def test_6_a_colour_scored_by_two_corners_gives_one_extra_turn() -> None:
    # GB_R(B) at -1,1: one blue by the corner that shows it, one by the named corner.
    start = position(START, ["RGB_", "RGOP"], scores=[{"B": 11}, {}])
    table = after(start, "GB_R(B) -1,1", "OPBG", "OPBG 1,2", "RGBO")
    assert table.scores[0]["B"] == 12
    assert turns_left(table) == (1, 31, (10, 11))


def test_6_an_extra_turn_can_give_another() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 11, "G": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP")
    assert turns_left(table) == (0, 30, (11, 11))
    table.play(NOTHING)
    table.draw("RGB_")
    assert turns_left(table) == (1, 30, (10, 11))


def test_6_with_the_supply_empty_there_are_no_extra_turns() -> None:
    start = position(START, ["ROPB", "OPBG"], scores=[{"R": 11}, {}], stacks=[5, 5], supply=0)
    table = after(start, TWO_RED_ONE_BLUE)
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (1, 0, (4, 5))
    table.play(ONE_GREEN_ONE_BLUE)  # and the turn that was lost does not pass to this seat
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (0, 0, (4, 4))


def test_6_extra_turns_stop_when_the_supply_runs_out() -> None:
    # Two are earned, the supply has one tile.
    keep = ["OPBG"]
    scores: list[dict[str, int]] = [{"R": 11, "B": 11}, {}]
    start = position(START, ["ROPB", "RGOP"], scores=scores, stacks=[5, 5], supply=1, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 0, (5, 5))
    table.play(ONE_GREEN_ONE_BLUE)
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (1, 0, (4, 5))


def test_6_the_last_tile_of_a_stack_earns_extra_turns() -> None:
    keep = ["OPBG", "OGRP"]
    scores: list[dict[str, int]] = [{}, {"R": 11}]
    start = position(START, ["-", "ROPB"], scores=scores, stacks=[0, 0], supply=2, keep=keep, seat=1)
    table = after(start, TWO_RED_ONE_BLUE)
    assert not table.over
    table.draw("OPBG")
    assert turns_left(table) == (1, 1, (0, 0))
    table.play(ONE_GREEN_ONE_BLUE)
    assert table.over
    assert table.scores[1] == {"R": 12, "G": 1, "B": 2, "O": 0, "P": 0}


def test_6_after_the_extra_turns_of_a_last_tile_the_others_place_theirs() -> None:
    keep = ["OPBG", "OGRP"]
    scores: list[dict[str, int]] = [{"R": 11}, {}]
    start = position(START, ["ROPB", "RGOP"], scores=scores, stacks=[0, 0], supply=2, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE)
    assert turns_left(table) == (1, 1, (0, 0))
    table.play("RGOP 3,0")
    assert table.over


def test_6_in_a_whole_game_each_colour_at_12_brings_one_tile_of_the_supply() -> None:
    at_12_in_all = 0
    for seed in range(4):
        table = axio.new_game("rota", 1, seed=seed)
        while not table.over:  # always the most points
            moves = table.legal_moves()
            table.play(moves[int(table.gains(moves).sum(axis=1).argmax())])
        points: Counter[str] = Counter()
        owed, at_12 = 0, 0
        for event in table.events[2:]:  # after the start and the first draw
            if isinstance(event, Place):
                points.update(event.gain)
                reached = sum(points[colour] == 12 for colour in event.gain)
                owed, at_12 = owed + reached, at_12 + reached
            elif isinstance(event, Draw):
                assert event.source == ("supply" if owed else "stack")
                owed -= owed > 0
        assert supply(table) == 44 - at_12
        at_12_in_all += at_12
    assert at_12_in_all >= 2


# ---------------------------------------------------------------- 7: the end


def test_7_twelve_in_all_five_colours_wins_at_once() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[ALL_BUT_RED, {}])
    assert start.preview(TWO_RED_ONE_BLUE).ends_game
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.over
    assert table.draw_due == 0  # neither an extra turn nor a next tile
    assert table.result is not None
    assert table.result.winners == (0,)
    assert table.result.place == (1, 2)


def test_7_two_colours_that_reach_12_together_can_win() -> None:
    start = position(START, ["-", "ROPB"], scores=[{}, ALL_BUT_RED | {"B": 11}], seat=1)
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    assert table.result.winners == (1,)


def test_7_an_extra_turn_can_win_with_extra_turns_still_owed() -> None:
    # Red and blue reach 12 by the first tile, which earns two extra turns; the first brings green to 12.
    scores: list[dict[str, int]] = [{"R": 10, "G": 11, "B": 11, "O": 12, "P": 12}, {}]
    table = after(position(START, ["ROPB", "RGOP"], scores=scores), TWO_RED_ONE_BLUE, "OPBG")
    assert table.turn == 0
    table.play(ONE_GREEN_ONE_BLUE)
    assert table.over
    assert table.draw_due == 0


def test_7_twelve_in_four_colours_does_not_win() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[ALL_BUT_RED | {"G": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert not table.over


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_7_the_game_ends_when_everybody_has_placed_twelve_tiles(players: int) -> None:
    table = axio.new_game("rota", players, seed=8)
    for n in range(12 * players):
        assert table.turn == n % players
        table.play(f"{table.hand(n % players)[0]} {2 + n},0")  # in a line, where nobody gets to 12
    assert table.over
    assert stacks(table) == (0,) * players
    assert supply(table) == 56 - 12 * players
    places = Counter(event.p for event in table.events if isinstance(event, Place))
    assert places == dict.fromkeys(range(players), 12)


@pytest.mark.parametrize("left", [4, 0])
def test_7_the_last_seat_still_places_its_last_tile(left: int) -> None:
    start = position(START, ["ROPB", "RGOP"], stacks=[0, 0], supply=left)
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.turn == 1
    table.play("RGOP 3,0")
    assert table.over


def test_7_the_higher_lowest_colour_wins() -> None:
    assert places("3 12 12 12 12", "4 4 4 4 4") == (2, 1)
    assert places("9 9 9 9 5", "4 11 11 11 11") == (1, 2)


def test_7_equal_lowest_colours_are_decided_by_the_next_lowest() -> None:
    assert places("7 8 12 12 12", "12 9 7 9 9") == (2, 1)
    assert places("7 7 12 12 12", "7 8 8 8 8") == (2, 1)
    assert places("5 6 7 7 8", "5 12 12 12 5") == (1, 2)
    assert places("1 2 3 4 6", "5 4 3 2 1") == (1, 2)


def test_7_equal_in_all_five_shares_the_victory() -> None:
    assert places("1 2 3 4 5", "5 4 3 2 1") == (1, 1)
    assert places("2 2 2 2 2", "0 9 9 9 9", "2 2 2 2 2") == (1, 3, 1)
    assert places("0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 1") == (2, 2, 2, 1)


# ---------------------------------------------------------------- 8: alone


def test_8_alone_extra_turns_and_the_end_are_the_same() -> None:
    keep = ["OPBG"]
    start = position(START, ["ROPB"], scores=[{"R": 11}], stacks=[0], supply=1, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 0, (0,))
    table.play(ONE_GREEN_ONE_BLUE)
    assert table.over


def test_8_alone_twelve_in_all_five_colours_ends_the_game() -> None:
    table = after(position(START, ["ROPB"], scores=[ALL_BUT_RED]), TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    assert min(table.result.scores[0].values()) == 12


def test_8_alone_the_result_is_the_lowest_colour() -> None:
    scores = [{"R": 5, "G": 7, "B": 4, "O": 9, "P": 6}]
    table = after(position(START, ["ROPB"], scores=scores, stacks=[0]), TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    # Red 5 + 2 = 7, blue 4 + 1 = 5, and blue is still the lowest.
    assert table.result.scores[0] == {"R": 7, "G": 7, "B": 5, "O": 9, "P": 6}
    assert min(table.result.scores[0].values()) == 5
    assert table.result.place == (1,)
    assert table.result.winners == (0,)


RULES: dict[int, tuple[Callable[..., None], ...]] = {}
for _name, _test in list(globals().items()):
    if _name.startswith("test_"):  # the number of its rule follows
        _rule = int(_name.split("_")[1])
        RULES[_rule] = (*RULES.get(_rule, ()), _test)
