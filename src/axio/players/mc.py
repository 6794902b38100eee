"""`mc`: flat Monte Carlo, a yardstick: moves are played on to the end equally often, by simple means."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from ..chance import Generator
from ..games.variant import Variant
from ..position import Moves
from ..search.minds import blank_mind
from ..search.rollouts import TO_THE_END, Rollouts, Tally
from ..view import View
from .interface import Budget, Candidate, Choice
from .rating import SHOWN, own_points

WIDTH = 24  # moves that each of the simple players would like best


class FlatMonteCarlo:
    """Plays the moves that simple players like on to the end by what points are worth; counts results."""

    name = "mc"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """The move after which most came of it."""
        variant = view.variant
        moves = _favourites(view)
        playing = Rollouts(view, _plain(variant), lots.bits(), budget.threads)
        total = Tally(len(moves), variant.players, len(variant.tracks))
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
    return blank_mind(variant)
