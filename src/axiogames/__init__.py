"""Tile-laying games by exact rules: positions, records, bots, environments and a compiled batch of games.

Start a game with `new_game`, which returns a `Table`. `Table` and `View` are subclasses of `Position`: they
list legal moves, count points and draw themselves. `play_match` plays games between bots, `Batch` plays many
games as one array, and `register_game` adds a game.

>>> import axiogames as axio
>>> table = axio.new_game("axio", players=2, seed=7)
>>> move = table.legal_moves()[0]
>>> table.preview(move).gain == table.play(move)
True

Every error of this package is an `AxioError`. After an error nothing has changed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch import Batch as Batch
    from .errors import AxioError as AxioError
    from .errors import IllegalMove as IllegalMove
    from .errors import Reason as Reason
    from .games import GAMES as GAMES
    from .games import find_variant as find_variant
    from .games import game as game
    from .games import register_game as register_game
    from .games import rules_page as rules_page
    from .model.position import Position as Position
    from .model.record import Record as Record
    from .model.record import read_records as read_records
    from .model.record import record_of as record_of
    from .model.record import replay as replay
    from .model.table import Table as Table
    from .model.table import new_game as new_game
    from .model.view import View as View
    from .moves import Move as Move
    from .players import player as player
    from .players.match import play_match as play_match
    from .rng import Generator as Generator

__version__ = "0.2.0"
PROGRAM = "axio"  # the command; formats, files and environment variables begin with it

# Names are imported on first use: the rules need NumPy and Numba, `axio --help` needs neither.
_MODULES = {
    "AxioError": "errors",
    "Batch": "batch",
    "GAMES": "games",
    "Generator": "rng",
    "IllegalMove": "errors",
    "Move": "moves",
    "Position": "model.position",
    "Reason": "errors",
    "Record": "model.record",
    "Table": "model.table",
    "View": "model.view",
    "find_variant": "games",
    "game": "games",
    "new_game": "model.table",
    "play_match": "players.match",
    "player": "players",
    "read_records": "model.record",
    "record_of": "model.record",
    "register_game": "games",
    "replay": "model.record",
    "rules_page": "games",
}

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
