"""`verify`: recorded games are played again and every event compared with the rules."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice

import click

from ..errors import BadRecord
from ..record import Record, read_lines, replay
from .lines import one_line
from .progress import progress
from .workers import in_order

CHUNK = 64  # most lines that a process checks in one go


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
        except BadRecord as error:
            failures.append(Failure(piece.file, number, error.event, str(error)))
    return Checked(len(piece.lines), sum(len(line) for _, line in piece.lines), tuple(failures))


@click.command("verify")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Check recorded games against the rules.

    Every event of every record is carried out again. The exit code is 1 if a record does not hold.
    """
    for file in files:
        next(read_lines(file))  # a file that cannot be read is said before any work is done
    passed, failures = 0, list[Failure]()
    with (
        closing(in_order(check, _pieces(files), jobs)) as pieces,
        progress("verify", sum(os.path.getsize(file) for file in files)) as advance,
    ):
        for checked in pieces:
            passed += checked.count - len(checked.failures)
            failures += checked.failures
            for failure in checked.failures if not as_json else ():
                click.echo(failure)
            advance(checked.size)
    if as_json:
        facts = [asdict(failure) for failure in failures]
        click.echo(json.dumps({"passed": passed, "failed": len(failures), "failures": facts}))
    else:
        click.echo(f"{passed} passed, {len(failures)} failed")
    if failures:
        ctx.exit(1)


def _pieces(files: Sequence[str]) -> Iterator[Lines]:
    for file in files:
        lines = read_lines(file)
        while some := tuple(islice(lines, CHUNK)):
            yield Lines(file, some)
