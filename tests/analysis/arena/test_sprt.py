"""The sequential test: early stopping and error rates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from axiogames.analysis.arena.sprt import (
    SCORES,
    Hypotheses,
    SequentialTest,
    expected_score,
    log_likelihood_ratio,
    parse_sprt,
)
from axiogames.errors import InvalidOption

RUNS = 120


def outcomes(elo: float, luck: float) -> list[float]:
    """Return the probability of each score of a deal; luck correlates its two games."""
    p = expected_score(elo)
    spread = (1 - luck) * p * (1 - p)
    return [1 - p - spread, 0, 2 * spread, 0, p - spread]


def decisions(
    elo: float, test: Hypotheses, runs: int = RUNS, luck: float = 0.3
) -> list[tuple[int | None, int]]:
    """Return the accepted hypothesis and the number of deals of simulated tests."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(runs):
        sequential_test = SequentialTest(test)
        for score in rng.choice(SCORES, 3000, p=outcomes(elo, luck)):
            if sequential_test.add(float(score)).accepted is not None:
                break
        found.append((sequential_test.status.accepted, sequential_test.status.deals))
    return found


@pytest.mark.parametrize(("elo", "true_hypothesis"), [(0, 0), (100, 1)])
def test_error_rate_is_as_configured(elo: float, true_hypothesis: int) -> None:
    found = decisions(elo, Hypotheses(0, 100))
    wrong = sum(accepted == 1 - true_hypothesis for accepted, _ in found)
    undecided = sum(accepted is None for accepted, _ in found)
    assert undecided == 0
    assert wrong <= RUNS * 0.05 + 3 * math.sqrt(RUNS * 0.05 * 0.95)


def test_larger_differences_stop_the_test_sooner() -> None:
    test = Hypotheses(0, 80)
    small, large = (np.mean([deals for _, deals in decisions(elo, test, 40)]) for elo in (80, 400))
    assert large < small / 3


def test_ratio_agrees_with_the_normal_approximation() -> None:
    """For many deals and similar hypotheses, LLR ≈ N (t1 - t0) (2 mean - t0 - t1) / (2 variance)."""
    counts, test = (300, 40, 700, 60, 380), Hypotheses(0, 5)
    total = sum(counts)
    mean = sum(n * a for n, a in zip(counts, SCORES, strict=True)) / total
    variance = sum(n * (a - mean) ** 2 for n, a in zip(counts, SCORES, strict=True)) / total
    t0, t1 = expected_score(test.elo0), expected_score(test.elo1)
    approximation = total * (t1 - t0) * (2 * mean - t0 - t1) / (2 * variance)
    assert log_likelihood_ratio(counts, test) == pytest.approx(approximation, rel=0.01)


def test_balanced_evidence_gives_a_ratio_of_zero() -> None:
    test = Hypotheses(-50, 50)
    assert log_likelihood_ratio((10, 0, 30, 0, 10), test) == pytest.approx(0, abs=1e-9)
    assert log_likelihood_ratio((0, 0, 0, 0, 0), test) == pytest.approx(0, abs=1e-9)


def test_deals_after_the_end_are_ignored() -> None:
    sequential_test = SequentialTest(Hypotheses(0, 100))
    for _ in range(200):
        sequential_test.add(1.0)
    assert sequential_test.status.accepted == 1
    assert sequential_test.status.deals < 50
    before = sequential_test.status
    assert sequential_test.add(0.0) == before


def test_bounds_follow_from_the_error_rates() -> None:
    assert Hypotheses(0, 10).bounds == pytest.approx((-math.log(19), math.log(19)))
    assert parse_sprt("0,10,0.01,0.1") == Hypotheses(0, 10, 0.01, 0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10", "ELO0,ELO1"),
        ("a,b", "ELO0,ELO1"),
        ("0,1,2", "ELO0,ELO1"),
        ("0,inf", "ELO0,ELO1"),
        ("10,0", "less than"),
        ("0,10,0,0.1", "between 0 and 0.5"),
        ("0,10,0.1,0.7", "between 0 and 0.5"),
    ],
)
def test_invalid_tests_are_rejected(text: str, words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        parse_sprt(text)
