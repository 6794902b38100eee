"""Recorded games to review, short or whole, and reviews that take little time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from axiogames.analysis.review.judging import simple_move
from axiogames.analysis.review.review import Review, decisions, judged, review, start_of
from axiogames.games import GAMES
from axiogames.model.record import Record, record_of, replay
from axiogames.model.view import View
from axiogames.players import Budget, Choice, Player, player
from axiogames.players.match import play_match
from axiogames.rng import Generator

QUICK = Budget(rollouts=100)
NAMES = ("Ada", "Ben", "Cleo", "Dan")


def half_of_all(players: Iterable[int]) -> list[Any]:
    """Every game for half of these numbers of players; the other half is for `make slow`."""
    return [
        pytest.param(name, count, marks=[] if (number + count) % 2 else [pytest.mark.slow])
        for number, name in enumerate(GAMES)
        for count in players
    ]


class Simple:
    """Makes the move that choices are measured against."""

    name = "simple"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """The simple move."""
        return Choice(view.variant.decode(view.state, simple_move(view)), ())


@cache
def whole_game(name: str, players: int = 2, seed: int = 1, by: str = "level2") -> Record:
    """A game, if nothing else is said between beginners, who leave something to be said."""
    who: list[Player] = [Simple() if by == Simple.name else player(by) for _ in range(players)]
    return record_of(play_match(name, who, seed), NAMES[:players])


@cache
def short_game(name: str, players: int = 2, moves: int = 5) -> Record:
    """The first moves of a game."""
    record = whole_game(name, players)
    return record_of(replay(record, upto=moves), record.players)


@cache
def reviewed(record_text: str, seed: str = "0", rollouts: int = 100) -> Review:
    """The review of a record."""
    record, budget = Record.parse(record_text), Budget(rollouts=rollouts)
    made = list(decisions(record))
    judgements = [judged(decision, budget, seed) for decision in made]
    return review(record, made, judgements, start_of(record, budget, seed), seed)
