"""The loops of sequential halving, called one by one. These tests also run interpreted."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, sqrt
from typing import Any

import numpy as np
import pytest

from axiogames.games import GAMES, find_variant
from axiogames.players.search.search_loops import (
    CONFIDENCE,
    FINALISTS,
    MIN_ROLLOUTS,
    MIN_SAMPLES,
    MIN_WIDTH,
    NEGLIGIBLE,
    add_rollouts,
    begin_search,
    end_round,
    rank_moves,
    search_is_decided,
)
from tests.players.search.searches import new_search

KERNELS = find_variant(GAMES[0], 2).kernels
FIRST = 7  # action ids of these tests start here


def begun(
    priors: Sequence[float],
    width: int,
    *,
    rollouts: int | None = None,
    prior_weight: float = 0.0,
    include: Sequence[int] = (),
) -> Any:
    """Return a search that has begun."""
    search = new_search(width, rollouts, prior_weight)
    search["n_included"] = len(include)
    search["included"][0, : len(include)] = include
    actions = np.arange(FIRST, FIRST + len(priors), dtype=np.int32)
    KERNELS[begin_search](search, actions, np.array(priors, np.float64), len(priors))
    return search


def add(search: Any, samples: int, means: Sequence[float], deviation: float = 0.0) -> None:
    """Add rollouts with these means and a standard deviation."""
    values = np.array(means, np.float64)
    KERNELS[add_rollouts](search, samples, samples * values, samples * (values**2 + deviation**2))


def actions_of(search: Any) -> list[int]:
    return [int(action) - FIRST for action in search["actions"][0, : search["moves"][0]]]


def alive(search: Any) -> list[int]:
    return [int(action) - FIRST for action in search["alive_actions"][0, : search["n_alive"][0]]]


def test_the_moves_with_the_best_priors_are_compared() -> None:
    search = begun([0.1, 0.9, 0.5, 0.5, 0.7, 0.5], 4)
    assert actions_of(search) == alive(search) == [1, 2, 3, 4]  # the first of equal ones
    assert search["priors"][0, :4].tolist() == [0.9, 0.5, 0.5, 0.7]


def test_included_moves_are_compared_in_any_case() -> None:
    search = begun([0.1, 0.9, 0.5, 0.2, 0.7], 2, include=[FIRST, FIRST + 1, FIRST + 100, FIRST])
    assert actions_of(search) == [0, 1, 4]


@pytest.mark.parametrize(
    ("width", "rollouts", "compared"),
    [
        (16, None, 16),
        (16, 100 * MIN_ROLLOUTS, 16),
        (16, 6 * MIN_ROLLOUTS, 6),
        (16, 0, MIN_WIDTH),
        (2, 0, MIN_WIDTH),
        (2, None, 2),
        (50, None, 20),  # all legal moves
    ],
)
def test_a_small_budget_compares_fewer_moves(width: int, rollouts: int | None, compared: int) -> None:
    assert len(actions_of(begun([0.0] * 20, width, rollouts=rollouts))) == compared


@pytest.mark.parametrize("moves", [*range(1, 20), 40, 64])
def test_rounds_halve_the_moves_down_to_the_finalists(moves: int) -> None:
    priors = [float((7 * i) % moves) for i in range(moves)]
    search = begun(priors, moves, rollouts=64 * MIN_ROLLOUTS, prior_weight=1.0)
    rounds = max(1, ceil(log2(max(moves, FINALISTS) / FINALISTS)) + 1)
    assert search["rounds"][0] == rounds
    expected = list(range(moves))
    for n_round in range(1, rounds + 1):
        assert search["n_round"][0] == n_round
        assert alive(search) == expected
        assert search["left"][0] == max(1, 64 * MIN_ROLLOUTS // rounds // len(expected))
        assert KERNELS[end_round](search) == (n_round < rounds)
        best = sorted(expected, key=lambda i: -priors[i])
        expected = sorted(best[: max(FINALISTS, ceil(len(expected) / 2))])


def test_results_are_added_to_the_moves_that_are_alive() -> None:
    search = begun([0.5, 0.4, 0.3, 0.2], 4, rollouts=4 * MIN_ROLLOUTS)
    left = int(search["left"][0])
    add(search, 10, [0.1, 0.6, 0.2, 0.7])
    assert search["left"][0] == left - 10
    assert KERNELS[end_round](search)
    assert alive(search) == [1, 3]
    add(search, 5, [0.5, 0.9])
    assert search["counts"][0, :4].tolist() == [10, 15, 10, 15]
    assert search["samples"][0] == 15
    assert search["sums"][0, :4].tolist() == [1.0, 6.0 + 2.5, 2.0, 7.0 + 4.5]


def test_values_are_means_with_the_prior_as_a_number_of_rollouts() -> None:
    search = begun([0.5, 1.0], 2, prior_weight=30.0)
    add(search, 10, [0.2, 0.4], 0.1)
    KERNELS[rank_moves](search)
    assert search["values"][0, :2].tolist() == pytest.approx([(2 + 15) / 40, (4 + 30) / 40])
    assert search["errors"][0, :2].tolist() == pytest.approx([0.1 / sqrt(10)] * 2)
    without = begun([0.5, 1.0], 2)
    KERNELS[rank_moves](without)
    assert without["values"][0, :2].tolist() == [0.0, 0.0]


def test_moves_of_later_rounds_come_first() -> None:
    search = begun([0.0] * 4, 4)
    add(search, 10, [0.3, 0.5, 0.4, 0.1])
    KERNELS[end_round](search)
    add(search, 10, [0.0, 0.05])  # now below those that were dropped
    KERNELS[rank_moves](search)
    assert search["order"][0, :4].tolist() == [1, 2, 0, 3]


def test_equal_moves_keep_their_order() -> None:
    search = begun([0.0] * 3, 3)
    add(search, 10, [0.3, 0.3, 0.3])
    KERNELS[rank_moves](search)
    assert search["order"][0, :3].tolist() == [0, 1, 2]


def test_a_search_is_decided_if_no_other_move_can_be_better() -> None:
    search = begun([0.5, 0.5, 0.5], 3)
    means, deviation = [0.2, 0.5, 0.49], 0.05
    for _ in range(40):
        count = int(search["counts"][0, 0])
        error = deviation * sqrt(2 / max(count, 1))
        expected = count >= MIN_SAMPLES and CONFIDENCE * error - 0.01 < NEGLIGIBLE
        assert KERNELS[search_is_decided](search) == expected
        add(search, 50, means, deviation)
    assert expected


def test_a_single_move_is_decided_after_some_rollouts() -> None:
    search = begun([0.5], 1)
    assert not KERNELS[search_is_decided](search)
    add(search, MIN_SAMPLES, [0.4], 0.3)
    assert KERNELS[search_is_decided](search)
