"""`simulate`: programs play each other, and every game is recorded."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

import click

from ...files import STDOUT, LineWriter
from ...games import find_variant
from ...model.record import record_of
from ...model.table import Table
from ...parallel import map_ordered, process_count
from ...players import Budget
from ...players.engines.specs import seated
from ...players.match import play_match
from ...rng import Generator
from ..terminal.interrupts import Interrupted, interruptible
from ..terminal.options import FILE, JOBS, SEED, Integer, programs
from ..terminal.progress import progress
from ..terminal.text import count, in_columns


class Tally:
    """Who won how often, and with how many points."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.one_track = False
        seats = len(self.names)
        self._alone, self._shared = [0] * seats, [0] * seats
        self._points, self._lowest = [0] * seats, [0] * seats

    def add(self, scores: Sequence[Mapping[str, int]], winners: Sequence[int]) -> None:
        """Count a finished game."""
        self.games += 1
        for seat in winners:
            (self._alone if len(winners) == 1 else self._shared)[seat] += 1
        for seat, points in enumerate(scores):
            self._points[seat] += sum(points.values())
            self._lowest[seat] += min(points.values())
            self.one_track = len(points) == 1

    def seats(self) -> list[dict[str, Any]]:
        """A row for each seat."""
        return [
            {
                "seat": seat,
                "player": name,
                "wins": self._alone[seat],
                "shared": self._shared[seat],
                "mean_points": round(self._points[seat] / self.games, 4),
                "mean_lowest": round(self._lowest[seat] / self.games, 4),
            }
            for seat, name in enumerate(self.names)
        ]

    def lines(self) -> list[str]:
        """The rows as a table for people."""
        head = ["seat", "player", "wins", "shared", "mean points", "mean lowest"]
        rows = [
            [
                str(row["seat"]),
                row["player"],
                str(row["wins"]),
                str(row["shared"]),
                f"{row['mean_points']:.2f}",
                f"{row['mean_lowest']:.2f}",
            ]
            for row in self.seats()
        ]
        # With one kind of points there is no lowest colour to speak of.
        shown = len(head) - 1 if self.one_track else len(head)
        return in_columns([row[:shown] for row in (head, *rows)], right=(2, 3, 4, 5))


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
    with LineWriter(out, force=force) if out else nullcontext() as file:
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


def _run(whole: Batch, jobs: int, file: LineWriter | None, tally: Tally) -> None:
    with interruptible(signal.SIGINT, signal.SIGTERM) as guard:
        try:
            with (
                closing(map_ordered(play_batch, _batches(whole, jobs), jobs)) as batches,
                progress(f"{whole.game}: {', '.join(whole.players)}", whole.end) as advance,
            ):
                for games in batches:
                    for played in games:
                        with guard.shielded():
                            if file:
                                file.write(played.line)
                            tally.add(played.scores, played.winners)
                        advance(1)
        except KeyboardInterrupt:
            done = f"{count(tally.games, 'game')} of {whole.end} {'written' if file else 'played'}"
            raise Interrupted(f"interrupted: {done}") from None


def _batches(whole: Batch, jobs: int) -> Iterator[Batch]:
    jobs = process_count(jobs, whole.end)
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
