"""The saved game, which `axio play --resume` resumes."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ... import PROGRAM
from ...errors import AxioError, InvalidFile
from ...files import read_file, write_atomic
from ...games import find_variant, game
from ...model.table import Table
from .options import parse_seats, unique_names
from .text import count

FORMAT = f"{PROGRAM}-play/1"


class SavedGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game between people and bots, from which its table can be replayed.

    Attributes:
        format: always `axio-play/1`.
        game: the name of the game.
        players: `you` or the name of a bot, for each seat.
        options: the options of the game that are switched on.
        seed: the seed of the draws and the bots.
        moves: the moves so far.
        confirmed: `False` while the last placement can be undone, before the draw after it.
    """

    format: str = FORMAT
    game: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: str
    moves: tuple[str, ...] = ()
    confirmed: bool = True

    def table(self) -> Table:
        """Return the table after all moves.

        Raises:
            AxioError: a move is illegal.
        """
        table = Table(
            find_variant(self.game, len(self.players), dict.fromkeys(self.options, True)), self.seed
        )
        for move in self.moves:
            table.deal()
            table.play(move, deal=False)
        if self.confirmed:
            table.deal()
        return table

    def __str__(self) -> str:
        names = ", ".join(unique_names(self.players))
        return f"{game(self.game).name} ({names}; {count(len(self.moves), 'move')})"


def saved_game_path() -> Path:
    """Return the path of the saved game."""
    data = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(data) if data else Path.home() / ".local" / "share") / PROGRAM / "play.json"
    except RuntimeError:  # an account without a home directory
        raise InvalidFile("no home directory to save the game in: set XDG_DATA_HOME to a folder") from None


def load() -> SavedGame | None:
    """Return the saved game, or `None`.

    Raises:
        InvalidFile: the file is damaged. It is kept.
    """
    path = saved_game_path()
    try:
        text = read_file(path)
    except FileNotFoundError:
        return None
    try:
        saved = msgspec.json.decode(text, type=SavedGame)
        if saved.format != FORMAT:
            raise InvalidFile(f"its format is {saved.format!r}, expected {FORMAT!r}")
        parse_seats(",".join(saved.players))
        saved.table()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AxioError) as error:
        raise InvalidFile(
            f"{path}: the saved game is damaged ({error}): delete the file or move it away"
        ) from None
    return saved


def save(game: SavedGame) -> None:
    """Save a game, which replaces the saved one. Raise `OSError` if it cannot be written."""
    path = saved_game_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, msgspec.json.encode(game) + b"\n")


def delete() -> None:
    """Delete the saved game."""
    saved_game_path().unlink(missing_ok=True)
