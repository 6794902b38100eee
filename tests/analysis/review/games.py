"""Recorded games, whole or cut short, and fast reviews of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from axiogames.analysis.review.judging import rollout_policy_action
from axiogames.analysis.review.review import Review, assemble_review, decisions, judge_decision, start_values
from axiogames.games import GAMES
from axiogames.model.record import Record, record_of, replay
from axiogames.model.view import View
from axiogames.players import Budget, Choice, Player, player
from axiogames.players.match import play_match
from axiogames.rng import Generator

QUICK = Budget(rollouts=100)
NAMES = ("Ada", "Ben", "Cleo", "Dan")


def half_of_all(players: Iterable[int]) -> list[Any]:
    """Return all games with these numbers of players, half of the combinations marked as slow."""
    return [
        pytest.param(name, count, marks=[] if (number + count) % 4 in (1, 2) else [pytest.mark.slow])
        for number, name in enumerate(GAMES)
        for count in players
    ]


class RolloutPolicy:
    """A player that follows the rollout policy, the reference for choices."""

    name = "policy"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the move of the policy."""
        return Choice(view.variant.decode(view.state, rollout_policy_action(view)), ())


@cache
def whole_game(name: str, players: int = 2, seed: int = 1, bot: str = "level2") -> Record:
    """Return a whole game, by default between weak bots, whose mistakes cause remarks."""
    players_by_seat: list[Player] = [
        RolloutPolicy() if bot == RolloutPolicy.name else player(bot) for _ in range(players)
    ]
    return record_of(play_match(name, players_by_seat, seed), NAMES[:players])


@cache
def short_game(name: str, players: int = 2, moves: int = 5) -> Record:
    """Return the first moves of a game."""
    record = whole_game(name, players)
    return record_of(replay(record, upto=moves), record.players)


@cache
def reviewed(record_text: str, seed: str = "0", rollouts: int = 100) -> Review:
    """Return the review of a record."""
    record, budget = Record.parse(record_text), Budget(rollouts=rollouts)
    decided = list(decisions(record))
    judgements = [judge_decision(decision, budget, seed) for decision in decided]
    return assemble_review(record, decided, judgements, start_values(record, budget, seed), seed)
