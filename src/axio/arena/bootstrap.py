"""How sure a figure is: the Bayesian bootstrap over deals.

Games on the same deal are not independent, deals are. So deals are what is drawn anew: a figure is computed
many times, each time with a weight by lot for every deal (exponential, so that the weights of all deals are
as in Rubin's Bayesian bootstrap), and 95 % of what comes out is the interval. For shares of victories half a
deal all won and half a deal all lost are added, with weights by lot as well (gamma ½). Where deals are won
or lost whole this is Jeffreys' interval, so a bot that has won everything is not taken to be sure of
winning.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

RESAMPLES = 2000
QUICK = 200  # for figures that are shown while games go on
CHUNK = 1 << 22  # weights in memory at a time
LEVEL = (2.5, 97.5)  # per cent


class Estimate(Struct, frozen=True):
    """A figure and its interval of 95 %; there is none from a single deal."""

    value: float
    low: float | None = None
    high: float | None = None


class Bootstrap:
    """Sums over deals, computed many times with weights by lot; the same weights for every sum."""

    def __init__(self, deals: int, resamples: int = RESAMPLES) -> None:
        self.deals = deals
        self.resamples = resamples

    def sums(self, columns: np.ndarray) -> np.ndarray:
        """The weighted sums of columns with a row for each deal: a row for each resample."""
        flat = columns.reshape(self.deals, -1)
        lots = np.random.default_rng(0)
        size = max(1, CHUNK // max(1, self.deals))
        parts = [
            lots.standard_exponential((min(size, self.resamples - first), self.deals)) @ flat
            for first in range(0, self.resamples, size)
        ]
        return np.concatenate(parts).reshape(self.resamples, *columns.shape[1:])

    def half_deals(self, *shape: int) -> np.ndarray:
        """Weights of half a deal all won and of half a deal all lost, for each resample and this shape."""
        return np.random.default_rng(1).standard_gamma(0.5, (2, self.resamples, *shape))

    def means(self, sums: np.ndarray, counts: np.ndarray) -> list[Estimate]:
        """The mean of each column: its sum over all deals by its count."""
        values = sums.sum(axis=0) / counts.sum(axis=0)
        return self._estimates(values, self.sums(sums) / self.sums(counts))

    def rates(self, won: np.ndarray, of: np.ndarray) -> list[Estimate]:
        """The share of each column that was won."""
        total = of.sum(axis=0)
        ours, theirs = self.half_deals(*of.shape[1:]) * (total / self.deals)
        samples = (self.sums(won) + ours) / (self.sums(of) + ours + theirs)
        return self._estimates(won.sum(axis=0) / total, samples, certain=False)

    def running_rate(self, won: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval of the share that was won, after each deal."""
        weights = np.random.default_rng(0).standard_exponential((self.resamples, self.deals))
        games_a_deal = of.cumsum() / np.arange(1, self.deals + 1)
        ours, theirs = self.half_deals(1) * games_a_deal
        samples = ((weights * won).cumsum(axis=1) + ours) / ((weights * of).cumsum(axis=1) + ours + theirs)
        low, high = np.percentile(samples, LEVEL, axis=0)
        return low, high

    def _estimates(self, values: np.ndarray, samples: np.ndarray, certain: bool = True) -> list[Estimate]:
        if self.deals < 2 and certain:
            return [Estimate(float(value)) for value in values]
        low, high = np.percentile(samples, LEVEL, axis=0)
        return [Estimate(*map(float, figures)) for figures in zip(values, low, high, strict=True)]
