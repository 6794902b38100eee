"""Judging a decision with the seat's knowledge: the best moves, the chosen move, and standard errors.

First, a search finds the most promising moves. Then rollouts compare these and the chosen move on common
determinizations (samples of the hidden tiles). The comparison does not reuse the determinizations of the
search: the best move was selected on them, so its value would be biased upwards. Determinizations come in
chunks; the variance between chunks gives the standard errors.
"""

from __future__ import annotations

import time
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from ...games.runtime.loops import step
from ...games.runtime.state import DRAW, PLACE, allocate
from ...games.runtime.xorshift import seed_state
from ...games.variant import State, copied
from ...model.view import View
from ...players.evaluation.rollout_loops import rollout_policy_at
from ...players.evaluation.weights import load_weights, scratch_dtype
from ...players.interface import Budget
from ...players.search.analysis import analyse
from ...players.search.rollouts import CHUNK, FAST, TO_THE_END, Rollouts, load_config
from .review_loops import ESTIMATES, ChunkSums, MoveValues, compare_moves
from .values import MIN_DIFFERENCE, SIGNIFICANCE, has_unbounded_values

MAX_CANDIDATES = 5  # besides the chosen move
SEARCH, COMPARE, FINISH = 0.4, 0.4, 0.2  # shares of the budget
MIN_CHUNKS, MAX_CHUNKS = 4, 4096
SEED_DISTANCE = 1 << 40  # seeds this far apart share no determinization


class ValueEstimate(Struct, frozen=True):
    """An estimate and its standard error."""

    value: float
    error: float


class JudgedMove(Struct, frozen=True):
    """A move that was compared with others.

    `value` is its value and `behind` the value of the best move minus it, each with its standard error.
    `gain` are the points that it scores immediately, by track, and `wasted` the number of points lost to the
    cap. `points` are the expected final points of every seat, and `points_error` the standard errors of their
    differences from those of the best move.
    """

    move: str
    action: int
    value: float
    error: float
    behind: float
    behind_error: float
    gain: tuple[int, ...]
    wasted: int
    wins_turn: bool
    points: tuple[tuple[float, ...], ...]
    points_error: tuple[tuple[float, ...], ...]

    @property
    def significantly_worse(self) -> bool:
        """Whether the difference from the best move is significant and not negligible."""
        return self.behind > max(SIGNIFICANCE * self.behind_error, MIN_DIFFERENCE)


class Judgement(Struct, frozen=True):
    """The moves that were compared, best first, and the index of the chosen one (-1: none).

    A forced move is not judged and has no candidates. `policy_value` is the value of the position under the
    rollout policy, as the seat's previous decision expected it. `choice` is the value of the chosen move
    minus `policy_value`, and `margin` its value minus that of the policy's move now.
    """

    candidates: tuple[JudgedMove, ...]
    chosen_index: int = -1
    rollouts: int = 0
    policy_value: ValueEstimate = ValueEstimate(0.0, 0.0)
    choice: ValueEstimate = ValueEstimate(0.0, 0.0)
    margin: ValueEstimate = ValueEstimate(0.0, 0.0)

    @property
    def forced(self) -> bool:
        """Whether there was only one legal move."""
        return not self.candidates

    @property
    def chosen(self) -> JudgedMove:
        """The chosen move."""
        return self.candidates[self.chosen_index]

    @property
    def loss(self) -> float:
        """Loss of value by the chosen move; 0 if it is not significant."""
        if self.forced or not self.chosen.significantly_worse:
            return 0.0
        return self.chosen.behind


@dataclass(frozen=True, slots=True)
class RolloutSample:
    """Sums over rollouts: of values by chunk and move, and of points by chunk, move, seat and track."""

    values: np.ndarray
    points: np.ndarray

    @property
    def rollouts(self) -> int:
        """Number of rollouts."""
        return int(self.values.size * CHUNK)


def judge(view: View, chosen: int | None, budget: Budget, seed: int) -> Judgement:
    """Judge the moves of the seat to move.

    Args:
        view: view of the seat to move.
        chosen: action that was chosen, if any; it is always among the compared moves.
        budget: limits of the search. If it limits rollouts and its time limit is not reached, equal seeds
            give equal judgements.
        seed: seed of the determinizations.
    """
    actions = view.legal_moves().actions
    if len(actions) < 2:
        return Judgement(())
    config = load_config(view.variant, FAST)
    turns = config.turns
    found = analyse(
        view,
        seed=seed,
        seconds=budget.seconds * SEARCH,
        rollouts=None if budget.rollouts is None else int(budget.rollouts * SEARCH),
        threads=budget.threads,
        config=config,
        include=() if chosen is None else (chosen,),
    )
    policy = rollout_policy_action(view)
    compared_actions = [line.action for line in found.lines[:MAX_CANDIDATES]]
    reported = {*compared_actions, chosen}
    compared_actions += [
        action
        for action in dict.fromkeys((chosen, policy))
        if action is not None and action not in compared_actions
    ]
    rollouts = Rollouts(view, load_weights(view.variant), seed + SEED_DISTANCE, budget.threads)
    try:
        if turns == TO_THE_END:
            compared = finished = _sample(rollouts, compared_actions, TO_THE_END, budget, COMPARE + FINISH)
            expected = compared.values[:, [compared_actions.index(policy)]]
        else:
            compared = _sample(rollouts, compared_actions, turns, budget, COMPARE)
            finished = _sample(rollouts, compared_actions, TO_THE_END, budget, FINISH)
            expected = _expected_before(rollouts, policy, turns, len(compared.values))
    finally:
        rollouts.close()
    count = found.rollouts + compared.rollouts + (finished.rollouts if finished is not compared else 0)
    return _judgement(
        view,
        compared_actions,
        ChunkSums(compared.values.copy(), expected, finished.points.reshape(len(finished.points), -1).copy()),
        chosen=chosen,
        policy=policy,
        reported=reported,
        rollouts=count,
    )


