"""Rules of axio: the solo game (16-18)."""

from __future__ import annotations

import numpy as np
import pytest

from axiogames import Position, Reason
from axiogames.games import find_variant
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at as table
from tests.games.positions_dominoes import cells, dealt, draw_all, play, position, reason

THREE_REDS = "c d e f g\n9 O . R R R"  # a red half on h9 scores 3


def test_16_play_area_is_9_by_9() -> None:
    area = cells(position(players=1))
    assert {"c3", "c11", "k3", "k11"} <= area
    assert len(area) == 81 - 5


def test_16_hand_is_one_tile() -> None:
    at = dealt("axio", "RG", players=1)
    assert at.hand(0) == ("RG",)
    at.play("RG g10-h10")
    assert (at.hand(0), at.draw_due, at.turn) == ((), 1, None)
    at.draw("PP")
    assert (at.hand(0), at.draw_due, at.turn) == (("PP",), 0, 0)
    assert at.in_bag == 98


@pytest.mark.parametrize("before", [15, 33])
def test_16_no_extra_placements(before: int) -> None:
    at = table(position(THREE_REDS, players=1, scores=[{"R": before}], hands=["RO"]))
    at.play("RO h9-i9")  # to exactly 18 or 36
    assert at.scores[0]["R"] == before + 3
    assert at.draw_due == 1
    draw_all(at)
    play(at, f"{at.hand(0)[0]} d4-d5")
    assert len(at.hand(0)) == 1


def test_16_no_exchange() -> None:
    at = table(position(THREE_REDS, players=1, scores=[{"RGBO": 5}], hands=["RO"]))
    assert reason(at, "exchange") == Reason.EXCHANGE_NOT_ALLOWED
    at.play("RO h9-i9")
    assert (at.turn, at.draw_due) == (None, 1)
    assert not at.legal_moves()
    at.draw("RR")  # shows none of the lowest colour
    assert {move.kind for move in at.legal_moves()} == {"place"}


def test_16_no_draw_without_room() -> None:
    at = table(position(players=1, holes="c3 d3", hands=["RB"]))
    bag = at.in_bag
    at.play("RB c3-d3")
    assert at.over
    assert (at.draw_due, at.in_bag, at.hand(0)) == (0, bag, ())


@pytest.mark.parametrize("others", [18, 36])
def test_16_full_tracks_do_not_end_the_game(others: int) -> None:
    at = table(position(THREE_REDS, players=1, scores=[{"GBOP": others, "R": others - 3}], hands=["RO"]))
    assert not at.preview("RO h9-i9").ends_game
    at.play("RO h9-i9")
    assert set(at.scores[0].values()) == {others}
    assert (at.over, at.draw_due) == (False, 1)
    draw_all(at)
    assert at.turn == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [(0, 3), (14, 17), (15, 18), (16, 18), (17, 18), (18, 21), (32, 35), (33, 36), (35, 36), (36, 36)],
)
def test_17_track_stops_at_18_and_36(before: int, after: int) -> None:
    at = table(position(THREE_REDS, players=1, scores=[{"R": before}], hands=["RO"]))
    assert at.play("RO h9-i9") == ({"R": after - before} if after > before else {})
    assert at.scores[0]["R"] == after


def test_17_next_placement_continues_from_18() -> None:
    at = table(position(THREE_REDS, players=1, scores=[{"R": 17}], hands=["RO"]))
    at.play("RO h9-i9")
    assert at.scores[0]["R"] == 18
    at.draw("RO")
    assert at.play("RO d9-d10") == {"R": 4}  # e9 to h9


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (13, 18),  # 13 + 2 = 15, + 3 = 18
        (15, 20),  # 15 + 3 = 18, + 2 = 20; the other way round 15 + 2 = 17, + 3 stops at 18
        (16, 21),  # 16 + 2 = 18, + 3 = 21; the other way round 16 + 3 stops at 18, + 2 = 20
        (17, 21),  # 17 + 2 stops at 18, + 3 = 21
        (14, 18),  # 14 + 3 = 17, + 2 stops at 18; the other way round 14 + 2 = 16, + 3 stops at 18
    ],
)
@pytest.mark.parametrize("row", ["c d e f g h i k\n9 R R R . . R R O", "c d e f g h i j\n9 O R R . . R R R"])
def test_17_halves_score_in_the_best_order(row: str, before: int, after: int) -> None:
    # One half of the tile scores 3, the other 2: each is a separate scoring.
    at = position(row, players=1, scores=[{"R": before}], hands=["RR"])
    assert at.gain("RR f9-g9") == {"R": after - before}


