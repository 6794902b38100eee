"""What every player is: something that chooses a move from a view and says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..chance import Generator
from ..moves import Move
from ..search.budget import UNLIMITED, Budget
from ..view import View

__all__ = ["UNLIMITED", "Budget", "Candidate", "Choice", "Player"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that was considered: its worth to the player (compared in order, more is better), in words."""

    move: Move
    value: tuple[float, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A move and the best of those it was chosen from, the best first."""

    move: Move
    candidates: tuple[Candidate, ...]


class Player(Protocol):
    """A program that plays. It is shown a view and nothing else, and knows no game's name.

    All chance it uses comes from `lots`: the same view, budget of rollouts and generator give the same move.
    """

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        ...

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """A legal move for the seat of the view, whose turn it is."""
        ...
