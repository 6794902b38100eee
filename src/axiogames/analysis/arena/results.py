"""Playing and storing the games of an arena.

A results file holds the settings in its first line and one game per line after it. A line that was cut off
when the program was killed is dropped, and its game is played again.
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
from ...files import LineWriter, check_file_name, lock_directory
from ...model.view import View
from ...players import Budget, Choice, Player
from ...players.engines.specs import open_players, warm_up
from ...players.match import play_match
from ...rng import Generator
from ..platform_info import describe_machine
from .schedule import ArenaSettings, Schedule, Seating

RESULTS_FILE = "games.jsonl"
FORMAT = "axio-arena/1"
MAX_LINE = 1 << 20  # bytes; a game takes about 300
MAX_DEAL = 10_000_000
MAX_POINTS = 10_000  # of a track without a cap
MAX_MOVES = 10_000
MAX_SECONDS = 1e9
ROUNDING = 1e-5  # times are stored in microseconds
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class ArenaGame(Struct, frozen=True):
    """A finished game: for each seat its points by track, its rank, and the thinking time of its bot."""

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
        """The scheduled game that this is the result of."""
        return Seating(self.deal, self.seats)


# ---------------------------------------------------------------- playing


@dataclass(slots=True)
class TimedPlayer:
    """A player whose thinking time is measured."""

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
        elapsed = perf_counter() - start
        self.moves += 1
        self.seconds += elapsed
        self.slowest = max(self.slowest, elapsed)
        return choice


def play_game(settings: ArenaSettings, seating: Seating) -> ArenaGame:
    """Play a scheduled game. Except for times, the result is determined by settings and seating.

    Deal d has the seed SEED/d for all line-ups. Every seat's bot has a random generator of its own.
    """
    warm_up_bots(settings)
    options = dict.fromkeys(settings.options, True)
    with open_players(seating.seats) as players:
        timed = [TimedPlayer(player) for player in players]
        table = play_match(settings.game, timed, f"{settings.seed}/{seating.deal}", options=options)
    result = table.result
    assert result is not None, "a match is played to its end"
    return ArenaGame(
        seating.deal,
        seating.seats,
        tuple(tuple(points.values()) for points in result.scores),
        result.place,
        tuple(player.moves for player in timed),
        tuple(round(player.seconds, 6) for player in timed),
        tuple(round(player.slowest, 6) for player in timed),
        describe_machine(),
    )


@cache
def warm_up_bots(settings: ArenaSettings) -> None:
    """Let every bot choose once in this process, so that compiling and loading are not timed."""
    warm_up(settings.variant, settings.bots)


# ---------------------------------------------------------------- storing


class ResultsHeader(Struct, frozen=True):
    """The first line of a results file."""

    format: str
    settings: ArenaSettings


class ArenaResults:
    """The games played so far and, if a folder is used, their file."""

    def __init__(
        self, settings: ArenaSettings, played: dict[Seating, ArenaGame], file: LineWriter | None
    ) -> None:
        self.settings = settings
        self.played = played
        self._file = file

    def add(self, game: ArenaGame) -> None:
        """Store a game. Once this returns, the game survives a kill of the process."""
        if self._file:
            self._file.write(msgspec.json.encode(game).decode())
        self.played[game.seating] = game


@contextmanager
def open_results(settings: ArenaSettings, folder: Path | None = None) -> Iterator[ArenaResults]:
    """Open the results of an arena: the games stored in `folder`, to which more can be added.

    Without a folder, results are kept in memory only.

    Raises:
        SettingsMismatch: the folder holds results of other settings.
        InvalidFile: the folder cannot be written to, or its results are damaged.
    """
    if folder is None:
        yield ArenaResults(settings, {}, None)
        return
    check_file_name(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_FILE
    if path.exists() and not path.is_file():
        raise InvalidFile(f"{path}: not a regular file")
    with lock_directory(folder, "another arena"):
        played: dict[Seating, ArenaGame] = {}
        if path.exists():
            _truncate_partial_line(path)
        if path.exists() and path.stat().st_size:
            stored, played = read_results(folder)
            stored.check_resumable(settings, folder, "choose another folder")
        with LineWriter(str(path), append=True) as file:
            if not path.stat().st_size:
                file.write(msgspec.json.encode(ResultsHeader(FORMAT, settings)).decode())
            yield ArenaResults(settings, played, file)


def read_results(folder: Path) -> tuple[ArenaSettings, dict[Seating, ArenaGame]]:
    """Return the settings and the games stored in a folder. Raises `InvalidFile`, which names the line."""
    path = folder / RESULTS_FILE
    lines = _complete_lines(folder, path)
    first = next(lines, None)
    if first is None:
        raise InvalidFile(f"{path}: no arena results: the file is empty")
    settings = _parse_header(path, first)
    validator = _GameValidator(settings)
    decoder = msgspec.json.Decoder(ArenaGame)
    played: dict[Seating, ArenaGame] = {}
    for number, line in enumerate(lines, 2):
        try:
            game = decoder.decode(line)
        except DECODE_ERRORS as error:
            raise InvalidFile(f"{path}, line {number}: not a game of an arena: {error}") from None
        if problem := validator.find_problem(game):
            raise InvalidFile(f"{path}, line {number}: {problem}")
        played.setdefault(game.seating, game)
    return settings, played


def _complete_lines(folder: Path, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file except for a partial last line."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InvalidFile(f"{path}: not a regular file")
        with open(path, "rb") as file:
            number = 0
            while (line := file.readline(MAX_LINE)).endswith(b"\n"):
                number += 1
                yield line.removesuffix(b"\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise InvalidFile(f"{folder}: no arena results ({RESULTS_FILE} is missing)") from None
    if len(line) == MAX_LINE:
        raise InvalidFile(f"{path}, line {number + 1}: longer than {MAX_LINE} bytes")


def _truncate_partial_line(path: Path) -> None:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_LINE))
        tail = file.read(MAX_LINE)
    if len(tail) == MAX_LINE and b"\n" not in tail:
        raise InvalidFile(f"{path}: the last line is longer than {MAX_LINE} bytes")
    partial = len(tail) - (tail.rfind(b"\n") + 1)
    if partial:
        os.truncate(path, size - partial)


def _parse_header(path: Path, line: bytes) -> ArenaSettings:
    try:
        header = msgspec.json.decode(line, type=ResultsHeader)
    except DECODE_ERRORS as error:
        raise InvalidFile(f"{path}, line 1: not the settings of an arena: {error}") from None
    if header.format != FORMAT:
        raise InvalidFile(f"{path}: unsupported format {header.format[:40]!r}: this version reads {FORMAT!r}")
    stored = header.settings
    try:
        valid = ArenaSettings.create(
            stored.game,
            stored.bots,
            players=stored.players,
            seed=stored.seed,
            options=stored.options,
            sprt=stored.sprt,
        )
    except AxioError as error:
        raise InvalidFile(f"{path}, line 1: not the settings of an arena: {error}") from None
    if (valid.game, valid.options) != (stored.game, stored.options):
        raise InvalidFile(
            f"{path}, line 1: not the settings of an arena: game or options are not in canonical form"
        )
    return stored


class _GameValidator:
    """Checks stored games against the settings and the schedule of their arena."""

    def __init__(self, settings: ArenaSettings) -> None:
        self._players = settings.players
        variant = settings.variant
        self._tracks = len(variant.tracks)
        self._cap = variant.cap or MAX_POINTS
        schedule = Schedule(settings.bots, settings.players)
        self._scheduled = lru_cache(8)(lambda deal: frozenset(schedule.games(deal)))

    def find_problem(self, game: ArenaGame) -> str | None:
        """Return the reason why a game is invalid, or `None`."""
        columns = (game.scores, game.place, game.moves, game.seconds, game.slowest)
        complete = all(len(column) == self._players for column in columns)
        if not 0 <= game.deal <= MAX_DEAL or game.seating not in self._scheduled(game.deal) or not complete:
            return "this game is not on the schedule of these settings"
        if any(len(points) != self._tracks for points in game.scores):
            return f"every seat must have scores of {self._tracks} tracks"
        if not all(0 <= n <= self._cap for points in game.scores for n in points):
            return f"scores must be from 0 to {self._cap}"
        vectors = [sorted(points) for points in game.scores]
        ranks = tuple(1 + sum(other > own for other in vectors) for own in vectors)
        if game.place != ranks:
            return f"the places are {list(game.place)[:4]}, but {list(ranks)} by the scores"
        if not all(0 <= moves <= MAX_MOVES for moves in game.moves):
            return f"numbers of moves must be from 0 to {MAX_MOVES}"
        times = zip(game.seconds, game.slowest, strict=True)
        if not all(0 <= slowest <= seconds + ROUNDING <= MAX_SECONDS for seconds, slowest in times):
            return f"thinking times must be from 0 to {MAX_SECONDS:g} seconds, the slowest at most their sum"
        return None
