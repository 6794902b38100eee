"""docs/guides/arena.md: its commands run and print the documented output."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.docs.test_readme import ROOT, missing, run

DOCUMENT = (ROOT / "docs" / "guides" / "arena.md").read_text(encoding="utf-8")


def test_commands_print_the_documented_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    block = DOCUMENT.partition("```console\n")[2].partition("```")[0]
    commands = [command.splitlines() for command in block.split("$ ")[1:]]
    assert len(commands) == 3
    for command, *shown in commands:
        code, printed = run(shlex.split(command))
        assert code == 0, printed
        assert missing(shown, printed) is None, printed
