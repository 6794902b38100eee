"""`python -m benchmarks.search`: measure rollouts, their profile, threads, `instant` and memory."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from axiogames.cli.commands.bench import check_seconds, print_json, progress_bar
from axiogames.cli.terminal.options import NUMBER, Real
from axiogames.games import GAMES, find_variant, game
from benchmarks.command import main
from benchmarks.search import tables, thinking


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--players", type=NUMBER, default=2, show_default=True, help="Number of players.")
@click.option(
    "--seconds",
    type=Real(-1e9, 1e9),
    default=2.0,
    show_default=True,
    help="Approximate duration of each measurement.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(*, games: tuple[str, ...], players: int, seconds: float, as_json: bool) -> None:
    """Measure the search of each GAME (default: all games) on this machine.

    The report contains rollouts per second, a profile of rollouts, the speed-up by a second thread, the time
    per move of `instant`, and the peak memory of a game. Speeds of one thread are also given as a ratio to
    the speed of a reference game that runs in the same rounds.
    """
    check_seconds(seconds)
    chosen = [game(name).id for name in games] or list(GAMES)
    for name in chosen:
        find_variant(name, players)
    with progress_bar() as tick:
        report = thinking.run(chosen, players, seconds, tick)
    if as_json:
        print_json(report)
    else:
        tables.show(Console(), report)


if __name__ == "__main__":
    sys.exit(main(command, "python -m benchmarks.search"))
