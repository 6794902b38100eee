"""`arena`: compare the strength of bots on shared deals."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from ...analysis.arena.page import REPORT_FILE, write_report
from ...analysis.arena.report import report_sentences, report_tables, run_sentence, sprt_sentence
from ...analysis.arena.results import ArenaResults, open_results
from ...analysis.arena.run import ArenaRun
from ...analysis.arena.schedule import ArenaSettings, Schedule
from ...analysis.arena.sprt import parse_sprt
from ...analysis.arena.statistics import LIVE_RESAMPLES
from ...analysis.arena.summary import ArenaSummary, summarise
from ...errors import InvalidOption, SettingsMismatch
from ...optional_deps import require
from ...parallel import ALL, BACKENDS, CLUSTERS, LOCAL
from ..terminal.interrupts import Interrupted, interruptible
from ..terminal.options import FILE, JOBS, PLAYER_COUNT, SEED, Integer, variant_option
from ..terminal.text import count, format_table

MAX_GAMES = 1_000_000
MAX_TOTAL_GAMES = 5_000_000
REFRESH_INTERVAL = 1.0  # seconds between two updates of the live table
LIVE_TIME_SHARE = 0.05  # maximum share of the time that is spent on the live table


@click.group("arena")
def command() -> None:
    """Compare the strength of bots on shared deals."""


@command.command("run")
@click.argument("game")
@click.option(
    "--bots", required=True, metavar="NAME,...", help="Bots to compare, with budgets such as sim@1s."
)
@click.option(
    "--players", type=PLAYER_COUNT, default=2, show_default=True, help="Number of players per game."
)
@click.option(
    "--games",
    type=Integer(1, MAX_GAMES),
    default=100,
    show_default=True,
    help="Games per pair of bots (or line-up, or single bot), rounded up to complete deals.",
)
@click.option(
    "--seed",
    type=SEED,
    default="0",
    show_default=True,
    help="Random seed, a number or any text. Deal i uses SEED/i.",
)
@variant_option
@click.option(
    "--out",
    type=FILE,
    metavar="DIR",
    help="Directory for results and report; an existing run is resumed.",
)
@click.option("--jobs", type=JOBS, help="Number of processes.  [default: 1, or all of a cluster]")
@click.option("--backend", default=LOCAL, show_default=True, help=f"One of {', '.join(BACKENDS)}.")
@click.option(
    "--sprt", metavar="ELO0,ELO1", help="Stop early, by a sequential probability ratio test of two bots."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON on standard output.")
def run(
    *,
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
    """Play games between bots and estimate their strength.

    All bots play the same deals, and every deal is played in every seating, so that luck cancels out. The
    same seed gives the same games, for any --jobs and --backend. With --out, the same command resumes an
    interrupted run, and a larger --games extends a finished one.
    """
    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    test = parse_sprt(sprt) if sprt else None
    settings = ArenaSettings.create(game, names, players=players, seed=seed, options=options, sprt=test)
    schedule = Schedule(settings.bots, settings.players)
    deals = schedule.deals_for(games)
    if (total := schedule.total_games_in(deals)) > MAX_TOTAL_GAMES:
        raise InvalidOption(f"{total} games in all: an arena has at most {MAX_TOTAL_GAMES}")
    folder = Path(out) if out else None
    # Imported now, so that a missing library is reported before the games are played.
    for module in ("openskill.models", *(("matplotlib.figure",) if folder else ())):
        require(module)
    show = print_json if as_json else print_tables
    with open_results(settings, folder) as results:
        _check_not_fewer(results, deals, folder)
        _play(ArenaRun(results, deals), jobs or (ALL if backend in CLUSTERS else 1), backend, folder, show)
        summary = summarise(settings, results.played)
    if folder:
        summary = write_report(folder)
    show(summary)
    if folder:
        click.echo(f"The report is {folder / REPORT_FILE}", err=True)


@command.command("report")
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON on standard output.")
def report(*, folder: str, as_json: bool) -> None:
    """Write the report of an arena.

    DIR is the directory of `arena run --out`. The run may be unfinished: only deals that were played in every
    seating count.
    """
    summary = write_report(Path(folder))
    (print_json if as_json else print_tables)(summary)
    click.echo(f"The report is {Path(folder) / REPORT_FILE}", err=True)


def print_json(summary: ArenaSummary) -> None:
    """Print the figures as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(summary), indent=1))


def print_tables(summary: ArenaSummary) -> None:
    """Print the figures as tables."""
    click.echo(run_sentence(summary))
    for table in report_tables(summary):
        click.echo()
        for line in format_table([table.head, *table.rows], right=range(1, len(table.head))):
            click.echo(line)
    if sentences := report_sentences(summary):
        click.echo()
    for sentence in sentences:
        click.echo(sentence)
    sys.stdout.flush()


def _check_not_fewer(results: ArenaResults, deals: int, folder: Path | None) -> None:
    played = max((seating.deal + 1 for seating in results.played), default=0)
    if played > deals:
        schedule = Schedule(results.settings.bots, results.settings.players)
        raise SettingsMismatch(
            f"{folder} already holds games on {count(played, 'deal')},"
            f" but --games covers {count(deals, 'deal')}: "
            f"use --games {schedule.games_in(played)} or more, or choose another folder"
        )


def _play(
    run: ArenaRun, jobs: int, backend: str, folder: Path | None, show: Callable[[ArenaSummary], None]
) -> None:
    with interruptible(signal.SIGINT, signal.SIGTERM) as guard:
        try:
            with _live_table(run) as update, closing(run.play(jobs, backend)) as games:
                for game in games:
                    with guard.shielded():
                        run.add(game)
                    update()
        except KeyboardInterrupt:
            done = f"{len(run.results.played)} of {run.total} games"
            if folder:
                raise Interrupted(
                    f"interrupted: {done} are kept in {folder}; the same command resumes the run"
                ) from None
            show(summarise(run.settings, run.results.played))
            raise Interrupted(f"interrupted: {done} played; use --out DIR to keep them") from None


@contextmanager
def _live_table(run: ArenaRun) -> Iterator[Callable[[], None]]:
    """Show standings and progress, and yield a function to call after each game.

    Nothing is shown if standard error is not a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn(f"{run.settings.game}: {', '.join(run.settings.bots)}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    task = bar.add_task("", total=run.total, completed=len(run.results.played))
    next_refresh = 0.0
    # Standard output is redirected only if it goes to the same terminal.
    with Live(bar, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as screen:

        def update() -> None:
            nonlocal next_refresh
            bar.update(task, completed=len(run.results.played))
            start = time.monotonic()
            if start < next_refresh:
                return
            summary = summarise(run.settings, run.results.played, resamples=LIVE_RESAMPLES, openskill=False)
            if not summary.games:
                return
            screen.update(Group(*_rich_standings(summary), bar))
            spent = time.monotonic() - start
            next_refresh = start + max(REFRESH_INTERVAL, spent / LIVE_TIME_SHARE)

        yield update


def _rich_standings(summary: ArenaSummary) -> Iterator[Any]:
    """Yield the standings as a rich table, without empty columns, and the state of a sequential test."""
    from rich.table import Table

    for standings in report_tables(summary)[:1]:
        columns = [n for n, _ in enumerate(standings.head) if any(row[n] for row in standings.rows)]
        table = Table(box=None, pad_edge=False, header_style="dim")
        for n in columns:
            table.add_column(standings.head[n], justify="left" if n == 0 else "right")
        for row in standings.rows:
            table.add_row(*(row[n] for n in columns))
        yield table
    if summary.sprt:
        yield sprt_sentence(summary)
