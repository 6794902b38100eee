"""Playing on from a position that was made by hand."""

from __future__ import annotations

from axiogames.model.position import Position
from axiogames.model.table import Table


def play_on(start: Position) -> Table:
    """A table at a position; nobody deals at it. What came before the position it does not know."""
    table = Table(start.variant)
    table.state = start.state.copy()
    return table
