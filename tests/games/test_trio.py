"""Rules of trio: tiles, board, placement and scoring (1-6), and `RULES`, the tests by rule."""

from __future__ import annotations

from itertools import product

import pytest

import axiogames as axio
from axiogames.errors import Reason
from axiogames.games import find_variant
from tests.games import test_trio_turn as turn
from tests.games.numbered import TestsByRule, by_rule
from tests.games.positions_trio import (
    BELOW,
    BESIDE,
    BOARD,
    COLUMNS,
    PRINTED,
    after,
    board_file,
    exchanges,
    points,
    position,
    refusal,
    rows_of_three,
    same_tile,
)

# ---------------------------------------------------------------- 1: the tiles


def test_1_tile_set_has_80_tiles_two_of_each_kind() -> None:
    tileset = find_variant("trio", 2).tileset
    assert sum(tileset.values()) == 80
    assert len(tileset) == 40
    assert set(tileset.values()) == {2}


def test_1_all_arrangements_of_four_colours_exist() -> None:
    # 4 * 4 * 4 = 64 rows of three; 16 read the same both ways, the other 48 are pairs: 16 + 24 = 40.
    arrangements = {same_tile("".join(row)) for row in product("RGBY", repeat=3)}
    assert len(arrangements) == 40
    assert {same_tile(tile) for tile in find_variant("trio", 2).tileset} == arrangements


def test_1_tile_can_be_reversed() -> None:
    # f10 is beside the red starter g10.
    at = position([], ["RGB", ""])
    assert points(at, "RGB f10-e10-d10") == 1
    assert points(at, "BGR d10-e10-f10") == 1
    assert at.action_of("RGB f10-e10-d10") == at.action_of("BGR d10-e10-f10")
    assert refusal(at, "RGB d10-e10-f10") is Reason.COLOURS_DO_NOT_MATCH
    assert points(at, "BGR e14-e15-e16") == 1  # beside the blue starter, blue end first
    assert refusal(at, "RGB e14-e15-e16") is Reason.COLOURS_DO_NOT_MATCH


# ---------------------------------------------------------------- 2: the board


def test_2_board_is_16_by_16() -> None:
    assert len(board_file()) == 16
    for row in board_file():
        assert len(row) == 16
        assert set(row) <= set("RGBY#*.")
    assert set("".join(board_file())) == set("RGBY#*.")  # starters of all colours, black squares, stars


def test_2_squares_are_named_a1_to_p16() -> None:
    map_of_these_tests = [line.split()[1] for line in BOARD.splitlines() if line]
    assert board_file() == map_of_these_tests
    content = axio.new_game("trio", 2, seed=1).content()
    assert {*content.cells} == {f"{column}{n}" for column in COLUMNS for n in range(1, 17)}
    assert dict(content.printed) == {at: sign for at, sign in PRINTED.items() if sign in "RGBY"}
    assert {*content.blocked} == {at for at, sign in PRINTED.items() if sign == "#"}
    assert {*content.stars} == {at for at, sign in PRINTED.items() if sign == "*"}
    assert (PRINTED["a3"], PRINTED["c16"], PRINTED["f14"]) == ("#", "#", "G")  # a1 is at the bottom left


def test_2_board_is_symmetric_under_quarter_turns() -> None:
    rows = board_file()
    turned = ["".join(row[column] for row in reversed(rows)) for column in range(16)]
    assert turned == rows


def test_2_no_tile_can_cover_two_stars() -> None:
    for row in rows_of_three():
        signs = [PRINTED.get(square, ".") for square in row]
        if set(signs) <= {".", "*"}:
            assert signs.count("*") <= 1


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_2_board_is_the_same_for_all_numbers_of_players(players: int) -> None:
    assert find_variant("trio", players).setup()["board"] == board_file()


# ---------------------------------------------------------------- 3: a turn


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_3_hands_have_three_tiles(players: int) -> None:
    table = axio.new_game("trio", players, seed=4)
    assert [len(table.hand(seat)) for seat in range(players)] == [3] * players
    assert table.in_bag == 80 - 3 * players
    assert table.turn == 0


