"""Rules of axio: reaching 18, exchange and refill, the end of the game (9-15)."""

from __future__ import annotations

import pytest

from axiogames import IllegalMove, Reason, Table
from axiogames.model.events import Draw, Exchange
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at as table
from tests.games.positions_dominoes import dealt, draw_all, on_board, play, position, reason

# ------------------------------------------------------------ 9-11: reaching 18

THREE_REDS = "c d e f g\n9 O . R R R"  # a red half on h9 scores 3


def test_9_points_beyond_the_cap_are_lost() -> None:
    at = table(position(THREE_REDS, hands=["RO"], scores=[{"R": 17}]))
    assert at.play("RO h9-i9") == {"R": 1}
    assert at.scores[0]["R"] == 18


def test_9_both_halves_and_the_pyramid_share_one_cap() -> None:
    at = position("d e f\n7 . R .\n6 R . .\n5 . B .\n4 . P .", hands=["RR"], scores=[{"R": 16}])
    assert at.gain("RR f6-f7") == {"R": 2, "B": 1}  # without the cap: 1 by a half and 3 by the pyramid


@pytest.mark.parametrize(("before", "again"), [(14, False), (15, True), (16, True), (18, False)])
def test_9_exactly_18_counts_as_reaching_it(before: int, again: bool) -> None:
    # 3 points: to 17; to exactly 18; to 18 with lost points; already at 18.
    at = table(position(THREE_REDS, hands=["RO RO RO RO RO"], scores=[{"R": before}]))
    at.play("RO h9-i9")
    assert at.scores[0]["R"] == min(before + 3, 18)
    assert (at.turn == 0) is again
    assert (at.draw_due == 1) is not again


def test_10_extra_placement_is_made_without_a_refill() -> None:
    at = table(position(THREE_REDS, hands=["RO RO GG BB PP"], scores=[{"R": 15}]))
    at.play("RO h9-i9")
    assert (at.turn, at.draw_due) == (0, 0)
    assert at.hand(0) == ("RO", "GG", "BB", "PP")
    at.play("RO d4-d5")
    assert at.draw_due == 2
    draw_all(at)
    assert len(at.hand(0)) == 5
    assert at.turn == 1


def test_10_two_colours_at_once_give_two_extra_placements() -> None:
    at = table(position("d g\n9 R B", hands=["RB RO RO RO RO"], scores=[{"RB": 17}]))
    assert at.play("RB e9-f9") == {"R": 1, "B": 1}
    for spot in ("d4-d5", "f4-f5"):
        assert (at.turn, at.draw_due) == (0, 0)
        at.play(f"RO {spot}")
    assert at.draw_due == 3


def test_10_extra_placement_can_win_another() -> None:
    at = table(position("d g\n9 R B", hands=["RO BO GG GG GG"], scores=[{"RB": 17}]))
    at.play("RO e9-e8")
    at.play("BO f9-f8")
    assert (at.turn, at.draw_due) == (0, 0)
    at.play("GG d4-d5")
    assert at.draw_due == 3


def test_10_pyramid_can_reach_18() -> None:
    at = table(position("c\n5 O\n4 G", hands=["RB RO RO RO RO"], scores=[{"G": 17}]))
    assert at.play("RB d3-e3") == {"G": 1, "R": 1}  # both by the pyramid on c3
    assert (at.turn, at.draw_due) == (0, 0)
    assert on_board(at).pyramids == ("c3",)


def test_10_half_and_pyramid_win_one_extra_placement() -> None:
    at = table(
        position("d e f\n7 . R .\n6 R . .\n5 . B .\n4 . P .", hands=["RR RO RO RO RO"], scores=[{"R": 16}])
    )
    at.play("RR f6-f7")
    at.play("RO i9-i10")
    assert at.draw_due == 2


def test_11_18_in_all_colours_wins_at_once() -> None:
    at = table(position(THREE_REDS, hands=["RO RO RO RO RO"], scores=[{"GBOP": 18, "R": 17}, {"RGBO": 18}]))
    assert at.preview("RO h9-i9").ends_game
    at.play("RO h9-i9")
    assert at.over
    assert at.draw_due == 0
    assert len(at.hand(0)) == 4
    assert at.result is not None
    assert at.result.winners == (0,)


