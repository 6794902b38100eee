"""The arithmetic of reviews, compared with NumPy. These tests also run interpreted."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from axiogames.analysis.review.accounts import DecisionEffect, settle_accounts
from axiogames.analysis.review.judging import ValueEstimate
from axiogames.analysis.review.review_loops import (
    CHOICE,
    ESTIMATES,
    MARGIN,
    POLICY_VALUE,
    ChunkSums,
    MoveValues,
    compare_moves,
    write_result_values,
)
from axiogames.games import GAMES, find_variant

KERNELS = find_variant(GAMES[0], 2).kernels
CHUNKS, POINT_CHUNKS, MOVES, CELLS, SAMPLES = 7, 5, 4, 6, 8


def compared(sums: ChunkSums, *, chosen: int, policy: int = 2, unbounded: bool = False) -> MoveValues:
    """Compare moves; the arrays of `sums` stay as they are."""
    cells = sums.points.shape[1]
    found = MoveValues(
        order=np.zeros(MOVES, np.int64),
        values=np.zeros(MOVES),
        errors=np.zeros(MOVES),
        behind=np.zeros(MOVES),
        behind_errors=np.zeros(MOVES),
        points=np.zeros(cells),
        point_errors=np.zeros(cells),
        estimates=np.zeros((ESTIMATES, 2)),
    )
    copies = ChunkSums(*(array.copy() for array in sums))
    KERNELS[compare_moves](copies, SAMPLES, unbounded, chosen, policy, found)
    return found


@pytest.fixture
def sums() -> ChunkSums:
    rng = np.random.default_rng(1)
    values = SAMPLES * rng.uniform(0.2, 0.8, (CHUNKS, MOVES))
    values[:, 3] = values[:, 0]  # equal moves
    points = SAMPLES * rng.uniform(0, 18, (POINT_CHUNKS, MOVES * CELLS))
    return ChunkSums(values, SAMPLES * rng.uniform(0.4, 0.6, (CHUNKS, 1)), points)


def errors(chunks: np.ndarray) -> np.ndarray:
    return np.asarray(chunks.std(axis=0, ddof=1) / sqrt(len(chunks)))


def estimate(chunks: np.ndarray) -> list[float]:
    return [float(chunks.mean()), float(errors(chunks))]


@pytest.mark.parametrize("unbounded", [False, True])
def test_values_and_errors_are_those_of_chunks(sums: ChunkSums, unbounded: bool) -> None:
    values, expected = sums.values / SAMPLES, sums.expected[:, 0] / SAMPLES
    if unbounded:
        values, expected = values / (1 - values), expected / (1 - expected)
    found = compared(sums, chosen=1, unbounded=unbounded)
    means = values.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    assert found.order.tolist() == order.tolist()
    best = values[:, order[0]]
    np.testing.assert_allclose(found.values, means)
    np.testing.assert_allclose(found.errors, errors(values))
    np.testing.assert_allclose(found.behind, means.max() - means, atol=1e-12)
    np.testing.assert_allclose(found.behind_errors, errors(best[:, None] - values), atol=1e-12)
    assert found.behind[order[0]] == found.behind_errors[order[0]] == 0
    estimates = found.estimates
    assert estimates[POLICY_VALUE].tolist() == pytest.approx(estimate(expected))
    assert estimates[CHOICE].tolist() == pytest.approx(estimate(values[:, 1] - expected))
    assert estimates[MARGIN].tolist() == pytest.approx(estimate(values[:, 1] - values[:, 2]))


def test_points_are_compared_with_those_of_the_best_move(sums: ChunkSums) -> None:
    points = (sums.points / SAMPLES).reshape(POINT_CHUNKS, MOVES, CELLS)
    found = compared(sums, chosen=1)
    np.testing.assert_allclose(found.points.reshape(MOVES, CELLS), points.mean(axis=0))
    differences = points[:, found.order[:1]] - points
    np.testing.assert_allclose(found.point_errors.reshape(MOVES, CELLS), errors(differences), atol=1e-12)


def test_without_a_chosen_move_the_expected_value_takes_its_place(sums: ChunkSums) -> None:
    found = compared(sums, chosen=-1)
    assert found.estimates[CHOICE].tolist() == [0, 0]
    margin = (sums.expected[:, 0] - sums.values[:, 2]) / SAMPLES
    assert found.estimates[MARGIN].tolist() == pytest.approx(estimate(margin))


def effect(seat: int, value: float, choice: float, margin: float) -> DecisionEffect:
    """Return a decision whose estimates have standard errors of 0.03, 0.04 and 0.12."""
    return DecisionEffect(
        seat, ValueEstimate(value, 0.03), ValueEstimate(choice, 0.04), ValueEstimate(margin, 0.12)
    )


@pytest.mark.parametrize("over", [True, False])
def test_accounts_of_two_decisions(over: bool) -> None:
    effects = [effect(0, 0.6, 0.1, 0.2), effect(1, 0.3, -0.1, -0.1)]
    accounts, before, after = settle_accounts(
        find_variant(GAMES[0], 2), [0.5, 0.5], effects, [1.0, 0.0] if over else None
    )
    # Seat 1 has lost 0.2 to the first decision, and the error of that loss counts.
    assert [one.change for one in before] == pytest.approx([0.1, 0.3 - 0.5 + 0.2])
    assert [one.error for one in before] == pytest.approx([0.03, sqrt(0.03**2 + 0.12**2)])
    if over:
        assert [one.change for one in after] == pytest.approx([1.0 - 0.7 - 0.1, 0.0 - 0.2])
        assert [one.error for one in after] == pytest.approx([sqrt(0.03**2 + 0.12**2), 0.03])
        assert [one.result for one in accounts] == [1.0, 0.0]
        assert [one.others for one in accounts] == pytest.approx([0.1, -0.2])
        assert [one.error for one in accounts] == pytest.approx([sqrt(0.04**2 + 0.12**2)] * 2)
    else:
        assert [(one.change, one.error) for one in after] == [(0, 0)] * 2
        assert [one.result for one in accounts] == pytest.approx([0.7, 0.2])
        assert accounts[0].error == pytest.approx(sqrt(0.04**2 + 0.03**2))
    assert [one.choices for one in accounts] == pytest.approx([0.1, -0.1])


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([1, 2], [1, 0]), ([1, 1], [0.5, 0.5]), ([3, 1, 1], [0, 0.75, 0.75]), ([1, 2, 2, 4], [1, 0.5, 0.5, 0])],
)
def test_value_of_a_result_is_the_share_of_opponents_ranked_lower(
    ranks: list[int], expected: list[float]
) -> None:
    found = np.full(len(ranks), 9.0)
    KERNELS[write_result_values](np.array(ranks), np.zeros((len(ranks), 3)), 18, found)
    assert found.tolist() == pytest.approx(expected)


def test_value_of_one_player_is_a_mean_of_sorted_points() -> None:
    found = np.zeros(1)
    KERNELS[write_result_values](np.array([1]), np.array([[9.0, 3.0, 18.0]]), 18, found)
    assert found[0] == pytest.approx((3 + 9 / 50 + 18 / 2500) / (1 + 1 / 50 + 1 / 2500) / 18)
