"""Recorded games to review, short or whole, and reviews that take little time."""

from __future__ import annotations

from functools import cache

from axio.match import play_match
from axio.players import Budget, player
from axio.record import Record, record_of, replay
from axio.review.game import Review, decisions, judged, review, start_of

QUICK = Budget(rollouts=100)
NAMES = ("Ada", "Ben", "Cleo", "Dan")


@cache
def whole_game(name: str, players: int = 2, seed: int = 1) -> Record:
    """A game between beginners, who leave something to be said."""
    table = play_match(name, [player("level2") for _ in range(players)], seed)
    return record_of(table, NAMES[:players])


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
