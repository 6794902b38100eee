"""Play from hand-made positions."""

from __future__ import annotations

from axiogames.model.position import Position
from axiogames.model.table import Table


def play_on(start: Position) -> Table:
    """Return a table at a position, without a history. Tests draw its tiles."""
    table = Table(start.variant)
    table.state = start.state.copy()
    return table
