"""Eight levels for people, from a beginner to full strength.

A level is weaker because it sees less or thinks less, not because it throws moves away: the lowest see a few
of the moves only, as beginners do, and nothing but their points; the middle ones more and more of the moves,
and what those lead to; the upper ones play on from the promising moves. What they see was chosen so that the
steps between them are about equal: docs/strength.md has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...model.position import Moves
from ...model.view import View
from ...rng import Generator
from ..evaluation.weights import load_weights
from ..interface import Budget, Choice, Player
from ..search.rollouts import Rollouts
from .searching import Instant, Sim
from .simple import best_of


@dataclass(frozen=True, slots=True)
class Glimpse:
    """Sees only some of the moves, any of them; takes the most points, or the best prospects."""

    name: str
    moves: int
    prospects: bool = False  # else points

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """The best of the moves that it happens to see."""
        moves = view.legal_moves()
        some = sorted({rng.randint(len(moves)) for _ in range(self.moves)})
        seen = Moves(view, np.ascontiguousarray(moves.actions[some]))
        gains = view.gains(seen)
        values = self._prospects(view, seen, rng) if self.prospects else gains.sum(axis=1)
        return best_of(view, seen, [values], gains, rng)

    @staticmethod
    def _prospects(view: View, seen: Moves, rng: Generator) -> np.ndarray:
        return Rollouts(view, load_weights(view.variant), rng.bits()).look(seen.actions)


@dataclass(frozen=True, slots=True)
class Level:
    """Another player under the name of a level; with `rollouts`, it thinks no longer than that."""

    name: str
    player: Player
    rollouts: int | None = None

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """What the player does within what this level allows."""
        allowed = [rollouts for rollouts in (self.rollouts, budget.rollouts) if rollouts is not None]
        return self.player.choose(view, replace(budget, rollouts=min(allowed, default=None)), rng)


def _opener(says: str, make: Callable[[], Player]) -> Callable[[], Player]:
    """What opens a level; its docstring is what people read."""

    def opened() -> Player:
        return make()

    opened.__doc__ = says
    return opened


LEVELS: dict[str, Callable[[], Player]] = {
    "level1": _opener("Sees six moves and takes the most points.", lambda: Glimpse("level1", 6)),
    "level2": _opener("Sees twenty moves and takes the most points.", lambda: Glimpse("level2", 20)),
    "level3": _opener("Sees 25 moves and what they lead to.", lambda: Glimpse("level3", 25, True)),
    "level4": _opener("Sees 50 moves and what they lead to.", lambda: Glimpse("level4", 50, True)),
    "level5": _opener("Sees 100 moves and what they lead to.", lambda: Glimpse("level5", 100, True)),
    "level6": _opener("Sees what every good move leads to.", lambda: Level("level6", Instant())),
    "level7": _opener("Plays on in its head 500 times a move.", lambda: Level("level7", Sim(), 500)),
    "level8": _opener("Thinks as long as it may.", lambda: Level("level8", Sim())),
}
