"""`compile`: compile the rules ahead of time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import click

from ...games import GAMES
from ...parallel import map_ordered, process_count
from ...players.compilation import CompileUnit, compile_unit, compile_units
from ..terminal.options import JOBS
from ..terminal.progress import progress
from ..terminal.text import count


@click.command("compile")
@click.option("--jobs", type=JOBS, help="Number of processes.  [default: one per core]")
def command(*, jobs: int | None) -> None:
    """Compile the rules of all games ahead of time.

    Otherwise they are compiled on first use. Run it before a demonstration, in a container image, or before
    tests in several processes.
    """
    start = time.monotonic()
    loops = compile_games(GAMES, jobs)
    click.echo(
        f"{count(loops, 'loop')} of {count(len(GAMES), 'game')} ready, in {time.monotonic() - start:.1f} s"
    )


def compile_games(
    games: Sequence[str], jobs: int | None = None, compile_one: Callable[[CompileUnit], int] = compile_unit
) -> int:
    """Compile games in parallel, with a progress bar, and return the number of loops."""
    units = compile_units(games)
    jobs = process_count(jobs or os.cpu_count() or 1, len(units))
    loops = 0
    with (
        closing(map_ordered(compile_one, units, jobs)) as done,
        progress("compiling the rules", len(units)) as advance,
    ):
        for compiled in done:
            loops += compiled
            advance(1)
    return loops
