"""The sequential test: it stops early, and is wrong as seldom as it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from axiogames.analysis.arena.sprt import (
    SCORES,
    Hypotheses,
    Watch,
    expected_score,
    log_likelihood_ratio,
    read_test,
)
from axiogames.errors import InvalidOption

RUNS = 120


def outcomes(elo: float, luck: float) -> list[float]:
    """How likely each score of a deal is: two games by Elo, which luck ties to each other."""
    p = expected_score(elo)
    spread = (1 - luck) * p * (1 - p)
    return [1 - p - spread, 0, 2 * spread, 0, p - spread]


def decisions(
    elo: float, test: Hypotheses, runs: int = RUNS, luck: float = 0.3
) -> list[tuple[int | None, int]]:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(runs):
        watch = Watch(test)
        for score in rng.choice(SCORES, 3000, p=outcomes(elo, luck)):
            if watch.add(float(score)).accepted is not None:
                break
        found.append((watch.standing.accepted, watch.standing.deals))
    return found


@pytest.mark.parametrize(("elo", "right"), [(0, 0), (100, 1)])
def test_it_is_wrong_as_seldom_as_it_promises(elo: float, right: int) -> None:
    found = decisions(elo, Hypotheses(0, 100))
    wrong = sum(accepted == 1 - right for accepted, _ in found)
    undecided = sum(accepted is None for accepted, _ in found)
    assert undecided == 0
    assert wrong <= RUNS * 0.05 + 3 * math.sqrt(RUNS * 0.05 * 0.95)


def test_it_stops_sooner_when_the_difference_is_larger() -> None:
    test = Hypotheses(0, 80)
    near, far = (np.mean([deals for _, deals in decisions(elo, test, 40)]) for elo in (80, 400))
    assert far < near / 3


def test_the_ratio_agrees_with_the_normal_approximation() -> None:
    """For many deals and near hypotheses, LLR is N (t1 - t0) (2 mean - t0 - t1) / (2 variance)."""
    counts, test = (300, 40, 700, 60, 380), Hypotheses(0, 5)
    total = sum(counts)
    mean = sum(n * a for n, a in zip(counts, SCORES, strict=True)) / total
    variance = sum(n * (a - mean) ** 2 for n, a in zip(counts, SCORES, strict=True)) / total
    t0, t1 = expected_score(test.elo0), expected_score(test.elo1)
    near = total * (t1 - t0) * (2 * mean - t0 - t1) / (2 * variance)
    assert log_likelihood_ratio(counts, test) == pytest.approx(near, rel=0.01)


def test_equal_evidence_decides_nothing() -> None:
    test = Hypotheses(-50, 50)
    assert log_likelihood_ratio((10, 0, 30, 0, 10), test) == pytest.approx(0, abs=1e-9)
    assert log_likelihood_ratio((0, 0, 0, 0, 0), test) == pytest.approx(0, abs=1e-9)


def test_after_the_end_nothing_changes() -> None:
    watch = Watch(Hypotheses(0, 100))
    for _ in range(200):
        watch.add(1.0)
    assert watch.standing.accepted == 1
    assert watch.standing.deals < 50
    before = watch.standing
    assert watch.add(0.0) == before


def test_the_bounds_follow_from_the_risks() -> None:
    assert Hypotheses(0, 10).bounds == pytest.approx((-math.log(19), math.log(19)))
    assert read_test("0,10,0.01,0.1") == Hypotheses(0, 10, 0.01, 0.1)


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
def test_a_test_that_makes_no_sense(text: str, words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        read_test(text)
