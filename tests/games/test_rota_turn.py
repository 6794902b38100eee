"""Rules of rota: the cap and extra turns, the end and the solo game (6-8)."""

from __future__ import annotations

from collections import Counter

import pytest

import axiogames as axio
from axiogames.model.events import Draw, Place
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at
from tests.games.positions_rota import (
    ALL_BUT_RED,
    NOTHING,
    ONE_GREEN_ONE_BLUE,
    START,
    TWO_RED_ONE_BLUE,
    after,
    position,
    ranks,
    same_tile,
    stacks,
    supply,
    turns_left,
)

# ---------------------------------------------------------------- 6: twelve points and extra turns


def test_6_points_beyond_12_are_lost() -> None:
    table = table_at(position(START, ["ROPB", "RGOP"], scores=[{"R": 11}, {}]))
    assert table.play(TWO_RED_ONE_BLUE) == {"R": 1, "B": 1}  # 11 + 2 stops at 12
    assert table.scores[0] == {"R": 12, "G": 0, "B": 1, "O": 0, "P": 0}


def test_6_colour_at_12_scores_no_more() -> None:
    table = table_at(position(START, ["ROPB", "RGOP"], scores=[{"R": 12}, {}]))
    assert table.play(TWO_RED_ONE_BLUE) == {"B": 1}
    table.draw("RGB_")
    assert turns_left(table) == (1, 32, (10, 11))


@pytest.mark.parametrize("red", [10, 11])
def test_6_reaching_12_wins_an_extra_turn(red: int) -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": red}, {}])
    assert turns_left(table_at(start)) == (0, 32, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.draw_due == 1
    table.draw("OPBG")
    assert turns_left(table) == (0, 31, (11, 11))
    assert same_tile(table.hand(0)[0]) == same_tile("OPBG")


def test_6_eleven_points_win_no_extra_turn() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 9, "B": 10}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (1, 32, (10, 11))


def test_6_extra_turn_comes_before_the_draw_from_the_stack() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE)
    assert table.scores[0] == {"R": 12, "G": 1, "B": 2, "O": 0, "P": 0}
    assert table.draw_due == 1
    table.draw("RGB_")
    assert turns_left(table) == (1, 31, (10, 11))


def test_6_two_colours_at_12_win_two_extra_turns() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 10, "B": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 31, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP")
    assert turns_left(table) == (0, 30, (11, 11))
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP", NOTHING, "RGB_")
    assert turns_left(table) == (1, 30, (10, 11))


def test_6_colour_scored_by_two_corners_wins_one_extra_turn() -> None:
    # GB_R(B) at -1,1: one blue by the blue corner, one by the named corner.
    start = position(START, ["RGB_", "RGOP"], scores=[{"B": 11}, {}])
    table = after(start, "GB_R(B) -1,1", "OPBG", "OPBG 1,2", "RGBO")
    assert table.scores[0]["B"] == 12
    assert turns_left(table) == (1, 31, (10, 11))


def test_6_extra_turn_can_win_another() -> None:
    start = position(START, ["ROPB", "RGOP"], scores=[{"R": 11, "G": 11}, {}])
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE, "OGRP")
    assert turns_left(table) == (0, 30, (11, 11))
    table.play(NOTHING)
    table.draw("RGB_")
    assert turns_left(table) == (1, 30, (10, 11))


def test_6_no_extra_turns_with_an_empty_supply() -> None:
    start = position(START, ["ROPB", "OPBG"], scores=[{"R": 11}, {}], stacks=[5, 5], supply=0)
    table = after(start, TWO_RED_ONE_BLUE)
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (1, 0, (4, 5))
    table.play(ONE_GREEN_ONE_BLUE)  # the lost extra turn does not pass to this seat
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (0, 0, (4, 4))


def test_6_extra_turns_stop_when_the_supply_runs_out() -> None:
    # Two extra turns are won, but the supply has one tile.
    keep = ["OPBG"]
    scores: list[dict[str, int]] = [{"R": 11, "B": 11}, {}]
    start = position(START, ["ROPB", "RGOP"], scores=scores, stacks=[5, 5], supply=1, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 0, (5, 5))
    table.play(ONE_GREEN_ONE_BLUE)
    table.draw(next(iter(table.unseen)))
    assert turns_left(table) == (1, 0, (4, 5))


def test_6_last_tile_of_a_stack_can_win_extra_turns() -> None:
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


