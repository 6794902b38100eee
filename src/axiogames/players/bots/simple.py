"""Choosing the move with the best value now, for players that look one move ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.position import Moves
from ...model.view import View
from ...moves import Move
from ...rng import Generator
from ..interface import Budget, Candidate, Choice


class Random:
    """Plays by lot."""

    name = "random"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        moves = view.legal_moves()
        move = moves[rng.randint(len(moves))]
        return Choice(move, (Candidate(move, (0.0,), "by lot"),))


SHOWN = 5  # candidates that a choice carries


def own_points(view: View) -> np.ndarray:
    """The points of the seat that the view belongs to."""
    return np.array(list(view.scores[view.turn or 0].values()), np.int64)


def best_of(
    view: View, moves: Moves, values: Sequence[np.ndarray], gains: np.ndarray, rng: Generator
) -> Choice:
    """The move with the best value: `values` are compared in order, each with one entry a move.

    Where nothing else decides, a move that brings more new tiles is better than one that brings fewer: a
    hand that gives no points now may as well be a new one. What is then still equal is left to lots.
    """
    fresh = _tiles_given_up(view, moves)
    keys = [np.asarray(value) for value in (*values, fresh)]
    order = np.lexsort([-key for key in reversed(keys)])
    best = order[0]
    equal = 1
    while equal < len(order) and all(key[order[equal]] == key[best] for key in keys):
        equal += 1
    chosen = int(order[rng.randint(equal)])
    shown = [chosen, *(int(i) for i in order[: SHOWN + 1] if i != chosen)][:SHOWN]
    candidates = tuple(
        Candidate(
            moves[i], tuple(float(value[i]) for value in values), _reason(view, moves[i], gains[i].tolist())
        )
        for i in shown
    )
    return Choice(moves[chosen], candidates)


def _tiles_given_up(view: View, moves: Moves) -> np.ndarray:
    fresh = np.zeros(len(moves), np.int64)
    others = np.flatnonzero(moves.actions >= view.variant.first_other_action)
    for i in others.tolist():
        move = moves[i]
        if move.kind == "exchange":
            fresh[i] = len(move.tiles) or len(view.hand(view.turn or 0))
    return fresh


def _reason(view: View, move: Move, gain: Sequence[int]) -> str:
    scored = ", ".join(
        f"{points} {track}" for track, points in zip(view.variant.tracks, gain, strict=True) if points
    )
    if move.kind == "place":
        return f"scores {scored}" if scored else "scores nothing"
    return {"exchange": "new tiles", "keep": "keeps the hand", "pass": "nothing else to do"}[move.kind]


class Greedy:
    """Takes the most points, whatever their colour."""

    name = "greedy"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        moves = view.legal_moves()
        gains = view.gains(moves)
        return best_of(view, moves, [gains.sum(axis=1)], gains, rng)


class Balanced:
    """Lifts its lowest colour first, then the next lowest and so on, since that is what decides."""

    name = "balanced"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        moves = view.legal_moves()
        gains = view.gains(moves)
        after = np.sort(gains + own_points(view), axis=1)
        return best_of(view, moves, [*after.T, after.sum(axis=1)], gains, rng)
