"""Simulated arenas with known strengths; no game is played."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from axiogames.analysis.arena.results import ArenaGame
from axiogames.analysis.arena.schedule import ArenaSettings, Schedule, Seating
from axiogames.games import GAMES

ELO = 400 / math.log(10)


def settings(bots: Sequence[str], players: int = 2) -> ArenaSettings:
    """Return settings without checking that the bots exist."""
    return ArenaSettings(GAMES[0], players, (), tuple(bots), "simulated")


def game(seating: Seating, strengths: Sequence[float]) -> ArenaGame:
    """Return a finished game whose ranks follow from the strengths."""
    ranks = tuple(1 + sum(other > own for other in strengths) for own in strengths)
    scores = tuple((20 + round(4 * own), 40) for own in strengths)
    n = len(strengths)
    return ArenaGame(*seating, scores, ranks, (10,) * n, (0.5,) * n, (0.1,) * n)


def arena(
    elo: Mapping[str, float], deals: int, *, players: int = 2, luck: float = 0.0, seed: int = 0
) -> dict[Seating, ArenaGame]:
    """Return games between bots with these Elo ratings.

    A seat's strength is its bot's rating plus a Gumbel variable for each seat and game, which gives the win
    probabilities of the Bradley–Terry model, plus `luck` times a Gumbel variable for each seat and deal.
    """
    rng = np.random.default_rng(seed)
    schedule = Schedule(tuple(elo), players)
    played = {}
    for deal in range(deals):
        deal_luck = rng.gumbel(size=players)
        for seating in schedule.games(deal):
            noise = rng.gumbel(size=players)
            strengths = [
                elo[bot] / ELO + noise[seat] + luck * deal_luck[seat]
                for seat, bot in enumerate(seating.seats)
            ]
            played[seating] = game(seating, strengths)
    return played
