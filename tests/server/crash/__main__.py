"""Long crash test: `python -m tests.server.crash --kills 3000`, on SQLite or PostgreSQL."""

from __future__ import annotations

import sys
import time

import click

from axiogames.cli.terminal.progress import progress
from tests.server.crash.arena import run
from tests.server.crash.audit import Lost
from tests.server.crash.ledger import Counts

SENTENCES = {
    "kills": "times the server was killed",
    "tables": "tables",
    "finished": "games that were played to their end",
    "entries": "entries in the logs",
    "acknowledged": "messages that were acknowledged",
    "told": "views and steps that were told, all of them as the logs say",
    "cut_off": "times that a message had no answer when the server died,",
    "kept": "of which it was in the log, and acknowledged later",
    "untold": "times that a log had something new which nobody had been told",
    "bots": "times that a bot went on after the server had died at its turn",
}


@click.command()
@click.option("--kills", type=click.IntRange(1), default=3000, show_default=True, help="How often to kill.")
@click.option("--seed", default=0, show_default=True, help="Another run with the same kinds of instants.")
@click.option("--servers", type=click.IntRange(1, 16), default=2, show_default=True, help="At the same time.")
@click.option(
    "--database",
    "databases",
    multiple=True,
    metavar="URL",
    help="An empty PostgreSQL database, with a server of its own. Can be given several times.",
)
def command(kills: int, seed: int, servers: int, databases: tuple[str, ...]) -> None:
    """Kill the server repeatedly while clients play; compare its log with the messages they received."""
    began = time.monotonic()
    with progress("killing the server", kills) as advance:
        try:
            counts = run(kills, databases or ("",) * servers, seed=seed, progress=lambda: advance(1))
        except Lost as lost:
            click.echo(f"LOST: {lost}", err=True)
            sys.exit(1)
    show(counts, time.monotonic() - began)


def show(counts: Counts, seconds: float) -> None:
    """Print the statistics of a run."""
    for name, sentence in SENTENCES.items():
        click.echo(f"{getattr(counts, name):>8,} {sentence}")
    click.echo(f"Nothing was lost in {seconds:.0f} s ({counts.kills / seconds:.1f} kills a second).")


if __name__ == "__main__":
    command()
