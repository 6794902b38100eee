"""The questions before a game: which one, and against whom."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TypeVar

import click

from ..games import GAMES
from ..games import game as declared
from ..players import LEVELS, PLAYERS
from .lines import in_columns
from .saved import Saved
from .seats import YOU

WIDTH = 66
OPPONENT = "balanced"

Choice = TypeVar("Choice")


def game(left: Saved | None) -> str | None:
    """The name of a game; `None` stands for the one that was left. Raises `EOFError`."""
    click.echo("Which game?")
    for number, name in enumerate(GAMES, 1):
        click.echo(f"  {number}  {declared(name).name}")
        for line in textwrap.wrap(declared(name).summary, WIDTH):
            click.echo(f"     {line}")
    keys: dict[str, str | None] = {str(n): name for n, name in enumerate(GAMES, 1)}
    keys |= {name: name for name in GAMES}
    if left is None:
        return _answer("Number, or Enter for 1: ", {"": GAMES[0], **keys})
    click.echo(f"  r  go on with {left}; a new game replaces it")
    return _answer("Number, or Enter for r: ", {"": None, **keys, "r": None})


def players() -> tuple[str, ...]:
    """Who plays. Raises `EOFError`."""
    programs = [OPPONENT, *LEVELS]
    choices = [(YOU, name) for name in programs] + [(YOU,), (YOU, YOU)]
    texts = [(name, _described(name)) for name in programs]
    texts += [("nobody", "Play alone."), ("a friend", "Take turns at this screen.")]
    click.echo("Against whom?")
    for line in in_columns([(str(n), *row) for n, row in enumerate(texts, 1)], indent=2):
        click.echo(line)
    keys = {str(n): choice for n, choice in enumerate(choices, 1)}
    keys |= {name: (YOU, name) for name in PLAYERS} | {"nobody": (YOU,), "a friend": (YOU, YOU)}
    return _answer("Number, or Enter for 1: ", {"": choices[0], **keys})


def _described(name: str) -> str:
    """What a program says of itself."""
    text = (PLAYERS[name].__doc__ or "").strip().partition("\n")[0]
    return textwrap.shorten(text, WIDTH, placeholder=" ...")


def wants_to_resume(left: Saved) -> bool:
    """Whether a game that was left is to go on, rather than be replaced. Raises `EOFError`."""
    click.echo(f"You left a game of {left}.")
    return _answer(
        "Enter to go on with it, n for a new game in its place: ", {"": True, "y": True, "n": False}
    )


def _answer(prompt: str, choices: dict[str, Choice]) -> Choice:
    while True:
        text = input(prompt).strip().lower()
        if text in choices:
            return choices[text]
        click.echo(f"Please type {_listed([key for key in choices if len(key) == 1])}, or just press Enter.")


def _listed(keys: Sequence[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} or {keys[-1]}"
