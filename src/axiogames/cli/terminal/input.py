"""The questions before a game: which one, and against whom."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import click

from ...errors import ParseError
from ...games import GAMES
from ...games import game as declared
from ...moves import Move
from ...players import LEVELS, PLAYERS
from .options import YOU
from .saved_game import Saved
from .text import in_columns

WORDS = {
    "help": ("?", "h", "help"),
    "moves": ("moves", "m"),
    "hint": ("hint",),
    "score": ("score", "s"),
    "board": ("board", "b"),
    "undo": ("undo", "u"),
    "position": ("position",),
    "quit": ("quit", "q", "exit"),
}
_ORDER = {word: order for order, words in WORDS.items() for word in words}

_PLACE = re.compile(
    r"(?P<tile>[a-z_]{2,4})(?:\s*\(\s*(?P<named>[a-z])\s*\)|\s+(?P<bare>[a-z])(?=\s))?\s+(?P<at>.+)"
)
_CELLS = re.compile(r"[a-z][0-9]{1,2}(?:[\s-]*[a-z][0-9]{1,2})+")
_POINT = re.compile(r"\(?\s*(-?[0-9]{1,3})\s*[,\s]\s*(-?[0-9]{1,3})\s*\)?")


@dataclass(frozen=True, slots=True)
class Order:
    """Something asked for: a word of `WORDS` and what follows it."""

    name: str
    rest: str


def read_order(text: str) -> Order | None:
    """What a line asks for, if it is not a move."""
    word, _, rest = text.strip().partition(" ")
    name = _ORDER.get(word.lower())
    return Order(name, rest.strip()) if name else None


def read_move(text: str) -> Move:
    """A move in the notation, or nearly so: `gr k8 j8`, `brg_ p 2 -1`. Raises `ParseError`."""
    low = " ".join(text.lower().split())
    word, *tiles = low.split()
    if word in ("keep", "pass") or word == "exchange":
        return Move.parse(" ".join((word, *(tile.strip(",").upper() for tile in tiles))))
    if (found := _PLACE.fullmatch(low)) and (at := _place(found["at"])):
        named = found["named"] or found["bare"]
        colour = f"({named.upper()})" if named else ""
        return Move.parse(f"{found['tile'].upper()}{colour} {at}")
    raise ParseError(f"{text.strip()[:40]!r} is neither a move nor a word I know: ? lists what you can type")


def _place(text: str) -> str | None:
    if _CELLS.fullmatch(text):
        return "-".join(re.findall(r"[a-z][0-9]{1,2}", text))
    if found := _POINT.fullmatch(text):
        return f"{int(found[1])},{int(found[2])}"
    return None


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
