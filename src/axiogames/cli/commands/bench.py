"""`axio bench`: how fast the engine is here, and how fast players think."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ...games import GAMES, game
from ..terminal.options import NUMBER, Real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from benchmarks.peers.gpu import GpuReport
    from benchmarks.peers.research import ResearchReport
    from benchmarks.search.thinking import ThinkingReport

    from ...analysis.bench.measure import Report, Speed

SUITES = ("rules", "thinking", "research")
DEVICES = ("cpu", "cuda")


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--suite",
    type=click.Choice(SUITES),
    default=SUITES[0],
    show_default=True,
    help="What to measure: the rules, players that think, or games beside those that others have made.",
)
@click.option("--players", type=NUMBER, default=2, show_default=True, help="Number of players.")
@click.option(
    "--seconds",
    type=Real(-1e9, 1e9),
    default=2.0,
    show_default=True,
    help="How long each thing is measured, about.",
)
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default=DEVICES[0],
    show_default=True,
    help="Where the suite research runs: on the processor, or on an NVIDIA GPU.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    games: tuple[str, ...], suite: str, players: int, seconds: float, device: str, as_json: bool
) -> None:
    """Measure GAMEs (all, if none is named) on one core of this machine.

    Every speed is also given as a ratio to a yardstick that ran beside it in the same run: only that can be
    compared between machines and between days.

    The suite `thinking` measures rollouts and where their time goes, what a second thread gains, `instant`,
    and how much memory a game takes.

    The suite `research` measures random games and environments beside MOMAland's Ingenious, a C program and
    games of OpenSpiel and pgx, as far as they are installed. What it measures is fixed, so it takes no GAME.
    With `--device cuda` it measures random and greedy games of all four on a GPU, and where the time goes.
    """
    import msgspec
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from benchmarks.peers import gpu, research
    from benchmarks.search import thinking

    from ...analysis.bench import measure
    from ...errors import InvalidOption
    from ...games import find_variant

    if not 0 < seconds <= 600:
        raise InvalidOption(f"--seconds is a number above 0 and up to 600, not {seconds:g}")
    fixed = suite == "research"
    if fixed and (games or players != research.PLAYERS):
        raise InvalidOption(
            f"the suite {suite} measures what it is compared with, for {research.PLAYERS} players:"
            " it takes neither games nor --players"
        )
    if device != DEVICES[0] and not fixed:
        raise InvalidOption(
            f"the suite {suite} runs on the processor: --device {device} is for --suite research"
        )
    chosen = [game(name).id for name in games] or list(GAMES)
    for name in chosen:
        find_variant(name, players)
    errors = Console(stderr=True)
    report: Report | ThinkingReport | ResearchReport | GpuReport
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
            report = (research if device == DEVICES[0] else gpu).run(seconds, tick)
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
    elif isinstance(report, gpu.GpuReport):
        show_gpu(console, report)
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
        console.print(f"The C program played {report.games_compared} games as our rules do, move by move.")
    missed = [f"{ratio.of} to {ratio.to}" for ratio in report.ratios if ratio.met is False]
    console.print(
        f"Missed: {'; '.join(missed)}." if missed else "Nothing that was measured and asked is missed."
    )
    if report.was_busy:
        console.print(
            "The machine was busy: ratios to MOMAland are too high, those of two threads mean nothing."
        )
    if report.lacked_a_core:
        console.print("There were not two free cores: even threads that share nothing gained less.")
    before, after = report.busy
    console.print(
        f"{report.rounds} rounds; {before:.1f} processes wanted a core before them, {after:.1f} after."
    )
    console.print(f"{', '.join(dict.fromkeys(figure.of for figure in report.figures))}.")


def show_gpu(console: Console, report: GpuReport) -> None:
    """Print what was measured on a GPU: how fast games are, where the time goes, what was tried."""
    title = f"{report.gpu}; {report.players} players"
    table = _table(title, "what", "speed", "unit", "±", "games", "state", "asked", text=("what", "unit"))
    for speed in report.speeds:
        said = {True: "met", False: "missed", None: ""}[speed.met]
        table.add_row(
            f"{speed.game}: {speed.what}",
            f"{speed.per_second:,.3g}",
            speed.unit,
            f"{(speed.high - speed.low) / 2 / speed.per_second:.0%}",
            f"{speed.games:,}",
            f"{speed.state_bytes:,} bytes",
            f"{speed.target:,.3g}: {said}" if said else "",
        )
    console.print(table)
    columns = ("ns", "of a step", "registers", "fast memory", "warps", "bytes", "of the bandwidth")
    table = _table("Where the time goes, for a move or a rated placement", "loop", *columns, text=("loop",))
    for kernel in report.kernels:
        table.add_row(
            kernel.loop,
            f"{kernel.nanoseconds:.3g}",
            "" if kernel.share is None else f"{kernel.share:.0%}",
            f"{kernel.registers}",
            f"{kernel.fast_memory:,} for {kernel.block} games",
            f"{kernel.occupancy:.0%}",
            f"{kernel.bytes_a_move:,.0f}",
            f"{kernel.of_bandwidth:.1%}",
        )
    console.print(table)
    table = _table("Random games in other ways", "how", "moves/s", "±", "warps", text=("how",))
    for tried in report.tries:
        spread = (tried.high - tried.low) / 2 / tried.per_second
        table.add_row(tried.what, f"{tried.per_second:,.3g}", f"{spread:.0%}", f"{tried.occupancy:.0%}")
    console.print(table)
    console.print(
        f"{report.rounds} rounds. The memory copies {report.bandwidth:,.3g} bytes a second, read and written."
        f" Warps: of the most that a multiprocessor can have. numba-cuda {report.numba_cuda}."
    )


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
