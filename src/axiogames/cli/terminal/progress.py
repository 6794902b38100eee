"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(description: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, and yield a function that advances it by an amount.

    Nothing is shown if standard error is not a terminal.

    Args:
        description: text before the bar.
        total: the amount of work, or `None` if it is unknown.
    """
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
        # Standard output is redirected only if it goes to the same terminal.
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda amount: bar.advance(task, amount)
