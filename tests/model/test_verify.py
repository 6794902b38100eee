"""`verify` reads every source once and continues after invalid lines."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from axiogames import files
from tests.cli.test_cli import CommandResult, assert_refused, run, spawn
from tests.games.conformance.positions import Case
from tests.model.games import record

CASE = Case("rota", 2)


def good() -> str:
    """Return the line of a valid record."""
    return json.dumps(record(CASE))


def bad_lines() -> list[bytes]:
    """Return an invalid line of every kind."""
    empty_start = json.dumps({**record(CASE), "events": [{"t": "start", "display": []}]})
    return [
        b"{",
        b"{}",
        b'"\xff"',
        b"[" * 100_000,
        b"x" * (files.MAX_LINE_BYTES + 1),
        b"\0",
        empty_start.encode(),
        good().replace('"rota"', '"chess"', 1).encode(),
        good().replace('"p": 0', '"p": ' + "9" * 5000, 1).encode(),
    ]


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return valid lines with an invalid one of every kind between them."""
    monkeypatch.setattr(files, "MAX_LINE_BYTES", len(good()) + 5100)
    return b"".join(good().encode() + b"\n" + line + b"\n" for line in bad_lines()) + good().encode()


def assert_all_are_reported(ran: CommandResult) -> None:
    assert ran.code == 1, ran
    lines = ran.out.splitlines()
    assert lines[-1] == "10 passed, 9 failed", ran
    assert len(lines) == 10
    for number, line in enumerate(lines[:-1]):
        assert f"line {2 * number + 2}: " in line, line
    assert "event 1: the opening display is on no cell" in ran.out
    assert ran.err == ""


def test_verify_continues_after_an_invalid_line(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_bytes(content)
    ran = run("verify", str(file))
    assert_all_are_reported(ran)
    summary = json.loads(run("verify", str(file), "--json").out)
    assert summary["passed"] == 10
    assert [failure["line"] for failure in summary["failures"]] == [2 * n + 2 for n in range(9)]
    wrong = next(failure for failure in summary["failures"] if "display" in failure["message"])
    assert wrong["event"] == 1


def test_pipe_is_read_once(content: bytes, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    assert_all_are_reported(run("verify", str(pipe)))
    writer.join(60)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_read_once(name: str) -> None:
    ran = spawn("verify", name, text=f"{good()}\n{{}}\n{good()}\n")
    assert ran.code == 1, ran
    assert ran.out.endswith("2 passed, 1 failed\n")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("command", ["verify", "show", "review", "hint"])
def test_endless_line_does_not_fill_memory(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_SKIPPED_BYTES", 1 << 20)
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1 << 16)
    assert_refused(run(command, "/dev/zero"), "/dev/zero", "no line break within")
