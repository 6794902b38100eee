"""How long a player may think, as text: `sim@1s`, `sim@50ms`, `sim@800r` (rollouts), `sim@1sx2` (threads)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from ..errors import InvalidPlayers
from ..model.view import View
from ..moves import Move
from ..rng import Generator

DEFAULT_SECONDS = 1.0
UNLIMITED = 3600.0  # seconds, where rollouts are counted


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """How long a player may think: what is reached first ends it. Simple players need none of it.

    Rollouts are counted without a clock, unless seconds are named, too: the same seed gives the same move on
    every machine.

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

    All chance it uses comes from `rng`: the same view, budget of rollouts and generator give the same move.
    """

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        ...

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """A legal move for the seat of the view, whose turn it is."""
        ...


_LIMIT = re.compile(
    r"(?P<amount>[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12})(?P<unit>ms|s|r)(?:x(?P<threads>[1-9][0-9]?))?"
)
MOST_ROLLOUTS = 1_000_000_000
MOST_THREADS = 64
LONGEST = 40  # characters of a wrong limit that a message repeats


@dataclass(frozen=True, slots=True)
class Limited:
    """A player with a budget of its own, whatever budget it is given."""

    player: Player
    budget: Budget
    name: str

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """A legal move, thought about within this player's own budget."""
        return self.player.choose(view, self.budget, rng)


def read_limit(text: str) -> Budget:
    """The budget that a text such as `1s` or `800r` stands for. Raises `InvalidPlayers`.

    >>> read_limit("50ms").seconds, read_limit("800r").rollouts
    (0.05, 800)
    """
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    match = _LIMIT.fullmatch(text)
    if match is None or float(match["amount"]) <= 0:
        raise InvalidPlayers(
            f"{shown!r} is no limit for a player: write seconds as 1s or 50ms, rollouts as 800r, "
            "and x2 after it for two threads"
        )
    threads = int(match["threads"] or 1)
    amount = float(match["amount"])
    if threads > MOST_THREADS:
        raise InvalidPlayers(
            f"{shown!r} is no limit for a player: at most {MOST_THREADS} threads, as in 800rx2"
        )
    if match["unit"] == "r":
        if not amount.is_integer():
            raise InvalidPlayers(f"{shown!r} is no limit for a player: rollouts are whole, as in 800r")
        if amount > MOST_ROLLOUTS:
            raise InvalidPlayers(
                f"{shown!r} is no limit for a player: at most {MOST_ROLLOUTS} rollouts, as in 800r"
            )
        return Budget(None, int(amount), threads)
    seconds = amount / (1000 if match["unit"] == "ms" else 1)
    if seconds > UNLIMITED:
        raise InvalidPlayers(
            f"{shown!r} is no limit for a player: at most {UNLIMITED:.0f} seconds; write rollouts as 800r"
        )
    return Budget(seconds, None, threads)
