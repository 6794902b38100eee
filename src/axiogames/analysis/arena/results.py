"""The games of an arena on disk, a line each, so that it can be gone on with after an interruption.

The first line holds the settings. A line that was cut off when the program ended is dropped, and its game is
played again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter

import msgspec
from msgspec import Struct

from ...errors import AxioError, InvalidFile
from ...files import LineWriter, check_name, lock_directory
from ...games import find_variant
from ...model.view import View
from ...players import Budget, Choice, Player
from ...players.engines.specs import seated, warm_up
from ...players.match import play_match
from ...rng import Generator
from ..platform_info import machine
from ..run_config import check_same_settings
from .schedule import Schedule, Seating, Settings, checked


class Played(Struct, frozen=True):
    """A game that was played: for each seat its points by track, its place, and how long its bot thought."""

    deal: int
    seats: tuple[str, ...]
    scores: tuple[tuple[int, ...], ...]
    place: tuple[int, ...]
    moves: tuple[int, ...]
    seconds: tuple[float, ...]
    slowest: tuple[float, ...]
    machine: str = ""  # where it was played

    @property
    def seating(self) -> Seating:
        """The game of the schedule that this is."""
        return Seating(self.deal, self.seats)


@dataclass(slots=True)
class Timed:
    """A player with a clock beside it."""

    player: Player
    moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def name(self) -> str:
        return self.player.name

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        start = perf_counter()
        choice = self.player.choose(view, budget, rng)
        took = perf_counter() - start
        self.moves += 1
        self.seconds += took
        self.slowest = max(self.slowest, took)
        return choice


def play(settings: Settings, seating: Seating) -> Played:
    """Play a game. Everything in it follows from the settings and the seating, but for the time it takes.

    Deal d has the seed SEED/d, whoever sits at the table. Every seat's bot has chance of its own.
    """
    warm(settings)
    options = dict.fromkeys(settings.options, True)
    with seated(seating.seats) as players:
        timed = [Timed(player) for player in players]
        table = play_match(settings.game, timed, f"{settings.seed}/{seating.deal}", options=options)
    result = table.result
    assert result is not None, "a match is played to its end"
    return Played(
        seating.deal,
        seating.seats,
        tuple(tuple(points.values()) for points in result.scores),
        result.place,
        tuple(clock.moves for clock in timed),
        tuple(round(clock.seconds, 6) for clock in timed),
        tuple(round(clock.slowest, 6) for clock in timed),
        machine(),
    )


@cache
def warm(settings: Settings) -> None:
    """Let every bot choose once in this process, so that compiling and loading do not count as thinking."""
    options = dict.fromkeys(settings.options, True)
    warm_up(find_variant(settings.game, settings.players, options), settings.bots)


FILE = "games.jsonl"
FORMAT = "axio-arena/1"
LONGEST_LINE = 1 << 20  # bytes; a game takes about 300
LAST_DEAL = 10_000_000
MOST_POINTS = 10_000  # of a track that has no cap
MOST_MOVES = 10_000
MOST_SECONDS = 1e9
ROUNDED = 1e-5  # times are kept to a millionth of a second
DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # what decoding a line can raise


class Head(msgspec.Struct, frozen=True):
    """The first line of a file of results."""

    format: str
    settings: Settings


class Results:
    """The games played so far and, if there is a folder, their file."""

    def __init__(self, settings: Settings, played: dict[Seating, Played], file: LineWriter | None) -> None:
        self.settings = settings
        self.played = played
        self._file = file

    def add(self, game: Played) -> None:
        """Keep a game; when this returns, the program may be killed and the game is still there."""
        if self._file:
            self._file.write(msgspec.json.encode(game).decode())
        self.played[game.seating] = game


@contextmanager
def results(settings: Settings, folder: Path | None = None) -> Iterator[Results]:
    """The results of these settings: those that the folder holds already, and room for more.

    Raises `SettingsMismatch` if the folder holds those of others, and `InvalidFile` if it is not ours to
    write to.
    """
    if folder is None:
        yield Results(settings, {}, None)
        return
    check_name(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    if path.exists() and not path.is_file():
        raise InvalidFile(f"{path}: results are kept in a file, and this is none")
    with lock_directory(folder, "another arena"):
        played: dict[Seating, Played] = {}
        if path.exists():
            _drop_torn_line(path)
        if path.exists() and path.stat().st_size:
            kept, played = read(folder)
            check_same_settings(kept, settings, f"{folder} holds results", " or choose another folder")
        with LineWriter(str(path), append=True) as file:
            if not path.stat().st_size:
                file.write(msgspec.json.encode(Head(FORMAT, settings)).decode())
            yield Results(settings, played, file)


def read(folder: Path) -> tuple[Settings, dict[Seating, Played]]:
    """The settings and the games that a folder holds. Raises `InvalidFile`, which names the wrong line."""
    path = folder / FILE
    lines = _lines(folder, path)
    first = next(lines, None)
    if first is None:
        raise InvalidFile(f"{path}: no results of an arena: the file is empty")
    settings = _head(path, first)
    referee = _Referee(settings)
    decoder = msgspec.json.Decoder(Played)
    played: dict[Seating, Played] = {}
    for number, line in enumerate(lines, 2):
        try:
            game = decoder.decode(line)
        except DAMAGED as error:
            raise InvalidFile(f"{path}, line {number}: not a game of an arena: {error}") from None
        if wrong := referee.fault(game):
            raise InvalidFile(f"{path}, line {number}: {wrong}")
        played.setdefault(game.seating, game)
    return settings, played


def _lines(folder: Path, path: Path) -> Iterator[bytes]:
    """Yield the whole lines of the file; what stands after the last line's end was cut off."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InvalidFile(f"{path}: results are kept in a file, and this is none")
        with open(path, "rb") as file:
            number = 0
            while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                number += 1
                yield line.removesuffix(b"\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise InvalidFile(f"{folder}: no results of an arena here ({FILE} is missing)") from None
    if len(line) == LONGEST_LINE:
        raise InvalidFile(f"{path}, line {number + 1}: longer than {LONGEST_LINE} bytes")


class _Referee:
    """Says what is wrong with a game that a file holds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        variant = find_variant(settings.game, settings.players, dict.fromkeys(settings.options, True))
        self._tracks = len(variant.tracks)
        self._cap = variant.cap or MOST_POINTS
        schedule = Schedule(settings.bots, settings.players)
        self._expected = lru_cache(8)(lambda deal: frozenset(schedule.games(deal)))

    def fault(self, game: Played) -> str | None:
        """What is wrong with a game, if anything is."""
        columns = (game.scores, game.place, game.moves, game.seconds, game.slowest)
        whole = all(len(column) == self._settings.players for column in columns)
        if not 0 <= game.deal <= LAST_DEAL or game.seating not in self._expected(game.deal) or not whole:
            return "a game that these settings do not ask for"
        if any(len(points) != self._tracks for points in game.scores):
            return f"scores of other than {self._tracks} tracks"
        if not all(0 <= n <= self._cap for points in game.scores for n in points):
            return f"scores that are not from 0 to {self._cap}"
        vectors = [sorted(points) for points in game.scores]
        place = tuple(1 + sum(other > own for other in vectors) for own in vectors)
        if game.place != place:
            return f"the places are {list(place)} by the scores, the line says {list(game.place)[:4]}"
        if not all(0 <= moves <= MOST_MOVES for moves in game.moves):
            return f"numbers of moves that are not from 0 to {MOST_MOVES}"
        times = zip(game.seconds, game.slowest, strict=True)
        if not all(0 <= slowest <= seconds + ROUNDED <= MOST_SECONDS for seconds, slowest in times):
            return "times of thinking that cannot be"
        return None


def _head(path: Path, line: bytes) -> Settings:
    try:
        head = msgspec.json.decode(line, type=Head)
    except DAMAGED as error:
        raise InvalidFile(f"{path}, line 1: not the settings of an arena: {error}") from None
    if head.format != FORMAT:
        raise InvalidFile(f"{path}: the format is {head.format[:40]!r}, but only {FORMAT!r} can be read")
    kept = head.settings
    try:
        good = checked(
            kept.game, kept.bots, players=kept.players, seed=kept.seed, options=kept.options, sprt=kept.sprt
        )
    except AxioError as error:
        raise InvalidFile(f"{path}, line 1: not the settings of an arena: {error}") from None
    if (good.game, good.options) != (kept.game, kept.options):
        raise InvalidFile(
            f"{path}, line 1: not the settings of an arena: its options are not written as we do"
        )
    return kept


def _drop_torn_line(path: Path) -> None:
    """Cut off what stands after the last line's end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LONGEST_LINE))
        tail = file.read(LONGEST_LINE)
    if len(tail) == LONGEST_LINE and b"\n" not in tail:
        raise InvalidFile(f"{path}: the last line is longer than {LONGEST_LINE} bytes")
    torn = len(tail) - (tail.rfind(b"\n") + 1)
    if torn:
        os.truncate(path, size - torn)
