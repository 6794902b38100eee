"""Budgets in the names of players."""

from __future__ import annotations

import pytest

from axiogames import new_game
from axiogames.errors import InvalidPlayers
from axiogames.games import GAMES
from axiogames.model.view import View
from axiogames.players import Budget, Choice, player
from axiogames.players.engines.protocol import read_budget
from axiogames.players.interface import UNLIMITED, FixedBudget
from axiogames.rng import Generator


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
        ("3600s", Budget(3600.0)),
        ("1000000000rx64", Budget(UNLIMITED, 1_000_000_000, 64)),
    ],
)
def test_budget_is_parsed(text: str, budget: Budget) -> None:
    found = player(f"greedy@{text}")
    assert isinstance(found, FixedBudget)
    assert found.budget == budget
    assert found.name == f"greedy@{text}"


@pytest.mark.parametrize("text", ["", "1", "s", "0s", "-1s", "1.5r", "1h", "1sx0", "1sx", "1s x2", "1e3r"])
def test_invalid_budget_is_refused(text: str) -> None:
    with pytest.raises(InvalidPlayers, match="800r"):
        player(f"greedy@{text}")


@pytest.mark.parametrize(
    "text",
    [
        "3601s", "3600001ms", "1000000001r", "1sx65", "1sx99", "1rx100", "9" * 400 + "r", "9" * 400 + "s",
        "5rx" + "9" * 5000, "9" * 5000 + "r", "0." + "0" * 400 + "1s", "²r", "٣s", "1٣r", "1sx٣", "1_0r",
        "nans", "infr", "1s\n", "1s ", "\udcffr",
    ],
)  # fmt: skip
def test_budget_has_limits_and_ascii_digits(text: str) -> None:
    with pytest.raises(InvalidPlayers, match="invalid budget") as caught:
        player(f"sim@{text}")
    assert len(str(caught.value)) < 300
    if text == text.strip():
        with pytest.raises(InvalidPlayers):
            read_budget(f"1s {text}")


def test_fixed_budget_replaces_the_budget_of_the_match() -> None:
    seen: list[Budget] = []

    class Recorder:
        name = "recorder"

        def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
            seen.append(budget)
            return player("greedy").choose(view, budget, rng)

    view = new_game(GAMES[0], seed=1).view(0)
    FixedBudget(Recorder(), Budget(0.25), "recorder@0.25s").choose(view, Budget(9.0), Generator(1))
    assert seen == [Budget(0.25)]
