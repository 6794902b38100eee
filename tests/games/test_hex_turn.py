"""Rules of hex: reaching 18, exchange and refill, the end (6), and the solo game (7)."""

from __future__ import annotations

from functools import partial

import pytest

from axiogames import IllegalMove, Reason, Table, new_game
from axiogames.model.events import Draw, Exchange
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at as table
from tests.games.positions_dominoes import cells, dealt, draw_all, leave_in_bag, play, position, reason

at_board = partial(position, game="hex")

# ------------------------------------------------------------ 6: reaching 18

THREE_REDS = "c d e j\n6 R R R O"  # a red half on f6 scores 3


def test_6_points_beyond_the_cap_are_lost() -> None:
    at = table(at_board(THREE_REDS, hands=["RO"], scores=[{"R": 17}]))
    assert at.play("RO f6-g6") == {"R": 1}
    assert at.scores[0]["R"] == 18


@pytest.mark.parametrize(("before", "again"), [(14, False), (15, True), (16, True), (18, False)])
def test_6_exactly_18_counts_as_reaching_it(before: int, again: bool) -> None:
    at = table(at_board(THREE_REDS, hands=["RO RO RO RO RO RO"], scores=[{"R": before}]))
    at.play("RO f6-g6")
    assert at.scores[0]["R"] == min(before + 3, 18)
    assert (at.turn == 0) is again
    assert (at.draw_due == 1) is not again


def test_6_bonus_placement_is_made_without_a_refill() -> None:
    at = table(at_board(THREE_REDS, hands=["RO GG BB PP YY YY"], scores=[{"R": 15}]))
    at.play("RO f6-g6")
    assert (at.turn, at.draw_due) == (0, 0)
    assert at.hand(0) == ("GG", "BB", "PP", "YY", "YY")
    at.play("GG f9-f10")
    assert at.draw_due == 2
    draw_all(at)
    assert (len(at.hand(0)), at.turn) == (6, 1)


def test_6_two_colours_at_once_give_two_bonus_placements() -> None:
    at = table(at_board("e h\n6 R B", hands=["RB YY YY YY YY YY"], scores=[{"RB": 17}]))
    assert at.play("RB f6-g6") == {"R": 1, "B": 1}
    for spot in ("f9-f10", "d9-d10"):
        assert (at.turn, at.draw_due) == (0, 0)
        at.play(f"YY {spot}")
    assert at.draw_due == 3


def test_6_18_in_all_six_colours_wins_at_once() -> None:
    hand = "RO RO RO RO RO RO"
    at = table(at_board(THREE_REDS, hands=[hand], scores=[{"GBOPY": 18, "R": 15}, {"GBOPY": 18}]))
    assert at.preview("RO f6-g6").ends_game
    at.play("RO f6-g6")
    assert (at.over, at.draw_due, len(at.hand(0))) == (True, 0, 5)
    assert at.result is not None
    assert at.result.winners == (0,)


def test_6_five_colours_are_not_enough() -> None:
    at = table(at_board(THREE_REDS, hands=["RO RO"], scores=[{"GBOP": 18, "R": 15, "Y": 17}]))
    at.play("RO f6-g6")
    assert not at.over


# ------------------------------------------------------------ 6: exchange and refill


def offered() -> Table:
    """Seat 0 has 1 in the colour printed on a11, 0 in all else, and only that colour in hand."""
    assert new_game("hex", 2, seed=1).content().printed["a11"] == "R"
    at = dealt("hex", "RG RR RR RR RR RR", "RG RB RO RP RY GB")
    assert at.play("RG b11-c11") == {"R": 1}
    return at


def test_6_exchange_is_offered_without_the_lowest_colours_in_hand() -> None:
    at = offered()
    assert (at.turn, at.draw_due) == (0, 0)
    assert [str(move) for move in at.legal_moves()] == ["exchange", "keep"]
    assert reason(at, "RR f6-g6") == Reason.OFFER_OPEN


def test_6_all_colours_tied_for_lowest_count() -> None:
    at = dealt("hex", "RG RR RR RR RR RY")
    at.play("RG b11-c11")
    assert (at.turn, at.draw_due) == (None, 1)


@pytest.mark.parametrize("lowest", "RGBOPY")
@pytest.mark.parametrize("shown", [False, True])
def test_6_any_colour_can_be_lowest(lowest: str, shown: bool) -> None:
    a, b, c, *_ = (colour for colour in "RGBOPY" if colour != lowest)
    hand = f"{a}{b} {a}{b} {a}{b} {a}{c} {a}{c} {lowest if shown else b}{c}"
    at = table(at_board(hands=[hand], scores=[{"RGBOPY": 5, lowest: 4}]))
    assert at.play(f"{a}{b} f6-g6") == {}
    assert (at.turn, at.draw_due) == ((None, 1) if shown else (0, 0))


