"""`verify`: check recorded games against the rules."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

import click

from ...errors import InvalidFile, InvalidRecord
from ...model.record import Record, replay
from ...parallel import map_ordered
from ..terminal.options import FILE, STDIN, input_lines, jobs_option
from ..terminal.progress import progress
from ..terminal.text import one_line

MAX_LINES_PER_PIECE = 64
MAX_BYTES_PER_PIECE = 1 << 20  # a piece of this size gets no further line


@dataclass(frozen=True, slots=True)
class NumberedLines:
    """Lines of a file and their numbers."""

    file: str
    lines: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """An invalid record: its line and the reason. The message includes `event`."""

    file: str
    line: int
    event: int | None
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.file}, line {self.line}: {self.message}")


@dataclass(frozen=True, slots=True)
class CheckedLines:
    """The result of a piece: the number of records, their total size in bytes, and the failures."""

    count: int
    size: int
    failures: tuple[Failure, ...]


def check(piece: NumberedLines) -> CheckedLines:
    """Replay the records in these lines."""
    failures = []
    for number, line in piece.lines:
        try:
            replay(Record.parse(line))
        except InvalidRecord as error:
            failures.append(Failure(piece.file, number, error.event, str(error)))
    return CheckedLines(len(piece.lines), sum(len(line) + 1 for _, line in piece.lines), tuple(failures))


@click.command("verify")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, files: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Check recorded games against the rules; - is standard input.

    All events of all records are replayed. Each invalid record is listed with its line, the event and the
    reason. The exit code is 1 if a record is invalid, 2 if a file cannot be read.
    """
    for file in files:
        if not _is_stream(file):
            next(input_lines(file))  # report files that cannot be read before any work
    passed, failed = 0, 0
    failures, unread = list[Failure](), list[InvalidFile]()
    size = None if any(map(_is_stream, files)) else sum(os.path.getsize(file) for file in files)
    with (
        closing(map_ordered(check, _pieces(files, unread), jobs)) as pieces,
        progress("verify", size) as advance,
    ):
        for checked in pieces:
            passed += checked.count - len(checked.failures)
            failed += len(checked.failures)
            if as_json:
                failures += checked.failures
            else:
                for failure in checked.failures:
                    click.echo(failure)
            advance(checked.size)
    if as_json:
        summary = {
            "passed": passed,
            "failed": failed,
            "failures": [asdict(failure) for failure in failures],
            "unread": [str(error) for error in unread],
        }
        click.echo(json.dumps(summary))
    elif passed or failed or not unread:
        click.echo(f"{passed} passed, {failed} failed")
    if unread:
        raise InvalidFile("; ".join(map(str, unread)))
    if failed:
        ctx.exit(1)


def _is_stream(file: str) -> bool:
    """Return whether a file can be read only once: standard input, a pipe, a device."""
    if file == STDIN or file.startswith("/dev/"):  # /dev/stdin may be a file that has been read in part
        return True
    try:
        mode = os.stat(file).st_mode
    except (OSError, ValueError):
        return False  # `open` reports the reason
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _pieces(files: Sequence[str], unread: list[InvalidFile]) -> Iterator[NumberedLines]:
    """Yield the lines of all files in pieces. Add errors of reading a file to `unread`."""
    for file in files:
        lines: list[tuple[int, bytes]] = []
        size = 0
        try:
            for number, line in input_lines(file):
                lines.append((number, line))
                size += len(line)
                if len(lines) == MAX_LINES_PER_PIECE or size >= MAX_BYTES_PER_PIECE:
                    yield NumberedLines(file, tuple(lines))
                    lines, size = [], 0
        except InvalidFile as error:
            unread.append(error)
        if lines:
            yield NumberedLines(file, tuple(lines))