def test_3_place_one_tile_and_draw_one() -> None:
    table = after(position([], ["RGB YYY BBB", "GGG RRR"]), "RGB g11-g12-g13")
    assert {*table.hand(0)} == {"YYY", "BBB"}
    assert (table.turn, table.draw_due) == (None, 1)
    table.draw("GYG")
    assert {*table.hand(0)} == {"YYY", "BBB", "GYG"}
    assert table.turn == 1


@pytest.mark.parametrize("given", ["RGB", "RGB YYY", "BBB YYY RGB"])
def test_3_exchange_any_number_of_tiles_instead_of_placing(given: str) -> None:
    start = position([], ["RGB YYY BBB", "GGG RRR"])
    count = len(given.split())
    table = after(start, f"exchange {given}")
    assert (table.turn, table.draw_due) == (None, count)
    for tile in ["GYG", "RYR", "BYB"][:count]:
        table.draw(tile)
    new = {"GYG", "RYR", "BYB"} & {*table.hand(0)}
    assert len(new) == count
    assert len(table.hand(0)) == 3
    assert table.turn == 1  # the turn is over without a placement
    assert table.in_bag == start.in_bag


def test_3_tiles_must_be_in_hand() -> None:
    at = position([], ["RGB YYY BBB", "GGG"])
    assert refusal(at, "exchange GGG") is Reason.NOT_IN_HAND
    assert refusal(at, "exchange") is Reason.NOT_IN_HAND  # at least one
    assert refusal(at, "exchange YYY YYY") is Reason.NOT_IN_HAND  # there is one
    assert refusal(at, "RRR g11-g12-g13") is Reason.NOT_IN_HAND


def test_3_every_subset_of_the_hand_can_be_exchanged() -> None:
    different = exchanges(position([], ["BBB GGG YYY", ""]))
    assert different == {"BBB", "GGG", "YYY", "BBB GGG", "BBB YYY", "GGG YYY", "BBB GGG YYY"}
    two_alike = exchanges(position([], ["BBB BBB YYY", ""]))
    assert two_alike == {"BBB", "YYY", "BBB BBB", "BBB YYY", "BBB BBB YYY"}


# ---------------------------------------------------------------- 4: legal placements


def test_4_tile_covers_three_squares_in_a_row() -> None:
    at = position([], ["RGB", ""])
    for row in ("g11-g12-g13", "g11-h11-i11", "h10-h11-h12", "f10-e10-d10", "g9-h9-i9"):
        assert points(at, f"RGB {row}") > 0
    assert {move.at for move in at.legal_moves() if move.kind == "place"} <= {*rows_of_three()}


@pytest.mark.parametrize("row", ["g11-g12", "g11-g12-h12", "g11-g12-g15", "g11-g13-g12", "g11-g11-g11"])
def test_4_other_shapes_are_refused(row: str) -> None:
    assert refusal(position([], ["RGB", ""]), f"RGB {row}") is Reason.WRONG_SHAPE


@pytest.mark.parametrize("row", ["p1-q1-r1", "a1-a0-a2", "o16-p16-q16", "a15-a16-a17"])
def test_4_tile_beyond_the_edge_is_refused(row: str) -> None:
    assert refusal(position([], ["RGB", ""]), f"RGB {row}") is Reason.OUTSIDE


@pytest.mark.parametrize("row", ["g10-g11-g12", "f10-g10-h10", "g8-g9-g10", "h10-i10-j10"])
def test_4_starter_square_cannot_be_covered(row: str) -> None:
    assert refusal(position([], ["RRR", ""]), f"RRR {row}") is Reason.OCCUPIED


@pytest.mark.parametrize("row", ["e11-f11-g11", "h13-i13-j13", "g13-h13-i13"])
def test_4_black_square_cannot_be_covered(row: str) -> None:
    assert refusal(position([], ["RRR", ""]), f"RRR {row}") is Reason.OCCUPIED


