"""Bots without search, which compare the points of legal moves: `random`, `greedy` and `balanced`."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ...games.variant import Variant, copied
from ...model.position import Moves
from ...model.view import View
from ...moves import Action, Move
from ...rng import Generator
from ..interface import Budget, Candidate, Choice
from .choosing import BALANCED, GREEDY, RANDOM, ChoiceBuffers, choice_buffers, choose_by_points

MAX_CANDIDATES = 5  # per choice


class Random:
    """Plays uniformly at random."""

    name = "random"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return any legal move."""
        action = choose(view, RANDOM, 0, rng)
        move = view.variant.decode(view.state, action)
        return Choice(move, (Candidate(move, (0.0,), "uniformly at random"),), action)


class Greedy:
    """Takes the most points, in any colour."""

    name = "greedy"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return a move with the most points."""
        moves = view.legal_moves()
        gains = view.gains(moves)
        return _explained(view, moves, [_totals(gains)], gains, choose(view, GREEDY, 0, rng))


class Balanced:
    """Raises its lowest colour first: the lowest decides the game."""

    name = "balanced"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return a move after which the points of the seat, sorted from the lowest, are highest."""
        moves = view.legal_moves()
        gains = view.gains(moves)
        after = np.sort(gains + own_points(view), axis=1)
        return _explained(view, moves, [*after.T, _totals(after)], gains, choose(view, BALANCED, 0, rng))


class _ThreadBuffers(threading.local):
    """Buffers of this thread by variant, which choices reuse."""

    def __init__(self) -> None:
        self.by_variant: dict[Variant, tuple[np.ndarray, ChoiceBuffers]] = {}

    def of(self, variant: Variant) -> tuple[np.ndarray, ChoiceBuffers]:
        """Return an array for a word, and the buffers of choices."""
        found = self.by_variant.get(variant)
        if found is None:
            found = self.by_variant[variant] = np.zeros(1, np.uint64), choice_buffers(variant)
        return found


_buffers = _ThreadBuffers()


def choose(view: View, policy: int, samples: int, rng: Generator) -> Action:
    """Return the action of a policy of `choosing`, which takes one word of the generator."""
    variant = view.variant
    words, buffers = _buffers.of(variant)
    words[0] = rng.bits()
    state = copied(view.state)  # compiled code overwrites `gain`
    return int(variant.kernels[choose_by_points](variant.constants, state, policy, samples, words, buffers))


def own_points(view: View) -> np.ndarray:
    """Return the points of the seat to move, by track."""
    return np.array(list(view.scores[view.turn or 0].values()), np.int64)


def _totals(points: np.ndarray) -> np.ndarray:
    """Return the sum of each row. For a few columns, a product takes less time than `sum`."""
    totals: np.ndarray = points @ np.ones(points.shape[1], points.dtype)
    return totals


def _explained(
    view: View, moves: Moves, values: Sequence[np.ndarray], gains: np.ndarray, action: Action
) -> Choice:
    """Return the choice of an action, with the next best moves as further candidates.

    Args:
        view: the position.
        moves: the legal moves.
        values: arrays with one entry for each move, compared in order.
        gains: the points of each move by track.
        action: the action chosen.
    """
    chosen = int(moves.actions.searchsorted(action))
    keys = [*values, _tiles_exchanged(view, moves)]
    order = np.lexsort([-key for key in reversed(keys)])[: MAX_CANDIDATES + 1].tolist()
    shown = [chosen, *(i for i in order if i != chosen)][:MAX_CANDIDATES]
    candidates = []
    for i in shown:
        move = moves[i]
        value = tuple(float(value[i]) for value in values)
        candidates.append(Candidate(move, value, reason(view, move, gains[i].tolist())))
    return Choice(candidates[0].move, tuple(candidates), action)


def _tiles_exchanged(view: View, moves: Moves) -> np.ndarray:
    """Return the number of tiles that each move exchanges."""
    tiles = np.zeros(len(moves), np.int64)
    non_placements = np.flatnonzero(moves.actions >= view.variant.placements)
    for i in non_placements.tolist():
        move = moves[i]
        if move.kind == "exchange":
            tiles[i] = len(move.tiles) or len(view.hand(view.turn or 0))
    return tiles


def reason(view: View, move: Move, gain: Sequence[int]) -> str:
    """Return the effect of a move in a few words."""
    scored = ", ".join(
        f"{points} {track}" for track, points in zip(view.variant.tracks, gain, strict=True) if points
    )
    if move.kind == "place":
        return f"scores {scored}" if scored else "scores nothing"
    return {"exchange": "new tiles", "keep": "keeps the hand", "pass": "the only legal move"}[move.kind]
