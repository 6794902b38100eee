"""Memory of a process in which `sim` plays a game."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from benchmarks.search import memory


@pytest.mark.parametrize(
    "name", [GAMES[0], GAMES[-1], *(pytest.param(name, marks=pytest.mark.slow) for name in GAMES[1:-1])]
)
def test_search_takes_little_memory(name: str) -> None:
    assert 0 < memory.peak_of_a_game(name, 2, "40r") <= memory.MAX_MEGABYTES
