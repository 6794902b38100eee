"""Rollouts from a position with the settings of `sim`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axiogames.analysis.bench.measure import Workload
from axiogames.model.view import View
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.search.analysis import MIN_ROLLOUTS, analyse
from axiogames.players.search.rollouts import FAST, Rollouts, load_config

SEED = 1


class Exercise:
    """A position with its candidate moves and rollout settings."""

    def __init__(self, view: View, pace: str = FAST) -> None:
        self.view = view
        self.variant = view.variant
        self.weights = load_weights(view.variant)
        config = load_config(view.variant, pace)
        self.turns, self.search_after = config.turns, config.search_after
        lines = analyse(view, seed=SEED, rollouts=config.width * MIN_ROLLOUTS).lines
        self.actions = np.sort(np.array([line.action for line in lines], np.int32))

    def rollouts(self, threads: int = 1) -> Rollouts:
        """Return the rollouts of this position on a number of threads."""
        return Rollouts(self.view, self.weights, SEED, threads, self.search_after)

    def play(self, rollouts: Rollouts, guesses: int) -> int:
        """Run rollouts of every candidate in `guesses` determinizations and return their number."""
        return sum(int(tally.count.sum()) for tally in rollouts.run(self.actions, 0, guesses, self.turns))


def rollouts_work(exercises: Sequence[Exercise], guesses: int) -> Workload:
    """Return a workload of `guesses` determinizations of each position, on one thread."""
    ready = [(exercise, exercise.rollouts()) for exercise in exercises]
    return lambda: (sum(exercise.play(rollouts, guesses) for exercise, rollouts in ready),)
