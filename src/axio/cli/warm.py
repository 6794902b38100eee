"""`warm`: compile everything now, so that nobody waits for it later."""

from __future__ import annotations

import os
import time
from contextlib import closing

import click

from ..games import GAMES, find_variant
from ..games.declaration import MOST_PLAYERS
from .lines import count
from .progress import progress
from .workers import in_order


def compile_game(name: str) -> int:
    """Compile a game for every number of players; how many loops it has."""
    loops = 0
    for players in range(1, MOST_PLAYERS + 1):
        kernels = find_variant(name, players).kernels
        loops += kernels.compile_all()
    return loops


@click.command("warm")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes to use; as many as there are cores if not said."
)
def command(jobs: int | None) -> None:
    """Compile the rules of all games, as is otherwise done when they are first needed.

    Worth it before a demonstration, in an image for many machines, or before tests in several processes.
    """
    start = time.monotonic()
    jobs = min(jobs or os.cpu_count() or 1, len(GAMES))
    with (
        closing(in_order(compile_game, GAMES, jobs)) as done,
        progress("compiling the rules", len(GAMES)) as advance,
    ):
        loops = 0
        for compiled in done:
            loops += compiled
            advance(1)
    click.echo(
        f"{count(loops, 'loop')} of {count(len(GAMES), 'game')} ready, in {time.monotonic() - start:.1f} s"
    )
