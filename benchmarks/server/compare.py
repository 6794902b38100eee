"""`python -m benchmarks.server.compare REVISION`: the server of another commit beside this one, in one run.

Both servers run on one core with a database each; the same clients play at one and then at the other, in
turns, so that whatever else the machine does meets both. The processor time of a move says more than the
moves a second: it hardly changes with what else runs.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import click
from msgspec import Struct, json
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.server.databases import has_postgresql, store
from benchmarks.server.load import Load
from benchmarks.server.measures import BUSY, GAMES_A_SECOND, WARMING, run_on
from benchmarks.server.processes import (
    THIS,
    Program,
    Running,
    compile_rules,
    free_port,
    placings,
    program_in,
    running,
    serve_command,
)

TABLES = 200
MOST_LOST = 0.03  # of the moves a second


class Side(Struct):
    """What was measured of one commit."""

    commit: str
    moves_a_second: list[float]
    microseconds_a_move: list[float]  # of processor time


class Comparison(Struct):
    """A whole run: this commit against the base, in pairs of neighbouring rounds."""

    database: str
    tables: int
    base: Side
    this: Side

    @property
    def speed(self) -> float:
        """Moves a second of this commit for each of the base."""
        pairs = zip(self.this.moves_a_second, self.base.moves_a_second, strict=True)
        return median(this / base for this, base in pairs)

    @property
    def processor(self) -> float:
        """Processor time of a move in this commit for that of the base."""
        pairs = zip(self.this.microseconds_a_move, self.base.microseconds_a_move, strict=True)
        return median(this / base for this, base in pairs)


@click.command()
@click.argument("revision")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
@click.option("--game", default="axio", show_default=True, help="What is played.")
@click.option("--rounds", type=click.IntRange(1), default=12, show_default=True, help="Pairs of rounds.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def main(revision: str, database: str, game: str, rounds: int, as_json: bool) -> None:
    """Compare the server with that of another commit; fail if more than 3 % of its speed is lost."""
    if database == "postgresql" and not has_postgresql():
        raise click.ClickException("PostgreSQL is not installed; leave --database out")
    notes = Console(stderr=True)
    with checked_out(revision) as sources:
        notes.print("compiling the rules of both, where that is still to be done …")
        compile_rules()
        compile_rules(program_in(sources), _environment_of(sources))
        found = compare(sources, revision, database, game, rounds, notes)
    if as_json:
        sys.stdout.write(json.format(json.encode(found), indent=1).decode() + "\n")
    else:
        _show(found)
    # Either figure may be disturbed; a slower server is worse in both.
    if found.speed < 1 - MOST_LOST and found.processor > 1 + MOST_LOST:
        raise click.ClickException(f"more than {MOST_LOST:.0%} slower than {revision}")


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The sources of a commit, in a folder for as long as they are needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, revision], check=True)
        try:
            yield tree / "src"
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], check=True)


def _environment_of(sources: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(sources)}


def compare(
    sources: Path, revision: str, database: str, game: str, rounds: int, notes: Console
) -> Comparison:
    """Play at both servers in turns: half of the rounds with one started first, half with the other.

    Of two equal servers the one that was started last takes a few percent longer.
    """
    sides = Side(revision, [], []), Side("this commit", [], [])
    programs = (program_in(sources), _environment_of(sources)), (THIS, None)
    for first in (0, 1):
        order = (first, 1 - first)
        _play([(sides[n], *programs[n]) for n in order], database, game, (rounds + 1) // 2, notes)
    return Comparison(database, TABLES, *sides)


def _play(
    sides: Sequence[tuple[Side, Program, Mapping[str, str] | None]],
    database: str,
    game: str,
    rounds: int,
    notes: Console,
) -> None:
    core = placings()[0]
    with ExitStack() as stack:
        servers = []
        for _, program, env in sides:
            kept = stack.enter_context(store(database, core.server))
            port = free_port()
            command = serve_command(port, kept.folder, kept.url, program=program)
            servers.append(stack.enter_context(running(command, port, core.server, env=env)))
        for server in servers:
            server.settle()

        async def work() -> None:
            loads = [Load(server.port, game) for server in servers]
            for load in loads:
                await load.grow(TABLES, TABLES)
                await load.busy(WARMING)
            for number in track(range(rounds), "playing", console=notes):
                for which in (0, 1) if number % 2 else (1, 0):
                    await _round(loads[which], servers[which], sides[which][0])
            for load in loads:
                await load.close()

        run_on(core.clients, work)


async def _round(load: Load, server: Running, side: Side) -> None:
    load.tidy()
    await load.grow(TABLES, TABLES + int(BUSY * GAMES_A_SECOND))
    await asyncio.sleep(0.3)
    before, processor = load.acknowledged, server.cpu_seconds
    side.moves_a_second.append(await load.busy(BUSY))
    moves = load.acknowledged - before
    side.microseconds_a_move.append(1e6 * (server.cpu_seconds - processor) / moves)


def _show(found: Comparison) -> None:
    table = Table(title=f"{found.tables} tables in play, {found.database}, everything on one core")
    for column in ("", found.base.commit, found.this.commit, "ratio"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row(
        "moves/s",
        f"{median(found.base.moves_a_second):,.0f}",
        f"{median(found.this.moves_a_second):,.0f}",
        f"{found.speed:.3f}",
    )
    table.add_row(
        "server's processor time a move, µs",
        f"{median(found.base.microseconds_a_move):,.0f}",
        f"{median(found.this.microseconds_a_move):,.0f}",
        f"{found.processor:.3f}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
