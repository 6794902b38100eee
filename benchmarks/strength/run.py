"""`python -m benchmarks.strength`: playing strength, by matches of the arena.

Plays every match of `MATCHES`, a game of each in turn, so that all grow alike and an interruption leaves
all of them usable; the same command goes on. `python -m benchmarks.strength report` then makes the arena's
report of each match, and docs/explanation/strength.md with its plots from all of them.
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
KEPT = Path("build/strength")

SIMPLE = ("greedy", "balanced")
TIMES = ("30ms", "100ms", "300ms", "3s")  # besides the second that all other matches are about
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
        """Return the settings of the arena."""
        return ArenaSettings.create(self.game, self.bots, players=self.players, seed=SEED)


class Piece(NamedTuple):
    """A game of a match."""

    settings: ArenaSettings
    seating: Seating


def _matches() -> Iterator[Match]:
    for game in GAMES:
        yield Match(f"{game}-instant", game, ("instant", *SIMPLE), 1000)
        for other in (*SIMPLE, "instant", "sim@100ms"):
            yield Match(f"{game}-sim-{other.replace('@', '-')}", game, ("sim@1s", other), 120)
        yield Match(f"{game}-sim-mc", game, ("sim@1s", "mc@1s"), 60)
        for limit, games in (("1s", 60), ("100ms", 240)):
            thinker = f"sim@{limit}"
            yield Match(f"{game}-three-{limit}", game, (thinker, "instant", "balanced"), games, players=3)
            yield Match(f"{game}-four-{limit}", game, (thinker, "instant", *SIMPLE), games, players=4)
        yield Match(f"{game}-alone", game, ("instant", *SIMPLE, "random"), 200, players=1)
        for name, bot in (("mc", "mc@100ms"), ("100ms", "sim@100ms"), ("1s", "sim@1s")):
            yield Match(f"{game}-alone-{name}", game, (bot,), 200, players=1)
        for limit in TIMES:
            yield Match(f"{game}-time-{limit}", game, (f"sim@{limit}", "instant"), 120)
        yield Match(f"{game}-levels", game, LEVELS, 20)


MATCHES = {match.name: match for match in _matches()}


def chosen(patterns: tuple[str, ...]) -> list[Match]:
    """Return the matches whose names match a pattern, or all if there is none."""
    return [
        match
        for match in MATCHES.values()
        if not patterns or any(fnmatch(match.name, pattern) for pattern in patterns)
    ]


@click.group(invoke_without_command=True)
@click.option("--only", multiple=True, metavar="PATTERN", help="Only these matches; may be repeated.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop after so long; games under way are lost.")
@click.option("--share", type=float, default=1.0, show_default=True, help="Play this part of the games.")
@click.option("--out", type=click.Path(path_type=Path), default=KEPT, show_default=True)
@click.option("--list", "listing", is_flag=True, help="Say what there is to play, and play nothing.")
@click.pass_context
def main(
    context: click.Context,
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
    matches = chosen(only)
    if listing:
        for match in matches:
            click.echo(f"{match.name}: {match.games} × {', '.join(match.bots)}")
        return
    until = time.monotonic() + (seconds or float("inf"))
    with ExitStack() as stack:
        kept = {
            match.settings: stack.enter_context(open_results(match.settings, out / match.name))
            for match in matches
        }
        left = list(_in_turn([_left(match, kept[match.settings], share) for match in matches]))
        for settings in kept:
            warm_up_bots(settings)
        with progress("games", len(left)) as advance, closing(map_unordered(_played, left, jobs)) as games:
            for settings, game in games:
                kept[settings].add(game)
                advance(1)
                if time.monotonic() > until:
                    sys.exit("out of time; the same command goes on")


@main.command("report")
@click.pass_obj
def report(kept: Path) -> None:
    """Write the reports of the played matches and docs/explanation/strength.md."""
    from benchmarks.strength import page as strength_page  # it needs the matches of this module

    for name in strength_page.collect(kept):
        click.echo(name)
    strength_page.PAGE.write_text(strength_page.page(strength_page.read()), encoding="utf-8")


def _left(match: Match, kept: ArenaResults, share: float) -> list[Piece]:
    settings = match.settings
    deals = Schedule(settings.bots, settings.players).deals_for(max(1, round(match.games * share)))
    return [Piece(settings, seating) for seating in ArenaRun(kept, deals).remaining()]


def _in_turn(matches: list[list[Piece]]) -> Iterator[Piece]:
    """Yield games of all matches in turn, so that all matches progress; long matches advance faster."""
    most = max(map(len, matches), default=0)
    spaced: list[list[tuple[float, Piece]]] = [
        [(number * most / len(pieces), piece) for number, piece in enumerate(pieces)] for pieces in matches
    ]
    yield from (piece for _, piece in sorted(chain(*spaced), key=lambda timed: timed[0]))


def _played(piece: Piece) -> tuple[ArenaSettings, ArenaGame]:
    return piece.settings, play_game(piece.settings, piece.seating)


if __name__ == "__main__":
    main()
