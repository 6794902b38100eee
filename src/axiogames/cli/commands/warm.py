"""`warm`: compile everything now, so that nobody waits for it later."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

import click

from ...games import GAMES, find_variant
from ...games.protocol import MOST_PLAYERS
from ...games.runtime.compile import INTERPRETED, is_ready, mark_ready
from ...parallel import map_ordered, process_count
from ..terminal.options import JOBS
from ..terminal.progress import progress
from ..terminal.text import count


class Layout(NamedTuple):
    """A game, and the smallest number of players of those who share compiled loops."""

    game: str
    players: int


def layouts(games: Sequence[str]) -> list[Layout]:
    """Everything that is compiled apart from all else."""
    found = {
        find_variant(name, players).kernels.label: Layout(name, players)
        for name in games
        for players in range(MOST_PLAYERS, 0, -1)
    }
    return list(found.values())


def compile_layout(layout: Layout) -> int:
    """Compile what playing needs; how many loops that are."""
    from ...games.runtime import loops
    from ...players.evaluation import rollout_loops

    return find_variant(*layout).kernels.compile((*loops.LOOPS, *rollout_loops.LOOPS))


def _sign(name: str) -> str:
    """The name under which is kept that a game is compiled for every number of players."""
    return f"{name}.all"


@click.command("warm")
@click.option("--jobs", type=JOBS, help="Processes to use; as many as there are cores if not said.")
def command(jobs: int | None) -> None:
    """Compile the rules of all games, as is otherwise done when they are first needed.

    Worth it before a demonstration, in an image for many machines, or before tests in several processes.
    """
    start = time.monotonic()
    loops = compile_games(GAMES, jobs)
    click.echo(
        f"{count(loops, 'loop')} of {count(len(GAMES), 'game')} ready, in {time.monotonic() - start:.1f} s"
    )


def compile_games(
    games: Sequence[str], jobs: int | None = None, compile_one: Callable[[Layout], int] = compile_layout
) -> int:
    """Compile games at the same time, with a progress bar; how many loops they have."""
    pieces = layouts(games)
    jobs = process_count(jobs or os.cpu_count() or 1, len(pieces))
    loops = 0
    with (
        closing(map_ordered(compile_one, pieces, jobs)) as done,
        progress("compiling the rules", len(pieces)) as advance,
    ):
        for compiled in done:
            loops += compiled
            advance(1)
    for name in games:
        mark_ready(_sign(name))
    return loops


def not_compiled() -> list[str]:
    """The games whose rules still have to be compiled on this machine."""
    return [] if INTERPRETED else [name for name in GAMES if not is_ready(_sign(name))]
