"""Players that are programs. A player is a module here and a line in `PLAYERS`."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import WrongPlayers
from .balanced import Balanced
from .greedy import Greedy
from .interface import Budget, Candidate, Choice, Player
from .random import Random

PLAYERS: dict[str, Callable[[], Player]] = {
    "random": Random,
    "greedy": Greedy,
    "balanced": Balanced,
}

__all__ = ["PLAYERS", "Budget", "Candidate", "Choice", "Player", "player"]


def player(name: str) -> Player:
    """A player by its name. Raises `WrongPlayers`."""
    if name not in PLAYERS:
        raise WrongPlayers(f"unknown player {name!r}: choose from {', '.join(PLAYERS)}")
    return PLAYERS[name]()
