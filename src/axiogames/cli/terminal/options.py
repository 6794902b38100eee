"""Types of options and arguments: numbers within bounds, names of files, seeds.

Click's own numbers accept digits of any script, underscores, `nan` and, without a bound, 10**400. These
accept ASCII only, and each has a smallest and a largest value.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import click

from ...errors import AxioError, InvalidFile, InvalidPlayers, InvalidRecord, ParseError
from ...files import check_name, is_unicode, read_lines
from ...games import LANGUAGES
from ...games.protocol import MOST_PLAYERS
from ...model.record import Record
from ...players import PLAYERS
from ...players.engines.specs import player_or_engine
from ...players.interface import MOST_ROLLOUTS, Budget
from ...rng import seed_bytes
from .text import count

language_option = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="The language.",
)


STDIN = "-"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A record of a file, and the line it stands on."""

    file: str
    line: int
    record: Record

    @property
    def where(self) -> str:
        """The file and the line, as errors name them."""
        return f"{self.file}, line {self.line}"


def lines_of(file: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file or of standard input that are not blank. Raises `InvalidFile`."""
    if file != STDIN:
        return read_lines(file)
    # What stands in for standard input where the program is called from Python may be text only.
    source = getattr(sys.stdin, "buffer", None) or BytesIO(
        sys.stdin.read().encode("utf-8", "surrogateescape")
    )
    return read_lines(source, "standard input")


def choose(file: str, number: int) -> Chosen:
    """Return record number `n`, counted from 1. Raises `InvalidFile`, `InvalidRecord` or `AxioError`."""
    found = 0
    for line, text in lines_of(file):
        found += 1
        if found == number:
            try:
                return Chosen(file, line, Record.parse(text))
            except InvalidRecord as error:
                raise error.located(f"{file}, line {line}") from None
    raise AxioError(f"{file} has no game {number}: it holds {count(found, 'game')}, 1 to {found}")


YOU = "you"


def programs(text: str) -> tuple[str, ...]:
    """The programs of a list such as `greedy,sim@1s,engine:./mine`. Raises `InvalidPlayers`."""
    names = _names(text)
    for name in names:
        player_or_engine(name)
    return names


def seats(text: str) -> tuple[str, ...]:
    """People (`you`) and programs of a list such as `you,balanced`. Raises `InvalidPlayers`."""
    names, known = _names(text), (YOU, *PLAYERS)
    for name in names:
        if name not in known:
            raise InvalidPlayers(f"unknown player {name!r}: choose from {', '.join(known)}")
    if YOU not in names:
        raise InvalidPlayers(f"one player at least has to be {YOU!r}: simulate lets programs play each other")
    return names


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not 1 <= len(names) <= MOST_PLAYERS:
        raise InvalidPlayers(f"{len(names)} players: 1 to {MOST_PLAYERS} can play")
    return names


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """A name for each seat that no other has: equal ones are numbered."""
    often, so_far = Counter(names), Counter[str]()
    shown = []
    for name in names:
        so_far[name] += 1
        shown.append(f"{name} {so_far[name]}" if often[name] > 1 else name)
    return tuple(shown)


MAX_JOBS = 1024  # `parallel.process_count` decides how many run at once
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
        except InvalidFile as error:
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
        except ParseError as error:
            self.fail(f"{error}.", param, ctx)
        return seed


NUMBER = Integer(-1_000_000_000, 1_000_000_000)  # of a game, a ply, a seat: the command says which there are
PLAYER_COUNT = Integer(1, MOST_PLAYERS)
PLY = Integer(0, 1_000_000)
JOBS = Integer(1, MAX_JOBS)
THREADS = Integer(1, 64)
FILE = FileName()
SEED = Seed()
TEXT = Text()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


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
