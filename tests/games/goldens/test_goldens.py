"""Records, numbers of moves and their order agree with the golden files."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from tests.games.goldens.make import FOLDER, files


@pytest.mark.parametrize("name", GAMES)
def test_game_agrees_with_its_golden_files(name: str) -> None:
    for path, text in files(name).items():
        assert path.exists(), f"{path.name} is missing: python -m tests.games.goldens.make"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} has changed"


def test_every_game_has_golden_files() -> None:
    assert {path.stem for path in FOLDER.glob("*.json*")} == set(GAMES)
