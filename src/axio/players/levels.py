"""Eight levels for people, from a beginner to full strength.

A level is weaker because it sees less or thinks less, not because it throws moves away: the lowest look at a
few of the moves only, as beginners do, and at nothing but points; the middle ones at everything, but not
ahead; the upper ones play on from the promising moves, longer and longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..chance import Generator
from ..position import Moves
from ..view import View
from .greedy import Greedy
from .instant import Instant
from .interface import Budget, Choice, Player
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
        allowed = [rollouts for rollouts in (self.rollouts, budget.rollouts) if rollouts is not None]
        return self.player.choose(view, replace(budget, rollouts=min(allowed, default=None)), lots)


def _opener(says: str, make: Callable[[], Player]) -> Callable[[], Player]:
    """What opens a level; its docstring is what people read."""

    def opened() -> Player:
        return make()

    opened.__doc__ = says
    return opened


LEVELS: dict[str, Callable[[], Player]] = {
    "level1": _opener("Sees six moves and takes the most points.", lambda: Glimpse("level1", 6)),
    "level2": _opener("Sees forty moves and takes the most points.", lambda: Glimpse("level2", 40)),
    "level3": _opener("Sees every move and takes the most points.", lambda: Level("level3", Greedy())),
    "level4": _opener("Judges what each move leads to.", lambda: Level("level4", Instant())),
    "level5": _opener("Plays on in its head, a little.", lambda: Level("level5", Sim(), 40)),
    "level6": _opener("Plays on in its head 200 times a move.", lambda: Level("level6", Sim(), 200)),
    "level7": _opener("Plays on in its head 2000 times a move.", lambda: Level("level7", Sim(), 2000)),
    "level8": _opener("Thinks as long as it may.", lambda: Level("level8", Sim())),
}
