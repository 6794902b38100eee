"""Types of options and arguments: numbers within bounds, names of files, seeds.

Click's own numbers accept digits of any script, underscores, `nan` and, without a bound, 10**400. These
accept ASCII only, and each has a smallest and a largest value.
"""

from __future__ import annotations

import math
import re
from typing import Any

import click

from ..chance import seed_bytes
from ..errors import BadFile, BadText
from ..games.declaration import MOST_PLAYERS
from ..reading import is_unicode
from ..writing import check_name

MOST_JOBS = 1024  # how many of them run at once is for `spread.processes_for` to say
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")


class Integer(click.IntRange):
    """A whole number between two bounds, both included."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__(low, high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not _INTEGER.fullmatch(value):
            self.fail(f"{_shown(value)} is not a whole number from {self.min} to {self.max}.", param, ctx)
        return super().convert(value, param, ctx)


class Real(click.FloatRange):
    """A number between two bounds, both included unless the lower one is open."""

    def __init__(self, low: float, high: float, *, low_open: bool = False) -> None:
        super().__init__(low, high, min_open=low_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not _REAL.fullmatch(value):
            self.fail(f"{_shown(value)} is not a number from {self.min:g} to {self.max:g}.", param, ctx)
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a number from {self.min:g} to {self.max:g}.", param, ctx)
        return number


class FileName(click.ParamType[str]):
    """The name of a file or folder. Whether there is one is for the command to find out."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value)
        if not name:
            self.fail("the name of a file cannot be empty.", param, ctx)
        try:
            check_name(name)
        except BadFile as error:
            self.fail(f"{error}.", param, ctx)
        return name


class Text(click.ParamType[str]):
    """What a database is to find or keep. A command line may hold bytes that are no text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not is_unicode(text):
            self.fail(f"{_shown(text)} is not text in UTF-8.", param, ctx)
        return text


class Seed(click.ParamType[str]):
    """Text that decides what is random; a number is text, too."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        seed = str(value)
        try:
            seed_bytes(seed)
        except BadText as error:
            self.fail(f"{error}.", param, ctx)
        return seed


NUMBER = Integer(-1_000_000_000, 1_000_000_000)  # of a game, a ply, a seat: the command says which there are
PLAYERS = Integer(1, MOST_PLAYERS)
PLY = Integer(0, 1_000_000)
JOBS = Integer(1, MOST_JOBS)
THREADS = Integer(1, 64)
FILE = FileName()
SEED = Seed()
TEXT = Text()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
