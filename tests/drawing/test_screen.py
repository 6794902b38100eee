"""Window sizes in `play` and `show`."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import axiogames as axio
from axiogames.cli.terminal.screen import Screen
from axiogames.games import GAMES


def screen(width: int, height: int | None) -> Screen:
    return Screen(colour=False, unicode=True, width=width, height=height, terminal=False)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", [2, 4])
def test_board_leaves_lines_for_messages(game: str, players: int) -> None:
    view = axio.new_game(game, players, seed="1").view(0)
    names = [f"player {seat}" for seat in range(players)]
    for width, height in ((80, 24), (100, 30), (60, 40)):
        lines = screen(width, height).render(view, names).splitlines()
        turned = len(screen(width, height).render_orientations(view))
        assert len(lines) + turned + 3 <= height
        assert max(map(len, lines)) <= width


def test_default_size_without_a_window() -> None:
    view = axio.new_game(GAMES[-1], 2, seed="1").view(0)
    assert screen(80, None).render(view, ["a", "b"]) == view.text(names=["a", "b"])


@pytest.mark.parametrize(
    ("columns", "lines", "width"), [(80, 24, 80), (100, 30, 100), (60, 40, 60), (20, 10, 40), (400, 90, 160)]
)
def test_window_size_limits_the_board(
    columns: int, lines: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_, **__: os.terminal_size((columns, lines)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    of_stdout = Screen.of_stdout()
    assert (of_stdout.width, of_stdout.height) == (width, lines)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    of_stdout = Screen.of_stdout()
    assert (of_stdout.width, of_stdout.height) == (80, None)
