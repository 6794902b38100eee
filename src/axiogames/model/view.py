"""Views: a table as one seat or a spectator knows it. Players and clients get views only."""

from __future__ import annotations

from collections.abc import Sequence

from ..drawing.scene import PlacedTile
from ..games.variant import State, Variant
from ..moves import Cell, Seat
from .events import Event, Place, Start
from .position import Position


class View(Position):
    """A position without hidden information, and the events as a seat knows them.

    `Table.view` returns a view. Tiles hidden from the seat are `?` in hands, and `unseen` counts them. Legal
    moves and their points are those of the table.

    Attributes:
        seat: the seat, or `None` for a spectator.
        events: the events so far, with hidden tiles as `?`.

    >>> from axiogames import new_game
    >>> view = new_game("axio", players=2, seed=7).view(0)
    >>> view.hand(1)
    ('?', '?', '?', '?', '?')
    """

    def __init__(self, variant: Variant, state: State, seat: Seat | None, events: Sequence[Event]) -> None:
        super().__init__(variant, state)
        self.seat = seat
        self.events = tuple(events)

    def laid(self) -> tuple[PlacedTile, ...]:
        """Return the tiles placed so far, in order."""
        return tiles_laid(self.events)

    def last_placed(self) -> tuple[Cell, ...]:
        """Return the cells of the last placement."""
        return last_placed(self.events)

    def __eq__(self, other: object) -> bool:
        """Return whether both views have the same position, seat and events."""
        if type(other) is not type(self):
            return NotImplemented
        return (self.seat, self.events, self.position) == (other.seat, other.events, other.position)

    def __hash__(self) -> int:
        return hash((self.seat, len(self.events), self.position))

    def __repr__(self) -> str:
        viewer = "spectator" if self.seat is None else f"seat {self.seat}"
        return f"<View of {self.game} for {viewer}, {len(self.events)} events>"


def tiles_laid(events: Sequence[Event]) -> tuple[PlacedTile, ...]:
    """Return the tiles that events have placed on the board, in order."""
    laid: list[PlacedTile] = []
    for event in events:
        if isinstance(event, Place):
            laid.append(PlacedTile(event.tile, event.at))
        elif isinstance(event, Start):
            laid += [PlacedTile(shown.tile, (shown.at,)) for shown in event.display]
    return tuple(laid)


def last_placed(events: Sequence[Event]) -> tuple[Cell, ...]:
    """Return the cells of the last placement of a player, `()` if there is none."""
    return next((event.at for event in reversed(events) if isinstance(event, Place)), ())
