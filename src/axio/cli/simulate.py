"""`simulate`: programs play each other, and every game is recorded."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass

import click

from ..chance import Generator
from ..games import find_variant
from ..match import play_match
from ..players import Budget
from ..record import record_of
from ..spread import processes_for
from ..table import Table
from ..talk.players import seated
from ..writing import STDOUT, LineFile
from .interruption import Interrupted, stoppable
from .lines import count
from .parameters import FILE, JOBS, SEED, Integer
from .progress import progress
from .seats import programs
from .tally import Tally
from .workers import in_order

MOST_GAMES = 1_000_000_000
CHUNK = 32  # most games that a process plays in one go


@dataclass(frozen=True, slots=True)
class Batch:
    """Games to be played: those with the numbers from `first` up to, but without, `end`."""

    game: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: str
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Played:
    """A finished game: its record, and what the summary needs of it."""

    line: str
    scores: tuple[dict[str, int], ...]
    winners: tuple[int, ...]


def play_batch(batch: Batch) -> list[Played]:
    """Play the games of a batch. Every game has its own seed, so it does not matter where it is played."""
    options = dict.fromkeys(batch.options, True)
    done = []
    for number in range(batch.first, batch.end):
        with seated(batch.players) as players:
            table = play_match(batch.game, players, f"{batch.seed}/{number}", options=options)
        result = table.result
        assert result is not None, "a match is played to its end"
        line = record_of(table, batch.players).to_json()
        done.append(Played(line, result.scores, result.winners))
    return done


@click.command("simulate")
@click.argument("game")
@click.option(
    "--players",
    default="greedy,balanced",
    show_default=True,
    help="A program for each seat; engine:COMMAND is a foreign one.",
)
@click.option("--games", type=Integer(1, MOST_GAMES), default=100, show_default=True, help="How many games.")
@click.option(
    "--seed", type=SEED, default="0", show_default=True, help="A number or any text; it decides every game."
)
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write a record a line to this file; - is standard output."
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--jobs", type=JOBS, default=1, show_default=True, help="Processes to use.")
@click.option("--option", "options", multiple=True, metavar="NAME", help="Switch a game's option on.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on standard output.")
def command(
    game: str,
    players: str,
    games: int,
    seed: str,
    out: str | None,
    force: bool,
    jobs: int,
    options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let programs play each other, and record every game.

    The same seed gives the same bytes on every machine, whatever --jobs says: game i, counted from 0, has
    the seed SEED/i.
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and the records cannot both go to standard output.")
    names = programs(players)
    variant = find_variant(game, len(names), dict.fromkeys(options, True))
    whole = Batch(variant.game.id, names, variant.options, seed, 0, games)
    tally = Tally(names)
    with LineFile(out, force=force) if out else nullcontext() as file:
        _compile(whole)
        start = time.monotonic()
        _run(whole, jobs, file, tally)
        seconds = time.monotonic() - start
    if as_json:
        pace = {"seconds": round(seconds, 3), "games_per_second": round(games / seconds, 1)}
        facts = {"game": game, "games": tally.games, **pace, "seats": tally.seats()}
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    to = f", written to {out}" if out not in (None, STDOUT) else ""
    pace_in_words = f"{count(games, 'game')} in {seconds:.1f} s, {games / seconds:.0f} a second{to}"
    for line in (pace_in_words, *tally.lines()):
        click.echo(line, err=out is not None)


def _run(whole: Batch, jobs: int, file: LineFile | None, tally: Tally) -> None:
    with stoppable(signal.SIGINT, signal.SIGTERM) as hold:
        try:
            with (
                closing(in_order(play_batch, _batches(whole, jobs), jobs)) as batches,
                progress(f"{whole.game}: {', '.join(whole.players)}", whole.end) as advance,
            ):
                for games in batches:
                    for played in games:
                        with hold.whole():
                            if file:
                                file.write(played.line)
                            tally.add(played.scores, played.winners)
                        advance(1)
        except KeyboardInterrupt:
            done = f"{count(tally.games, 'game')} of {whole.end} {'written' if file else 'played'}"
            raise Interrupted(f"interrupted: {done}") from None


def _batches(whole: Batch, jobs: int) -> Iterator[Batch]:
    jobs = processes_for(jobs, whole.end)
    size = 1 if jobs == 1 else max(1, min(CHUNK, whole.end // (4 * jobs)))
    for first in range(0, whole.end, size):
        end = min(first + size, whole.end)
        yield Batch(whole.game, whole.players, whole.options, whole.seed, first, end)


def _compile(whole: Batch) -> None:
    """Let every player choose once: what is compiled now is not timed, and workers find it in the cache."""
    variant = find_variant(whole.game, len(whole.players), dict.fromkeys(whole.options, True))
    table = Table(variant, 0)
    view = table.view(table.turn)
    with seated(_distinct(whole.players)) as players:
        for one in players:
            one.choose(view, Budget(), Generator(0))


def _distinct(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))
