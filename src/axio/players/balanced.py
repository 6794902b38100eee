"""The best sorted score vector now, then the most points."""

from __future__ import annotations

import numpy as np

from ..chance import Generator
from ..view import View
from .interface import Budget, Choice
from .rating import best_of, own_points


class Balanced:
    """Lifts its lowest colour first, then the next lowest and so on, since that is what decides."""

    name = "balanced"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        moves = view.legal_moves()
        gains = view.gains(moves)
        after = np.sort(gains + own_points(view), axis=1)
        return best_of(view, moves, [*after.T, after.sum(axis=1)], gains, lots)
