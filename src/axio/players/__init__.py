"""Players that are programs. A player is a module here and a line in `PLAYERS`."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import WrongPlayers
from .balanced import Balanced
from .greedy import Greedy
from .interface import Budget, Candidate, Choice, Player
from .limits import Limited, read_limit
from .random import Random

PLAYERS: dict[str, Callable[[], Player]] = {
    "random": Random,
    "greedy": Greedy,
    "balanced": Balanced,
}

__all__ = ["PLAYERS", "Budget", "Candidate", "Choice", "Player", "player"]


def player(name: str) -> Player:
    """A player by its name, `random`, or with a limit of its own, `sim@1s`. Raises `WrongPlayers`."""
    kind, at, limit = name.partition("@")
    if kind not in PLAYERS:
        raise WrongPlayers(f"unknown player {kind!r}: choose from {', '.join(PLAYERS)}")
    found = PLAYERS[kind]()
    return Limited(found, read_limit(limit), name) if at else found