def test_6_no_exchange_before_the_last_placement() -> None:
    at = dealt("hex", "RG RR RR RR RR RR")
    assert reason(at, "exchange") == Reason.EXCHANGE_NOT_ALLOWED
    assert reason(at, "keep") == Reason.EXCHANGE_NOT_ALLOWED


def test_6_old_tiles_return_to_the_bag_after_the_draw() -> None:
    at = offered()
    assert at.in_bag == 108
    at.play("exchange")
    assert at.draw_due == 6
    for tile in ("GB", "GO", "GP", "GY", "BO", "BP"):
        with pytest.raises(IllegalMove) as caught:  # all RR are in the old hand
            at.draw("RR")
        assert caught.value.reason == Reason.NOT_IN_BAG
        at.draw(tile)
    assert at.hand(0) == ("GB", "GO", "GP", "GY", "BO", "BP")
    assert at.in_bag == 108 - 6 + 5
    assert at.unseen["RR"] == 5
    assert at.turn == 1


@pytest.mark.parametrize("who", [0, 1, None])
def test_6_old_tiles_are_public_and_new_ones_hidden(who: int | None) -> None:
    at = offered()
    at.play("exchange")
    drawn = tuple(draw_all(at))
    shown, new = at.view(who).events[-2:]
    assert shown == Exchange(0, ("RR",) * 5)
    assert new == Draw(0, drawn if who == 0 else ("?",) * 6)


def test_6_offer_can_be_declined() -> None:
    at = offered()
    at.play("keep")
    assert at.hand(0) == ("RR",) * 5
    assert at.draw_due == 1


@pytest.mark.parametrize(("in_bag", "exchange"), [(6, True), (5, False)])
def test_6_exchange_requires_six_tiles_in_the_bag(in_bag: int, exchange: bool) -> None:
    # No game reaches this: 163 cells take 81 tiles and hands 24, which always leaves 15.
    at = dealt("hex", "RG RR RR RR RR RR")
    leave_in_bag(at, in_bag)
    at.play("RG b11-c11")
    assert (at.turn == 0) is exchange
    assert at.draw_due == (0 if exchange else 1)


def test_6_no_exchange_with_an_empty_hand() -> None:
    at = table(at_board(hands=["RG"], scores=[{"RGBOP": 18}]))
    at.play("RG f6-g6")
    assert (at.turn, at.draw_due) == (None, 6)


def test_6_refill_to_six() -> None:
    at = dealt("hex", "RG RG RG RG RG RG", "BO BO BO BO BO BO")
    at.play("RG b11-c11")
    assert (at.turn, at.draw_due) == (None, 1)
    at.draw("PP")
    assert at.hand(0) == ("RG", "RG", "RG", "RG", "RG", "PP")
    assert (at.turn, at.draw_due) == (1, 0)


def test_6_refill_is_limited_by_the_bag() -> None:
    at = table(at_board(THREE_REDS, hands=["RO RO RO RO RO RO"], scores=[{"R": 15}]))
    leave_in_bag(at, 1)
    at.play("RO f6-g6")
    at.play("RO f9-f10")
    assert at.draw_due == 1
    draw_all(at)
    assert (at.turn, len(at.hand(0))) == (1, 5)


# ------------------------------------------------------------ 6: the end


def test_6_completed_turn_is_refilled_before_the_end() -> None:
    # c9 stays empty, but no two empty cells are neighbours.
    at = table(at_board(holes="f6 g6 c9", hands=["RG RG RG RG RG RG"]))
    at.play("RG f6-g6")
    assert (at.over, at.draw_due) == (False, 1)
    draw_all(at)
    assert at.over
    assert len(at.hand(0)) == 6
    assert at.result is not None


def test_6_room_for_one_more_tile_is_enough() -> None:
    at = table(at_board(holes="f6 g6 c9 c8 h3", hands=["RG RG RG RG RG RG"]))
    play(at, "RG f6-g6")
    assert at.turn == 1


def test_6_game_ends_without_room_for_a_bonus_placement() -> None:
    at = table(at_board(holes="f6 g6 c9", hands=["GB GB GB GB GB GB"], scores=[{"G": 17}]))
    assert at.play("GB f6-g6")["G"] == 1  # green is below f6
    assert (at.over, at.draw_due, len(at.hand(0))) == (True, 0, 5)


