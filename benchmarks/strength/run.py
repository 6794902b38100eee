"""`python -m benchmarks.strength`: playing strength of the bots, measured by matches of the arena.

All matches of `MATCHES` progress at the same time, so an interruption leaves all of them usable; the same
command resumes the run. `python -m benchmarks.strength report` then writes the arena's report of each match
and docs/explanation/strength.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click

from axiogames.analysis.arena.results import ArenaGame, ArenaResults, open_results
from axiogames.analysis.arena.run import ArenaRun, play_game, warm_up_bots
from axiogames.analysis.arena.schedule import ArenaSettings, Schedule, Seating
from axiogames.cli.terminal.progress import progress
from axiogames.games import GAMES
from axiogames.parallel import map_unordered

SEED = "strength"
DEFAULT_FOLDER = Path("build/strength")

SIMPLE = ("greedy", "balanced")
TIME_LIMITS = ("30ms", "100ms", "300ms", "3s")  # besides 1s, the limit in most other matches
LEVELS = (*(f"level{n}" for n in range(1, 8)), "level8@500ms")


@dataclass(frozen=True, slots=True)
class Match:
    """Bots that play each other, and the number of games per line-up."""

    name: str
    game: str
    bots: tuple[str, ...]
    games: int
    players: int = 2

    @property
    def settings(self) -> ArenaSettings:
        """The settings of the arena."""
        return ArenaSettings.create(self.game, self.bots, players=self.players, seed=SEED)


class ScheduledGame(NamedTuple):
    """A game of a match, with the settings of its arena."""

    settings: ArenaSettings
    seating: Seating


def _matches() -> Iterator[Match]:
    for game in GAMES:
        yield Match(f"{game}-instant", game, ("instant", *SIMPLE), 1000)
        for opponent in (*SIMPLE, "instant", "sim@100ms"):
            yield Match(f"{game}-sim-{opponent.replace('@', '-')}", game, ("sim@1s", opponent), 120)
        yield Match(f"{game}-sim-mc", game, ("sim@1s", "mc@1s"), 60)
        for limit, games in (("1s", 60), ("100ms", 240)):
            sim = f"sim@{limit}"
            yield Match(f"{game}-three-{limit}", game, (sim, "instant", "balanced"), games, players=3)
            yield Match(f"{game}-four-{limit}", game, (sim, "instant", *SIMPLE), games, players=4)
        yield Match(f"{game}-alone", game, ("instant", *SIMPLE, "random"), 200, players=1)
        for name, bot in (("mc", "mc@100ms"), ("100ms", "sim@100ms"), ("1s", "sim@1s")):
            yield Match(f"{game}-alone-{name}", game, (bot,), 200, players=1)
        for limit in TIME_LIMITS:
            yield Match(f"{game}-time-{limit}", game, (f"sim@{limit}", "instant"), 120)
        yield Match(f"{game}-levels", game, LEVELS, 20)


MATCHES = {match.name: match for match in _matches()}


def matching(patterns: tuple[str, ...]) -> list[Match]:
    """Return the matches whose names match any of the patterns, or all matches if there are no patterns."""
    return [
        match
        for match in MATCHES.values()
        if not patterns or any(fnmatch(match.name, pattern) for pattern in patterns)
    ]


@click.group(invoke_without_command=True)
@click.option("--only", multiple=True, metavar="PATTERN", help="Only these matches; may be repeated.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")
@click.option(
    "--seconds", type=click.FloatRange(min=0), help="Stop after this time. Unfinished games are lost."
)
@click.option("--share", type=float, default=1.0, show_default=True, help="Play this share of the games.")
@click.option("--out", type=click.Path(path_type=Path), default=DEFAULT_FOLDER, show_default=True)
@click.option("--list", "listing", is_flag=True, help="List the matches and exit.")
@click.pass_context
def main(
    context: click.Context,
    *,
    only: tuple[str, ...],
    jobs: int,
    seconds: float | None,
    share: float,
    out: Path,
    listing: bool,
) -> None:
    """Measure the playing strength of the bots."""
    context.obj = out
    if context.invoked_subcommand:
        return
    matches = matching(only)
    if listing:
        for match in matches:
            click.echo(f"{match.name}: {match.games} × {', '.join(match.bots)}")
        return
    deadline = time.monotonic() + (seconds or float("inf"))
    with ExitStack() as stack:
        results = {
            match.settings: stack.enter_context(open_results(match.settings, out / match.name))
            for match in matches
        }
        remaining = list(
            _interleaved([_remaining(match, results[match.settings], share) for match in matches])
        )
        for settings in results:
            warm_up_bots(settings)
        with (
            progress("games", len(remaining)) as advance,
            closing(map_unordered(_play, remaining, jobs)) as games,
        ):
            for settings, game in games:
                results[settings].add(game)
                advance(1)
                if time.monotonic() > deadline:
                    sys.exit("time limit reached; the same command resumes the run")


@main.command("report")
@click.pass_obj
def report(folder: Path) -> None:
    """Write the reports of the played matches and docs/explanation/strength.md."""
    from benchmarks.strength import page as strength_page  # imports `MATCHES` from this module

    for name in strength_page.collect(folder):
        click.echo(name)
    strength_page.PAGE.write_text(strength_page.page(strength_page.read()), encoding="utf-8")


def _remaining(match: Match, results: ArenaResults, share: float) -> list[ScheduledGame]:
    settings = match.settings
    deals = Schedule(settings.bots, settings.players).deals_for(max(1, round(match.games * share)))
    return [ScheduledGame(settings, seating) for seating in ArenaRun(results, deals).remaining()]


def _interleaved(matches: list[list[ScheduledGame]]) -> Iterator[ScheduledGame]:
    """Yield the games of all matches, interleaved so that all matches finish at about the same time."""
    positions: list[list[tuple[float, ScheduledGame]]] = [
        [(index / len(games), game) for index, game in enumerate(games)] for games in matches
    ]
    yield from (game for _, game in sorted(chain(*positions), key=lambda positioned: positioned[0]))


def _play(game: ScheduledGame) -> tuple[ArenaSettings, ArenaGame]:
    return game.settings, play_game(game.settings, game.seating)


if __name__ == "__main__":
    main()
