"""Options and arguments shared by commands: parameter types, seats and bots, records, budgets.

The number types of click accept digits of any script, underscores, `nan` and, without a bound, 10**400. These
types accept ASCII only, and each has a lower and an upper bound.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import click

from ... import PROGRAM
from ...errors import AxioError, InvalidFile, InvalidPlayers, InvalidRecord, ParseError
from ...files import check_file_name, is_unicode, read_lines
from ...games import LANGUAGES
from ...games.protocol import MAX_PLAYERS
from ...rng import seed_bytes

# Records and players are imported by the functions that need them: `axio games` should not wait for Numba.
if TYPE_CHECKING:
    from ...model.record import Record
    from ...players.interface import Budget

STDIN = "-"
YOU = "you"  # name of a person in a list of seats
MAX_JOBS = 1024  # `parallel.process_count` decides how many run at once
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")


class Integer(click.IntRange):
    """A whole number between two inclusive bounds.

    Args:
        low: the lower bound.
        high: the upper bound.
        show_range: whether the help shows the bounds.
    """

    name = "integer"

    def __init__(self, low: int, high: int, *, show_range: bool = True) -> None:
        super().__init__(low, high)
        self._range = f"{low} to {high}"
        self._show_range = show_range

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        low, high = int(self.min or 0), int(self.max or 0)
        if isinstance(value, str) and not (_INTEGER.fullmatch(value) and low <= int(value) <= high):
            self.fail(f"{_quote(value)} is not a whole number from {self._range}.", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        return self._range if self._show_range else ""


class Real(click.FloatRange):
    """A number between two inclusive bounds.

    Args:
        low: the lower bound.
        high: the upper bound.
        low_open: exclude the lower bound.
        show_range: whether the help shows the bounds.
    """

    name = "number"

    def __init__(self, low: float, high: float, *, low_open: bool = False, show_range: bool = True) -> None:
        super().__init__(low, high, min_open=low_open)
        self._show_range = show_range

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not _REAL.fullmatch(value):
            self.fail(f"{_quote(value)} is not a number from {self.min:g} to {self.max:g}.", param, ctx)
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a number from {self.min:g} to {self.max:g}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        if not self._show_range:
            return ""
        return f"{'above ' if self.min_open else ''}{self.min:g} to {self.max:g}"


class FileName(click.ParamType[str]):
    """Name of a file or folder, which need not exist."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value)
        if not name:
            self.fail("a file name cannot be empty.", param, ctx)
        try:
            check_file_name(name)
        except InvalidFile as error:
            self.fail(f"{error}.", param, ctx)
        return name


class Text(click.ParamType[str]):
    """Valid Unicode text. A command line may hold other bytes, which a database rejects."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not is_unicode(text):
            self.fail(f"{_quote(text)} is not UTF-8 text.", param, ctx)
        return text


class Seed(click.ParamType[str]):
    """Random seed, a number or any text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        seed = str(value)
        try:
            seed_bytes(seed)
        except ParseError as error:
            self.fail(f"{error}.", param, ctx)
        return seed


def _quote(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


# The number of a game, a ply or a seat. The command checks the range.
NUMBER = Integer(-1_000_000_000, 1_000_000_000, show_range=False)
PLAYER_COUNT = Integer(1, MAX_PLAYERS)
PLY = Integer(0, 1_000_000)
JOBS = Integer(1, MAX_JOBS)
THREADS = Integer(1, 64)
FILE = FileName()
SEED = Seed()
TEXT = Text()

seed_option = click.option(
    "--seed",
    type=SEED,
    default="0",
    show_default=True,
    help="Random seed, a number or any text. Game i uses SEED/i.",
)
variant_option = click.option(
    "--option", "options", multiple=True, metavar="NAME", help="Enable an option of the game. Repeatable."
)
jobs_option = click.option(
    "--jobs",
    type=JOBS,
    default=1,
    show_default=True,
    help="Number of processes. Results do not depend on it.",
)
force_option = click.option("--force", is_flag=True, help="Replace FILE if it exists.")
language_option = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="Language of the output.",
)