def test_11_four_colours_are_not_enough() -> None:
    at = table(position(THREE_REDS, hands=["RO RO RO RO RO"], scores=[{"GBO": 18, "P": 17, "R": 17}]))
    at.play("RO h9-i9")
    assert not at.over


def test_11_winning_placement_scores_its_pyramids() -> None:
    # Blue f5 scores 1 by e5; red, orange and blue by the pyramid on e6. Then all are at 18.
    board = "d e f\n7 . R .\n6 G . .\n5 . B .\n4 . P ."
    at = table(position(board, hands=["OB OB"], scores=[{"GP": 18, "B": 16, "RO": 17}]))
    assert at.play("OB f6-f5") == {"B": 1 + 1, "R": 1, "O": 1}
    assert at.over
    assert on_board(at).pyramids == ("e6",)


def test_11_winning_half_still_sets_the_pyramid() -> None:
    board = "d e f\n7 . R .\n6 G . .\n5 . B .\n4 . P ."
    at = table(position(board, hands=["OB OB"], scores=[{"RGOP": 18, "B": 17}]))
    assert at.play("OB f6-f5") == {"B": 1}
    assert at.over
    assert on_board(at).pyramids == ("e6",)


# ------------------------------------------------------------ 12-13: exchange and refill


def offered() -> Table:
    """Seat 0 has 1 in red, 0 in all else, and nothing but red in hand."""
    at = dealt("axio", "RG RR RR RR RR", "RG RB RO RP GB")
    assert at.play("RG g10-f10") == {"R": 1}  # beside the printed red
    return at


def test_12_exchange_is_offered_without_the_lowest_colour_in_hand() -> None:
    at = offered()
    assert (at.turn, at.draw_due) == (0, 0)
    assert [str(move) for move in at.legal_moves()] == ["exchange", "keep"]
    assert reason(at, "RR d4-d5") == Reason.OFFER_OPEN


def test_12_all_colours_tied_for_lowest_count() -> None:
    at = dealt("axio", "RG RR RR RR RB")
    at.play("RG g10-f10")  # red 1, the four others 0: blue is among the lowest
    assert at.draw_due == 1
    assert at.turn is None


def test_12_no_exchange_with_all_colours_equal() -> None:
    at = dealt("axio", "RG RR RR RR RR")
    assert at.play("GR g10-f10") == {}
    assert at.draw_due == 1


def test_12_no_exchange_before_the_last_placement() -> None:
    at = dealt("axio", "RG RR RR RR RR")
    for move in ("exchange", "keep"):
        assert reason(at, move) == Reason.EXCHANGE_NOT_ALLOWED
        assert move not in [str(legal) for legal in at.legal_moves()]


@pytest.mark.parametrize("lowest", "RGBOP")
@pytest.mark.parametrize("shown", [False, True])
def test_12_any_colour_can_be_lowest(lowest: str, shown: bool) -> None:
    a, b, c, _ = (colour for colour in "RGBOP" if colour != lowest)
    hand = f"{a}{b} {a}{b} {a}{b} {a}{c} {lowest if shown else b}{c}"
    at = table(position(hands=[hand], scores=[{"RGBOP": 5, lowest: 4}]))
    assert at.play(f"{a}{b} d4-d5") == {}
    assert (at.turn, at.draw_due) == ((None, 1) if shown else (0, 0))


@pytest.mark.parametrize(
    ("hand", "exchange"), [("RG OB OB OB OB", True), ("RG OB OB OB OG", False), ("RG OB OB OB OR", True)]
)
def test_12_lowest_colour_is_determined_after_scoring(hand: str, exchange: bool) -> None:
    # Red goes from 3, the lowest, to 6; now green is the lowest with 4.
    at = table(position("c d e f g\n9 O . R R R", hands=[hand], scores=[{"R": 3, "G": 4, "BOP": 9}]))
    at.play("RG h9-i9")
    assert (at.turn == 0) is exchange
    assert (at.draw_due == 1) is not exchange


def test_12_offer_comes_after_extra_placements() -> None:
    at = table(position(THREE_REDS, hands=["RO RO RO RO RO"], scores=[{"R": 15, "O": 5}]))
    at.play("RO h9-i9")  # red reaches 18: an extra placement, no offer yet
    assert reason(at, "exchange") == Reason.EXCHANGE_NOT_ALLOWED
    at.play("RO d4-d5")
    assert [str(move) for move in at.legal_moves()] == ["exchange", "keep"]
    at.play("exchange")
    assert at.draw_due == 5  # a full new hand for the three remaining tiles


