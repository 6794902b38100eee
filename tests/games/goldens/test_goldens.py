"""Nothing about a game changes without somebody having looked: records, counts and the order of moves."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from tests.games.goldens.make import FOLDER, files


@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_what_it_was(name: str) -> None:
    for path, text in files(name).items():
        assert path.exists(), f"{path.name} is missing: python -m tests.goldens.make"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} has changed"


def test_every_game_has_goldens_and_no_others_lie_around() -> None:
    assert {path.stem for path in FOLDER.glob("*.json*")} == set(GAMES)
