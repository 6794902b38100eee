"""Long crash test: `python -m tests.server.crash --kills 3000`, on SQLite or PostgreSQL."""

from __future__ import annotations

import sys
import time

import click

from axiogames.cli.terminal.progress import progress
from tests.server.crash.checker import Inconsistency
from tests.server.crash.crash_loop import run
from tests.server.crash.ledger import Counts

LABELS = {
    "kills": "kills",
    "tables": "tables",
    "finished": "finished games",
    "entries": "log entries",
    "acknowledged": "acknowledged commands",
    "delivered": "views and steps delivered, all consistent with the logs",
    "cut_off": "commands without a response at a kill,",
    "stored": "of them committed, and acknowledged later",
    "undelivered": "kills after which a log had entries unknown to all clients",
    "bots": "bot moves resumed after a kill",
}


@click.command()
@click.option("--kills", type=click.IntRange(1), default=3000, show_default=True, help="Number of kills.")
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option(
    "--servers",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Number of concurrent servers.",
)
@click.option(
    "--database",
    "databases",
    multiple=True,
    metavar="URL",
    help="Empty PostgreSQL database with a server of its own; may be repeated.",
)
def command(kills: int, seed: int, servers: int, databases: tuple[str, ...]) -> None:
    """Kill the server repeatedly while clients play; compare its log with the messages they received."""
    start = time.monotonic()
    with progress("killing the server", kills) as advance:
        try:
            counts = run(kills, databases or ("",) * servers, seed=seed, progress=lambda: advance(1))
        except Inconsistency as error:
            click.echo(f"inconsistent: {error}", err=True)
            sys.exit(1)
    show(counts, time.monotonic() - start)


def show(counts: Counts, seconds: float) -> None:
    """Print the statistics of a run."""
    for name, label in LABELS.items():
        click.echo(f"{getattr(counts, name):>8,} {label}")
    click.echo(f"No inconsistency in {seconds:.0f} s ({counts.kills / seconds:.1f} kills per second).")


if __name__ == "__main__":
    command()
