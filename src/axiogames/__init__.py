"""axio: a family of tile-laying games, exactly and fast.

>>> import axio
>>> table = axio.new_game("axio", players=2, seed=7)
>>> len(table.legal_moves()) > 0
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .errors import AxioError as AxioError
    from .errors import IllegalMove as IllegalMove
    from .errors import Reason as Reason
    from .games import GAMES as GAMES
    from .games import game as game
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
    from .rng import Generator as Generator

# Loaded when first used: the rules bring NumPy and Numba with them, and `axio --help` needs neither.
_WHERE = {
    "AxioError": "errors",
    "GAMES": "games",
    "Generator": "chance",
    "IllegalMove": "errors",
    "Move": "moves",
    "Position": "position",
    "Reason": "reasons",
    "Record": "record",
    "Table": "table",
    "View": "view",
    "game": "games",
    "new_game": "table",
    "read_records": "record",
    "record_of": "record",
    "replay": "record",
    "rules_page": "games",
}

__all__ = ["__version__", *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