def budget_options(default: float, per: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options of a search: `seconds`, `rollouts`, `threads` and `seed`.

    Args:
        default: seconds, if neither --time nor --rollouts is used.
        per: unit of the seconds, for the help, such as "per move".
    """
    from ...players.interface import MAX_ROLLOUTS

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(
            (
                click.option(
                    "--time",
                    "seconds",
                    type=Real(0.01, 600),
                    help=f"Seconds {per}.  [default: {default}]",
                ),
                click.option(
                    "--rollouts",
                    type=Integer(100, MAX_ROLLOUTS),
                    help="Number of rollouts, instead of a time; reproducible.",
                ),
                click.option(
                    "--threads",
                    type=THREADS,
                    default=1,
                    show_default=True,
                    help="Number of threads.",
                ),
                click.option(
                    "--seed",
                    type=SEED,
                    default="0",
                    show_default=True,
                    help="Random seed, a number or any text.",
                ),
            )
        ):
            command = option(command)
        return command

    return add


def make_budget(seconds: float | None, rollouts: int | None, threads: int, default: float) -> Budget:
    """Return the search budget per move, in seconds or in rollouts."""
    from ...players.interface import Budget

    if seconds is not None and rollouts is not None:
        raise click.UsageError("--time and --rollouts cannot be used together.")
    if rollouts is not None:
        return Budget(None, rollouts, threads)
    return Budget(seconds or default, threads=threads)


# ---------------------------------------------------------------- records, seats and bots


@dataclass(frozen=True, slots=True)
class RecordInFile:
    """A record and its line in a file."""

    file: str
    line: int
    record: Record

    @property
    def location(self) -> str:
        """File and line for error messages."""
        return f"{self.file}, line {self.line}"


def input_lines(file: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank of a file or, for `-`, of standard input. Raise `InvalidFile`."""
    if file != STDIN:
        return read_lines(file)
    # In Python programs that call `main`, standard input may be a text stream without a buffer.
    source = getattr(sys.stdin, "buffer", None) or BytesIO(
        sys.stdin.read().encode("utf-8", "surrogateescape")
    )
    return read_lines(source, "standard input")


def read_record(file: str, number: int) -> RecordInFile:
    """Return a record of a file.

    Args:
        file: name of the file; `-` is standard input.
        number: number of the record in the file, from 1.

    Raises:
        InvalidFile: the file cannot be read.
        InvalidRecord: the line is not a record.
        AxioError: the file has fewer records.
    """
    from ...model.record import Record

    found = 0
    for line, text in input_lines(file):
        found += 1
        if found == number:
            try:
                return RecordInFile(file, line, Record.parse(text))
            except InvalidRecord as error:
                raise error.located(f"{file}, line {line}") from None
    raise AxioError(f"{file} has no game {number}: its games are 1 to {found}")


def parse_bots(text: str) -> tuple[str, ...]:
    """Return the bots of a list such as `greedy,sim@1s,engine:./mine`. Raise `InvalidPlayers`."""
    from ...players.engines.specs import parse_player

    names = _split(text)
    for name in names:
        parse_player(name)
    return names


def parse_seats(text: str) -> tuple[str, ...]:
    """Return the people (`you`) and bots of a list such as `you,balanced`. Raise `InvalidPlayers`."""
    from ...players import PLAYERS

    names, known = _split(text), (YOU, *PLAYERS)
    for name in names:
        if name not in known:
            raise InvalidPlayers(f"unknown player {name!r}: choose from {', '.join(known)}")
    if YOU not in names:
        raise InvalidPlayers(f"no seat is {YOU!r}: use `{PROGRAM} simulate` for games between bots only")
    return names


def _split(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not 1 <= len(names) <= MAX_PLAYERS:
        raise InvalidPlayers(f"{len(names)} players: a game has 1 to {MAX_PLAYERS}")
    return names


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return a different name for each seat: equal names are numbered."""
    total, so_far = Counter(names), Counter[str]()
    unique = []
    for name in names:
        so_far[name] += 1
        unique.append(f"{name} {so_far[name]}" if total[name] > 1 else name)
    return tuple(unique)
