"""How long to think, as options of the commands that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..players.interface import Budget
from ..players.limits import MOST_ROLLOUTS
from .parameters import SEED, THREADS, Integer, Real


def thinking_options(usual: float, each: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """How long to think: `seconds`, `rollouts`, `threads` and `seed`, to be read by `budget_of`."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(
            (
                click.option(
                    "--time",
                    "seconds",
                    type=Real(0.01, 600),
                    help=f"Seconds {each}.  [default: {usual}]",
                ),
                click.option(
                    "--rollouts",
                    type=Integer(100, MOST_ROLLOUTS),
                    help="Rollouts instead of seconds: the same every time.",
                ),
                click.option(
                    "--threads",
                    type=THREADS,
                    default=1,
                    show_default=True,
                    help="Threads to use.",
                ),
                click.option(
                    "--seed",
                    type=SEED,
                    default="0",
                    show_default=True,
                    help="A number or any text; it decides every guess.",
                ),
            )
        ):
            command = option(command)
        return command

    return add


def budget_of(seconds: float | None, rollouts: int | None, threads: int, usual: float) -> Budget:
    """How long to think about a move, by seconds or by rollouts."""
    if seconds is not None and rollouts is not None:
        raise click.UsageError("--time and --rollouts cannot be used together.")
    if rollouts is not None:
        return Budget(None, rollouts, threads)
    return Budget(seconds or usual, threads=threads)
