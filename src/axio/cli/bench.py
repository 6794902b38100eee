"""`axio bench`: how fast the engine is here, and how fast players think."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ..games import GAMES, game

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from ..bench.measure import Report, Speed
    from ..bench.research import ResearchReport
    from ..bench.thinking import ThinkingReport

SUITES = ("rules", "thinking", "research")


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--suite",
    type=click.Choice(SUITES),
    default=SUITES[0],
    show_default=True,
    help="What to measure: the rules, players that think, or games beside those that others have made.",
)
@click.option("--players", default=2, show_default=True, help="Number of players.")
@click.option("--seconds", default=2.0, show_default=True, help="How long each thing is measured, about.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(games: tuple[str, ...], suite: str, players: int, seconds: float, as_json: bool) -> None:
    """Measure GAMEs (all, if none is named) on one core of this machine.

    Every speed is also given as a ratio to a yardstick that ran beside it in the same run: only that can be
    compared between machines and between days.

    The suite `thinking` measures rollouts and where their time goes, what a second thread gains, `instant`,
    and how much memory a game takes.

    The suite `research` measures random games and environments beside MOMAland's Ingenious, a C program and
    games of OpenSpiel and pgx, as far as they are installed. What it measures is fixed, so it takes no GAME.
    """
    import msgspec
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ..bench import measure, research, thinking
    from ..errors import WrongOption
    from ..games import find_variant

    if not 0 < seconds <= 600:
        raise WrongOption(f"--seconds is a number above 0 and up to 600, not {seconds:g}")
    fixed = suite == "research"
    if fixed and (games or players != research.PLAYERS):
        raise WrongOption(
            f"the suite {suite} measures what it is compared with, for {research.PLAYERS} players:"
            " it takes neither games nor --players"
        )
    chosen = [game(name).id for name in games] or list(GAMES)
    for name in chosen:
        find_variant(name, players)
    errors = Console(stderr=True)
    report: Report | ThinkingReport | ResearchReport
    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        TimeRemainingColumn(),
        console=errors,
        disable=not errors.is_terminal,
    ) as progress:
        task = progress.add_task("bench", total=1.0)
        tick = partial(_tell, progress, task)
        if fixed:
            report = research.run(seconds, tick)
        else:
            run = thinking.run if suite == "thinking" else measure.run
            report = run(chosen, players, seconds, tick)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n")
        return
    console = Console()
    if isinstance(report, measure.Report):
        show_rules(console, report)
    elif isinstance(report, research.ResearchReport):
        show_research(console, report)
    else:
        show_thinking(console, report)
    console.print(f"Python {report.python}, NumPy {report.numpy}, Numba {report.numba}.")


def _tell(progress: Progress, task: TaskID, done: float) -> None:
    progress.update(task, completed=done)


def show_rules(console: Console, report: Report) -> None:
    """Print what was measured of the rules."""
    title = f"{report.machine}; one core, {report.players} players"
    console.print(speeds_table(title, report.speeds))
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in report.state_bytes.items())
    console.print(f"A state: {sizes}. First compilation and warming up: {report.compile_seconds:.1f} s.")


def show_thinking(console: Console, report: ThinkingReport) -> None:
    """Print what was measured of players that think."""
    title = f"{report.machine}; one core, {report.players} players"
    console.print(speeds_table(title, report.speeds))
    console.print(profile_table(report))
    console.print(players_table(report))
    console.print(f"Compilation, positions and warming up: {report.compile_seconds:.1f} s.")


def show_research(console: Console, report: ResearchReport) -> None:
    """Print what was measured beside others, what was asked for, and what could not be measured."""
    console.print(figures_table(report))
    console.print(ratios_table(report))
    for left in report.left_out:
        console.print(f"Left out: {left.name} ({left.why}). To get it: {left.get}", markup=False)
    if report.games_compared:
        console.print(f"Each C program played {report.games_compared} games as our rules do, move by move.")
    missed = [f"{ratio.of} to {ratio.to}" for ratio in report.ratios if ratio.met is False]
    console.print(
        f"Missed: {'; '.join(missed)}." if missed else "Nothing that was measured and asked is missed."
    )
    if report.was_busy:
        console.print(
            "The machine was busy: ratios to MOMAland are too high, those of two threads mean nothing."
        )
    before, after = report.busy
    console.print(
        f"{report.rounds} rounds; {before:.1f} processes wanted a core before them, {after:.1f} after."
    )
    console.print(f"{', '.join(dict.fromkeys(figure.of for figure in report.figures))}.")


def figures_table(report: ResearchReport) -> Table:
    """How fast everything is, and how far the quartiles of its rounds lie from the median."""
    title = f"{report.machine}; {report.players} players"
    table = _table(title, "what", "moves/s", "±", "by time of", text=("what", "by time of"))
    for figure in report.figures:
        spread = (figure.high - figure.low) / 2 / figure.moves_per_second
        table.add_row(figure.name, f"{figure.moves_per_second:,.0f}", f"{spread:.0%}", f"the {figure.by}")
    return table


def ratios_table(report: ResearchReport) -> Table:
    """How many times as fast as others, and what was asked for."""
    table = _table("Ratios", "what", "times", "quartiles", "asked", text=("what",))
    for ratio in report.ratios:
        compared = f"{ratio.of} to {ratio.to}"
        asked = "" if ratio.target is None else f"{ratio.target:,g}"
        if ratio.times is None:
            table.add_row(compared, "not measured", "", asked)
            continue
        spread = f"{ratio.low:,.3f} to {ratio.high:,.3f}"
        said = {True: f"{asked}: met", False: f"{asked}: missed", None: ""}[ratio.met]
        table.add_row(compared, f"{ratio.times:,.3f} ×", spread, said)
    return table


def speeds_table(title: str, speeds: Sequence[Speed]) -> Table:
    """Speeds beside the yardstick's."""
    table = _table(title, "what", "speed", "unit", "±", "of the yardstick", text=("what", "unit"))
    for speed in speeds:
        table.add_row(
            speed.name, f"{speed.per_second:,.0f}", speed.unit, f"{speed.spread:.0%}", f"{speed.ratio:.3g} ×"
        )
    return table


