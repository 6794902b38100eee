"""Luck and skill: what made a game adds up to its result."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiogames.analysis.review.accounts import Step, balance
from axiogames.analysis.review.judging import Estimate
from axiogames.analysis.review.review import WRONG, Review
from axiogames.analysis.review.values import FALL, RATINGS, accuracy, rated
from axiogames.games import GAMES
from tests.analysis.review.games import reviewed, short_game, whole_game

values = st.floats(0, 1)


def step(seat: int, simple: float, made: float, lead: float | None = None) -> Step:
    """A decision without errors: what simple play, and the move that was made, were worth."""
    choice = made - simple
    return Step(
        seat,
        Estimate(simple, 0.01),
        Estimate(choice, 0.005),
        Estimate(choice if lead is None else lead, 0.005),
    )


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), values, values), max_size=40), st.data())
def test_start_luck_and_choices_make_the_result(
    players: int, made: list[tuple[int, float, float]], data: st.DataObject
) -> None:
    steps = [step(seat % players, simple, value) for seat, simple, value in made]
    result = data.draw(st.none() | st.lists(values, min_size=players, max_size=players))
    accounts, before, after = balance(players, [0.5] * players, steps, result)
    for seat, account in enumerate(accounts):
        total = account.start + account.luck + account.choices + account.others
        assert total == pytest.approx(account.result, abs=1e-9)
        lucks = [luck.change for one, luck in zip(steps, before, strict=True) if one.seat == seat]
        assert sum(lucks) + after[seat].change == pytest.approx(account.luck, abs=1e-9)
        assert account.choices == pytest.approx(sum(one.choice.value for one in steps if one.seat == seat))
        if result is not None:
            assert account.result == result[seat]
        elif not lucks:
            assert account.result == account.start


def test_the_luck_of_two_is_opposite() -> None:
    steps = [step(0, 0.6, 0.5), step(1, 0.7, 0.7), step(0, 0.4, 0.2)]
    (one, other), before, _ = balance(2, [0.5, 0.5], steps, [0.0, 1.0])
    assert before[0].change == pytest.approx(0.1)  # the deal
    assert before[1].change == pytest.approx(0.7 - 0.5 - 0.1)  # without what the first lost by its move
    assert before[2].change == pytest.approx(0.4 - 0.5)
    assert one.luck == pytest.approx(-other.luck)
    assert (one.choices, other.others) == pytest.approx((-0.3, 0.3))


def test_what_one_gains_the_others_lose() -> None:
    accounts, _, _ = balance(3, [0.5] * 3, [step(0, 0.5, 0.7)], [1.0, 0.25, 0.25])
    assert [account.others for account in accounts] == pytest.approx([0.0, -0.1, -0.1])
    assert [account.luck for account in accounts] == pytest.approx([0.3, -0.15, -0.15])


def test_simple_play_is_neither_lucky_nor_clever() -> None:
    """Somebody who makes the simple move has chosen nothing; alone, luck is nothing on average."""
    lucks = []
    for seed in range(6):
        record = whole_game(GAMES[2], 1, seed, "simple")
        told = reviewed(record.to_json(), rollouts=200)
        full = told.terms.full
        lucks.append(told.seats[0].account.luck * full)
    spread = stdev(lucks) / len(lucks) ** 0.5
    assert abs(fmean(lucks)) < 3 * spread + 0.5


@pytest.mark.parametrize(("name", "players"), [(GAMES[0], 2), (GAMES[2], 3), (GAMES[2], 1)])
def test_a_whole_game_adds_up(name: str, players: int) -> None:
    told = reviewed(whole_game(name, players).to_json())
    assert told.over
    for seat in told.seats:
        account = seat.account
        assert account.start + account.luck + account.choices + account.others == pytest.approx(
            account.result
        )
        own = [move for move in told.moves if told.seats[move.seat] is seat]
        assert account.choices == pytest.approx(sum(move.choice for move in own))
        assert seat.given_up == sum(move.given_up for move in own)
        assert account.luck == pytest.approx(sum(move.luck.change for move in own) + seat.luck_after.change)
        assert seat.line[0] == (0, account.start)
        assert seat.line[-1] == (len(told.moves), account.result)
        assert sum(seat.ratings.values()) == len(own)


def test_other_guesses_find_the_same_luck_within_the_error() -> None:
    record = whole_game(GAMES[0]).to_json()
    one, other = (reviewed(record, seed, 600) for seed in ("0", "1"))
    for seat in range(2):
        ours, theirs = one.seats[seat].account, other.seats[seat].account
        error = (ours.error**2 + theirs.error**2) ** 0.5
        assert abs(ours.luck - theirs.luck) < 4 * error
        assert 0 < error < 0.6


def test_a_game_that_is_not_over_has_no_luck_after_its_last_move() -> None:
    told = reviewed(short_game(GAMES[0]).to_json())
    assert not told.over
    for seat in told.seats:
        account = seat.account
        assert seat.luck_after.change == 0
        assert account.start + account.luck + account.choices + account.others == pytest.approx(
            account.result
        )


def test_ratings_by_what_was_given_up() -> None:
    assert [rated(lost) for lost in (0, 0.01, 0.02, 0.05, 0.1, 0.9)] == [
        "best",
        "good",
        "inaccuracy",
        "mistake",
        "blunder",
        "blunder",
    ]
    assert set(WRONG) < set(RATINGS)
    assert accuracy([]) is None
    assert accuracy([0.0]) == 100
    assert accuracy([0.1]) == pytest.approx(64.7, abs=0.1)
    assert FALL > 0


def test_turning_points_are_the_largest_changes_in_their_order() -> None:
    told: Review = reviewed(whole_game(GAMES[0]).to_json())
    assert told.turning
    assert [turn.ply for turn in told.turning] == sorted(turn.ply for turn in told.turning)
    most = max(move.given_up for move in told.moves)
    assert any(turn.by == "choice" and turn.change == -most for turn in told.turning)
