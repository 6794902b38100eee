"""`simulate`: play games between bots and record them."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import click
import numpy as np

from ...files import STDOUT, LineWriter
from ...games import find_variant
from ...games.variant import Variant
from ...model.events import Result
from ...model.record import record_of
from ...model.record_writer import RecordWriter
from ...model.table import Table
from ...parallel import map_ordered, process_count
from ...players import Budget
from ...players.bulk.games import bulk_games, policies_of
from ...players.engines.specs import open_players
from ...players.match import play_match
from ...rng import Generator
from ..terminal.interrupts import Interrupted, interruptible
from ..terminal.options import (
    FILE,
    Integer,
    force_option,
    jobs_option,
    parse_bots,
    seed_option,
    variant_option,
)
from ..terminal.progress import progress
from ..terminal.text import count, format_table

MAX_GAMES = 1_000_000_000
MAX_GAMES_PER_PIECE = 32  # games that a process plays before it returns their results


@click.command("simulate")
@click.argument("game")
@click.option(
    "--bots",
    default="greedy,balanced",
    show_default=True,
    metavar="NAME,...",
    help="One bot per seat. Use engine:COMMAND for an external engine.",
)
@click.option("--games", type=Integer(1, MAX_GAMES), default=100, show_default=True, help="Number of games.")
@seed_option
@click.option("--out", type=FILE, metavar="FILE", help="Write one record per line; - is standard output.")
@force_option
@jobs_option
@variant_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on standard output.")
def command(
    *,
    game: str,
    bots: str,
    games: int,
    seed: str,
    out: str | None,
    force: bool,
    jobs: int,
    options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play games between bots and record them.

    The same seed gives the same bytes on every machine and for any --jobs. Game i, counted from 0, uses the
    seed SEED/i.
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and the records cannot both go to standard output.")
    names = parse_bots(bots)
    variant = find_variant(game, len(names), dict.fromkeys(options, True))
    simulation = GameRange(variant.game.id, names, variant.options, seed, 0, games)
    totals = SeatTotals(names)
    with LineWriter(out, force=force) if out else nullcontext() as file:
        _compile(simulation)
        start = time.monotonic()
        _run(simulation, jobs, file, totals)
        seconds = time.monotonic() - start
    if as_json:
        speed = {"seconds": round(seconds, 3), "games_per_second": round(games / seconds, 1)}
        summary = {"game": game, "games": totals.games, **speed, "seats": totals.seats()}
        click.echo(json.dumps(summary, ensure_ascii=False))
        return
    to = f", written to {out}" if out not in (None, STDOUT) else ""
    sentence = f"{count(games, 'game')} in {seconds:.1f} s, {games / seconds:.0f} a second{to}"
    for line in (sentence, *totals.lines()):
        click.echo(line, err=out is not None)


@dataclass(frozen=True, slots=True)
class GameRange:
    """Games to play: the numbers from `start` to `stop` - 1."""

    game: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: str
    start: int
    stop: int

    @property
    def variant(self) -> Variant:
        """The game, its number of players and its options."""
        return find_variant(self.game, len(self.players), dict.fromkeys(self.options, True))


@dataclass(frozen=True, slots=True)
class SimulatedGame:
    """A finished game: its record as a line of JSON, and the result."""

    line: str
    scores: tuple[dict[str, int], ...]
    winners: tuple[int, ...]

    @classmethod
    def of(cls, line: str, result: Result) -> SimulatedGame:
        """Return the game with this record and result."""
        return cls(line, result.scores, result.winners)


class SeatTotals:
    """Wins and points of each seat."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.single_track = False
        seats = len(self.names)
        self._wins, self._shared_wins = [0] * seats, [0] * seats
        self._points, self._lowest = [0] * seats, [0] * seats

    def add(self, scores: Sequence[Mapping[str, int]], winners: Sequence[int]) -> None:
        """Add a finished game."""
        self.games += 1
        for seat in winners:
            (self._wins if len(winners) == 1 else self._shared_wins)[seat] += 1
        for seat, points in enumerate(scores):
            self._points[seat] += sum(points.values())
            self._lowest[seat] += min(points.values())
            self.single_track = len(points) == 1

    def seats(self) -> list[dict[str, Any]]:
        """Return a row for each seat, for JSON."""
        return [
            {
                "seat": seat,
                "player": name,
                "wins": self._wins[seat],
                "shared": self._shared_wins[seat],
                "mean_points": round(self._points[seat] / self.games, 4),
                "mean_lowest": round(self._lowest[seat] / self.games, 4),
            }
            for seat, name in enumerate(self.names)
        ]

    def lines(self) -> list[str]:
        """Return the rows as a table."""
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
        # With a single track, the lowest track is the total.
        columns = len(head) - 1 if self.single_track else len(head)
        return format_table([row[:columns] for row in (head, *rows)], right=(2, 3, 4, 5))


