"""Tables at positions that tests write by hand."""

from __future__ import annotations

from axiogames.model.position import Position
from axiogames.model.table import Table


def table_at(start: Position) -> Table:
    """Return a table at a position, without a history. Tests draw its tiles."""
    table = Table(start.variant)
    table.state = start.state.copy()
    return table
