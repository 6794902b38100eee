"""Players: bots and external engines. A bot is a class in `bots` and an entry of `PLAYERS`."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidPlayers
from .bots.levels import LEVELS
from .bots.searching import FlatMonteCarlo, Instant, Sim
from .bots.simple import Balanced, Greedy, Random
from .interface import Budget, Candidate, Choice, FixedBudget, Player, parse_budget

PLAYERS: dict[str, Callable[[], Player]] = {
    "random": Random,
    "greedy": Greedy,
    "balanced": Balanced,
    "mc": FlatMonteCarlo,
    "instant": Instant,
    "sim": Sim,
    **LEVELS,
}

__all__ = ["LEVELS", "PLAYERS", "Budget", "Candidate", "Choice", "Player", "player"]


def player(name: str) -> Player:
    """Return a new built-in player.

    Args:
        name: a name in `PLAYERS`, optionally with its own budget: `random`, `sim@1s`, `sim@800r`.

    Returns:
        The player.

    Raises:
        InvalidPlayers: there is no such player, or the budget is invalid.

    >>> player("sim@800r").name
    'sim@800r'
    """
    kind, at, budget = name.partition("@")
    if kind not in PLAYERS:
        raise InvalidPlayers(f"unknown player {kind!r}: choose from {', '.join(PLAYERS)}")
    found = PLAYERS[kind]()
    return FixedBudget(found, parse_budget(budget), name) if at else found
