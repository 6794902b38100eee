"""Bots without search, which compare the points of legal moves: `random`, `greedy` and `balanced`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.position import Moves
from ...model.view import View
from ...moves import Move
from ...rng import Generator
from ..interface import Budget, Candidate, Choice

MAX_CANDIDATES = 5  # per choice


class Random:
    """Plays uniformly at random."""

    name = "random"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return any legal move."""
        moves = view.legal_moves()
        chosen = rng.randint(len(moves))
        move = moves[chosen]
        return Choice(move, (Candidate(move, (0.0,), "uniformly at random"),), int(moves.actions[chosen]))


class Greedy:
    """Takes the most points, in any colour."""

    name = "greedy"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return a move with the most points."""
        moves = view.legal_moves()
        gains = view.gains(moves)
        return best_of(view, moves, [gains.sum(axis=1)], gains, rng)


class Balanced:
    """Raises its lowest colour first: the lowest decides the game."""

    name = "balanced"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return a move after which the points of the seat, sorted from the lowest, are highest."""
        moves = view.legal_moves()
        gains = view.gains(moves)
        after = np.sort(gains + own_points(view), axis=1)
        return best_of(view, moves, [*after.T, after.sum(axis=1)], gains, rng)


def own_points(view: View) -> np.ndarray:
    """Return the points of the seat to move, by track."""
    return np.array(list(view.scores[view.turn or 0].values()), np.int64)


def best_of(
    view: View, moves: Moves, values: Sequence[np.ndarray], gains: np.ndarray, rng: Generator
) -> Choice:
    """Choose the move with the best values.

    Among equal moves, the one that exchanges the most tiles is chosen: a hand without points is best
    replaced. Remaining ties are broken uniformly at random.

    Args:
        view: the position.
        moves: the moves to choose from.
        values: arrays with one entry for each move, compared in order.
        gains: the points of each move by track.
        rng: breaks ties.
    """
    exchanged = _tiles_exchanged(view, moves)
    keys = [np.asarray(value) for value in (*values, exchanged)]
    order = np.lexsort([-key for key in reversed(keys)])
    best = order[0]
    ties = 1
    while ties < len(order) and all(key[order[ties]] == key[best] for key in keys):
        ties += 1
    chosen = int(order[rng.randint(ties)])
    shown = [chosen, *(int(i) for i in order[: MAX_CANDIDATES + 1] if i != chosen)][:MAX_CANDIDATES]
    candidates = []
    for i in shown:
        move = moves[i]
        value = tuple(float(value[i]) for value in values)
        candidates.append(Candidate(move, value, _reason(view, move, gains[i].tolist())))
    return Choice(candidates[0].move, tuple(candidates), int(moves.actions[chosen]))


def _tiles_exchanged(view: View, moves: Moves) -> np.ndarray:
    """Return the number of tiles that each move exchanges."""
    tiles = np.zeros(len(moves), np.int64)
    non_placements = np.flatnonzero(moves.actions >= view.variant.placements)
    for i in non_placements.tolist():
        move = moves[i]
        if move.kind == "exchange":
            tiles[i] = len(move.tiles) or len(view.hand(view.turn or 0))
    return tiles


def _reason(view: View, move: Move, gain: Sequence[int]) -> str:
    scored = ", ".join(
        f"{points} {track}" for track, points in zip(view.variant.tracks, gain, strict=True) if points
    )
    if move.kind == "place":
        return f"scores {scored}" if scored else "scores nothing"
    return {"exchange": "new tiles", "keep": "keeps the hand", "pass": "the only legal move"}[move.kind]
