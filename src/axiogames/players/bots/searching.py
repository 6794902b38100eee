"""`mc`: flat Monte Carlo, a yardstick: moves are played on to the end equally often, by simple means."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from ...games.runtime.state import allocate
from ...games.variant import Variant
from ...model.position import Moves
from ...model.view import View
from ...rng import Generator
from ..evaluation.rollout_loops import one_ply_search_at
from ..evaluation.weights import load_weights, scratch_dtype, untrained_weights
from ..interface import Budget, Candidate, Choice
from ..search.analysis import analyse
from ..search.rollouts import TO_THE_END, Rollouts, RolloutStats
from .simple import SHOWN, own_points

KEPT = 24  # moves that it looks at closely


class Instant:
    """Judges positions by what has been learned of the game, in a fraction of a millisecond."""

    name = "instant"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """The move that leads to the position that looks best."""
        variant = view.variant
        states = allocate(view.state.dtype, 2)
        states[0] = view.state[0]
        scratch, buffer = _room(variant)
        action, value = variant.kernels[one_ply_search_at](
            variant.constants, states, KEPT, load_weights(variant), scratch.copy(), buffer.copy()
        )
        move = variant.decode(view.state, int(action))
        return Choice(move, (Candidate(move, (float(value),), f"{value:.0%} at a glance"),))


@cache
def _room(variant: Variant) -> tuple[Any, np.ndarray]:
    return allocate(scratch_dtype(len(variant.tracks))), np.zeros(variant.most_actions, np.int32)


class Sim:
    """Guesses what is hidden from what it knows, and plays on from there with every move alike."""

    name = "sim"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """The move that was worth the most on average."""
        found = analyse(
            view, seed=rng.bits(), seconds=budget.seconds, rollouts=budget.rollouts, threads=budget.threads
        )
        candidates = tuple(
            Candidate(line.move, (line.value,), f"{line.value:.0%} after {line.rollouts} rollouts")
            for line in found.lines[:SHOWN]
        )
        return Choice(found.best.move, candidates)


WIDTH = 24  # moves that each of the simple players would like best


class FlatMonteCarlo:
    """Plays the moves that simple players like on to the end by what points are worth; counts results."""

    name = "mc"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """The move after which most came of it."""
        variant = view.variant
        moves = _favourites(view)
        playing = Rollouts(view, _plain(variant), rng.bits(), budget.threads)
        total = RolloutStats(len(moves), variant.players, len(variant.tracks))
        everything = np.arange(len(moves))
        until = time.perf_counter() + budget.seconds
        guess = 0
        try:
            while guess == 0 or (time.perf_counter() < until and not _spent(budget, guess, len(moves))):
                for tally in playing.run(moves.actions, guess, 1, TO_THE_END):
                    total.add(everything, tally)
                guess += 1
        finally:
            playing.close()
        order = np.argsort(-total.means, kind="stable")
        candidates = tuple(
            Candidate(moves[i], (float(total.means[i]),), f"{total.means[i]:.0%} of {total.count[i]} games")
            for i in order[:SHOWN].tolist()
        )
        return Choice(candidates[0].move, candidates)


def _spent(budget: Budget, guesses: int, moves: int) -> bool:
    return budget.rollouts is not None and guesses * moves >= budget.rollouts


def _favourites(view: View) -> Moves:
    """The moves that greed or need would like best; thousands of moves could not be told apart in time."""
    moves = view.legal_moves()
    gains = view.gains(moves)
    points = own_points(view)
    needed = (gains * (points == points.min())).sum(axis=1)
    wanted = [np.argsort(-value, kind="stable")[:WIDTH] for value in (gains.sum(axis=1), needed)]
    others = np.flatnonzero(moves.actions >= view.variant.first_other_action)
    return Moves(view, moves.actions[np.unique(np.concatenate([*wanted, others]))])


@cache
def _plain(variant: Variant) -> Any:
    return untrained_weights(variant)
