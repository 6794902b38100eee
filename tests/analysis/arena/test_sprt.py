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
    rng = np.random.default_rng(7)
    found = []
    for _ in range(runs):
        running = SequentialTest(test)
        for score in rng.choice(SCORES, 3000, p=outcomes(elo, luck)):
            if running.add(float(score)).accepted is not None:
                break
        found.append((running.status.accepted, running.status.deals))
    return found


@pytest.mark.parametrize(("elo", "right"), [(0, 0), (100, 1)])
def test_error_rate_is_as_configured(elo: float, right: int) -> None:
    found = decisions(elo, Hypotheses(0, 100))
    wrong = sum(accepted == 1 - right for accepted, _ in found)
    undecided = sum(accepted is None for accepted, _ in found)
    assert undecided == 0
    assert wrong <= RUNS * 0.05 + 3 * math.sqrt(RUNS * 0.05 * 0.95)


def test_larger_differences_stop_the_test_sooner() -> None:
    test = Hypotheses(0, 80)
    near, far = (np.mean([deals for _, deals in decisions(elo, test, 40)]) for elo in (80, 400))
    assert far < near / 3


def test_ratio_agrees_with_the_normal_approximation() -> None:
    """For many deals and near hypotheses, LLR is N (t1 - t0) (2 mean - t0 - t1) / (2 variance)."""
    counts, test = (300, 40, 700, 60, 380), Hypotheses(0, 5)
    total = sum(counts)
    mean = sum(n * a for n, a in zip(counts, SCORES, strict=True)) / total
    variance = sum(n * (a - mean) ** 2 for n, a in zip(counts, SCORES, strict=True)) / total
    t0, t1 = expected_score(test.elo0), expected_score(test.elo1)
    near = total * (t1 - t0) * (2 * mean - t0 - t1) / (2 * variance)
    assert log_likelihood_ratio(counts, test) == pytest.approx(near, rel=0.01)


def test_balanced_evidence_gives_a_ratio_of_zero() -> None:
    test = Hypotheses(-50, 50)
    assert log_likelihood_ratio((10, 0, 30, 0, 10), test) == pytest.approx(0, abs=1e-9)
    assert log_likelihood_ratio((0, 0, 0, 0, 0), test) == pytest.approx(0, abs=1e-9)


def test_deals_after_the_end_are_ignored() -> None:
    running = SequentialTest(Hypotheses(0, 100))
    for _ in range(200):
        running.add(1.0)
    assert running.status.accepted == 1
    assert running.status.deals < 50
    before = running.status
    assert running.add(0.0) == before


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
