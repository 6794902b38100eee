"""Eight levels for people, from a beginner to full strength.

A level is weaker because it sees less or thinks less, not because it throws moves away: the lowest look at a
few of the moves only, as beginners do, and at nothing but points; the middle ones at everything, but not
ahead; the upper ones play on from the promising moves, longer and longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..chance import Generator
from ..position import Moves
from ..view import View
from .greedy import Greedy
from .instant import Instant
from .interface import Budget, Choice, Player
from .limits import UNLIMITED
from .rating import best_of
from .sim import Sim


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Sees only some of the moves, any of them, and takes the one with the most points."""

    name: str
    moves: int

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """The best of the moves that it happens to see."""
        moves = view.legal_moves()
        some = sorted({lots.below(len(moves)) for _ in range(self.moves)})
        seen = Moves(view, np.ascontiguousarray(moves.actions[some]))
        gains = view.gains(seen)
        return best_of(view, seen, [gains.sum(axis=1)], gains, lots)


@dataclass(frozen=True, slots=True)
class Level:
    """Another player under the name of a level; with `rollouts`, it thinks no longer than that."""

    name: str
    player: Player
    rollouts: int | None = None

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """What the player does within what this level allows."""
        if self.rollouts is not None:
            budget = Budget(min(budget.seconds, UNLIMITED), self.rollouts, budget.threads)
        return self.player.choose(view, budget, lots)


LEVELS: dict[str, Callable[[], Player]] = {
    "level1": partial(Glimpse, "level1", 6),
    "level2": partial(Glimpse, "level2", 40),
    "level3": lambda: Level("level3", Greedy()),
    "level4": lambda: Level("level4", Instant()),
    "level5": lambda: Level("level5", Sim(), 40),
    "level6": lambda: Level("level6", Sim(), 200),
    "level7": lambda: Level("level7", Sim(), 2000),
    "level8": lambda: Level("level8", Sim()),
}
