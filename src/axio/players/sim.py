"""`sim`: plays on from the promising moves in its head and takes the one that comes off best."""

from __future__ import annotations

from ..chance import Generator
from ..search.analysis import analyse
from ..view import View
from .interface import Budget, Candidate, Choice
from .rating import SHOWN


class Sim:
    """Guesses what is hidden from what it knows, and plays on from there with every move alike."""

    name = "sim"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """The move that was worth the most on average."""
        found = analyse(
            view, seed=lots.bits(), seconds=budget.seconds, rollouts=budget.rollouts, threads=budget.threads
        )
        candidates = tuple(
            Candidate(line.move, (line.value,), f"{line.value:.0%} after {line.rollouts} rollouts")
            for line in found.lines[:SHOWN]
        )
        return Choice(found.best.move, candidates)
