"""The game in play on disk, so that it can be gone on with."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ... import PROGRAM
from ...errors import AxioError, InvalidFile
from ...files import read_whole, write_atomic
from ...games import find_variant, game
from ...model.table import Table
from .options import seats, shown_names
from .text import count

FORMAT = f"{PROGRAM}-play/1"


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A game that people play: everything needed to deal and play it again.

    `confirmed` is false while the last placement may still be taken back: no tile has been drawn for it.
    """

    format: str = FORMAT
    game: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    seed: str
    moves: tuple[str, ...] = ()
    confirmed: bool = True

    def table(self) -> Table:
        """The table with all moves made. Raises `AxioError` if they cannot be."""
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
        names = ", ".join(shown_names(self.players))
        return f"{game(self.game).name} ({names}; {count(len(self.moves), 'move')})"


def save_file() -> Path:
    """Where the game in play is kept."""
    data = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(data) if data else Path.home() / ".local" / "share") / PROGRAM / "play.json"
    except RuntimeError:  # an account without a home
        raise InvalidFile("there is no folder for the game in play: set XDG_DATA_HOME to one") from None


def load() -> Saved | None:
    """The game in play, if there is one. Raises `InvalidFile` if it is damaged; the file stays as it is."""
    path = save_file()
    try:
        text = read_whole(path)
    except FileNotFoundError:
        return None
    try:
        saved = msgspec.json.decode(text, type=Saved)
        if saved.format != FORMAT:
            raise InvalidFile(f"its format is {saved.format!r}, it should be {FORMAT!r}")
        seats(",".join(saved.players))
        saved.table()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AxioError) as error:
        raise InvalidFile(
            f"{path}: this saved game is damaged ({error}): delete the file or move it away, then play"
        ) from None
    return saved


def store(saved: Saved) -> None:
    """Keep the game in play. Raises `OSError`."""
    path = save_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, msgspec.json.encode(saved) + b"\n")


def forget() -> None:
    """The game in play is over."""
    save_file().unlink(missing_ok=True)
