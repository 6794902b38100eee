"""`bench`: measure the speed of the rules on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ...games import GAMES, game
from ..terminal.options import PLAYER_COUNT, Real

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ...analysis.bench.measure import Report, Speed

MAX_SECONDS = 600


@click.command("bench")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--players", type=PLAYER_COUNT, default=2, show_default=True, help="Number of players.")
@click.option(
    "--seconds",
    type=Real(-1e9, 1e9, show_range=False),  # `check_seconds` checks the range
    default=2.0,
    show_default=True,
    help="Approximate duration of each measurement.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(*, games: tuple[str, ...], players: int, seconds: float, as_json: bool) -> None:
    """Measure the rules of each GAME (default: all games) on one core of this machine.

    Each speed is also reported as a ratio to the speed of a reference game in the same run. Compare ratios,
    not speeds, between machines and over time.
    """
    from rich.console import Console

    from ...analysis.bench import measure
    from ...games import find_variant

    check_seconds(seconds)
    chosen = [game(name).id for name in games] or list(GAMES)
    for name in chosen:
        find_variant(name, players)
    with progress_bar() as tick:
        report = measure.run(chosen, players, seconds, tick)
    if as_json:
        print_json(report)
    else:
        show(Console(), report)


def check_seconds(seconds: float) -> None:
    """Raise `InvalidOption` if a measurement cannot take `seconds`."""
    from ...errors import InvalidOption

    if not 0 < seconds <= MAX_SECONDS:
        raise InvalidOption(f"--seconds must be above 0 and at most {MAX_SECONDS}, not {seconds:g}")


@contextmanager
def progress_bar() -> Iterator[Callable[[float], None]]:
    """Show a progress bar on a terminal, and yield a function that sets the completed share, in [0, 1]."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    errors = Console(stderr=True)
    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        TimeRemainingColumn(),
        console=errors,
        disable=not errors.is_terminal,
    ) as progress:
        task = progress.add_task("bench", total=1.0)
        yield lambda completed: progress.update(task, completed=completed)


def print_json(report: object) -> None:
    """Print a report as indented JSON."""
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n")


def show(console: Console, report: Report) -> None:
    """Print the report of the rules as a table."""
    console.print(speeds_table(f"{report.machine}; one core, {report.players} players", report.speeds))
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in report.state_bytes.items())
    console.print(f"State size: {sizes}. Compilation and warm-up: {report.compile_seconds:.1f} s.")
    console.print(f"Python {report.python}, NumPy {report.numpy}, Numba {report.numba}.")


def speeds_table(title: str, speeds: Sequence[Speed]) -> Table:
    """Return a table of speeds and their ratios to the reference game."""
    table = new_table(title, "loop", "speed", "unit", "±", "of the reference", text=("loop", "unit"))
    for speed in speeds:
        table.add_row(
            speed.name, f"{speed.per_second:,.0f}", speed.unit, f"{speed.spread:.0%}", f"{speed.ratio:.3g} ×"
        )
    return table


def new_table(title: str, *columns: str, text: tuple[str, ...]) -> Table:
    """Return an empty table. The columns named in `text` are left-aligned, the others right-aligned."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in text else "right")
    return table
