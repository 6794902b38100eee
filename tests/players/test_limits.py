"""Limits that a player carries in its name."""

from __future__ import annotations

import pytest

from axio import new_game
from axio.chance import Generator
from axio.errors import WrongPlayers
from axio.games import GAMES
from axio.players import Budget, Choice, player
from axio.players.interface import UNLIMITED
from axio.players.limits import Limited
from axio.view import View


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("1s", Budget(1.0)),
        ("0.25s", Budget(0.25)),
        (".5s", Budget(0.5)),
        ("50ms", Budget(0.05)),
        ("800r", Budget(UNLIMITED, 800)),
        ("1sx2", Budget(1.0, None, 2)),
        ("800rx4", Budget(UNLIMITED, 800, 4)),
    ],
)
def test_a_limit_is_read(text: str, budget: Budget) -> None:
    limited = player(f"greedy@{text}")
    assert isinstance(limited, Limited)
    assert limited.budget == budget
    assert limited.name == f"greedy@{text}"


@pytest.mark.parametrize("text", ["", "1", "s", "0s", "-1s", "1.5r", "1h", "1sx0", "1sx", "1s x2", "1e3r"])
def test_a_wrong_limit_is_refused(text: str) -> None:
    with pytest.raises(WrongPlayers, match="800r"):
        player(f"greedy@{text}")


def test_a_limited_player_thinks_within_its_own_budget() -> None:
    seen: list[Budget] = []

    class Curious:
        name = "curious"

        def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
            seen.append(budget)
            return player("greedy").choose(view, budget, lots)

    view = new_game(GAMES[0], seed=1).view(0)
    Limited(Curious(), Budget(0.25), "curious@0.25s").choose(view, Budget(9.0), Generator(1))
    assert seen == [Budget(0.25)]
