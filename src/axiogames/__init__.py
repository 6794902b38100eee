"""axio: a family of tile-laying games, exactly and fast.

>>> import axiogames as axio
>>> table = axio.new_game("axio", players=2, seed=7)
>>> len(table.legal_moves()) > 0
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

__version__ = "0.1.0"
PROGRAM = "axio"  # the command; formats, files and variables begin with it

# Loaded when first used: the rules bring NumPy and Numba with them, and `axio --help` needs neither.
_WHERE = {
    "AxioError": "errors",
    "GAMES": "games",
    "Generator": "rng",
    "IllegalMove": "errors",
    "Move": "moves",
    "Position": "model.position",
    "Reason": "errors",
    "Record": "model.record",
    "Table": "model.table",
    "View": "model.view",
    "game": "games",
    "new_game": "model.table",
    "read_records": "model.record",
    "record_of": "model.record",
    "replay": "model.record",
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