@pytest.mark.parametrize("row", ["g11-g12-g13", "g13-g14-g15", "f12-g12-h12", "g11-h11-i11"])
def test_4_tile_cannot_be_covered(row: str) -> None:
    at = position(["RGB g11-g12-g13"], ["RRR", ""])
    assert refusal(at, f"RRR {row}") is Reason.OCCUPIED


def test_4_star_can_be_covered() -> None:
    at = position([], ["RGB", ""])
    assert PRINTED["i11"] == "*"
    assert points(at, "RGB g11-h11-i11") > 0


# ---------------------------------------------------------------- 5: matching
#
#       d  e  f  g  h  i
#   15  .  .  .  .  .  .
#   14  .  .  G  .  Y  .
#   13  .  B  .  .  .  #
#   12  .  .  .  .  .  .
#   11  .  #  .  .  .  *
#   10  .  .  .  R  .  .
#    9  #  .  *  .  .  .


def test_5_single_coloured_neighbour_must_match() -> None:
    # g11 is above the red starter g10; g12 and g13 have no coloured neighbours.
    at = position([], ["RGB", ""])
    assert points(at, "RGB g11-g12-g13") == 1
    assert refusal(at, "BGR g11-g12-g13") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(position([], ["GRG", ""]), "GRG g11-g12-g13") is Reason.COLOURS_DO_NOT_MATCH


def test_5_tiles_on_the_board_must_match() -> None:
    # a12 to c12 are below the tile and have no other coloured neighbours.
    at = position(["RGB a13-b13-c13"], ["RGB RRG", ""])
    assert points(at, "RGB a12-b12-c12") == 3
    assert refusal(at, "BGR a12-b12-c12") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(at, "RRG a12-b12-c12") is Reason.COLOURS_DO_NOT_MATCH  # one of three matches
    assert points(at, "RRG a12-a11-a10") == 2  # a10 is a star: one edge, doubled


