"""Ratings of bots: Elo by the Bradley–Terry model, and OpenSkill."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from ...optional_deps import require
from .statistics import INTERVAL_PERCENTILES, Bootstrap, Comparison, IntervalEstimate

ELO_PER_NAT = 400 / math.log(10)  # Elo for a natural logarithm of odds
MAX_STEP = 2.0
MAX_ITERATIONS = 200
TOLERANCE = 1e-9


def bradley_terry(points: np.ndarray) -> np.ndarray:
    """Return the maximum-likelihood Elo ratings, with mean 0.

    In the model, i beats j with probability 1 / (1 + 10^((Elo_j − Elo_i) / 400)). The log-likelihood is
    concave; Newton's method with bounded steps finds its maximum. The rating of a bot that has won every game
    is infinite, so add pseudo-counts first.

    Args:
        points: `points[..., i, j]` is the score of i against j; a draw counts half.
    """
    bots = points.shape[-1]
    games = points + np.swapaxes(points, -1, -2)
    strength = np.zeros(points.shape[:-1])
    for _ in range(MAX_ITERATIONS):
        expected = 1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None]))
        gradient = (points - games * expected).sum(axis=-1)
        variance = games * expected * (1 - expected)
        # The likelihood depends on differences of strengths only; the matrix of ones fixes their mean.
        hessian = np.eye(bots) * variance.sum(axis=-1)[..., None] - variance + np.ones((bots, bots))
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        strength += step * np.minimum(1, MAX_STEP / np.maximum(longest, TOLERANCE))
        if longest.max() < TOLERANCE:
            break
    return np.asarray((strength - strength.mean(axis=-1, keepdims=True)) * ELO_PER_NAT)


def elo_ratings(points: np.ndarray, bootstrap: Bootstrap) -> list[IntervalEstimate]:
    """Return the Elo rating of each bot, with its interval.

    Half a deal won and half a deal lost are added as pseudo-counts for each pair of bots that has met.

    Args:
        points: `points[deal, i, j]` is the score of i against j on a deal.
        bootstrap: the bootstrap over these deals.
    """
    deals, bots, _ = points.shape
    if bots == 1 or not points.any():
        return [IntervalEstimate(0.0)] * bots
    total = points.sum(axis=0)
    games_per_deal = (total + total.T) / deals  # for each pair of bots
    values = bradley_terry(total + games_per_deal / 2)
    won, lost = bootstrap.pseudo_counts(bots, bots) * games_per_deal
    upper = np.triu(np.ones((bots, bots), bool), 1)
    added = np.where(upper, won, np.swapaxes(lost, -1, -2))
    samples = bradley_terry(bootstrap.sums(points) + added)
    low, high = np.percentile(samples, INTERVAL_PERCENTILES, axis=0)
    return [IntervalEstimate(*map(float, row)) for row in zip(values, low, high, strict=True)]


class OpenSkillRating(Struct, frozen=True):
    """OpenSkill's estimate of a bot's strength, and its uncertainty."""

    mu: float
    sigma: float


def openskill_ratings(bots: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, OpenSkillRating]:
    """Return every bot's rating in the Plackett–Luce model after all comparisons, in their order.

    Bots do not change, so their uncertainty does not grow between games (tau is 0). A bot that occupies
    several seats is updated with the mean of the updates of its seats.
    """
    model = require("openskill.models").PlackettLuce(tau=0.0)
    ratings = {bot: model.rating() for bot in bots}
    for comparison in comparisons:
        if len(set(comparison.bots)) == 1:
            continue
        teams = [[model.create_rating([ratings[bot].mu, ratings[bot].sigma])] for bot in comparison.bots]
        updated = model.rate(teams, ranks=[float(rank) for rank in comparison.ranks])
        for bot in dict.fromkeys(comparison.bots):
            own = [team[0] for team, name in zip(updated, comparison.bots, strict=True) if name == bot]
            ratings[bot] = model.rating(
                mu=sum(rating.mu for rating in own) / len(own),
                sigma=sum(rating.sigma for rating in own) / len(own),
            )
    return {bot: OpenSkillRating(rating.mu, rating.sigma) for bot, rating in ratings.items()}
