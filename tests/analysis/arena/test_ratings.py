"""Ratings recover simulated strengths, and intervals have the promised coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from axiogames.analysis.arena.ratings import bradley_terry, openskill_ratings
from axiogames.analysis.arena.schedule import Schedule
from axiogames.analysis.arena.statistics import (
    Bootstrap,
    IntervalEstimate,
    comparisons,
    complete_rounds,
    sum_by_deal,
)
from axiogames.analysis.arena.summary import summarise
from tests.analysis.arena import simulated

STRENGTHS = {"strong": 150.0, "middle": 0.0, "weak": -150.0}


def test_two_bots_match_the_closed_form() -> None:
    first, second = bradley_terry(np.array([[0, 30.0], [10.0, 0]]))
    assert first - second == pytest.approx(400 * math.log10(3))
    assert first + second == pytest.approx(0)


def test_expected_points_give_the_exact_strengths() -> None:
    elo = np.array([300.0, 20.0, -40.0, -280.0])
    expected = 1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))
    np.fill_diagonal(expected, 0)
    assert bradley_terry(expected * 100) == pytest.approx(elo, abs=1e-6)


def test_stacked_matrices_give_the_same_ratings_as_single_ones() -> None:
    points = np.random.default_rng(0).uniform(1, 20, (5, 3, 3)) * (1 - np.eye(3))
    stacked = bradley_terry(points)
    for matrix, ratings in zip(points, stacked, strict=True):
        assert bradley_terry(matrix) == pytest.approx(ratings, abs=1e-6)


@pytest.mark.parametrize("players", [2, 3])
def test_simulated_strengths_are_recovered(players: int) -> None:
    played = simulated.arena(STRENGTHS, 400, players=players, seed=1)
    for bot in summarise(simulated.settings(tuple(STRENGTHS), players), played).bots:
        assert bot.elo.low is not None
        assert bot.elo.high is not None
        assert bot.elo.low - 5 < STRENGTHS[bot.bot] < bot.elo.high + 5
        assert bot.elo.high - bot.elo.low < 80


def test_elo_intervals_have_the_promised_coverage() -> None:
    """Luck is high in this arena, so games on the same deal are far from independent."""

    def estimate(deals: int, seed: int) -> IntervalEstimate:
        played = simulated.arena({"one": 100, "other": -100}, deals, seed=seed, luck=2.0)
        return (
            summarise(simulated.settings(("one", "other")), played, resamples=200, openskill=False)
            .bots[0]
            .elo
        )

    truth = estimate(6000, 999).value
    runs, inside = 60, 0
    for seed in range(runs):
        elo = estimate(50, seed)
        assert elo.low is not None
        assert elo.high is not None
        inside += elo.low <= truth <= elo.high
    assert inside >= runs * 0.95 - 3 * math.sqrt(runs * 0.95 * 0.05)


def test_a_bot_that_wins_every_game_has_a_finite_rating() -> None:
    played = simulated.arena({"winner": 9000, "loser": 0}, 25)
    winner, loser = summarise(simulated.settings(("winner", "loser")), played).bots
    assert winner.win_rate.value == 1
    assert winner.win_rate.low is not None
    assert 0.85 < winner.win_rate.low < 0.95
    assert 200 < winner.elo.value < 1000
    assert winner.elo.low is not None
    assert 150 < winner.elo.low < winner.elo.value
    assert loser.elo.value == -winner.elo.value


def test_interval_of_whole_deals_is_the_jeffreys_interval() -> None:
    """The quantiles of Beta(8.5, 2.5), from published tables, are 0.4973 and 0.9529 for 8 of 10."""
    won = np.array([1.0] * 8 + [0.0] * 2)[:, None]
    (rate,) = Bootstrap(10, 20_000).rates(won, np.ones_like(won))
    assert rate.value == 0.8
    assert rate.low == pytest.approx(0.4973, abs=0.01)
    assert rate.high == pytest.approx(0.9529, abs=0.01)


def test_deals_that_always_split_give_a_narrow_interval() -> None:
    halves = np.full((50, 1), 1.0)
    (rate,) = Bootstrap(50).rates(halves, 2 * halves)
    assert rate.low is not None
    assert rate.low > 0.45


def test_mean_over_a_single_deal_has_no_interval() -> None:
    (mean,) = Bootstrap(1).means(np.array([[3.0]]), np.array([[1.0]]))
    assert (mean.value, mean.low, mean.high) == (3.0, None, None)


def test_cumulative_interval_ends_at_the_final_interval() -> None:
    won = np.random.default_rng(3).integers(0, 3, 40) / 1.0
    (rate,) = Bootstrap(40).rates(won[:, None], np.full((40, 1), 2.0))
    low, high = Bootstrap(40).cumulative_rate(won, np.full(40, 2.0))
    assert (low[-1], high[-1]) == pytest.approx((rate.low, rate.high), abs=0.02)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_openskill_orders_bots_by_strength(players: int) -> None:
    settings = simulated.settings(tuple(STRENGTHS), players)
    compared = comparisons(
        settings, complete_rounds(settings, simulated.arena(STRENGTHS, 60, players=players))
    )
    skills = openskill_ratings(settings.bots, compared)
    assert skills["strong"].mu > skills["middle"].mu > skills["weak"].mu
    assert all(skill.sigma < 4 for skill in skills.values())


def test_a_tie_scores_half_and_a_shared_win_is_divided() -> None:
    settings = simulated.settings(("a", "b"))
    games = [simulated.game(seating, (1, 1)) for seating in Schedule(("a", "b"), 2).games(0)]
    (comparison, _) = comparisons(settings, [games])
    assert comparison.win_shares == (0.5, 0.5)
    sums = sum_by_deal(settings.bots, [comparison])
    assert sums.points[0].tolist() == [[0, 0.5], [0.5, 0]]