def rollout_policy_action(view: View) -> int:
    """Return the action of the rollout policy for the seat to move."""
    variant = view.variant
    scratch = allocate(scratch_dtype(len(variant.tracks)))
    state = copied(view.state)  # scoring writes into the state's scratch fields
    return int(
        variant.kernels[rollout_policy_at](
            variant.constants, state, seed_state(0), load_weights(variant), scratch
        )
    )


def _sample(
    rollouts: Rollouts, actions: Sequence[int], turns: int, budget: Budget, share: float
) -> RolloutSample:
    """Run rollouts of all actions for a share of the budget."""
    action_ids = np.array(actions, np.int32)
    values, points = list[np.ndarray](), list[np.ndarray]()
    limit, deadline = MAX_CHUNKS, time.perf_counter() + budget.seconds * share
    if budget.rollouts is not None:
        limit = max(MIN_CHUNKS, round(budget.rollouts * share / len(actions) / CHUNK))
    while len(values) < limit:
        chunks = min(budget.threads, limit - len(values))
        for stats in rollouts.run(action_ids, len(values) * CHUNK, chunks * CHUNK, turns):
            values.append(stats.sums)
            points.append(stats.points)
        if len(values) >= MIN_CHUNKS and time.perf_counter() > deadline:
            break
    return RolloutSample(np.array(values), np.array(points))


def _expected_before(rollouts: Rollouts, policy: int, turns: int, chunks: int) -> np.ndarray:
    """Return the sums of values of the policy's move, with the horizon of the seat's previous decision.

    That is one turn less. The value of that decision is a mean over everything that could happen until now,
    so any difference from it is luck.
    """
    parts = rollouts.run(np.array([policy], np.int32), 0, chunks * CHUNK, turns - 1)
    return np.array([stats.sums for stats in parts])


def _judgement(
    view: View,
    actions: Sequence[int],
    sums: ChunkSums,
    *,
    chosen: int | None,
    policy: int,
    reported: Container[int | None],
    rollouts: int,
) -> Judgement:
    """Return the judgement of the moves in `reported`, and of the best one, from sums over rollouts."""
    variant, n = view.variant, len(actions)
    cells = (n, variant.players, len(variant.tracks))
    points, point_errors = np.zeros(cells), np.zeros(cells)
    found = MoveValues(
        order=np.zeros(n, np.int64),
        values=np.zeros(n),
        errors=np.zeros(n),
        behind=np.zeros(n),
        behind_errors=np.zeros(n),
        points=points.reshape(-1),
        point_errors=point_errors.reshape(-1),
        estimates=np.zeros((ESTIMATES, 2)),
    )
    variant.kernels[compare_moves](
        sums,
        CHUNK,
        has_unbounded_values(variant),
        -1 if chosen is None else actions.index(chosen),
        actions.index(policy),
        found,
    )
    after = [_state_after(view, action) for action in actions]
    best, *_ = order = found.order.tolist()
    candidates = tuple(
        JudgedMove(
            move=str(variant.decode(view.state, actions[i])),
            action=actions[i],
            value=float(found.values[i]),
            error=float(found.errors[i]),
            behind=float(found.behind[i]),
            behind_error=float(found.behind_errors[i]),
            gain=tuple(after[i]["gain"][0].tolist()) if actions[i] < variant.placements else (),
            wasted=_wasted_points(view, actions[i], after[i]),
            wins_turn=_wins_turn(view, after[i]),
            points=_rows(points[i]),
            points_error=_rows(point_errors[i]),
        )
        for i in order
        if actions[i] in reported or i == best
    )
    policy_value, choice, margin = (ValueEstimate(*row) for row in found.estimates.tolist())
    return Judgement(
        candidates,
        next((n for n, move in enumerate(candidates) if move.action == chosen), -1),
        rollouts,
        policy_value,
        choice,
        margin,
    )


def _state_after(view: View, action: int) -> State:
    """Return the state after an action, before any draw."""
    state = view.state.copy()
    view.variant.kernels[step](view.variant.constants, state, action, False)
    return state


def _wasted_points(view: View, action: int, after: State) -> int:
    """Return the number of points of an action that are lost to the cap."""
    variant = view.variant
    if variant.cap is None or action >= variant.placements:
        return 0
    without_points = view.state.copy()
    without_points["scores"] = 0  # no track is near its cap
    uncapped = variant.gains(without_points, np.array([action], np.int32))[0]
    return int(np.maximum(uncapped - after["gain"][0], 0).sum())


def _wins_turn(view: View, after: State) -> bool:
    """Return whether the move that led to the state `after` won an extra turn or placement."""
    variant, before = view.variant, view.state
    if after["phase"][0] == DRAW:
        other_source = variant.source(after) != variant.source(before)
        return other_source or variant.extra_turns(after) > variant.extra_turns(before)
    return bool(variant.players > 1 and after["phase"][0] == PLACE and after["seat"][0] == before["seat"][0])


def _rows(points: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(n, 3) for n in row) for row in points.tolist())
