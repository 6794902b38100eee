"""The games of an arena on disk, a line each, so that it can be gone on with after an interruption.

The first line holds the settings. A line that was cut off when the program ended is dropped, and its game is
played again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from ..agreement import must_agree
from ..errors import BadFile
from ..writing import LineFile, alone
from .games import Played
from .schedule import Schedule, Seating
from .settings import Settings

FILE = "games.jsonl"
FORMAT = "axio-arena/1"


class Head(msgspec.Struct, frozen=True):
    """The first line of a file of results."""

    format: str
    settings: Settings


class Results:
    """The games played so far and, if there is a folder, their file."""

    def __init__(self, settings: Settings, played: dict[Seating, Played], file: LineFile | None) -> None:
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

    Raises `OtherSettings` if the folder holds those of others, and `BadFile` if it is not ours to write to.
    """
    if folder is None:
        yield Results(settings, {}, None)
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    if path.exists() and not path.is_file():
        raise BadFile(f"{path}: results are kept in a file, and this is none")
    with alone(folder, "another arena"):
        played: dict[Seating, Played] = {}
        if path.exists():
            _drop_torn_line(path)
        if path.exists() and path.stat().st_size:
            kept, played = read(folder)
            must_agree(kept, settings, f"{folder} holds results", " or choose another folder")
        with LineFile(str(path), append=True) as file:
            if not path.stat().st_size:
                file.write(msgspec.json.encode(Head(FORMAT, settings)).decode())
            yield Results(settings, played, file)


def read(folder: Path) -> tuple[Settings, dict[Seating, Played]]:
    """The settings and the games that a folder holds. Raises `BadFile`."""
    path = folder / FILE
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # what stands after the last line's end was cut off
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise BadFile(f"{folder}: no results of an arena here ({FILE} is missing)") from None
    if not lines:
        raise BadFile(f"{path}: no results of an arena: the file is empty")
    settings = _head(path, lines[0])
    schedule = Schedule(settings.bots, settings.players)
    expected = cache(lambda deal: frozenset(schedule.games(deal)))
    decoder = msgspec.json.Decoder(Played)
    played: dict[Seating, Played] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            game = decoder.decode(line)
        except msgspec.DecodeError as error:
            raise BadFile(f"{path}, line {number}: not a game of an arena: {error}") from None
        whole = all(len(column) == settings.players for column in (game.scores, game.place, game.moves))
        if game.deal < 0 or game.seating not in expected(game.deal) or not whole:
            raise BadFile(f"{path}, line {number}: a game that these settings do not ask for")
        played.setdefault(game.seating, game)
    return settings, played


def _head(path: Path, line: bytes) -> Settings:
    try:
        head = msgspec.json.decode(line, type=Head)
    except msgspec.DecodeError as error:
        raise BadFile(f"{path}, line 1: not the settings of an arena: {error}") from None
    if head.format != FORMAT:
        raise BadFile(f"{path}: the format is {head.format!r}, but only {FORMAT!r} can be read")
    return head.settings


def _drop_torn_line(path: Path) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
