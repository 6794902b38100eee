"""Strength as a number: Elo by the model of Bradley and Terry, and OpenSkill."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from ...optional_deps import require
from .statistics import LEVEL, Bootstrap, Estimate, Meeting

ELO = 400 / math.log(10)  # Elo for a natural logarithm of odds
LONGEST_STEP = 2.0
MOST_STEPS = 200
CLOSE = 1e-9


def bradley_terry(points: np.ndarray) -> np.ndarray:
    """The Elo ratings under which these points are likeliest; their mean is 0.

    `points[..., i, j]` is what i won against j, a draw counting half. By the model, i beats j with a
    probability of 1 / (1 + 10^((Elo_j − Elo_i) / 400)). The likelihood is concave; Newton's method with
    bounded steps finds its top. Whoever has won everything would get an infinite rating: add a little for the
    other side before.
    """
    bots = points.shape[-1]
    games = points + np.swapaxes(points, -1, -2)
    strength = np.zeros(points.shape[:-1])
    for _ in range(MOST_STEPS):
        expected = 1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None]))
        slope = (points - games * expected).sum(axis=-1)
        spread = games * expected * (1 - expected)
        # Only differences count. The ones hold the mean where it is.
        curve = np.eye(bots) * spread.sum(axis=-1)[..., None] - spread + np.ones((bots, bots))
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        strength += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, CLOSE))
        if longest.max() < CLOSE:
            break
    return np.asarray((strength - strength.mean(axis=-1, keepdims=True)) * ELO)


def elo(points: np.ndarray, bootstrap: Bootstrap) -> list[Estimate]:
    """Each bot's rating from `points[deal, i, j]`, with its interval.

    For every two bots that met, half a deal that one won and half a deal that the other won are added.
    """
    deals, bots, _ = points.shape
    if bots == 1 or not points.any():
        return [Estimate(0.0)] * bots
    total = points.sum(axis=0)
    deal = (total + total.T) / deals  # games of a deal, for each two bots
    values = bradley_terry(total + deal / 2)
    ours, theirs = bootstrap.half_deals(bots, bots) * deal
    upper = np.triu(np.ones((bots, bots), bool), 1)
    added = np.where(upper, ours, np.swapaxes(theirs, -1, -2))
    low, high = np.percentile(bradley_terry(bootstrap.sums(points) + added), LEVEL, axis=0)
    return [Estimate(*map(float, figures)) for figures in zip(values, low, high, strict=True)]


class Skill(Struct, frozen=True):
    """OpenSkill's idea of a bot: its strength and how unsure that is."""

    mu: float
    sigma: float


def openskill(bots: Sequence[str], met: Sequence[Meeting]) -> dict[str, Skill]:
    """Every bot's skill by the model of Plackett and Luce, after all meetings in their order.

    Bots do not change, so nothing is forgotten (tau is 0). A bot that sits at a table more than once learns
    the mean of what its seats would teach it.
    """
    model = require("openskill.models").PlackettLuce(tau=0.0)
    ratings = {bot: model.rating() for bot in bots}
    for meeting in met:
        if len(set(meeting.bots)) == 1:
            continue
        teams = [[model.create_rating([ratings[bot].mu, ratings[bot].sigma])] for bot in meeting.bots]
        rated = model.rate(teams, ranks=[float(place) for place in meeting.place])
        for bot in dict.fromkeys(meeting.bots):
            own = [team[0] for team, name in zip(rated, meeting.bots, strict=True) if name == bot]
            ratings[bot] = model.rating(
                mu=sum(rating.mu for rating in own) / len(own),
                sigma=sum(rating.sigma for rating in own) / len(own),
            )
    return {bot: Skill(rating.mu, rating.sigma) for bot, rating in ratings.items()}
