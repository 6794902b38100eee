"""Accounts of luck and skill: the items add up to the result."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiogames.analysis.review.accounts import DecisionEffect, settle_accounts
from axiogames.analysis.review.judging import ValueEstimate
from axiogames.analysis.review.review import BAD_RATINGS, Review
from axiogames.analysis.review.values import ACCURACY_DECAY, RATINGS, accuracy, rating_for
from axiogames.games import GAMES, find_variant
from axiogames.games.protocol import MAX_PLAYERS
from tests.analysis.review.games import reviewed, short_game, whole_game

VARIANTS = {players: find_variant(GAMES[0], players) for players in range(1, MAX_PLAYERS + 1)}
values = st.floats(0, 1)


def effect(seat: int, policy_value: float, chosen: float) -> DecisionEffect:
    """Return a decision: the values of the policy's move and of the chosen move."""
    choice = chosen - policy_value
    return DecisionEffect(
        seat, ValueEstimate(policy_value, 0.01), ValueEstimate(choice, 0.005), ValueEstimate(choice, 0.005)
    )


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 3), values, values), max_size=40), st.data())
def test_items_add_up_to_the_result(
    players: int, decided: list[tuple[int, float, float]], data: st.DataObject
) -> None:
    effects = [effect(seat % players, policy_value, chosen) for seat, policy_value, chosen in decided]
    result = data.draw(st.none() | st.lists(values, min_size=players, max_size=players))
    accounts, before, after = settle_accounts(VARIANTS[players], [0.5] * players, effects, result)
    for seat, account in enumerate(accounts):
        total = account.start + account.luck + account.choices + account.others
        assert total == pytest.approx(account.result, abs=1e-9)
        lucks = [luck.change for one, luck in zip(effects, before, strict=True) if one.seat == seat]
        assert sum(lucks) + after[seat].change == pytest.approx(account.luck, abs=1e-9)
        assert account.choices == pytest.approx(sum(one.choice.value for one in effects if one.seat == seat))
        if result is not None:
            assert account.result == result[seat]
        elif not lucks:
            assert account.result == account.start


def test_lucks_of_two_seats_are_opposite() -> None:
    effects = [effect(0, 0.6, 0.5), effect(1, 0.7, 0.7), effect(0, 0.4, 0.2)]
    (one, other), before, _ = settle_accounts(VARIANTS[2], [0.5, 0.5], effects, [0.0, 1.0])
    assert before[0].change == pytest.approx(0.1)  # the deal
    assert before[1].change == pytest.approx(0.7 - 0.5 - 0.1)  # without the loss by the first seat's choice
    assert before[2].change == pytest.approx(0.4 - 0.5)
    assert one.luck == pytest.approx(-other.luck)
    assert (one.choices, other.others) == pytest.approx((-0.3, 0.3))


def test_opponents_share_the_cost_of_a_good_choice() -> None:
    accounts, _, _ = settle_accounts(VARIANTS[3], [0.5] * 3, [effect(0, 0.5, 0.7)], [1.0, 0.25, 0.25])
    assert [account.others for account in accounts] == pytest.approx([0.0, -0.1, -0.1])
    assert [account.luck for account in accounts] == pytest.approx([0.3, -0.15, -0.15])


def test_mean_luck_of_the_rollout_policy_is_zero() -> None:
    """Choices of the policy are worth nothing, so in one-player games its mean luck must be 0."""
    lucks = []
    for seed in range(6):
        record = whole_game(GAMES[2], 1, seed, "policy")
        found = reviewed(record.to_json(), rollouts=200)
        full = found.scale.full
        lucks.append(found.seats[0].account.luck * full)
    error = stdev(lucks) / len(lucks) ** 0.5
    assert abs(fmean(lucks)) < 3 * error + 0.5


@pytest.mark.parametrize(("name", "players"), [(GAMES[0], 2), (GAMES[2], 3), (GAMES[2], 1)])
def test_accounts_of_whole_games_add_up(name: str, players: int) -> None:
    found = reviewed(whole_game(name, players).to_json())
    assert found.over
    for seat in found.seats:
        account = seat.account
        assert account.start + account.luck + account.choices + account.others == pytest.approx(
            account.result
        )
        own = [move for move in found.moves if found.seats[move.seat] is seat]
        assert account.choices == pytest.approx(sum(move.choice for move in own))
        assert seat.loss == sum(move.loss for move in own)
        assert account.luck == pytest.approx(sum(move.luck.change for move in own) + seat.luck_after.change)
        assert seat.line[0] == (0, account.start)
        assert seat.line[-1] == (len(found.moves), account.result)
        assert sum(seat.ratings.values()) == len(own)


def test_different_seeds_give_the_same_luck_within_the_error() -> None:
    record = whole_game(GAMES[0]).to_json()
    one, other = (reviewed(record, seed, 600) for seed in ("0", "1"))
    for seat in range(2):
        first, second = one.seats[seat].account, other.seats[seat].account
        error = (first.error**2 + second.error**2) ** 0.5
        assert abs(first.luck - second.luck) < 4 * error
        assert 0 < error < 0.6


def test_unfinished_games_have_no_luck_after_the_last_move() -> None:
    found = reviewed(short_game(GAMES[0]).to_json())
    assert not found.over
    for seat in found.seats:
        account = seat.account
        assert seat.luck_after.change == 0
        assert account.start + account.luck + account.choices + account.others == pytest.approx(
            account.result
        )


def test_ratings_and_accuracy_by_loss() -> None:
    assert [rating_for(loss) for loss in (0, 0.01, 0.02, 0.05, 0.1, 0.9)] == [
        "best",
        "good",
        "inaccuracy",
        "mistake",
        "blunder",
        "blunder",
    ]
    assert set(BAD_RATINGS) < set(RATINGS)
    assert accuracy([]) is None
    assert accuracy([0.0]) == 100
    assert accuracy([0.1]) == pytest.approx(64.7, abs=0.1)
    assert ACCURACY_DECAY > 0


def test_turning_points_are_the_largest_changes_in_order() -> None:
    found: Review = reviewed(whole_game(GAMES[0]).to_json())
    assert found.turning_points
    assert [turn.ply for turn in found.turning_points] == sorted(turn.ply for turn in found.turning_points)
    most = max(move.loss for move in found.moves)
    assert any(turn.cause == "choice" and turn.change == -most for turn in found.turning_points)
