"""`axio bench`: how fast the engine is here."""

from __future__ import annotations

import sys

import click

from ..games import GAMES, game


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--players", default=2, show_default=True, help="Number of players.")
@click.option("--seconds", default=2.0, show_default=True, help="How long each thing is measured, about.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(games: tuple[str, ...], players: int, seconds: float, as_json: bool) -> None:
    """Measure GAMEs (all, if none is named) on one core of this machine.

    Every figure is also given as a ratio to a yardstick that ran beside it in the same run: only that can be
    compared between machines and between days.
    """
    import msgspec
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ..bench.measure import run
    from ..errors import WrongOption
    from ..games import find_variant

    if not 0 < seconds <= 600:
        raise WrongOption(f"--seconds is a number above 0 and up to 600, not {seconds:g}")
    chosen = [game(name).id for name in games] or list(GAMES)
    for name in chosen:
        find_variant(name, players)
    errors = Console(stderr=True)
    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        TimeRemainingColumn(),
        console=errors,
        disable=not errors.is_terminal,
    ) as progress:
        task = progress.add_task("bench", total=1.0)
        report = run(chosen, players, seconds, lambda done: progress.update(task, completed=done))
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n")
    else:
        show(report)


def show(report: object) -> None:
    """Print a report as a table."""
    from rich.console import Console
    from rich.table import Table

    from ..bench.measure import Report

    assert isinstance(report, Report)
    table = Table(title=f"{report.machine}; one core, {report.players} players", title_justify="left")
    table.add_column("what")
    table.add_column("speed", justify="right")
    table.add_column("unit")
    table.add_column("±", justify="right")
    table.add_column("of the yardstick", justify="right")
    for speed in report.speeds:
        table.add_row(
            speed.name, f"{speed.per_second:,.0f}", speed.unit, f"{speed.spread:.0%}", f"{speed.ratio:.3g} ×"
        )
    console = Console()
    console.print(table)
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in report.state_bytes.items())
    console.print(f"A state: {sizes}. First compilation and warming up: {report.compile_seconds:.1f} s.")
    console.print(f"Python {report.python}, NumPy {report.numpy}, Numba {report.numba}.")
