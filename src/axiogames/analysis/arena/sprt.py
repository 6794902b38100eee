"""Stopping early: a sequential test of two bots over whole deals.

The two games of a deal with seats swapped share its luck, so the deal is what is counted: its score a for
the first bot is 0, ¼, ½, ¾ or 1 (the five outcomes that computer chess calls pentanomial). With n_i deals of
score a_i, the likelihood of "the expected score is t" is at its largest for the frequencies

    p_i = n_i / (N · (1 + λ (a_i − t))),   λ such that Σ p_i (a_i − t) = 0,

and the log-likelihood ratio of two hypotheses is LLR = Σ n_i ln(p_i(t1) / p_i(t0)): the generalised
sequential probability ratio test. A hypothesis is given in Elo, t = 1 / (1 + 10^(−Elo / 400)). The test ends
when LLR is at most ln(β / (1 − α)), which accepts ELO0, or at least ln((1 − β) / α), which accepts ELO1; it
then accepts a wrong one with a probability of about α or β. Outcomes not seen yet count a thousandth, so
that every t can be reached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from ...errors import InvalidOption

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
UNSEEN = 1e-3
MOST_ELO = 2000  # by which a bot can be stronger: 100,000 to 1
LONGEST = 100  # characters of a test
STEPS = 60  # of the bisection for λ; each halves the interval


class Hypotheses(Struct, frozen=True):
    """The first bot is stronger by `elo0` Elo, or it is by `elo1`; and the risks of taking the wrong one."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the test ends."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


class Standing(Struct, frozen=True):
    """Where a test stands: the ratio after so many deals, its bounds, and what was accepted (0 or 1)."""

    llr: float
    lower: float
    upper: float
    deals: int
    accepted: int | None


def read_test(text: str) -> Hypotheses:
    """The test that a text such as `0,20` or `0,20,0.01,0.05` asks for. Raises `InvalidOption`.

    >>> read_test("0,20").elo1
    20.0
    """
    wanted = "write ELO0,ELO1 as in 0,20, or with the risks of error as in 0,20,0.05,0.05"
    try:
        if not text.isascii() or "_" in text or len(text) > LONGEST:
            raise ValueError
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidOption(f"{text[:LONGEST]!r} is no sequential test: {wanted}") from None
    if len(numbers) not in (2, 4) or not all(map(math.isfinite, numbers)):
        raise InvalidOption(f"{text!r} is no sequential test: {wanted}")
    test = Hypotheses(*numbers)
    if wrong := fault(test):
        raise InvalidOption(f"{text!r} is no sequential test: {wrong}")
    return test


def fault(test: Hypotheses) -> str | None:
    """What is wrong with a test, if anything is."""
    if not (-MOST_ELO <= test.elo0 <= MOST_ELO and -MOST_ELO <= test.elo1 <= MOST_ELO):
        return f"Elo lie between -{MOST_ELO} and {MOST_ELO}"
    if test.elo0 >= test.elo1:
        return "ELO0 has to be less than ELO1"
    if not (0 < test.alpha < 0.5 and 0 < test.beta < 0.5):
        return "risks of error lie between 0 and 0.5"
    return None


def expected_score(elo: float) -> float:
    """What a bot scores that is stronger by so many Elo.

    >>> expected_score(0.0)
    0.5
    """
    return 1 / (1 + math.pow(10, -elo / 400))


def log_likelihood_ratio(counts: Sequence[float], test: Hypotheses) -> float:
    """How much likelier `elo1` makes these numbers of deals, one for each of `SCORES`, than `elo0` does."""
    seen = [max(count, UNSEEN) for count in counts]
    first, second = (_likeliest(seen, expected_score(elo)) for elo in (test.elo0, test.elo1))
    return sum(n * math.log(p1 / p0) for n, p0, p1 in zip(seen, first, second, strict=True))


def _likeliest(counts: Sequence[float], score: float) -> list[float]:
    """The frequencies that make the counts likeliest among those with this expected score."""
    total = sum(counts)
    away = [a - score for a in SCORES]
    # All frequencies are positive between the poles; the condition falls from one pole to the other.
    low, high = -1 / max(away), -1 / min(away)
    for _ in range(STEPS):
        middle = (low + high) / 2
        if sum(n * d / (1 + middle * d) for n, d in zip(counts, away, strict=True)) > 0:
            low = middle
        else:
            high = middle
    return [n / total / (1 + (low + high) / 2 * d) for n, d in zip(counts, away, strict=True)]


class Watch:
    """Follows a test deal by deal. Once it has ended, further deals are not looked at."""

    def __init__(self, test: Hypotheses) -> None:
        self.test = test
        self._counts = [0.0] * len(SCORES)
        self.standing = Standing(0.0, *test.bounds, 0, None)

    def add(self, score: float) -> Standing:
        """Count a deal with this score for the first bot."""
        if self.standing.accepted is None:
            self._counts[round(score * (len(SCORES) - 1))] += 1
            llr = log_likelihood_ratio(self._counts, self.test)
            lower, upper = self.test.bounds
            accepted = int(llr >= upper) if llr <= lower or llr >= upper else None
            self.standing = Standing(llr, lower, upper, self.standing.deals + 1, accepted)
        return self.standing