def test_12_old_tiles_return_to_the_bag_after_the_draw() -> None:
    at = offered()
    assert at.in_bag == 90
    at.play("exchange")
    assert at.hand(0) == ()
    for tile in ("GB", "GO", "GP", "BO", "BP"):
        with pytest.raises(IllegalMove) as caught:  # all RR are in the old hand
            at.draw("RR")
        assert caught.value.reason == Reason.NOT_IN_BAG
        at.draw(tile)
    assert at.hand(0) == ("GB", "GO", "GP", "BO", "BP")
    assert at.in_bag == 90 - 5 + 4
    assert at.unseen["RR"] == 4
    assert at.turn == 1


def test_12_returned_tile_can_be_drawn() -> None:
    at = play(offered(), "exchange")
    at.play("RG g8-h8")
    at.draw("RR")
    assert "RR" in at.hand(1)


@pytest.mark.parametrize("who", [0, 1, None])
def test_12_old_tiles_are_public_and_new_ones_hidden(who: int | None) -> None:
    at = offered()
    at.play("exchange")
    assert at.view(who).events[-1] == Exchange(0, ("RR", "RR", "RR", "RR"))
    drawn = tuple(draw_all(at))
    assert at.view(who).events[-2] == Exchange(0, ("RR", "RR", "RR", "RR"))
    assert at.view(who).events[-1] == Draw(0, drawn if who == 0 else ("?",) * 5)


def test_12_offer_can_be_declined() -> None:
    at = offered()
    at.play("keep")
    assert at.hand(0) == ("RR", "RR", "RR", "RR")
    assert at.draw_due == 1
    draw_all(at)
    assert len(at.hand(0)) == 5
    assert at.turn == 1


FIRST_ROW = "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1"  # of the board for four players


@pytest.mark.parametrize(("holes", "in_bag"), [(f"{FIRST_ROW} m1 m2", 5), (FIRST_ROW, 4)])
def test_12_exchange_requires_five_tiles_in_the_bag(holes: str, in_bag: int) -> None:
    # Four players: 164 squares less 14 (12) holes take 75 (76) tiles, hands 20, which leaves 5 (4).
    at = table(position(players=4, holes=holes, hands=["RG RG RG RG RG"], scores=[{"RGBO": 5}]))
    assert at.in_bag == in_bag
    at.play("RG a1-b1")
    assert at.scores[0]["P"] == 0  # the lowest, which RG does not show
    assert (at.turn == 0) is (in_bag == 5)
    assert at.draw_due == (0 if in_bag == 5 else 1)


def test_12_no_exchange_with_an_empty_hand() -> None:
    # The last tile of a hand, as after four extra placements.
    at = table(position(hands=["RG"], scores=[{"RGBO": 18}]))
    at.play("RG d4-d5")
    assert at.hand(0) == ()
    assert at.draw_due == 5
    assert at.turn is None


def test_13_refill_to_five() -> None:
    at = dealt("axio", "RG RG RG RG RG", "BO BO BO BO BO")
    at.play("RG g10-f10")
    assert (at.draw_due, at.turn) == (1, None)
    at.draw("PP")
    assert at.hand(0) == ("RG", "RG", "RG", "RG", "PP")
    assert (at.draw_due, at.turn) == (0, 1)


def test_13_refill_is_limited_by_the_bag() -> None:
    # 158 symbols are 79 tiles, and hands have 20, which leaves one tile for two placements.
    at = table(position(players=4, holes="a1 b1 c1 d1 e1 f1", hands=["RB RB RB RB RB"], scores=[{"R": 17}]))
    assert at.in_bag == 1
    at.play("RB d1-e1")  # red is above d1: an extra placement
    assert (at.turn, at.draw_due) == (0, 0)
    at.play("RB a1-b1")
    assert at.draw_due == 1
    draw_all(at)
    assert at.in_bag == 0
    assert len(at.hand(0)) == 4