def test_6_game_ends_with_an_empty_hand() -> None:
    at = table(at_board(THREE_REDS, hands=["RO"], scores=[{"R": 15}]))
    at.play("RO f6-g6")  # a bonus placement, but nothing to place
    assert (at.over, at.draw_due) == (True, 0)
    at = table(at_board(THREE_REDS, hands=["RO RO RO RO RO RO", ""]))
    play(at, "RO f6-g6")
    assert at.over


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        pytest.param([(7, 7, 7, 7, 7, 7), (18, 18, 18, 18, 18, 6)], (1, 2), id="lowest"),
        pytest.param([(10, 6, 9, 10, 9, 7), (18, 6, 18, 6, 18, 18)], (1, 2), id="second lowest"),
        pytest.param([(1, 2, 3, 4, 5, 6), (7, 5, 4, 3, 2, 1)], (2, 1), id="highest"),
        pytest.param([(1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1)], (1, 1), id="shared"),
        pytest.param([(3,) * 6, (4,) * 6, (4,) * 6], (3, 1, 1), id="1 1 3"),
        pytest.param([(4,) * 6, (9,) * 6, (4,) * 6, (0,) * 6], (2, 1, 2, 4), id="1 2 2 4"),
    ],
)
def test_6_ranks_compare_sorted_scores(scores: list[tuple[int, ...]], places: tuple[int, ...]) -> None:
    points = tuple(dict(zip("RGBOPY", row, strict=True)) for row in scores)
    at = at_board(players=len(scores), scores=points, phase="over")
    assert at.result is not None
    assert at.result.place == places
    assert at.result.winners == tuple(seat for seat, place in enumerate(places) if place == 1)


# ------------------------------------------------------------ 7: playing alone


def test_7_solo_hand_is_one_tile() -> None:
    at = dealt("hex", "RG", players=1)
    assert at.hand(0) == ("RG",)
    at.play("RG b11-c11")
    assert (at.hand(0), at.draw_due, at.turn) == ((), 1, None)
    at.draw("PP")
    assert (at.hand(0), at.turn, at.in_bag) == (("PP",), 0, 118)


def test_7_solo_board_has_side_6() -> None:
    assert len(cells(at_board(players=1))) == 91 - 6


@pytest.mark.parametrize("before", [15, 33])
def test_7_solo_has_no_bonus_placements(before: int) -> None:
    at = table(at_board(THREE_REDS, players=1, hands=["RO"], scores=[{"R": before}]))
    at.play("RO f6-g6")
    assert (at.scores[0]["R"], at.draw_due) == (before + 3, 1)


def test_7_solo_has_no_exchange() -> None:
    at = table(at_board(THREE_REDS, players=1, hands=["RO"], scores=[{"RGBO": 5}]))
    assert reason(at, "exchange") == Reason.EXCHANGE_NOT_ALLOWED
    at.play("RO f6-g6")
    assert (at.turn, at.draw_due) == (None, 1)
    at.draw("RR")
    assert {move.kind for move in at.legal_moves()} == {"place"}


def test_7_solo_draws_no_tile_without_room() -> None:
    at = table(at_board(players=1, holes="f6 g6 c9", hands=["RG"]))
    bag = at.in_bag
    at.play("RG f6-g6")
    assert (at.over, at.draw_due, at.in_bag) == (True, 0, bag)


@pytest.mark.parametrize("others", [18, 36])
def test_7_solo_full_tracks_do_not_end_the_game(others: int) -> None:
    scores = {"GBOPY": others, "R": others - 3}
    at = table(at_board(THREE_REDS, players=1, hands=["RO"], scores=[scores]))
    at.play("RO f6-g6")
    assert set(at.scores[0].values()) == {others}
    assert (at.over, at.draw_due) == (False, 1)


@pytest.mark.parametrize(
    ("before", "after"), [(14, 17), (15, 18), (17, 18), (18, 21), (33, 36), (35, 36), (36, 36)]
)
def test_7_solo_track_stops_at_18_and_36(before: int, after: int) -> None:
    at = table(at_board(THREE_REDS, players=1, hands=["RO"], scores=[{"R": before}]))
    at.play("RO f6-g6")
    assert at.scores[0]["R"] == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (15, 20),  # 15 + 3 = 18, + 2 = 20
        (16, 21),  # 16 + 2 = 18, + 3 = 21
        (17, 21),  # 17 + 2 stops at 18, + 3 = 21
        (14, 18),  # 14 + 3 = 17, + 2 stops at 18; or 14 + 2 = 16, + 3 stops at 18
    ],
)
@pytest.mark.parametrize("row", ["c d e h i j\n6 R R R R R O", "c d e h i j\n6 O R R R R R"])
def test_7_solo_halves_score_in_the_best_order(row: str, before: int, after: int) -> None:
    # One half of the tile scores 3, the other 2: each is a separate scoring.
    at = at_board(row, players=1, hands=["RR"], scores=[{"R": before}])
    assert at.gain("RR f6-g6") == {"R": after - before}


def test_7_solo_result_is_the_lowest_colour() -> None:
    at = at_board(players=1, scores=[{"R": 20, "GB": 31, "O": 19, "PY": 36}], phase="over")
    assert at.result is not None
    assert at.result.scores == ({"R": 20, "G": 31, "B": 31, "O": 19, "P": 36, "Y": 36},)
    assert at.scene().seats[0].lowest() == 19


RULES: TestsByRule = by_rule(globals())
