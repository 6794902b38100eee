"""Players that are programs. A player is a module here and a line in `PLAYER_COUNT`."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidPlayers
from .bots.levels import LEVELS
from .bots.searching import FlatMonteCarlo, Instant, Sim
from .bots.simple import Balanced, Greedy, Random
from .interface import Budget, Candidate, Choice, Limited, Player, read_limit

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
    """A player by its name, `random`, or with a limit of its own, `sim@1s`. Raises `InvalidPlayers`."""
    kind, at, limit = name.partition("@")
    if kind not in PLAYERS:
        raise InvalidPlayers(f"unknown player {kind!r}: choose from {', '.join(PLAYERS)}")
    found = PLAYERS[kind]()
    return Limited(found, read_limit(limit), name) if at else found