def test_13_empty_bag_skips_the_refill() -> None:
    at = table(position(players=4, holes="a1 b1 c1 d1", hands=["RB RB RB RB RB"]))
    assert at.in_bag == 0
    at.play("RB a1-b1")
    assert (at.turn, at.draw_due) == (1, 0)
    assert len(at.hand(0)) == 4


def test_13_completed_turn_is_refilled_before_the_end() -> None:
    at = table(position(holes="c3 d3", hands=["RB RB RB RB RB"]))
    at.play("RB c3-d3")
    assert not at.over
    assert at.draw_due == 1
    draw_all(at)
    assert at.over
    assert len(at.hand(0)) == 5


def test_13_incomplete_turn_has_no_refill() -> None:
    at = table(position(holes="c3 d3", hands=["RP RP RP RP RP"], scores=[{"P": 17}]))
    assert at.play("RP c3-d3") == {"P": 1}  # purple is above d3: an extra placement, but no room
    assert at.over
    assert at.draw_due == 0
    assert len(at.hand(0)) == 4


# ------------------------------------------------------------ 14-15: the end


def test_14_game_ends_without_room_for_the_next_player() -> None:
    # f5 and h5 are empty, but no two empty squares are adjacent.
    at = table(position("f g h\n5 ^ B ^", holes="c3 d3", hands=["RB RB RB RB RB"]))
    at.play("RB c3-d3")
    draw_all(at)
    assert at.over
    assert at.result is not None
    assert not at.legal_moves()


def test_14_room_for_one_more_tile_is_enough() -> None:
    at = table(position(holes="c3 d3 i9 i10", hands=["RB RB RB RB RB"]))
    at.play("RB c3-d3")
    draw_all(at)
    assert at.turn == 1
    assert not at.over


def test_14_game_ends_without_room_for_an_extra_placement() -> None:
    at = table(position(holes="c3 d3", hands=["RP RP"], scores=[{"P": 17}]))
    assert at.preview("RP c3-d3").ends_game
    at.play("RP c3-d3")
    assert at.over


def test_14_game_ends_without_a_tile_for_an_extra_placement() -> None:
    at = table(position(THREE_REDS, hands=["RO"], scores=[{"R": 15}]))
    at.play("RO h9-i9")
    assert at.over
    assert at.draw_due == 0
    assert at.hand(0) == ()


def test_14_game_ends_without_a_tile_at_the_start_of_a_turn() -> None:
    at = table(position(THREE_REDS, hands=["RO RO RO RO RO", ""]))
    at.play("RO h9-i9")
    assert not at.over  # seat 0 still draws: its turn was completed
    draw_all(at)
    assert at.over


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        # the lowest colour decides, regardless of the others
        pytest.param([(7, 7, 7, 7, 7), (18, 18, 18, 18, 6)], (1, 2), id="lowest"),
        pytest.param([(6, 9, 10, 9, 7), (18, 6, 18, 6, 18)], (1, 2), id="second lowest"),
        pytest.param([(5, 5, 9, 9, 9), (5, 5, 8, 18, 18)], (1, 2), id="third lowest"),
        pytest.param([(1, 2, 3, 4, 5), (6, 4, 3, 2, 1)], (2, 1), id="highest"),
        pytest.param([(1, 2, 3, 4, 5), (5, 4, 3, 2, 1)], (1, 1), id="shared"),
        pytest.param([(1, 1, 1, 1, 1), (3, 2, 2, 2, 2), (2, 2, 2, 2, 3)], (3, 1, 1), id="1 1 3"),
        pytest.param([(4,) * 5, (9,) * 5, (4,) * 5, (0,) * 5], (2, 1, 2, 4), id="1 2 2 4"),
        pytest.param([(0, 0, 0, 0, 0)] * 4, (1, 1, 1, 1), id="all"),
    ],
)
def test_15_ranks_compare_sorted_scores(scores: list[tuple[int, ...]], places: tuple[int, ...]) -> None:
    points = [dict(zip("RGBOP", row, strict=True)) for row in scores]
    at = position(players=len(scores), scores=points, phase="over")
    assert at.result is not None
    assert at.result.scores == tuple(points)
    assert at.result.place == places
    assert at.result.winners == tuple(seat for seat, place in enumerate(places) if place == 1)


def test_15_no_result_before_the_end() -> None:
    assert position(scores=[{"RGBOP": 17}]).result is None


RULES: TestsByRule = by_rule(globals())