def profile_table(report: ThinkingReport) -> Table:
    """Where the time of rollouts goes at each stage of a game."""
    stages = tuple(dict.fromkeys(profile.stage for profile in report.profiles))
    table = _table("Where the time of rollouts goes", "game", "part", *stages, text=("game", "part"))
    for name in dict.fromkeys(profile.game for profile in report.profiles):
        own = [profile for profile in report.profiles if profile.game == name]
        for parts in zip(*(profile.parts for profile in own), strict=True):
            table.add_row(name, parts[0].part, *(f"{part.share:.1%}" for part in parts))
        explained = (f"{profile.explained:.0%}" for profile in own)
        table.add_row(name, "all parts, of the whole as measured", *explained)
        whole = (f"{profile.microseconds:,.1f} µs" for profile in own)
        table.add_row(name, "a rollout as a whole", *whole, end_section=True)
    return table


def players_table(report: ThinkingReport) -> Table:
    """What threads gain, how long `instant` takes, how much memory a game needs."""
    whats = tuple(dict.fromkeys(speed_up.what for speed_up in report.threads))
    threads = report.threads[0].threads
    title = f"Players; {report.cores} cores"
    columns = (*(f"{threads} threads, {what}" for what in whats), "instant, a move", "memory", "at most")
    table = _table(title, "game", *columns, text=("game",))
    for look, memory in zip(report.instant, report.memory, strict=True):
        gains = [speed_up for speed_up in report.threads if speed_up.game == look.game]
        table.add_row(
            look.game,
            *(f"{gain.times:.2f} × ± {gain.spread:.0%}" for gain in gains),
            f"{look.microseconds:,.0f} µs",
            f"{memory.megabytes:,.0f} MB",
            f"{memory.most:,.0f} MB: {'met' if memory.met else 'missed'}",
        )
    return table


def _table(title: str, *columns: str, text: tuple[str, ...]) -> Table:
    """An empty table: columns of `text`, and of numbers."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in text else "right")
    return table
