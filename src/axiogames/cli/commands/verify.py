"""`verify`: recorded games are played again and every event compared with the rules."""

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
from ..terminal.options import FILE, JOBS, STDIN, lines_of
from ..terminal.progress import progress
from ..terminal.text import one_line

CHUNK = 64  # most lines that a process checks in one go,
CHUNK_BYTES = 1 << 20  # and after so many bytes no further line


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file, with their numbers."""

    file: str
    lines: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A record that does not hold: where, and what is wrong (the event is part of the message)."""

    file: str
    line: int
    event: int | None
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.file}, line {self.line}: {self.message}")


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of some lines; `size` is how many bytes they were."""

    count: int
    size: int
    failures: tuple[Failure, ...]


def check(piece: Lines) -> Checked:
    """Replay the records of these lines."""
    failures = []
    for number, line in piece.lines:
        try:
            replay(Record.parse(line))
        except InvalidRecord as error:
            failures.append(Failure(piece.file, number, error.event, str(error)))
    return Checked(len(piece.lines), sum(len(line) + 1 for _, line in piece.lines), tuple(failures))


@click.command("verify")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@click.option("--jobs", type=JOBS, default=1, show_default=True, help="Processes to use.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Check recorded games against the rules; - is standard input.

    Every event of every record is carried out again. Each record that does not hold is listed with its line,
    the event and the reason. The exit code is 1 if a record does not hold, 2 if a file cannot be read.
    """
    for file in files:
        if not _is_stream(file):
            next(lines_of(file))  # a file that cannot be read is said before any work is done
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
        facts = [asdict(failure) for failure in failures]
        unread_facts = [str(error) for error in unread]
        click.echo(
            json.dumps({"passed": passed, "failed": failed, "failures": facts, "unread": unread_facts})
        )
    elif passed or failed or not unread:
        click.echo(f"{passed} passed, {failed} failed")
    if unread:
        raise InvalidFile("; ".join(map(str, unread)))
    if failed:
        ctx.exit(1)


def _is_stream(file: str) -> bool:
    """Whether a file can be read only once: standard input, a pipe, a device."""
    if file == STDIN or file.startswith("/dev/"):  # where /dev/stdin may be a file that is read on
        return True
    try:
        mode = os.stat(file).st_mode
    except (OSError, ValueError):
        return False  # it is said what is wrong when it is opened
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _pieces(files: Sequence[str], unread: list[InvalidFile]) -> Iterator[Lines]:
    """Yield the lines of all files in pieces; a file that turns out to be unreadable is noted and left."""
    for file in files:
        some: list[tuple[int, bytes]] = []
        size = 0
        try:
            for number, line in lines_of(file):
                some.append((number, line))
                size += len(line)
                if len(some) == CHUNK or size >= CHUNK_BYTES:
                    yield Lines(file, tuple(some))
                    some, size = [], 0
        except InvalidFile as error:
            unread.append(error)
        if some:
            yield Lines(file, tuple(some))
