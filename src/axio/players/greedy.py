"""Most points now."""

from __future__ import annotations

from ..chance import Generator
from ..view import View
from .interface import Budget, Choice
from .rating import best_of


class Greedy:
    """Takes the most points, whatever their colour."""

    name = "greedy"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        moves = view.legal_moves()
        gains = view.gains(moves)
        return best_of(view, moves, [gains.sum(axis=1)], gains, lots)
