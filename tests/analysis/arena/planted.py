"""Arenas whose truth is known, because it was planted: no game is played."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from axiogames.analysis.arena.results import Played
from axiogames.analysis.arena.schedule import Schedule, Seating, Settings
from axiogames.games import GAMES

ELO = 400 / math.log(10)


def settings(bots: Sequence[str], players: int = 2) -> Settings:
    """Settings with bots that need not exist."""
    return Settings(GAMES[0], players, (), tuple(bots), "planted")


def game(seating: Seating, strengths: Sequence[float]) -> Played:
    """A finished game in which more strength means a better place."""
    place = tuple(1 + sum(other > own for other in strengths) for own in strengths)
    scores = tuple((20 + round(4 * own), 40) for own in strengths)
    n = len(strengths)
    return Played(*seating, scores, place, (10,) * n, (0.5,) * n, (0.1,) * n)


def arena(
    elo: Mapping[str, float], deals: int, *, players: int = 2, luck: float = 0.0, seed: int = 0
) -> dict[Seating, Played]:
    """Games between bots of these Elo ratings.

    A seat's strength is its bot's rating, and chance: a Gumbel variable for each seat and game, so that the
    better of two wins as Bradley and Terry have it, and `luck` times what the deal gives the seat.
    """
    rng = np.random.default_rng(seed)
    schedule = Schedule(tuple(elo), players)
    played = {}
    for deal in range(deals):
        gift = rng.gumbel(size=players)
        for seating in schedule.games(deal):
            chance = rng.gumbel(size=players)
            strengths = [
                elo[bot] / ELO + chance[seat] + luck * gift[seat] for seat, bot in enumerate(seating.seats)
            ]
            played[seating] = game(seating, strengths)
    return played
