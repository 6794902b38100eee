"""Analysis of a position: one-ply search selects the promising moves, rollouts compare them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.view import View
from ...moves import Action, Move
from ..evaluation.weights import is_trained, load_weights
from ..interface import Budget
from .halving import Deadline, posterior_value, sequential_halving
from .rollouts import FAST, FULL, UNTRAINED_CONFIG, RolloutConfig, Rollouts, RolloutStats, load_config

MIN_ROLLOUTS = 40  # per move on average; with a smaller budget, fewer moves are compared
MIN_WIDTH = 4  # moves
FULL_SECONDS = 0.5  # from this time limit on, `FULL` rollouts find better moves, on the largest boards too


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """The value of a move in [0, 1], its standard error, and the number of rollouts behind it."""

    move: Move
    action: Action
    value: float
    error: float
    rollouts: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """The moves that were compared, the best first, and the total number of rollouts."""

    lines: tuple[MoveAnalysis, ...]
    rollouts: int

    @property
    def best(self) -> MoveAnalysis:
        """The best move."""
        return self.lines[0]


def analyse(
    view: View,
    *,
    seed: int,
    seconds: float | None = None,
    rollouts: int | None = None,
    threads: int = 1,
    config: RolloutConfig | None = None,
    include: tuple[Action, ...] = (),
) -> Analysis:
    """Analyse the position of a view whose seat has to move.

    Args:
        view: the position.
        seed: the seed of all determinizations and rollouts.
        seconds: time limit; by default that of `Budget`.
        rollouts: the number of rollouts, or `None` for no limit.
        threads: the number of threads.
        config: how rollouts are run. By default the game's `FAST` config if rollouts are counted or the time
            is shorter than `FULL_SECONDS`, else its `FULL` config.
        include: actions that are compared in any case.
    """
    seconds = Budget(seconds, rollouts).seconds
    deadline = Deadline(seconds, rollouts)
    variant = view.variant
    actions = view.legal_moves().actions
    weights = load_weights(variant)
    trained = is_trained(weights)
    if not trained:  # without a network, only points and results can be compared
        config = UNTRAINED_CONFIG
    elif config is None:
        config = load_config(variant, FAST if rollouts is not None or seconds < FULL_SECONDS else FULL)
    runner = Rollouts(view, weights, seed, threads, config.search_after)
    try:
        priors = runner.one_ply_values(actions) if trained else view.gains(view.legal_moves()).sum(axis=1)
        chosen = _promising(actions, priors, _width(config.width, len(actions), rollouts), include)
        priors = priors[chosen]
        stats = sequential_halving(runner, actions[chosen], config, deadline, priors)
    finally:
        runner.close()
    return _analysis(view, actions[chosen], stats, posterior_value(stats, priors, config.prior_weight))


def _width(width: int, moves: int, rollouts: int | None) -> int:
    if rollouts is not None:
        width = max(MIN_WIDTH, min(width, rollouts // MIN_ROLLOUTS))
    return min(width, moves)


def _promising(
    actions: np.ndarray, priors: np.ndarray, width: int, include: tuple[Action, ...]
) -> np.ndarray:
    """Return the indices of the `width` actions with the best priors, and of those in `include`."""
    order = np.argsort(-priors, kind="stable")
    included = np.flatnonzero(np.isin(actions, include))
    return np.unique(np.concatenate([order[:width], included]))


def _analysis(view: View, actions: np.ndarray, stats: RolloutStats, values: np.ndarray) -> Analysis:
    """Return the moves in order: those of the last round first, each round ordered by value."""
    order = np.lexsort([-values, -stats.count])
    errors = stats.errors
    lines = tuple(
        MoveAnalysis(
            move=view.variant.decode(view.state, int(actions[i])),
            action=int(actions[i]),
            value=float(values[i]),
            error=float(errors[i]),
            rollouts=int(stats.count[i]),
        )
        for i in order.tolist()
    )
    return Analysis(lines, int(stats.count.sum()))
