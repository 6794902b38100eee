"""Analysis of a position: one-ply search selects the promising moves, rollouts compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import AxioError
from ...model.view import View
from ...moves import Action, Move
from ..evaluation.weights import is_trained, load_weights
from ..interface import Budget
from .halving import Deadline, sequential_halving
from .rollouts import FAST, FULL, UNTRAINED_CONFIG, RolloutConfig, Rollouts, load_config
from .search_loops import rank_moves

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

    Raises:
        AxioError: no seat is to move, its tiles are hidden, or too many moves are included.
    """
    if view.turn is None or view.hides_turn:
        raise AxioError("there is nothing to analyse: the view is not that of a seat that has to move")
    seconds = Budget(seconds, rollouts).seconds
    deadline = Deadline(seconds, rollouts)
    variant = view.variant
    weights = load_weights(variant)
    if not is_trained(weights):  # without a network, only points and results can be compared
        config = UNTRAINED_CONFIG
    elif config is None:
        config = load_config(variant, FAST if rollouts is not None or seconds < FULL_SECONDS else FULL)
    runner = Rollouts(view, weights, seed, threads, config.search_after)
    try:
        search = runner.begin_search(config, rollouts, include)
        sequential_halving(runner, search, config.turns, deadline)
    finally:
        runner.close()
    variant.kernels[rank_moves](search)
    return _analysis(view, search[0])


def _analysis(view: View, search: Any) -> Analysis:
    """Return the result of a search, the record that `rank_moves` has completed."""
    moves = int(search["moves"])
    lines = tuple(
        MoveAnalysis(
            move=view.variant.decode(view.state, int(search["actions"][i])),
            action=int(search["actions"][i]),
            value=float(search["values"][i]),
            error=float(search["errors"][i]),
            rollouts=int(search["counts"][i]),
        )
        for i in search["order"][:moves].tolist()
    )
    return Analysis(lines, sum(line.rollouts for line in lines))
