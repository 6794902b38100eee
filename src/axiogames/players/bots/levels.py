"""Eight levels of strength, from a beginner to full strength.

Lower levels consider fewer moves or search less; each plays the best move that it finds. Levels 1 and 2
compare the points of a few random moves, as beginners do. Levels 3 to 5 consider more moves, by one-ply
search. Levels 6 to 8 consider all moves, the last two with rollouts. The numbers were chosen for about equal
steps in Elo; docs/explanation/strength.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...model.view import View
from ...rng import Generator
from ..evaluation.weights import load_weights
from ..interface import Budget, Candidate, Choice, Player
from .choosing import SAMPLED, choose_by_value
from .searching import Instant, Sim, fresh_scratch, one_ply_choice, search_states
from .simple import choose, reason


@dataclass(frozen=True, slots=True)
class SampledMoves:
    """Considers random moves, and takes the one with the most points or the best one-ply value."""

    name: str
    moves: int
    one_ply: bool = False

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the best of the moves, which are sampled with replacement."""
        return self._by_value(view, rng) if self.one_ply else self._by_points(view, rng)

    def _by_points(self, view: View, rng: Generator) -> Choice:
        action = choose(view, SAMPLED, self.moves, rng)
        gain = view.variant.gains(view.state, np.array([action], np.int32))[0].tolist()
        move = view.variant.decode(view.state, action)
        return Choice(move, (Candidate(move, (float(sum(gain)),), reason(view, move, gain)),), action)

    def _by_value(self, view: View, rng: Generator) -> Choice:
        variant = view.variant
        found, value = variant.kernels[choose_by_value](
            variant.constants,
            search_states(view),
            self.moves,
            np.array([rng.bits()], np.uint64),
            load_weights(variant),
            fresh_scratch(variant),
        )
        return one_ply_choice(view, int(found), float(value))


@dataclass(frozen=True, slots=True)
class Level:
    """A player under the name of a level, with at most `rollouts` rollouts per move."""

    name: str
    player: Player
    rollouts: int | None = None

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the choice of the player within the limits of the level and the budget."""
        limits = [rollouts for rollouts in (self.rollouts, budget.rollouts) if rollouts is not None]
        return self.player.choose(view, replace(budget, rollouts=min(limits, default=None)), rng)


def _described(description: str, factory: Callable[[], Player]) -> Callable[[], Player]:
    """Return a factory whose docstring is the description that menus show."""

    def make() -> Player:
        return factory()

    make.__doc__ = description
    return make


def _sampled(name: str, moves: int, *, one_ply: bool = False) -> Callable[[], Player]:
    criterion = "the position after each" if one_ply else "points"
    count = {6: "six", 20: "twenty"}.get(moves, str(moves))
    return _described(
        f"Takes the best of {count} random moves, by {criterion}.",
        lambda: SampledMoves(name, moves, one_ply),
    )


LEVELS: dict[str, Callable[[], Player]] = {
    "level1": _sampled("level1", 6),
    "level2": _sampled("level2", 20),
    "level3": _sampled("level3", 25, one_ply=True),
    "level4": _sampled("level4", 50, one_ply=True),
    "level5": _sampled("level5", 100, one_ply=True),
    "level6": _described(
        "Evaluates the position after every promising move.", lambda: Level("level6", Instant())
    ),
    "level7": _described("Runs 500 rollouts per move.", lambda: Level("level7", Sim(), 500)),
    "level8": _described("Runs rollouts for the whole time allowed.", lambda: Level("level8", Sim())),
}