TWO_AND_THREE = """
         d e f g h
    10   . R . R .
     9   R . . . R
     8   . B . R .
"""
THREE_AND_TWO = """
         d e f g h
    10   . R . R .
     9   R . . . R
     8   . R . B .
"""


@pytest.mark.parametrize("board", [TWO_AND_THREE, THREE_AND_TWO])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (15, 20),  # 15 + 3 = 18, + 2 = 20
        (16, 21),  # 16 + 2 = 18, + 3 = 21
        (17, 21),  # 17 + 2 stops at 18, + 3 = 21
        (31, 36),
        (32, 36),  # 36 is the end
    ],
)
def test_17_pyramids_score_in_the_best_order(board: str, before: int, after: int) -> None:
    # The halves score nothing. Of the pyramids on e9 and g9 one has two reds and the other three; blue
    # scores once, and each has the tile's orange f9 beside it.
    at = position(board, players=1, scores=[{"R": before}], hands=["OO"])
    preview = at.preview("OO f9-f8")
    assert preview.gain == {"R": after - before, "B": 1, "O": 2}
    assert sorted(preview.pyramids) == ["e9", "g9"]


@pytest.mark.parametrize(("more", "less"), [("R", "G"), ("G", "R")])
def test_17_best_order_is_by_sorted_scores(more: str, less: str) -> None:
    board = """
         d e f g h
    10   . L . M .
     9   L . . . M
     8   . B . L .
    """.replace("M", more).replace("L", less)
    # The tile's M on f9 belongs to both pyramids: e9 has M L L B, g9 has M M M L.
    at = position(board, players=1, scores=[{"RG": 17}], hands=[f"{more}O"])
    # e9 first: M 18, then 21; L stops at 18, then 19. g9 first: M stops at 18, then 19; L 18, then 20.
    assert at.gain(f"{more}O f9-f8") == {more: 4, less: 2, "B": 1}


def test_17_pyramid_is_one_scoring() -> None:
    # Three reds around the only pyramid: 17 + 3 stops at 18.
    board = "d e f\n10 . R .\n9 R . .\n8 . R ."
    at = position(board + "\n7 . B .", players=1, scores=[{"R": 17}], hands=["OO"])
    assert at.gain("OO f9-f8") == {"R": 1, "O": 1}


def test_17_halves_score_before_pyramids() -> None:
    board = """
         c d e f
    11   . . . R
    10   . . B R
     9   . B . .
     8   G . B .
    """
    at = position(board, players=1, scores=[{"R": 17}], hands=["RO"])
    # Red f9 scores 2 by f10 and f11: 17 + 2 stops at 18. Then the pyramid on e9 has that red: 19.
    # (The pyramid first would have been better: 17 + 1 = 18, + 2 = 20.)
    assert at.gain("RO f9-f8") == {"R": 2, "B": 3}


def test_17_order_matters_only_solo() -> None:
    for players, red in ((1, 5), (2, 2)):
        at = position(TWO_AND_THREE, players=players, scores=[{"R": 16}], hands=["OO"])
        assert at.gain("OO f9-f8") == {"R": red, "B": 1, "O": 2}


def test_18_result_is_the_lowest_colour() -> None:
    at = position(players=1, scores=[{"R": 20, "G": 31, "B": 19, "OP": 36}], phase="over")
    assert at.result is not None
    assert at.result.scores == ({"R": 20, "G": 31, "B": 19, "O": 36, "P": 36},)
    assert at.scene().seats[0].lowest() == 19
    assert (at.result.place, at.result.winners) == ((1,), (0,))


def test_18_ties_are_broken_by_sorted_scores() -> None:
    # Four solo games: the lowest is 19, 19, 20 and 19; then 25, 26, 20 and 25.
    games = np.array(
        [[19, 25, 36, 36, 36], [30, 30, 19, 26, 30], [20, 20, 20, 20, 20], [36, 36, 36, 25, 19]], np.int8
    )
    seats = find_variant("axio", len(games))
    state = seats.new_state()
    state["scores"] = games
    assert Position(seats, state).ranks == (3, 2, 1, 3)


RULES: TestsByRule = by_rule(globals())
