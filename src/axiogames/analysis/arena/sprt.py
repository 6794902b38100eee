"""A generalised sequential probability ratio test of two bots, with the deal as the unit.

The two games of a deal, with seats swapped, share its luck, so the observations are deals, not games. The
score a of a deal for the first bot is 0, ¼, ½, ¾ or 1 (the pentanomial model of computer chess). With n_i
deals of score a_i out of N, the likelihood of "the expected score is t" is maximal for the frequencies

    p_i = n_i / (N · (1 + λ (a_i − t))),   λ such that Σ p_i (a_i − t) = 0,

and the log-likelihood ratio of two hypotheses is LLR = Σ n_i ln(p_i(t1) / p_i(t0)). A hypothesis is stated in
Elo, t = 1 / (1 + 10^(−Elo / 400)). The test ends when LLR is at most ln(β / (1 − α)), which accepts ELO0, or
at least ln((1 − β) / α), which accepts ELO1. The probability of accepting a wrong hypothesis is then about α
or β. Scores that have not been observed have a pseudo-count of 0.001, so that a solution exists for every t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from ...errors import InvalidOption

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
PSEUDO_COUNT = 1e-3
MAX_ELO = 2000  # odds of 100,000 to 1
MAX_TEXT_LENGTH = 100
BISECTION_STEPS = 60  # for λ; each halves the interval


class Hypotheses(Struct, frozen=True):
    """Two hypotheses on the Elo advantage of the first bot, and the error rates of the test.

    `alpha` is the probability of accepting `elo1` wrongly, `beta` that of accepting `elo0` wrongly.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __str__(self) -> str:
        return ",".join(f"{n:g}" for n in (self.elo0, self.elo1, self.alpha, self.beta))

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which the test ends."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


class SprtStatus(Struct, frozen=True):
    """Log-likelihood ratio after a number of deals, its bounds, and the accepted hypothesis (0 or 1)."""

    llr: float
    lower: float
    upper: float
    deals: int
    accepted: int | None


def parse_sprt(text: str) -> Hypotheses:
    """Parse a test such as `0,20` or `0,20,0.01,0.05`. Raises `InvalidOption`.

    >>> parse_sprt("0,20").elo1
    20.0
    """
    expected = "write ELO0,ELO1 as in 0,20, or with the error rates as in 0,20,0.05,0.05"
    try:
        if not text.isascii() or "_" in text or len(text) > MAX_TEXT_LENGTH:
            raise ValueError
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidOption(f"invalid sequential test {text[:MAX_TEXT_LENGTH]!r}: {expected}") from None
    if len(numbers) not in (2, 4) or not all(map(math.isfinite, numbers)):
        raise InvalidOption(f"invalid sequential test {text!r}: {expected}")
    test = Hypotheses(*numbers)
    if problem := find_problem(test):
        raise InvalidOption(f"invalid sequential test {text!r}: {problem}")
    return test


def find_problem(test: Hypotheses) -> str | None:
    """Return the reason why a test is invalid, or `None`."""
    if not (-MAX_ELO <= test.elo0 <= MAX_ELO and -MAX_ELO <= test.elo1 <= MAX_ELO):
        return f"Elo must be between -{MAX_ELO} and {MAX_ELO}"
    if test.elo0 >= test.elo1:
        return "ELO0 must be less than ELO1"
    if not (0 < test.alpha < 0.5 and 0 < test.beta < 0.5):
        return "error rates must be between 0 and 0.5"
    return None


def expected_score(elo: float) -> float:
    """Return the expected score of a bot rated `elo` above its opponent.

    >>> expected_score(0.0)
    0.5
    """
    return 1 / (1 + math.pow(10, -elo / 400))


def log_likelihood_ratio(counts: Sequence[float], test: Hypotheses) -> float:
    """Return the log-likelihood ratio of `elo1` to `elo0`, given the number of deals for each of `SCORES`."""
    positive = [max(count, PSEUDO_COUNT) for count in counts]
    null, alternative = (_fit_frequencies(positive, expected_score(elo)) for elo in (test.elo0, test.elo1))
    return sum(n * math.log(p1 / p0) for n, p0, p1 in zip(positive, null, alternative, strict=True))


def _fit_frequencies(counts: Sequence[float], score: float) -> list[float]:
    """Return the maximum-likelihood frequencies among those with this expected score."""
    total = sum(counts)
    deviations = [a - score for a in SCORES]
    # Between the poles all frequencies are positive, and the constraint decreases monotonically in λ.
    low, high = -1 / max(deviations), -1 / min(deviations)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        if sum(n * d / (1 + middle * d) for n, d in zip(counts, deviations, strict=True)) > 0:
            low = middle
        else:
            high = middle
    return [n / total / (1 + (low + high) / 2 * d) for n, d in zip(counts, deviations, strict=True)]


class SequentialTest:
    """A test in progress, updated deal by deal. Deals after its end are ignored."""

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self._counts = [0.0] * len(SCORES)
        self.status = SprtStatus(0.0, *hypotheses.bounds, 0, None)

    def add(self, score: float) -> SprtStatus:
        """Add a deal on which the first bot scored `score`, and return the new status."""
        if self.status.accepted is None:
            self._counts[round(score * (len(SCORES) - 1))] += 1
            llr = log_likelihood_ratio(self._counts, self.hypotheses)
            lower, upper = self.hypotheses.bounds
            accepted = int(llr >= upper) if llr <= lower or llr >= upper else None
            self.status = SprtStatus(llr, lower, upper, self.status.deals + 1, accepted)
        return self.status