def play_games(games: GameRange) -> list[SimulatedGame]:
    """Play games and return their results. Each game has its own seed, so any process can play it."""
    policies = policies_of(games.players)
    return play_one_by_one(games) if policies is None else play_in_bulk(games, policies)


def play_in_bulk(games: GameRange, policies: np.ndarray) -> list[SimulatedGame]:
    """Play games of simple bots in compiled code."""
    bulk = bulk_games(games.variant)
    writer = _record_writer(games.variant, games.players)
    finished = []
    for number in range(games.start, games.stop):
        played = bulk.play(f"{games.seed}/{number}", policies)
        finished.append(SimulatedGame.of(*writer.write(played.states, played.actions)))
    return finished


def play_one_by_one(games: GameRange) -> list[SimulatedGame]:
    """Play games at tables, with any players. The results are the same."""
    options = dict.fromkeys(games.options, True)
    finished = []
    for number in range(games.start, games.stop):
        with open_players(games.players) as players:
            table = play_match(games.game, players, f"{games.seed}/{number}", options=options)
        result = table.result
        assert result is not None, "a match is a complete game"
        finished.append(SimulatedGame.of(record_of(table, games.players).to_json(), result))
    return finished


@lru_cache(1)
def _record_writer(variant: Variant, names: tuple[str, ...]) -> RecordWriter:
    """Return the writer of these games, which reuses texts from game to game."""
    return RecordWriter(variant, names)


def _run(simulation: GameRange, jobs: int, file: LineWriter | None, totals: SeatTotals) -> None:
    with interruptible(signal.SIGINT, signal.SIGTERM) as guard:
        try:
            with (
                closing(map_ordered(play_games, _pieces(simulation, jobs), jobs)) as pieces,
                progress(f"{simulation.game}: {', '.join(simulation.players)}", simulation.stop) as advance,
            ):
                for games in pieces:
                    for game in games:
                        with guard.shielded():
                            if file:
                                file.write(game.line)
                            totals.add(game.scores, game.winners)
                        advance(1)
        except KeyboardInterrupt:
            done = f"{count(totals.games, 'game')} of {simulation.stop} {'written' if file else 'played'}"
            raise Interrupted(f"interrupted: {done}") from None


def _pieces(simulation: GameRange, jobs: int) -> Iterator[GameRange]:
    jobs = process_count(jobs, simulation.stop)
    size = 1 if jobs == 1 else max(1, min(MAX_GAMES_PER_PIECE, simulation.stop // (4 * jobs)))
    for start in range(0, simulation.stop, size):
        yield replace(simulation, start=start, stop=min(start + size, simulation.stop))


def _compile(simulation: GameRange) -> None:
    """Let each bot choose a move, so that workers find compiled code in the cache and it is not timed."""
    policies = policies_of(simulation.players)
    if policies is not None:
        bulk_games(simulation.variant).play("compile", policies)
        return
    table = Table(simulation.variant, 0)
    view = table.view(table.turn)
    with open_players(list(dict.fromkeys(simulation.players))) as players:
        for player in players:
            player.choose(view, Budget(), Generator(0))
