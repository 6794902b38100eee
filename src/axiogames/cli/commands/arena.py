"""`arena`: programs play each other on shared deals, and figures say who is stronger."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click
import msgspec

from ...analysis.arena.report import REPORT_FILE, write_report, run_sentence, report_sentences, report_tables
from ...analysis.arena.results import ArenaResults, open_results
from ...analysis.arena.run import ArenaRun
from ...analysis.arena.schedule import Schedule
from ...analysis.arena.sprt import parse_sprt
from ...analysis.arena.summary import ArenaSummary, summarise
from ...errors import InvalidOption, SettingsMismatch
from ...optional_deps import require
from ...parallel import ALL, BACKENDS, CLUSTERS
from ..terminal.interrupts import Interrupted, interruptible
from ..terminal.options import FILE, JOBS, NUMBER, SEED, Integer
from ..terminal.progress import live
from ..terminal.text import in_columns

MOST_GAMES = 1_000_000
MOST_IN_ALL = 5_000_000


@click.command("arena")
@click.argument("game")
@click.option("--bots", required=True, metavar="BOT,…", help="The programs, with limits such as BOT@1s.")
@click.option("--players", type=NUMBER, default=2, show_default=True, help="Seats at a table.")
@click.option(
    "--games",
    type=Integer(1, MOST_GAMES),
    default=100,
    show_default=True,
    help="Games for each two bots (for each line-up; alone: for each bot), rounded up to whole deals.",
)
@click.option(
    "--seed", type=SEED, default="0", show_default=True, help="A number or any text; it decides every deal."
)
@click.option("--option", "options", multiple=True, metavar="NAME", help="Switch a game's option on.")
@click.option(
    "--out", type=FILE, metavar="DIR", help="Keep the games here, go on with those kept, and write a report."
)
@click.option("--jobs", type=JOBS, help="Processes to use. [default: 1, or all that a cluster has]")
@click.option("--backend", default=BACKENDS[0], show_default=True, help=f"One of {', '.join(BACKENDS)}.")
@click.option("--sprt", metavar="ELO0,ELO1", help="Stop early, by a sequential test of two bots.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON on standard output.")
def command(
    game: str,
    bots: str,
    players: int,
    games: int,
    seed: str,
    options: tuple[str, ...],
    out: str | None,
    jobs: int | None,
    backend: str,
    sprt: str | None,
    as_json: bool,
) -> None:
    """Let programs play each other on shared deals, and say who is stronger.

    Every deal is played in every seat, so that luck cancels. The same seed gives the same games, whatever
    --jobs and --backend say. With --out, the same command goes on after an interruption, and more --games
    add to those played.
    """
    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    test = parse_sprt(sprt) if sprt else None
    settings = ArenaSettings.create(game, names, players=players, seed=seed, options=options, sprt=test)
    schedule = Schedule(settings.bots, settings.players)
    deals = schedule.deals_for(games)
    if (total := schedule.all_games_in(deals)) > MOST_IN_ALL:
        raise InvalidOption(f"{total} games in all: at most {MOST_IN_ALL} can be played in one arena")
    folder = Path(out) if out else None
    # Better now than after hours of games.
    for module in ("openskill.models", *(("matplotlib.figure",) if folder else ())):
        require(module)
    show = show_json if as_json else show_tables
    with open_results(settings, folder) as kept:
        _not_fewer(kept, deals, folder)
        _play(ArenaRun(kept, deals), jobs or (ALL if backend in CLUSTERS else 1), backend, folder, show)
        summary = summarise(settings, kept.played)
    if folder:
        summary = write_report(folder)
    show(summary)
    if folder:
        click.echo(f"The report is {folder / PAGE}", err=True)


def _not_fewer(kept: ArenaResults, deals: int, folder: Path | None) -> None:
    most = max((seating.deal + 1 for seating in kept.played), default=0)
    if most > deals:
        schedule = Schedule(kept.settings.bots, kept.settings.players)
        raise SettingsMismatch(
            f"{folder} holds games on {most} deals already, and --games asks for {deals}: "
            f"ask for {schedule.games_in(most)} or more, or choose another folder"
        )


def _play(run: ArenaRun, jobs: int, backend: str, folder: Path | None, show: Callable[[ArenaSummary], None]) -> None:
    with interruptible(signal.SIGINT, signal.SIGTERM) as guard:
        try:
            with live(run) as tell, closing(run.play(jobs, backend)) as games:
                for game in games:
                    with guard.shielded():
                        run.add(game)
                    tell()
        except KeyboardInterrupt:
            done = f"{len(run.results.played)} of {run.total} games"
            if folder:
                raise Interrupted(
                    f"interrupted: {done} are kept in {folder}; the same command goes on with them"
                ) from None
            show(summarise(run.settings, run.results.played))
            raise Interrupted(f"interrupted: {done} played; --out DIR would keep them") from None


def show_json(summary: ArenaSummary) -> None:
    """Print the figures as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(summary), indent=1))


def show_tables(summary: ArenaSummary) -> None:
    """Print the figures as tables."""
    click.echo(run_sentence(summary))
    for sheet in report_tables(summary):
        click.echo()
        for line in in_columns([sheet.head, *sheet.rows], right=range(1, len(sheet.head))):
            click.echo(line)
    if said := report_sentences(summary):
        click.echo()
    for sentence in said:
        click.echo(sentence)
    sys.stdout.flush()
