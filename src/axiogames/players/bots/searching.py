"""Bots that search: `instant` (one ply), `sim` (guided rollouts) and `mc` (flat Monte Carlo)."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from ...games.runtime.state import allocate
from ...games.variant import State, Variant
from ...model.position import Moves
from ...model.view import View
from ...moves import Action
from ...rng import Generator
from ..evaluation.rollout_loops import SEARCH_STATES, one_ply_search_at
from ..evaluation.weights import load_weights, scratch_dtype, untrained_weights
from ..interface import Budget, Candidate, Choice
from ..search.analysis import analyse
from ..search.rollouts import TO_THE_END, Rollouts, RolloutStats
from .simple import MAX_CANDIDATES, own_points

SEARCH_WIDTH = 24  # moves that `instant` evaluates by one-ply search
SHORTLIST_WIDTH = 24  # moves that `mc` takes from each of its two rankings


class Instant:
    """Takes the move that leads to the best position, in a fraction of a millisecond."""

    name = "instant"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the best of the most promising moves, by the evaluation of the position after it."""
        variant = view.variant
        action, value = variant.kernels[one_ply_search_at](
            variant.constants,
            search_states(view),
            SEARCH_WIDTH,
            load_weights(variant),
            fresh_scratch(variant),
        )
        return one_ply_choice(view, int(action), float(value))


def search_states(view: View) -> State:
    """Return states for one-ply search: the position, and one to try actions in."""
    states: State = allocate(view.state.dtype, SEARCH_STATES)
    states[0] = view.state[0]
    return states


def fresh_scratch(variant: Variant) -> Any:
    """Return working memory that no other thread uses."""
    return _scratch(variant).copy()


def one_ply_choice(view: View, action: Action, value: float) -> Choice:
    """Return the choice of an action by its one-ply value."""
    move = view.variant.decode(view.state, action)
    return Choice(move, (Candidate(move, (value,), f"{value:.0%} by one-ply search"),), action)


@cache
def _scratch(variant: Variant) -> Any:
    return allocate(scratch_dtype(len(variant.tracks)))


class Sim:
    """Runs rollouts from the most promising moves, in positions sampled from what the seat can know."""

    name = "sim"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the move with the highest mean value."""
        found = analyse(
            view, seed=rng.bits(), seconds=budget.seconds, rollouts=budget.rollouts, threads=budget.threads
        )
        candidates = tuple(
            Candidate(line.move, (line.value,), f"{line.value:.0%} after {line.rollouts} rollouts")
            for line in found.lines[:MAX_CANDIDATES]
        )
        return Choice(found.best.move, candidates, found.best.action)


class FlatMonteCarlo:
    """Runs the same number of complete rollouts for each shortlisted move: a baseline for `sim`."""

    name = "mc"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the move with the best mean result."""
        variant = view.variant
        moves = _shortlist(view)
        rollouts = Rollouts(view, _untrained(variant), rng.bits(), budget.threads)
        total = RolloutStats(len(moves), variant.players, len(variant.tracks))
        deadline = time.perf_counter() + budget.seconds
        samples = 0
        try:
            while samples == 0 or (
                time.perf_counter() < deadline and not _is_spent(budget, samples * len(moves))
            ):
                for stats in rollouts.run(moves.actions, samples, 1, TO_THE_END):
                    total.add(stats)
                samples += 1
        finally:
            rollouts.close()
        order = np.argsort(-total.means, kind="stable").tolist()
        candidates = tuple(
            Candidate(moves[i], (float(total.means[i]),), f"{total.means[i]:.0%} of {total.samples} games")
            for i in order[:MAX_CANDIDATES]
        )
        return Choice(candidates[0].move, candidates, int(moves.actions[order[0]]))


def _is_spent(budget: Budget, rollouts: int) -> bool:
    return budget.rollouts is not None and rollouts >= budget.rollouts


def _shortlist(view: View) -> Moves:
    """Return the placements with the most points, in total and on the lowest tracks, and all other moves.

    One second of rollouts cannot distinguish thousands of moves.
    """
    moves = view.legal_moves()
    gains = view.gains(moves)
    points = own_points(view)
    on_lowest = (gains * (points == points.min())).sum(axis=1)
    best = [np.argsort(-value, kind="stable")[:SHORTLIST_WIDTH] for value in (gains.sum(axis=1), on_lowest)]
    non_placements = np.flatnonzero(moves.actions >= view.variant.placements)
    return Moves(view, moves.actions[np.unique(np.concatenate([*best, non_placements]))])


@cache
def _untrained(variant: Variant) -> Any:
    return untrained_weights(variant)
