"""Stored results of an arena.

The first line of a results file holds the settings; each further line holds a game. A partial last line, left
by a killed process, is dropped, and its game is played again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from ...errors import AxioError, InvalidFile
from ...files import LineWriter, check_file_name, lock_directory
from .schedule import ArenaSettings, Schedule, Seating

RESULTS_FILE = "games.jsonl"
FORMAT = "axio-arena/1"
MAX_LINE = 1 << 20  # bytes; a game takes about 300
MAX_DEAL = 10_000_000
MAX_POINTS = 10_000  # on a track without a cap
MAX_MOVES = 10_000
MAX_SECONDS = 1e9
ROUNDING = 1e-5  # times are stored in microseconds
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class ArenaGame(Struct, frozen=True):
    """Result of a game. All fields but `deal` and `machine` have one entry per seat.

    `scores` are the points by track, `place` the ranks, `moves` the numbers of moves, `seconds` the total
    thinking times, and `slowest` the thinking times of the slowest moves, 0 if they were not measured.
    """

    deal: int
    seats: tuple[str, ...]
    scores: tuple[tuple[int, ...], ...]
    place: tuple[int, ...]
    moves: tuple[int, ...]
    seconds: tuple[float, ...]
    slowest: tuple[float, ...]
    machine: str = ""

    @property
    def seating(self) -> Seating:
        """The scheduled game with this result."""
        return Seating(self.deal, self.seats)


class ResultsHeader(Struct, frozen=True):
    """The first line of a results file."""

    format: str
    settings: ArenaSettings


class ArenaResults:
    """The games played so far and, if they are stored in a folder, their file."""

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
    """Open the results of an arena, with the games that are stored in `folder` already.

    Without a folder, results are kept in memory only.

    Raises:
        SettingsMismatch: the folder holds results of an arena with other settings.
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
    """Return the settings and the games stored in a folder.

    Raises:
        InvalidFile: the folder has no results, or they are damaged; the message names the line.
    """
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
    """Yield the complete lines of a file, without a partial last line."""
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
        if not 0 <= game.deal <= MAX_DEAL or game.seating not in self._scheduled(game.deal):
            return "this game is not on the schedule of these settings"
        columns = (game.scores, game.place, game.moves, game.seconds, game.slowest)
        if any(len(column) != self._players for column in columns):
            return f"scores, place, moves, seconds and slowest must have one entry per seat: {self._players}"
        if any(len(points) != self._tracks for points in game.scores):
            return f"every seat must have scores of {self._tracks} tracks"
        if not all(0 <= n <= self._cap for points in game.scores for n in points):
            return f"scores must be from 0 to {self._cap}"
        vectors = [sorted(points) for points in game.scores]
        ranks = tuple(1 + sum(other > own for other in vectors) for own in vectors)
        if game.place != ranks:
            return f"the places are {list(game.place)[:4]}, but the scores give {list(ranks)}"
        if not all(0 <= moves <= MAX_MOVES for moves in game.moves):
            return f"numbers of moves must be from 0 to {MAX_MOVES}"
        times = zip(game.seconds, game.slowest, strict=True)
        if not all(0 <= slowest <= seconds + ROUNDING <= MAX_SECONDS for seconds, slowest in times):
            return f"thinking times must be from 0 to {MAX_SECONDS:g} seconds, the slowest at most their sum"
        return None
