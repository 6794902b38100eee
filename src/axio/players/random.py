"""Any legal move, each as likely as any other."""

from __future__ import annotations

from ..chance import Generator
from ..view import View
from .interface import Budget, Candidate, Choice


class Random:
    """Plays by lot."""

    name = "random"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        moves = view.legal_moves()
        move = moves[lots.below(len(moves))]
        return Choice(move, (Candidate(move, (0.0,), "by lot"),))
