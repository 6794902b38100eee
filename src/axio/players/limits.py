"""How long a player may think, as text: `sim@1s`, `sim@50ms`, `sim@800r` (rollouts), `sim@1sx2` (threads)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..chance import Generator
from ..errors import WrongPlayers
from ..view import View
from .interface import UNLIMITED, Budget, Choice, Player

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

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """A legal move, thought about within this player's own budget."""
        return self.player.choose(view, self.budget, lots)


def read_limit(text: str) -> Budget:
    """The budget that a text such as `1s` or `800r` stands for. Raises `WrongPlayers`.

    >>> read_limit("50ms").seconds, read_limit("800r").rollouts
    (0.05, 800)
    """
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    match = _LIMIT.fullmatch(text)
    if match is None or float(match["amount"]) <= 0:
        raise WrongPlayers(
            f"{shown!r} is no limit for a player: write seconds as 1s or 50ms, rollouts as 800r, "
            "and x2 after it for two threads"
        )
    threads = int(match["threads"] or 1)
    amount = float(match["amount"])
    if threads > MOST_THREADS:
        raise WrongPlayers(
            f"{shown!r} is no limit for a player: at most {MOST_THREADS} threads, as in 800rx2"
        )
    if match["unit"] == "r":
        if not amount.is_integer():
            raise WrongPlayers(f"{shown!r} is no limit for a player: rollouts are whole, as in 800r")
        if amount > MOST_ROLLOUTS:
            raise WrongPlayers(
                f"{shown!r} is no limit for a player: at most {MOST_ROLLOUTS} rollouts, as in 800r"
            )
        return Budget(None, int(amount), threads)
    seconds = amount / (1000 if match["unit"] == "ms" else 1)
    if seconds > UNLIMITED:
        raise WrongPlayers(
            f"{shown!r} is no limit for a player: at most {UNLIMITED:.0f} seconds; write rollouts as 800r"
        )
    return Budget(seconds, None, threads)
