"""The interface of players: the protocol `Player`, its `Budget` and its `Choice`.

A budget has a text form: `1s`, `50ms`, `800r` (rollouts), `1sx2` (two threads). A player's name can end with
`@` and a budget, which the player then always uses: `sim@800r`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from ..errors import InvalidPlayers
from ..model.view import View
from ..moves import Action, Move
from ..rng import Generator

__all__ = ["UNLIMITED", "Budget", "Candidate", "Choice", "FixedBudget", "Player", "parse_budget"]

DEFAULT_SECONDS = 1.0
UNLIMITED = 3600.0  # seconds; the time limit if only rollouts are limited
MAX_ROLLOUTS = 1_000_000_000
MAX_THREADS = 64
SHOWN_CHARACTERS = 40  # of an invalid budget, in error messages

_BUDGET = re.compile(
    r"(?P<amount>[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12})(?P<unit>ms|s|r)(?:x(?P<threads>[1-9][0-9]?))?"
)


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """Limits of the search for one move. The first limit reached ends it.

    Players that do not search ignore the budget. With a limit on rollouts only, the clock is not read: the
    same seed gives the same move on every machine.

    Args:
        seconds: time limit. By default 1 second, or none if `rollouts` is given.
        rollouts: limit of the number of rollouts. By default none.
        threads: the number of threads that run rollouts.

    >>> Budget().seconds, Budget(rollouts=800).seconds == UNLIMITED
    (1.0, True)
    """

    seconds: float
    rollouts: int | None
    threads: int

    def __init__(self, seconds: float | None = None, rollouts: int | None = None, threads: int = 1) -> None:
        if seconds is None:
            seconds = DEFAULT_SECONDS if rollouts is None else UNLIMITED
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "rollouts", rollouts)
        object.__setattr__(self, "threads", threads)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that a player considered.

    Attributes:
        move: the move.
        value: numbers that are compared in order, higher is better. Their meaning depends on the player.
        why: a short explanation.
    """

    move: Move
    value: tuple[float, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The move that a player chose.

    Attributes:
        move: the move.
        candidates: the best moves that the player considered, best first.
        action: the action id of the move if the player knows it, so that the move need not be encoded.
    """

    move: Move
    candidates: tuple[Candidate, ...]
    action: Action | None = None


class Player(Protocol):
    """A program that chooses moves.

    It knows only the view. All its randomness comes from `rng`: the same view, limit of rollouts and
    generator give the same move.
    """

    @property
    def name(self) -> str:
        """The name, as in records."""
        ...

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Choose a legal move for the seat of the view, which is to move.

        Args:
            view: the position as the seat knows it.
            budget: limits of the search.
            rng: the source of all randomness.

        Returns:
            The move, and candidates for display.
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedBudget:
    """A player with its own budget, which replaces the budget of the match."""

    player: Player
    budget: Budget
    name: str

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the choice of the player within its own budget."""
        return self.player.choose(view, self.budget, rng)


def parse_budget(text: str) -> Budget:
    """Parse a budget such as `1s`, `50ms` or `800rx2`.

    Raises:
        InvalidPlayers: the text is not a budget, or exceeds a limit.

    >>> parse_budget("50ms").seconds, parse_budget("800r").rollouts
    (0.05, 800)
    """
    shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
    match = _BUDGET.fullmatch(text)
    if match is None or float(match["amount"]) <= 0:
        raise InvalidPlayers(
            f"invalid budget {shown!r}: write seconds as 1s or 50ms, rollouts as 800r, and x2 for two threads"
        )
    threads = int(match["threads"] or 1)
    amount = float(match["amount"])
    if threads > MAX_THREADS:
        raise InvalidPlayers(f"invalid budget {shown!r}: at most {MAX_THREADS} threads, as in 800rx2")
    if match["unit"] == "r":
        if not amount.is_integer():
            raise InvalidPlayers(f"invalid budget {shown!r}: rollouts are a whole number, as in 800r")
        if amount > MAX_ROLLOUTS:
            raise InvalidPlayers(f"invalid budget {shown!r}: at most {MAX_ROLLOUTS} rollouts, as in 800r")
        return Budget(None, int(amount), threads)
    seconds = amount / (1000 if match["unit"] == "ms" else 1)
    if seconds > UNLIMITED:
        raise InvalidPlayers(
            f"invalid budget {shown!r}: at most {UNLIMITED:.0f} seconds; limit rollouts instead, as in 800r"
        )
    return Budget(seconds, None, threads)
