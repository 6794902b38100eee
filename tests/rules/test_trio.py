"""The numbered rules of trio, each with its tests; `RULES` at the end says which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

import axio
from axio.events import Removed
from axio.games import find_variant
from axio.reasons import Reason
from tests.rules.positions_trio import (
    BELOW,
    BESIDE,
    BOARD,
    COLUMNS,
    EXTRA_WALLS,
    HIGH,
    LOW,
    LOW_WALLS,
    PRINTED,
    after,
    board_file,
    exchanges,
    in_nooks,
    kinds_of_move,
    places,
    points,
    position,
    refusal,
    rows_of_three,
    same_tile,
    short_table,
)

# ---------------------------------------------------------------- 1: the tiles


def test_1_eighty_tiles_two_of_each_arrangement() -> None:
    tileset = find_variant("trio", 2).tileset
    assert sum(tileset.values()) == 80
    assert len(tileset) == 40
    assert set(tileset.values()) == {2}


def test_1_every_arrangement_of_four_colours_is_there_once_up_to_turning_round() -> None:
    # 4 * 4 * 4 = 64 rows of three; 16 read the same both ways, the other 48 are pairs: 16 + 24 = 40.
    arrangements = {same_tile("".join(row)) for row in product("RGBY", repeat=3)}
    assert len(arrangements) == 40
    assert {same_tile(tile) for tile in find_variant("trio", 2).tileset} == arrangements


def test_1_a_tile_may_be_turned_round() -> None:
    # f10 is beside the red starter g10.
    at = position([], ["RGB", ""])
    assert points(at, "RGB f10-e10-d10") == 1
    assert points(at, "BGR d10-e10-f10") == 1
    assert at.action_of("RGB f10-e10-d10") == at.action_of("BGR d10-e10-f10")
    assert refusal(at, "RGB d10-e10-f10") is Reason.COLOURS_DO_NOT_MATCH
    assert points(at, "BGR e14-e15-e16") == 1  # beside the blue starter, blue end first
    assert refusal(at, "RGB e14-e15-e16") is Reason.COLOURS_DO_NOT_MATCH


# ---------------------------------------------------------------- 2: the board


def test_2_the_board_is_a_text_map_of_16_by_16() -> None:
    assert len(board_file()) == 16
    for row in board_file():
        assert len(row) == 16
        assert set(row) <= set("RGBY#*.")
    assert set("".join(board_file())) == set("RGBY#*.")  # starters of all colours, black squares, stars


def test_2_the_squares_are_named_a1_to_p16_from_the_bottom_left() -> None:
    map_of_these_tests = [line.split()[1] for line in BOARD.splitlines() if line]
    assert board_file() == map_of_these_tests
    content = axio.new_game("trio", 2, seed=1).content()
    assert {*content.cells} == {f"{column}{n}" for column in COLUMNS for n in range(1, 17)}
    assert dict(content.printed) == {at: sign for at, sign in PRINTED.items() if sign in "RGBY"}
    assert {*content.blocked} == {at for at, sign in PRINTED.items() if sign == "#"}
    assert {*content.stars} == {at for at, sign in PRINTED.items() if sign == "*"}
    assert (PRINTED["a3"], PRINTED["c16"], PRINTED["f14"]) == ("#", "#", "G")  # a1 is at the bottom left


def test_2_the_board_is_symmetric_under_quarter_turns() -> None:
    rows = board_file()
    turned = ["".join(row[column] for row in reversed(rows)) for column in range(16)]
    assert turned == rows


def test_2_no_straight_tile_can_cover_two_stars() -> None:
    for row in rows_of_three():
        signs = [PRINTED.get(square, ".") for square in row]
        if set(signs) <= {".", "*"}:
            assert signs.count("*") <= 1


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_2_the_board_is_the_same_for_every_number_of_players(players: int) -> None:
    assert find_variant("trio", players).setup()["board"] == board_file()


# ---------------------------------------------------------------- 3: a turn


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_3_everybody_has_three_tiles_in_hand(players: int) -> None:
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


def test_3_only_tiles_in_hand_are_placed_or_exchanged() -> None:
    at = position([], ["RGB YYY BBB", "GGG"])
    assert refusal(at, "exchange GGG") is Reason.NOT_IN_HAND
    assert refusal(at, "exchange") is Reason.NOT_IN_HAND  # at least one
    assert refusal(at, "exchange YYY YYY") is Reason.NOT_IN_HAND  # there is one
    assert refusal(at, "RRR g11-g12-g13") is Reason.NOT_IN_HAND


def test_3_every_choice_of_tiles_can_be_exchanged() -> None:
    different = exchanges(position([], ["BBB GGG YYY", ""]))
    assert different == {"BBB", "GGG", "YYY", "BBB GGG", "BBB YYY", "GGG YYY", "BBB GGG YYY"}
    two_alike = exchanges(position([], ["BBB BBB YYY", ""]))
    assert two_alike == {"BBB", "YYY", "BBB BBB", "BBB YYY", "BBB BBB YYY"}


# ---------------------------------------------------------------- 4: where a tile may lie


def test_4_a_tile_covers_three_squares_in_a_row_across_or_upright() -> None:
    at = position([], ["RGB", ""])
    for row in ("g11-g12-g13", "g11-h11-i11", "h10-h11-h12", "f10-e10-d10", "g9-h9-i9"):
        assert points(at, f"RGB {row}") > 0
    assert {move.at for move in at.legal_moves() if move.kind == "place"} <= {*rows_of_three()}


@pytest.mark.parametrize("row", ["g11-g12", "g11-g12-h12", "g11-g12-g15", "g11-g13-g12", "g11-g11-g11"])
def test_4_no_other_shape(row: str) -> None:
    assert refusal(position([], ["RGB", ""]), f"RGB {row}") is Reason.WRONG_SHAPE


@pytest.mark.parametrize("row", ["p1-q1-r1", "a1-a0-a2", "o16-p16-q16", "a15-a16-a17"])
def test_4_not_over_the_edge_of_the_board(row: str) -> None:
    assert refusal(position([], ["RGB", ""]), f"RGB {row}") is Reason.OUTSIDE


@pytest.mark.parametrize("row", ["g10-g11-g12", "f10-g10-h10", "g8-g9-g10", "h10-i10-j10"])
def test_4_a_starter_square_cannot_be_covered(row: str) -> None:
    assert refusal(position([], ["RRR", ""]), f"RRR {row}") is Reason.OCCUPIED


@pytest.mark.parametrize("row", ["e11-f11-g11", "h13-i13-j13", "g13-h13-i13"])
def test_4_a_black_square_cannot_be_covered(row: str) -> None:
    assert refusal(position([], ["RRR", ""]), f"RRR {row}") is Reason.OCCUPIED


@pytest.mark.parametrize("row", ["g11-g12-g13", "g13-g14-g15", "f12-g12-h12", "g11-h11-i11"])
def test_4_a_tile_cannot_be_covered(row: str) -> None:
    at = position(["RGB g11-g12-g13"], ["RRR", ""])
    assert refusal(at, f"RRR {row}") is Reason.OCCUPIED


def test_4_a_star_may_be_covered() -> None:
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


def test_5_a_single_coloured_neighbour_must_match() -> None:
    # g11 lies above the red starter g10; g12 and g13 lie beside nothing.
    at = position([], ["RGB", ""])
    assert points(at, "RGB g11-g12-g13") == 1
    assert refusal(at, "BGR g11-g12-g13") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(position([], ["GRG", ""]), "GRG g11-g12-g13") is Reason.COLOURS_DO_NOT_MATCH


def test_5_a_tile_on_the_board_is_a_coloured_neighbour_like_a_starter() -> None:
    # a12 to c12 lie below the laid tile and beside nothing else.
    at = position(["RGB a13-b13-c13"], ["RGB RRG", ""])
    assert points(at, "RGB a12-b12-c12") == 3
    assert refusal(at, "BGR a12-b12-c12") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(at, "RRG a12-b12-c12") is Reason.COLOURS_DO_NOT_MATCH  # one of three matches
    assert points(at, "RRG a12-a11-a10") == 2  # a10 is a star: one edge, doubled


def test_5_every_square_has_to_match_not_just_one() -> None:
    # f13 lies beside green (f14) and blue (e13), h13 below yellow (h14), g13 beside nothing.
    at = position([], ["GRY RRY GRG", ""])
    assert points(at, "GRY f13-g13-h13") == 2
    assert refusal(at, "RRY f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert refusal(at, "GRG f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH


def test_5_of_two_different_neighbours_either_will_do() -> None:
    # e14 lies beside green (f14) and above blue (e13).
    for tile in ("GRR", "BRR"):
        assert points(position([], [tile, ""]), f"{tile} e14-d14-c14") == 1
    for tile in ("RRR", "YRR"):
        assert refusal(position([], [tile, ""]), f"{tile} e14-d14-c14") is Reason.COLOURS_DO_NOT_MATCH


def test_5_of_three_different_neighbours_any_will_do() -> None:
    # With red at g13, f13 lies beside green (f14), blue (e13) and red.
    laid = ["RGG g13-g14-g15"]
    for tile in ("GYY", "BYY", "RYY"):
        assert points(position(laid, [tile, ""]), f"{tile} f13-f12-f11") == 1
    assert refusal(position(laid, ["YYY", ""]), "YYY f13-f12-f11") is Reason.COLOURS_DO_NOT_MATCH


def test_5_black_never_matters() -> None:
    # d10 lies above black (d9), e10 below black (e11), f10 beside the red starter.
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
    # g11 may as well be green like f11, and does not match red then.
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


def test_6_any_square_of_the_tile_may_lie_on_the_star() -> None:
    # f9 is a star, f10 lies beside the red starter g10.
    assert points(position([], ["GBR", ""]), "GBR f8-f9-f10") == 2
    assert points(position([], ["GRB", ""]), "GRB f9-f10-f11") == 2
    assert points(position([], ["RGB", ""]), "RGB f10-f11-f12") == 1


def test_6_a_star_under_a_tile_doubles_nothing_more() -> None:
    # A tile covers the star i11. The next one lies above it, green on green and so on: three edges.
    assert points(position(["RGB g11-h11-i11"], ["RGB", ""]), "RGB g12-h12-i12") == 3


def test_6_three_matching_edges_give_an_extra_turn_after_drawing() -> None:
    table = after(position([BESIDE], ["RGB YYY BBB", "GGG"]), "RGB g11-g12-g13")
    assert (table.turn, table.draw_due) == (None, 1)
    table.draw("GYG")
    assert table.turn == 0
    assert len(table.hand(0)) == 3


def test_6_an_extra_turn_can_give_another() -> None:
    start = position([BESIDE, *BELOW], ["RGB RRR", "GGG"])
    table = after(start, "RGB g11-g12-g13", "draw YYY")
    assert (table.scores[0], table.turn) == ({"points": 3}, 0)
    # h11 beside red (g11) and above red (h10), i11 above red (i10), j11 above the starter j10: 4, doubled.
    table = after(table, "RRR h11-i11-j11", "draw BBB")
    assert (table.scores[0], table.turn) == ({"points": 3 + 2 * 4}, 0)
    table = after(table, "BBB e14-e15-e16", "draw GYG")
    assert (table.scores[0], table.turn) == ({"points": 11 + 1}, 1)


def test_6_two_matching_edges_give_none() -> None:
    table = after(position([], ["GRY YYY BBB", "GGG"]), "GRY f13-g13-h13", "draw GYG")
    assert table.scores[0] == {"points": 2}
    assert table.turn == 1


def test_6_for_the_extra_turn_edges_are_counted_before_doubling() -> None:
    table = after(position(BELOW[1:], ["RGR YYY BBB", "GGG"]), "RGR g11-h11-i11", "draw GYG")
    assert table.scores[0] == {"points": 4}  # two edges on a star
    assert table.turn == 1


# ---------------------------------------------------------------- 7: exchanging and passing
#
# In the nooks (see positions_trio) only tiles with green in the middle and blue or yellow at one end fit.


def test_7_an_exchange_draws_first_and_returns_then() -> None:
    start = in_nooks(["RRR RRB RRY", "BGR"], bag="YYY")
    table = after(start, "exchange RRR")
    assert table.unseen == {"YYY": 1}
    with pytest.raises(axio.IllegalMove) as caught:
        table.draw("RRR")  # what is given back cannot be drawn
    assert caught.value.reason is Reason.NOT_IN_BAG
    table.draw("YYY")
    assert "YYY" in table.hand(0)
    assert "RRR" not in table.hand(0)
    assert table.unseen == {"RRR": 1}
    assert table.in_bag == 1


def test_7_an_exchange_is_limited_to_what_the_bag_holds() -> None:
    at = in_nooks(["RRR BBB YYY", "BGR"], bag="RRY RRY")
    assert refusal(at, "exchange RRR BBB YYY") is Reason.EXCHANGE_TOO_MANY
    table = after(at, "exchange RRR BBB", "draw RRY RRY")
    assert sorted(table.hand(0)) == ["RRY", "RRY", "YYY"]
    assert exchanges(in_nooks(["RRR BBB YYY", "BGR"], bag="RRY")) == {"RRR", "BBB", "YYY"}


def test_7_no_exchange_with_an_empty_bag() -> None:
    at = in_nooks(["BGR RRR", "BGY"])
    for tiles in ("RRR", "BGR", "BGR RRR"):
        assert refusal(at, f"exchange {tiles}") is Reason.BAG_EMPTY
    assert kinds_of_move(at) == {"place"}


def test_7_with_an_empty_bag_who_can_place_must() -> None:
    at = in_nooks(["BGR RRR", "BGY"])
    assert refusal(at, "pass") is Reason.CAN_PLACE
    assert {str(move) for move in at.legal_moves()} == {"RGB a1-b1-c1", "BGR a14-a15-a16"}


def test_7_with_an_empty_bag_who_cannot_place_passes() -> None:
    at = in_nooks(["RRR BBB", "BGY"])
    assert [str(move) for move in at.legal_moves()] == ["pass"]
    table = after(at, "pass")
    assert table.turn == 1
    assert table.hand(0) == at.hand(0)
    assert table.scores == ({"points": 0}, {"points": 0})


def test_7_no_pass_while_the_bag_holds_a_tile() -> None:
    cannot = in_nooks(["RRR BBB", "BGY"], bag="YYY")
    assert refusal(cannot, "pass") is Reason.BAG_NOT_EMPTY
    assert kinds_of_move(cannot) == {"exchange"}
    can = in_nooks(["BGR", "BGY"], bag="YYY")
    assert refusal(can, "pass") is Reason.CAN_PLACE
    assert kinds_of_move(can) == {"place", "exchange"}


def test_7_an_extra_turn_may_be_an_exchange() -> None:
    start = in_nooks(["BGR RRR", "BGY"], bag="YYY BBB", walls=EXTRA_WALLS)
    table = after(start, f"RGB {LOW}", "draw YYY")
    assert table.scores[0] == {"points": 3}
    assert table.turn == 0
    table.play("exchange RRR")
    table.draw("BBB")
    assert table.turn == 1  # the extra turn is over
    assert table.hand(0) == ("BBB", "YYY")


def test_7_an_extra_turn_with_an_empty_bag_and_nothing_to_place_is_a_pass() -> None:
    start = in_nooks(["BGR RRR", "BGY"], walls=EXTRA_WALLS)
    table = after(start, f"RGB {LOW}")
    assert table.turn == 0
    assert [str(move) for move in table.legal_moves()] == ["pass"]
    table.play("pass")
    assert table.turn == 1
    assert not table.over


def test_7_an_extra_turn_with_an_empty_hand_is_a_pass() -> None:
    table = after(in_nooks(["BGR", "BGY"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.turn == 0
    assert [str(move) for move in table.legal_moves()] == ["pass"]
    table.play("pass")
    table.play(f"BGY {HIGH}")
    assert table.over


def test_7_an_extra_turn_with_an_empty_bag_places_when_it_can() -> None:
    table = after(in_nooks(["BGR BGY", "BGR"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.turn == 0
    assert refusal(table, "pass") is Reason.CAN_PLACE


# ---------------------------------------------------------------- 8: the end


def test_8_the_game_ends_when_no_tile_can_be_placed() -> None:
    # Only the low nook is there, and no room once it is filled.
    start = in_nooks(["BGR RRR", "BGY"], nooks=[LOW], walls=LOW_WALLS)
    assert start.preview(f"RGB {LOW}").ends_game
    table = after(start, f"RGB {LOW}")
    assert table.over
    assert table.legal_moves().actions.size == 0
    with pytest.raises(axio.IllegalMove) as caught:
        table.play("pass")
    assert caught.value.reason is Reason.GAME_OVER


def test_8_room_alone_does_not_keep_the_game_going() -> None:
    # The high nook is left, but no tile that is still in the game fits.
    table = after(in_nooks(["BGR RRR", "BBB"]), f"RGB {LOW}")
    assert table.over


@pytest.mark.parametrize("hands", [["BGR BGY", "RRR"], ["BGR RRR", "BGY"], ["BGR", "BGY"]])
def test_8_a_tile_in_any_hand_keeps_the_game_going(hands: list[str]) -> None:
    table = after(in_nooks(hands), f"RGB {LOW}")
    assert not table.over
    assert table.turn == 1


def test_8_a_tile_in_the_bag_keeps_the_game_going() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="YYY BGY")
    table = after(start, f"RGB {LOW}", "draw YYY")
    assert not table.over
    assert table.turn == 1
    assert kinds_of_move(table) == {"exchange"}


def test_8_the_draw_after_a_placement_is_made_before_the_end_is_looked_at() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="YYY RRY")
    table = after(start, f"RGB {LOW}")
    assert not table.over
    assert table.draw_due == 1
    table.draw("YYY")
    assert table.over
    assert sorted(table.hand(0)) == ["RRR", "YYY"]


def test_8_the_draw_is_made_even_when_there_is_no_room_left() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="BGY BGR", nooks=[LOW], walls=LOW_WALLS)
    table = after(start, f"RGB {LOW}")
    assert table.draw_due == 1
    table.draw("BGY")
    assert table.over
    assert table.hand(0) == ("BGY", "RRR")


def test_8_an_extra_turn_is_lost_when_the_game_ends() -> None:
    table = after(in_nooks(["BGR RRR", "BBB"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.over


@pytest.mark.parametrize(("options", "over"), [("-", True), ("children", False)])
def test_8_what_counts_is_what_the_rules_in_force_allow(options: str, over: bool) -> None:
    # BRB in the high nook: blue meets blue at one end, red meets green in the middle.
    table = after(in_nooks(["BGR", "BRB"], options=options), f"RGB {LOW}")
    assert table.over is over
    if not over:
        assert points(table, f"BRB {HIGH}") == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_8_three_exchanges_for_each_player_in_a_row_end_the_game(players: int) -> None:
    table = axio.new_game("trio", players, seed=6)
    for n in range(3 * players):
        assert not table.over
        assert table.turn == n % players
        table.play(f"exchange {table.hand(n % players)[0]}")
    assert table.over
    assert [len(table.hand(seat)) for seat in range(players)] == [3] * players
    assert table.in_bag == 80 - 3 * players
    assert table.result is not None


def test_8_a_placement_starts_the_count_of_exchanges_again() -> None:
    start = position([], ["RGB RRR BBB", "YYY GGG"], exchanges=5)
    assert after(start, "exchange BBB", "draw GYG").over
    table = after(start, "RGB g11-g12-g13", "draw RYR")
    for n in range(6):
        assert not table.over
        table.play(f"exchange {table.hand(1 - n % 2)[0]}")
        table.draw(next(iter(table.unseen)))
    assert table.over


def test_8_exchanges_in_a_row_do_not_end_a_game_alone() -> None:
    table = axio.new_game("trio", 1, seed=6)
    for _ in range(25):  # 3 tiles each time, and 77 in the bag
        table.play("exchange " + " ".join(table.hand(0)))
        assert not table.over
    assert table.in_bag == 77 - 75


# ---------------------------------------------------------------- 9: who wins


def test_9_the_highest_score_wins() -> None:
    assert places(17, 23) == (2, 1)
    assert places(40, 7, 31, 100) == (2, 4, 3, 1)
    assert places(0, 300) == (2, 1)


def test_9_equal_scores_share_the_place() -> None:
    assert places(12, 12, 3) == (1, 1, 3)
    assert places(5, 9, 5, 9) == (3, 1, 3, 1)
    assert places(8, 2, 2, 1) == (1, 2, 2, 4)
    assert places(0, 0) == (1, 1)


# ---------------------------------------------------------------- 10: options


def test_10_children_may_place_with_one_matching_edge_whatever_the_others_are() -> None:
    # f13 beside green and blue, h13 below yellow: only the first matches, and only it scores.
    plain, children = (position([], ["GRR YRY", ""], options=options) for options in ("-", "children"))
    assert refusal(plain, "GRR f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert points(children, "GRR f13-g13-h13") == 1
    assert refusal(plain, "YRY f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert points(children, "YRY f13-g13-h13") == 1


def test_10_children_need_one_matching_edge_too() -> None:
    at = position([], ["RRR GRG", ""], options="children")
    assert refusal(at, "RRR f13-g13-h13") is Reason.NO_EDGE_MATCHES  # beside green, blue and yellow
    assert refusal(at, "GRG g11-g12-g13") is Reason.NO_EDGE_MATCHES  # red is in the middle
    assert refusal(at, "RRR b12-b13-b14") is Reason.NO_EDGE_MATCHES  # nothing around


def test_10_children_score_stars_and_extra_turns_as_ever() -> None:
    # h11 and i11, a star, match red below them; g11 is yellow above red: 2 edges, doubled.
    at = position(BELOW, ["YRR", ""], options="children")
    assert points(at, "YRR g11-h11-i11") == 4
    table = after(position([BESIDE], ["RGB YYY", "GGG"], options="children"), "RGB g11-g12-g13", "draw BBB")
    assert (table.scores[0], table.turn) == ({"points": 3}, 0)


def test_10_short_removes_forty_tiles_before_the_deal() -> None:
    table = axio.Table(find_variant("trio", 2, {"short": True}))
    assert table.draw_due == 40
    table = axio.new_game("trio", 2, seed=2, options={"short": True})
    assert table.in_bag == 40 - 6
    first = table.events[0]
    assert isinstance(first, Removed)
    assert len(first.tiles) == 40
    assert len([event for event in table.events if isinstance(event, Removed)]) == 1
    others = axio.new_game("trio", 2, seed=3, options={"short": True}).events[0]
    assert others != first  # at random


def test_10_the_record_tells_which_tiles_were_removed() -> None:
    kinds = list(find_variant("trio", 2).kinds)
    table = short_table(kinds, "RRR GGG BBB", "YYY RGB GBR")
    record = axio.record_of(table)
    assert record.events[0] == Removed(tuple(kinds))
    again = axio.replay(axio.Record.parse(record.to_json()))
    assert again.position == table.position


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_10_the_removed_tiles_are_hidden_in_every_view(seat: int | None) -> None:
    # Either one of each tile is removed, or two each of half of them and of none of the rest.
    kinds = list(find_variant("trio", 2).kinds)
    dealt = ("RRR GGG BBB", "YYY RGB GBR")
    held = {same_tile(tile) for hand in dealt for tile in hand.split()}
    free = [tile for tile in kinds if tile not in held]
    one = short_table(kinds, *dealt).view(seat)
    two = short_table([*free[:20], *free[:20]], *dealt).view(seat)
    assert one.events[0] == Removed(("?",) * 40)
    assert one.position == two.position
    assert one.events == two.events
    assert one.unseen == two.unseen
    assert one.in_bag == two.in_bag == 34
    seen = 0 if seat is None else 3
    assert sum(one.unseen.values()) == 80 - seen


def test_10_removed_tiles_do_not_keep_a_short_game_going() -> None:
    # All tiles that would fit the high nook are out of the game.
    table = after(in_nooks(["BGR RRR", "BBB"], options="short"), f"RGB {LOW}")
    assert table.over


def test_10_both_options_together() -> None:
    table = axio.new_game("trio", 2, seed=2, options={"short": True, "children": True})
    assert table.options == {"short": True, "children": True}
    assert table.in_bag == 34


# ---------------------------------------------------------------- 11: alone


def test_11_alone_exchanged_tiles_leave_the_game() -> None:
    start = position([], ["RGB YYY BBB"])
    assert start.in_bag == 77
    table = after(start, "exchange RGB YYY", "draw GYG RYR")
    assert table.in_bag == 75
    left = Counter(table.unseen)
    assert (left["BGR"], left["YYY"]) == (1, 1)  # of two each
    assert table.turn == 0


def test_11_alone_the_bag_can_run_out_by_exchanging() -> None:
    start = in_nooks(["RRR BBB"], bag="YYY BGY")
    table = after(start, "exchange RRR", "draw YYY")
    assert table.in_bag == 1
    table = after(start, "exchange RRR BBB", "draw YYY BGY")
    assert table.in_bag == 0
    assert kinds_of_move(table) == {"place"}
    table = after(start, "exchange RRR", "draw BGY", "exchange BGY")
    table.draw("YYY")
    assert table.over  # the last tile that fitted has left the game


def test_11_alone_three_matching_edges_give_3_points_instead_of_an_extra_turn() -> None:
    table = after(position([BESIDE], ["RGB YYY BBB"]), "RGB g11-g12-g13", "draw GYG")
    assert table.scores[0] == {"points": 3 + 3}
    at = position(["RGB f11-f12-f13"], ["RGB"])
    assert points(at, "RGB g11-g12-g13") == 4 + 3  # four edges: still 3


def test_11_alone_two_matching_edges_give_no_bonus() -> None:
    assert points(position([], ["GRY"]), "GRY f13-g13-h13") == 2
    assert points(position(BELOW[1:], ["RGR"]), "RGR g11-h11-i11") == 4  # two on a star


def test_11_alone_the_star_does_not_double_the_bonus() -> None:
    assert points(position(BELOW, ["RRR"]), "RRR g11-h11-i11") == 2 * 3 + 3


RULES: dict[int, tuple[Callable[..., None], ...]] = {}
for _name, _test in list(globals().items()):
    if _name.startswith("test_"):  # the number of its rule follows
        _rule = int(_name.split("_")[1])
        RULES[_rule] = (*RULES.get(_rule, ()), _test)
