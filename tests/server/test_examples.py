"""The example bot: short, independent of this package, and able to play."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from axiogames.games import GAMES
from tests.server.driving import RunningServer

BOT = Path(__file__).parents[2] / "examples" / "bot.py"
TIMEOUT = 120.0  # seconds: a busy machine takes long to start a program


@contextmanager
def running_bot(*arguments: str) -> Iterator[Callable[[], str]]:
    """Start the bot; yield a function that waits for its end and returns its output."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", str(BOT), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def finish() -> str:
        out, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0, err
        return out

    try:
        yield finish
    finally:
        process.kill()
        process.communicate()


def test_bot_is_short_and_does_not_import_axiogames() -> None:
    text = BOT.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 45
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for name in imported:
        top = name.partition(".")[0]
        assert top == "websockets" or top in sys.stdlib_module_names


@pytest.mark.parametrize("game", GAMES)
def test_bot_plays_a_whole_game(sqlite_server: RunningServer, game: str) -> None:
    with running_bot(sqlite_server.url, game) as finish:
        result = json.loads(finish())
    assert len(result["scores"]) == 2
    assert sum(result["scores"][0].values()) > 5
    assert result["winners"]


def test_bot_joins_a_public_table(server: RunningServer) -> None:
    ann = server.guest("Ann")
    table = ann.open("rota", ["me", "open"], public=True)
    with running_bot(server.url, "--join", table.id) as finish, ann.live(table.id) as live:
        live.until(
            lambda message: message["type"] == "view" and message["table"]["status"] == "playing", TIMEOUT
        )
        assert ann.view(table.id)["seats"][1]["name"] == "Example bot"
        result = live.play_to_end()
        assert json.loads(finish()) == result
