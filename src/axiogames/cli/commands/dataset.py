"""`dataset`: positions as seats saw them, with moves and results, as Parquet for training."""

from __future__ import annotations

import json
import signal
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import click

from ...analysis.dataset.generate import play_left
from ...analysis.dataset.parts import Parts, parts
from ...analysis.dataset.rows import warm
from ...analysis.dataset.settings import checked
from ..terminal.interrupts import Interrupted, interruptible
from ..terminal.options import FILE, JOBS, NUMBER, SEED, Integer, Real
from ..terminal.progress import progress
from ..terminal.text import count

MOST_GAMES = 10_000_000


@click.command("dataset")
@click.argument("game")
@click.option("--players", type=NUMBER, default=2, show_default=True, help="Seats at a table.")
@click.option("--games", type=Integer(1, MOST_GAMES), default=100, show_default=True, help="How many games.")
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Write the dataset to this file.")
@click.option(
    "--bots",
    default="balanced",
    show_default=True,
    metavar="BOT,…",
    help="The programs that play, with limits such as BOT@100r; they take turns in the seats.",
)
@click.option(
    "--seed", type=SEED, default="0", show_default=True, help="A number or any text; it decides every game."
)
@click.option("--option", "options", multiple=True, metavar="NAME", help="Switch a game's option on.")
@click.option(
    "--noise",
    type=Real(-1000, 1000),
    default=0.0,
    show_default=True,
    metavar="P",
    help="Chance of a move by lot instead.",
)
@click.option("--legal", is_flag=True, help="Write the numbers of all legal moves, too.")
@click.option("--jobs", type=JOBS, default=1, show_default=True, help="Processes to use.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on standard output.")
def command(
    game: str,
    players: int,
    games: int,
    out: str,
    bots: str,
    seed: str,
    options: tuple[str, ...],
    noise: float,
    legal: bool,
    jobs: int,
    force: bool,
    as_json: bool,
) -> None:
    """Write positions, moves and results of games between programs as Parquet, for training.

    A row is a decision: what the seat to move knew, what was chosen, and how the game ended. The same seed
    gives the same rows, whatever --jobs says, unless bots think by the clock. Parts are kept in FILE.parts
    until all are there; after an interruption the same command goes on.
    """
    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    settings = checked(
        game, names, players=players, games=games, seed=seed, options=options, noise=noise, legal=legal
    )
    with parts(settings, out, force=force) as kept:
        made = _make(kept, jobs)
    if as_json:
        facts: dict[str, Any] = {
            "file": out,
            "bytes": made.size,
            "game": settings.game,
            "players": settings.players,
            "games": settings.games,
            "positions": kept.positions,
            "deterministic": kept.facts.deterministic,
            "new_positions": made.positions,
            "seconds": round(made.seconds, 3),
            "positions_per_second": round(made.pace, 1),
        }
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    click.echo(f"{count(kept.positions, 'position')} of {count(games, 'game')}, written to {out}")
    if made.positions:
        click.echo(f"{made.positions} made in {made.seconds:.1f} s, {made.pace:.0f} a second")
    if not kept.facts.deterministic:
        click.echo("Bots thought by the clock: the same command would not give the same rows again.")


@dataclass(slots=True)
class Made:
    """What came of one call of the command: rows that were not there before, and how long they took."""

    positions: int = 0
    seconds: float = 0.0
    size: int = 0  # of the whole file, in bytes

    @property
    def pace(self) -> float:
        """Rows a second."""
        return self.positions / self.seconds if self.positions else 0.0


def _make(kept: Parts, jobs: int) -> Made:
    settings, made = kept.facts.settings, Made()
    if kept.games < settings.games:
        warm(settings)  # what is compiled now is not timed
    with interruptible(signal.SIGINT, signal.SIGTERM) as guard:
        try:
            with (
                closing(play_left(kept, jobs)) as played,
                progress(f"{settings.game}: {', '.join(settings.bots)}", settings.games) as advance,
            ):
                advance(kept.games)
                begun = time.monotonic()
                for part in played:
                    with guard.shielded():
                        kept.add(part)
                    made.positions += part.rows
                    made.seconds = time.monotonic() - begun
                    advance(part.stretch.games)
            made.size = kept.join()
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted: {kept.games} of {count(settings.games, 'game')} are kept in "
                f"{kept.folder}; the same command goes on with them"
            ) from None
    return made
