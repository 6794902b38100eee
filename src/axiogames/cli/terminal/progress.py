"""The table of an arena while it is played, for people at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...analysis.arena.report import sequential_sentence, sheets
from ...analysis.arena.run import Run
from ...analysis.arena.statistics import QUICK
from ...analysis.arena.summary import Summary, summarise


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Gives a function to call with the amount done since its last call; `total` may not be known."""
    if not sys.stderr.isatty():
        yield lambda amount: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # Only lines that go to the same screen may be led round the bar: others belong in a file or a pipe.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)


PAUSE = 1.0  # seconds between two looks at the figures
SHARE = 0.05  # of the time that may go into figures


@contextmanager
def live(run: Run) -> Iterator[Callable[[], None]]:
    """Gives a function to call after each game. Without a terminal nothing is shown."""
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
    next_look = 0.0
    # Only lines that go to the same screen may be led round the table.
    with Live(bar, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as screen:

        def tell() -> None:
            nonlocal next_look
            bar.update(task, completed=len(run.results.played))
            start = time.monotonic()
            if start < next_look:
                return
            summary = summarise(run.settings, run.results.played, resamples=QUICK, skill=False)
            if not summary.games:
                return
            screen.update(Group(*_tables(summary), bar))
            took = time.monotonic() - start
            next_look = start + max(PAUSE, took / SHARE)

        yield tell


def _tables(summary: Summary) -> Iterator[Any]:
    from rich.table import Table

    for sheet in sheets(summary)[:1]:
        shown = [n for n, head in enumerate(sheet.head) if any(row[n] for row in sheet.rows)]
        table = Table(box=None, pad_edge=False, header_style="dim")
        for n in shown:
            table.add_column(sheet.head[n], justify="left" if n == 0 else "right")
        for row in sheet.rows:
            table.add_row(*(row[n] for n in shown))
        yield table
    if summary.sprt:
        yield sequential_sentence(summary)
