"""Games and numbers of players for tests of environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from axiogames.games import GAMES, find_variant


def variants(games: Sequence[str] = GAMES, players: Sequence[int] = (2, 3, 4)) -> list[Any]:
    """Return parameters for all combinations of games and numbers of players.

    Larger boards need a compilation of their own and add little to the tests: they are for `make slow`.
    """
    return [
        pytest.param(game, count, marks=[pytest.mark.slow] if _has_larger_board(game, count) else [])
        for game in games
        for count in players
    ]


def _has_larger_board(game: str, players: int) -> bool:
    return len(find_variant(game, players).opening.tobytes()) > len(find_variant(game, 2).opening.tobytes())
