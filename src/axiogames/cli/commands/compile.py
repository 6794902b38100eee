"""`compile`: compile the rules ahead of time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

import click

from ...games import GAMES, find_variant
from ...games.protocol import MAX_PLAYERS
from ...games.runtime.compile import INTERPRETED, is_ready, mark_ready
from ...parallel import map_ordered, process_count
from ..terminal.options import JOBS
from ..terminal.progress import progress
from ..terminal.text import count


class CompileUnit(NamedTuple):
    """A game, and the smallest number of players of the variants that share compiled loops."""

    game: str
    players: int


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


def uncompiled_games() -> list[str]:
    """Return the games whose rules are not yet compiled on this machine."""
    return [] if INTERPRETED else [name for name in GAMES if not is_ready(_marker(name))]


def compile_units(games: Sequence[str]) -> list[CompileUnit]:
    """Return one unit for each set of loops that is compiled separately."""
    units = {
        find_variant(name, players).kernels.label: CompileUnit(name, players)
        for name in games
        for players in range(MAX_PLAYERS, 0, -1)
    }
    return list(units.values())


def compile_unit(unit: CompileUnit) -> int:
    """Compile the loops that games need, and return their number."""
    from ...games.runtime import loops, view_loops
    from ...players.evaluation import rollout_loops

    return find_variant(*unit).kernels.compile((*loops.LOOPS, *view_loops.LOOPS, *rollout_loops.LOOPS))


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
    for name in games:
        mark_ready(_marker(name))
    return loops


def _marker(name: str) -> str:
    """Return the name of the cache file that marks all variants of a game as compiled."""
    return f"{name}.all"
