"""`python -m benchmarks.simulation`: games per second of simple bots, in bulk and one by one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from statistics import median
from time import process_time

import click
import msgspec
from rich.console import Console

from axiogames.analysis.provenance import describe_machine
from axiogames.cli.commands.bench import new_table
from axiogames.cli.commands.simulate import GameRange, SimulatedGame, play_in_bulk, play_one_by_one
from axiogames.errors import InvalidPlayers
from axiogames.games import GAMES, game
from axiogames.players.bulk.games import policies_of
from benchmarks.command import main

MATCHES = ("greedy,balanced", "random,random", "level1,level2")
GAMES_PER_ROUND = 16
BULK_FACTOR = 8  # games in bulk for each game at a table, so that both take about as long
Play = Callable[[GameRange], list[SimulatedGame]]


class Rate(msgspec.Struct, frozen=True):
    """Games per second of processor time, with records: medians over rounds that alternate."""

    game: str
    bots: str
    one_by_one: float
    in_bulk: float
    ratio: float  # in the same round; median over all rounds


def measure(name: str, bots: str, rounds: int) -> Rate:
    """Play games in both ways, in alternating rounds, and check that the records are equal.

    Raises:
        InvalidPlayers: not all bots are simple bots.
    """
    players = tuple(bots.split(","))
    games = partial(GameRange, name, players, (), "benchmark")
    policies = policies_of(players)
    if policies is None:
        raise InvalidPlayers(f"{bots}: only games of random, greedy, balanced, level1 and level2 are in bulk")
    bulk = partial(play_in_bulk, policies=policies)
    first = games(0, GAMES_PER_ROUND)
    if bulk(first) != play_one_by_one(first):
        raise InvalidPlayers(f"{name}, {bots}: the records of both ways differ")
    starts = count(0, GAMES_PER_ROUND * BULK_FACTOR)
    found = []
    for start in (next(starts) for _ in range(rounds)):
        one_by_one = _rate(play_one_by_one, games(start, start + GAMES_PER_ROUND))
        found.append((one_by_one, _rate(bulk, games(start, start + GAMES_PER_ROUND * BULK_FACTOR))))
    each, all_ = (median(rates) for rates in zip(*found, strict=True))
    return Rate(name, bots, each, all_, median(in_bulk / one for one, in_bulk in found))


def _rate(play: Play, games: GameRange) -> float:
    start = process_time()
    played = len(play(games))
    return played / (process_time() - start)


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--bots", multiple=True, default=MATCHES, show_default=True, help="One bot per seat.")
@click.option("--rounds", type=click.IntRange(1, 10_000), default=15, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(*, games: Sequence[str], bots: Sequence[str], rounds: int, as_json: bool) -> None:
    """Measure `axio simulate` with simple bots for each GAME (default: all games), on one core.

    Games in compiled code (in bulk) and games at tables (one by one) alternate, so that other load on the
    machine affects both. Compilation is not measured.
    """
    chosen = [game(name).id for name in games] or GAMES
    rates = [measure(name, match, rounds) for name in chosen for match in bots]
    if as_json:
        print(json.dumps({"machine": describe_machine(), "rates": msgspec.to_builtins(rates)}, indent=1))
        return
    table = new_table(
        f"{describe_machine()}; one core",
        "game",
        "bots",
        "one by one",
        "in bulk",
        "ratio",
        text=("game", "bots"),
    )
    for rate in rates:
        table.add_row(
            rate.game, rate.bots, f"{rate.one_by_one:,.0f}/s", f"{rate.in_bulk:,.0f}/s", f"{rate.ratio:.1f} ×"
        )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main(command, "python -m benchmarks.simulation"))