def test_6_other_seats_play_on_after_extra_turns() -> None:
    keep = ["OPBG", "OGRP"]
    scores: list[dict[str, int]] = [{"R": 11}, {}]
    start = position(START, ["ROPB", "RGOP"], scores=scores, stacks=[0, 0], supply=2, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG", ONE_GREEN_ONE_BLUE)
    assert turns_left(table) == (1, 1, (0, 0))
    table.play("RGOP 3,0")
    assert table.over


def test_6_each_colour_at_12_uses_one_tile_of_the_supply() -> None:
    at_12_in_all = 0
    for seed in range(4):
        table = axio.new_game("rota", 1, seed=seed)
        while not table.over:  # greedily
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


def test_7_two_colours_can_reach_12_together_and_win() -> None:
    start = position(START, ["-", "ROPB"], scores=[{}, ALL_BUT_RED | {"B": 11}], seat=1)
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    assert table.result.winners == (1,)


def test_7_extra_turn_can_win_before_the_next_one() -> None:
    # Red and blue reach 12 by the first tile, which wins two extra turns; the first of them brings green to
    # 12.
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
def test_7_game_ends_after_twelve_tiles_each(players: int) -> None:
    table = axio.new_game("rota", players, seed=8)
    for n in range(12 * players):
        assert table.turn == n % players
        table.play(f"{table.hand(n % players)[0]} {2 + n},0")  # in a line, where no colour reaches 12
    assert table.over
    assert stacks(table) == (0,) * players
    assert supply(table) == 56 - 12 * players
    placements = Counter(event.p for event in table.events if isinstance(event, Place))
    assert placements == dict.fromkeys(range(players), 12)


@pytest.mark.parametrize("left", [4, 0])
def test_7_last_seat_places_its_last_tile(left: int) -> None:
    start = position(START, ["ROPB", "RGOP"], stacks=[0, 0], supply=left)
    table = after(start, TWO_RED_ONE_BLUE)
    assert table.turn == 1
    table.play("RGOP 3,0")
    assert table.over


def test_7_higher_lowest_colour_wins() -> None:
    assert ranks("3 12 12 12 12", "4 4 4 4 4") == (2, 1)
    assert ranks("9 9 9 9 5", "4 11 11 11 11") == (1, 2)


def test_7_ties_are_broken_by_the_next_lowest_colour() -> None:
    assert ranks("7 8 12 12 12", "12 9 7 9 9") == (2, 1)
    assert ranks("7 7 12 12 12", "7 8 8 8 8") == (2, 1)
    assert ranks("5 6 7 7 8", "5 12 12 12 5") == (1, 2)
    assert ranks("1 2 3 4 6", "5 4 3 2 1") == (1, 2)


def test_7_equal_scores_share_the_victory() -> None:
    assert ranks("1 2 3 4 5", "5 4 3 2 1") == (1, 1)
    assert ranks("2 2 2 2 2", "0 9 9 9 9", "2 2 2 2 2") == (1, 3, 1)
    assert ranks("0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 0", "0 0 0 0 1") == (2, 2, 2, 1)


# ---------------------------------------------------------------- 8: the solo game


def test_8_solo_has_extra_turns_and_the_same_end() -> None:
    keep = ["OPBG"]
    start = position(START, ["ROPB"], scores=[{"R": 11}], stacks=[0], supply=1, keep=keep)
    table = after(start, TWO_RED_ONE_BLUE, "OPBG")
    assert turns_left(table) == (0, 0, (0,))
    table.play(ONE_GREEN_ONE_BLUE)
    assert table.over


def test_8_solo_twelve_in_all_colours_ends_the_game() -> None:
    table = after(position(START, ["ROPB"], scores=[ALL_BUT_RED]), TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    assert min(table.result.scores[0].values()) == 12


def test_8_solo_result_is_the_lowest_colour() -> None:
    scores = [{"R": 5, "G": 7, "B": 4, "O": 9, "P": 6}]
    table = after(position(START, ["ROPB"], scores=scores, stacks=[0]), TWO_RED_ONE_BLUE)
    assert table.over
    assert table.result is not None
    # Red 5 + 2 = 7, blue 4 + 1 = 5, and blue is still the lowest.
    assert table.result.scores[0] == {"R": 7, "G": 7, "B": 5, "O": 9, "P": 6}
    assert min(table.result.scores[0].values()) == 5
    assert table.result.place == (1,)
    assert table.result.winners == (0,)


RULES: TestsByRule = by_rule(globals())
