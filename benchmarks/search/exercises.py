"""Rollouts from a position, with the configuration of `sim`."""

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
    """A position with its candidate moves and its rollout configuration."""

    def __init__(self, view: View, pace: str = FAST) -> None:
        self.view = view
        self.variant = view.variant
        self.weights = load_weights(view.variant)
        config = load_config(view.variant, pace)
        self.turns, self.search_after = config.turns, config.search_after
        lines = analyse(view, seed=SEED, rollouts=config.width * MIN_ROLLOUTS).lines
        self.actions = np.sort(np.array([line.action for line in lines], np.int32))

    def rollouts(self, threads: int = 1) -> Rollouts:
        """Return the rollouts of this position, on a number of threads."""
        return Rollouts(self.view, self.weights, SEED, threads, self.search_after)

    def play(self, rollouts: Rollouts, samples: int) -> int:
        """Run rollouts of every candidate on `samples` determinizations and return their number."""
        return sum(int(stats.count.sum()) for stats in rollouts.run(self.actions, 0, samples, self.turns))


def rollouts_work(exercises: Sequence[Exercise], samples: int) -> Workload:
    """Return a workload of rollouts on `samples` determinizations of each position, on one thread."""
    ready = [(exercise, exercise.rollouts()) for exercise in exercises]
    return lambda: (sum(exercise.play(rollouts, samples) for exercise, rollouts in ready),)
