"""Run the commands of `benchmarks` inside the test process."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple

from benchmarks.command import main
from benchmarks.peers.__main__ import command as peers
from benchmarks.search.__main__ import command as search

COMMANDS = {"peers": peers, "search": search}


class CommandResult(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def run(name: str, *arguments: str) -> CommandResult:
    """Run `python -m benchmarks.NAME` with `arguments`."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(COMMANDS[name], f"python -m benchmarks.{name}", arguments)
    return CommandResult(code, out.getvalue(), err.getvalue())


def assert_refused(ran: CommandResult, words: str) -> None:
    """Assert one line on stderr that contains `words`, and exit code 2."""
    assert (ran.code, ran.out) == (2, ""), ran
    (line,) = ran.err.splitlines()
    assert line.startswith("python -m benchmarks."), ran
    assert words in line, ran
