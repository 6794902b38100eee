"""What the moves of a position are worth: the promising ones are found at a glance, then played on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.view import View
from ...moves import Move
from ..evaluation.weights import is_trained, load_weights
from ..interface import Budget
from .halving import Deadline, posterior_value, sequential_halving
from .rollouts import FAST, FULL, UNTRAINED_CONFIG, RolloutConfig, Rollouts, RolloutStats, load_config

CHEAP = 40  # rollouts that a move should get, or fewer moves are played on
LEAST_WIDTH = 4
LONG = 0.5  # seconds that are enough to play on thoroughly, also on the largest boards


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """A move that was played on: what it was worth between 0 and 1, how sure that is, and how often."""

    move: Move
    action: int
    value: float
    error: float
    rollouts: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """The moves of a position, the best first, and how many rollouts were played for them together."""

    lines: tuple[MoveAnalysis, ...]
    rollouts: int

    @property
    def best(self) -> MoveAnalysis:
        """The move to make."""
        return self.lines[0]


def analyse(
    view: View,
    *,
    seed: int,
    seconds: float | None = None,
    rollouts: int | None = None,
    threads: int = 1,
    manner: RolloutConfig | None = None,
    include: tuple[int, ...] = (),
) -> Analysis:
    """Think about the position of a view, whose seat has to move, for so long or for so many rollouts.

    Without a `manner`, it takes the hurried one of the game if rollouts are counted or time is short.
    Moves with the numbers in `include` are always played on, however poor they look at first.
    """
    seconds = Budget(seconds, rollouts).seconds
    meter = Deadline(seconds, rollouts)
    variant = view.variant
    actions = view.legal_moves().actions
    weights = load_weights(variant)
    learned = is_trained(weights)
    if not learned:  # nothing to go by but points and the end
        manner = UNTRAINED_CONFIG
    elif manner is None:
        manner = load_config(variant, FAST if rollouts is not None or seconds < LONG else FULL)
    playing = Rollouts(view, weights, seed, threads, manner.search_after)
    try:
        looks = playing.look(actions) if learned else view.gains(view.legal_moves()).sum(axis=1)
        chosen = _promising(actions, looks, _width(manner.width, len(actions), rollouts), include)
        looks = looks[chosen]
        tally = sequential_halving(playing, actions[chosen], manner.turns, meter, looks, manner.prior_weight)
    finally:
        playing.close()
    return _analysis(view, actions[chosen], tally, posterior_value(tally, looks, manner.prior_weight))


def _width(width: int, moves: int, rollouts: int | None) -> int:
    if rollouts is not None:
        width = max(LEAST_WIDTH, min(width, rollouts // CHEAP))
    return min(width, moves)


def _promising(actions: np.ndarray, looks: np.ndarray, width: int, include: tuple[int, ...]) -> np.ndarray:
    order = np.argsort(-looks, kind="stable")
    wanted = np.flatnonzero(np.isin(actions, include))
    return np.unique(np.concatenate([order[:width], wanted]))


def _analysis(view: View, actions: np.ndarray, tally: RolloutStats, values: np.ndarray) -> Analysis:
    """The lines in order: those that stayed to the end first, each group by what they are worth."""
    order = np.lexsort([-values, -tally.count])
    errors = tally.errors
    lines = tuple(
        MoveAnalysis(
            move=view.variant.decode(view.state, int(actions[i])),
            action=int(actions[i]),
            value=float(values[i]),
            error=float(errors[i]),
            rollouts=int(tally.count[i]),
        )
        for i in order.tolist()
    )
    return Analysis(lines, int(tally.count.sum()))