def test_5_every_square_must_match() -> None:
    # f13 is next to green (f14) and blue (e13), h13 below yellow (h14), g13 next to no colour.
    at = position([], ["GRY RRY GRG", ""])
    assert points(at, "GRY f13-g13-h13") == 2
    assert refusal(at, "RRY f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(at, "GRG f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH


def test_5_one_of_two_neighbours_must_match() -> None:
    # e14 is next to green (f14) and above blue (e13).
    for tile in ("GRR", "BRR"):
        assert points(position([], [tile, ""]), f"{tile} e14-d14-c14") == 1
    for tile in ("RRR", "YRR"):
        assert refusal(position([], [tile, ""]), f"{tile} e14-d14-c14") is Reason.COLOURS_DO_NOT_MATCH


def test_5_one_of_three_neighbours_must_match() -> None:
    # With red on g13, f13 is next to green (f14), blue (e13) and red.
    laid = ["RGG g13-g14-g15"]
    for tile in ("GYY", "BYY", "RYY"):
        assert points(position(laid, [tile, ""]), f"{tile} f13-f12-f11") == 1
    assert refusal(position(laid, ["YYY", ""]), "YYY f13-f12-f11") is Reason.COLOURS_DO_NOT_MATCH


def test_5_black_squares_need_no_match() -> None:
    # d10 is above black (d9), e10 below black (e11), f10 next to the red starter.
    assert (PRINTED["d9"], PRINTED["e11"]) == ("#", "#")
    for tile in ("RGB", "RRR", "RYY"):
        assert points(position([], [tile, ""]), f"{tile} f10-e10-d10") == 1


def test_5_at_least_one_edge_must_match() -> None:
    for tile in ("RRR", "RGB", "YYG"):
        at = position([], [tile, ""])
        assert refusal(at, f"{tile} b12-b13-b14") is Reason.NO_EDGE_MATCHES  # nothing around
        assert refusal(at, f"{tile} j12-j13-j14") is Reason.NO_EDGE_MATCHES  # only black: i13, k12
    at = position([], ["BBB", ""])
    assert refusal(at, "BBB b12-c12-d12") is Reason.NO_EDGE_MATCHES  # d12 touches e13 at a corner


# ---------------------------------------------------------------- 6: points and extra turns


def test_6_one_point_for_each_matching_edge() -> None:
    assert points(position([], ["RGB", ""]), "RGB g11-g12-g13") == 1
    # g11: red below (and green beside, which does not match); g12: green; g13: blue.
    assert points(position([BESIDE], ["RGB", ""]), "RGB g11-g12-g13") == 3
    # g11 can also be green like f11; then it does not match red.
    assert points(position([BESIDE], ["GGB", ""]), "GGB g11-g12-g13") == 3
    # With red at f11, g11 has two red neighbours: 2 + 1 + 1.
    assert points(position(["RGB f11-f12-f13"], ["RGB", ""]), "RGB g11-g12-g13") == 4


def test_6_all_eight_outer_edges_count() -> None:
    #       k  l  m  n  o
    #  15   .  R  B  B  G       three edges at each end, two in the middle: 8
    #  14   R [R][B][B] B
    #  13   .  R  B  B  G
    laid = ["RBB l15-m15-n15", "YGR i14-j14-k14", "BGG o14-o15-o16", "RBG l13-l12-l11", "BBG m13-n13-o13"]
    assert points(position(laid, ["RBB", ""]), "RBB l14-m14-n14") == 8


def test_6_points_are_doubled_on_a_star() -> None:
    assert points(position([], ["RGB", ""]), "RGB g11-h11-i11") == 2  # 1 edge
    assert points(position(BELOW[1:], ["RGR", ""]), "RGR g11-h11-i11") == 4  # 2 edges
    assert points(position(BELOW, ["RRR", ""]), "RRR g11-h11-i11") == 6  # 3 edges


def test_6_any_square_of_a_tile_on_a_star_doubles() -> None:
    # f9 is a star; f10 is next to the red starter g10.
    assert points(position([], ["GBR", ""]), "GBR f8-f9-f10") == 2
    assert points(position([], ["GRB", ""]), "GRB f9-f10-f11") == 2
    assert points(position([], ["RGB", ""]), "RGB f10-f11-f12") == 1


def test_6_covered_star_doubles_once() -> None:
    # A tile covers the star i11. The next tile is above it and matches three edges.
    assert points(position(["RGB g11-h11-i11"], ["RGB", ""]), "RGB g12-h12-i12") == 3


def test_6_three_matching_edges_win_an_extra_turn() -> None:
    table = after(position([BESIDE], ["RGB YYY BBB", "GGG"]), "RGB g11-g12-g13")
    assert (table.turn, table.draw_due) == (None, 1)
    table.draw("GYG")
    assert table.turn == 0
    assert len(table.hand(0)) == 3


def test_6_extra_turn_can_win_another() -> None:
    start = position([BESIDE, *BELOW], ["RGB RRR", "GGG"])
    table = after(start, "RGB g11-g12-g13", "draw YYY")
    assert (table.scores[0], table.turn) == ({"points": 3}, 0)
    # h11 matches g11 and h10, i11 matches i10, j11 matches the starter j10: 4 edges, doubled.
    table = after(table, "RRR h11-i11-j11", "draw BBB")
    assert (table.scores[0], table.turn) == ({"points": 3 + 2 * 4}, 0)
    table = after(table, "BBB e14-e15-e16", "draw GYG")
    assert (table.scores[0], table.turn) == ({"points": 11 + 1}, 1)


def test_6_two_matching_edges_win_no_extra_turn() -> None:
    table = after(position([], ["GRY YYY BBB", "GGG"]), "GRY f13-g13-h13", "draw GYG")
    assert table.scores[0] == {"points": 2}
    assert table.turn == 1


def test_6_extra_turn_counts_edges_before_doubling() -> None:
    table = after(position(BELOW[1:], ["RGR YYY BBB", "GGG"]), "RGR g11-h11-i11", "draw GYG")
    assert table.scores[0] == {"points": 4}  # two edges on a star
    assert table.turn == 1


RULES: TestsByRule = {**by_rule(globals()), **turn.RULES}
