"""docs/reference/engine_protocol.md: its sessions run, and its tables list every command and field."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from axiogames.players.engines.external import GRACE, SETUP_TIMEOUT
from axiogames.players.engines.protocol import MAX_LINE_LENGTH
from axiogames.players.engines.serve import COMMANDS
from axiogames.players.engines.views import ViewMessage
from tests.cli.test_cli import run

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "engine_protocol.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^```engine\n\$ axio (.+?)\n(.*?)^```$", TEXT, re.M | re.S)


def matches(shown: str, line: str) -> bool:
    """Return whether a line is the documented one. `…` at the end stands for any text."""
    return line.startswith(shown[:-1].rstrip()) if shown.endswith("…") else line == shown.rstrip()


@pytest.mark.parametrize(("command", "text"), SESSIONS, ids=range(len(SESSIONS)))
def test_sessions_run_as_documented(command: str, text: str) -> None:
    exchanges = [part.split("\n", 1) for part in text.split("> ")[1:]]
    ran = run(*shlex.split(command), text="".join(f"{typed}\n" for typed, _ in exchanges))
    assert ran.code == 0, ran.err
    answers = ran.out.split("\n\n")[:-1]
    assert len(answers) == len(exchanges)
    for (typed, shown), answer in zip(exchanges, answers, strict=True):
        expected, lines = shown.splitlines(), answer.splitlines()
        if expected[-1] == "…":
            expected, lines = expected[:-1], lines[: len(expected) - 1]
        assert len(expected) == len(lines), (typed, answer)
        for documented, line in zip(expected, lines, strict=True):
            assert matches(documented, line), (typed, documented, line)


def test_sessions_cover_most_commands() -> None:
    typed = {line.split()[0] for _, text in SESSIONS for line in re.findall(r"^> (?:\d+ )?(.+)$", text, re.M)}
    assert len(SESSIONS) >= 5
    # `start` and `remove` occur only in games without a session on the page; `version` needs no example.
    assert set(COMMANDS) - typed == {"version", "start", "remove"}


def test_tables_list_every_command_and_field() -> None:
    listed = {name for row in re.findall(r"^\| (`.+?) \|", TEXT, re.M) for name in re.findall(r"`(\w+)", row)}
    assert set(COMMANDS) <= listed
    assert set(ViewMessage.__struct_fields__) <= listed


def test_limits_are_those_of_the_code() -> None:
    prose = " ".join(TEXT.split())
    assert f"{MAX_LINE_LENGTH:,} characters" in prose
    assert (GRACE, SETUP_TIMEOUT) == (5.0, 120.0)
    assert "five seconds" in prose
    assert "two minutes" in prose
