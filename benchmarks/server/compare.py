"""`python -m benchmarks.server.compare REVISION`: compare the server with that of another commit.

Both servers run on the same core with separate databases. The clients play in alternating rounds, so other
load affects both. The CPU time per move is more reliable than the moves per second, because it hardly
depends on other load.
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
from benchmarks.server.measures import BUSY, MAX_GAMES_PER_SECOND, WARM_UP, run_on
from benchmarks.server.processes import (
    THIS,
    Program,
    Running,
    compile_rules,
    core_layouts,
    free_port,
    program_in,
    running,
    serve_command,
)

TABLES = 200
MAX_LOSS = 0.03  # of the speed


class Side(Struct):
    """Measurements of one commit."""

    commit: str
    moves_per_second: list[float]
    microseconds_per_move: list[float]  # CPU time


class Comparison(Struct):
    """Measurements of this commit and of the base, in pairs of adjacent rounds."""

    database: str
    tables: int
    base: Side
    this: Side

    @property
    def speed(self) -> float:
        """Moves per second relative to the base; median over the pairs."""
        pairs = zip(self.this.moves_per_second, self.base.moves_per_second, strict=True)
        return median(this / base for this, base in pairs)

    @property
    def cpu_time(self) -> float:
        """CPU time per move relative to the base; median over the pairs."""
        pairs = zip(self.this.microseconds_per_move, self.base.microseconds_per_move, strict=True)
        return median(this / base for this, base in pairs)


@click.command()
@click.argument("revision")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
@click.option("--game", default="axio", show_default=True, help="Game to play.")
@click.option("--rounds", type=click.IntRange(1), default=12, show_default=True, help="Pairs of rounds.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def main(*, revision: str, database: str, game: str, rounds: int, as_json: bool) -> None:
    """Compare the server with that of another commit. Fail if it is more than 3 % slower."""
    if database == "postgresql" and not has_postgresql():
        raise click.ClickException("PostgreSQL is not installed; omit --database to use SQLite")
    notes = Console(stderr=True)
    with checked_out(revision) as sources:
        notes.print("compiling the rules of both commits …")
        compile_rules()
        compile_rules(program_in(sources), _environment_of(sources))
        found = compare(sources, revision, database, game, rounds=rounds, notes=notes)
    if as_json:
        sys.stdout.write(json.format(json.encode(found), indent=1).decode() + "\n")
    else:
        _show(found)
    # Noise may disturb either figure; a slower server is worse in both.
    if found.speed < 1 - MAX_LOSS and found.cpu_time > 1 + MAX_LOSS:
        raise click.ClickException(f"more than {MAX_LOSS:.0%} slower than {revision}")


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check out a commit into a temporary folder and yield its source folder."""
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
    sources: Path, revision: str, database: str, game: str, *, rounds: int, notes: Console
) -> Comparison:
    """Measure both servers in alternating rounds. Each is started first in half of the rounds.

    Of two identical servers, the one that is started last is a few percent slower.
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
    layout = core_layouts()[0]
    with ExitStack() as stack:
        servers = []
        for _, program, env in sides:
            data = stack.enter_context(store(database, layout.server))
            port = free_port()
            command = serve_command(port, data.folder, data.url, program=program)
            servers.append(stack.enter_context(running(command, port, layout.server, env=env)))
        for server in servers:
            server.settle()

        async def work() -> None:
            loads = [Load(server.port, game) for server in servers]
            for load in loads:
                await load.grow(TABLES, TABLES)
                await load.busy(WARM_UP)
            for number in track(range(rounds), "playing", console=notes):
                for side in (0, 1) if number % 2 else (1, 0):
                    await _round(loads[side], servers[side], sides[side][0])
            for load in loads:
                await load.close()

        run_on(layout.clients, work)


async def _round(load: Load, server: Running, side: Side) -> None:
    load.tidy()
    await load.grow(TABLES, TABLES + int(BUSY * MAX_GAMES_PER_SECOND))
    await asyncio.sleep(0.3)
    before, cpu_before = load.acknowledged, server.cpu_seconds
    side.moves_per_second.append(await load.busy(BUSY))
    moves = load.acknowledged - before
    side.microseconds_per_move.append(1e6 * (server.cpu_seconds - cpu_before) / moves)


def _show(found: Comparison) -> None:
    table = Table(title=f"{found.tables} tables in play, {found.database}, everything on one core")
    for column in ("", found.base.commit, found.this.commit, "ratio"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row(
        "moves/s",
        f"{median(found.base.moves_per_second):,.0f}",
        f"{median(found.this.moves_per_second):,.0f}",
        f"{found.speed:.3f}",
    )
    table.add_row(
        "CPU time of the server per move, µs",
        f"{median(found.base.microseconds_per_move):,.0f}",
        f"{median(found.this.microseconds_per_move):,.0f}",
        f"{found.cpu_time:.3f}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
