"""What one seat, or a spectator, may know of a table: the only thing that ever leaves it."""

from __future__ import annotations

from collections.abc import Sequence

from ..drawing.scene import PlacedTile
from ..games.variant import State, Variant
from .events import Event, Place, Start
from .position import Position


class View(Position):
    """A position with everything hidden taken out, and the events as this seat learned of them.

    Tiles that the seat cannot see are `?` in hands and counted in `unseen`, wherever they are. The rules
    run on a view as on a table: legal moves and their points are what the table will say.
    """

    def __init__(self, variant: Variant, state: State, seat: int | None, events: Sequence[Event]) -> None:
        super().__init__(variant, state)
        self.seat = seat
        self.events = tuple(events)

    def laid(self) -> tuple[PlacedTile, ...]:
        return tiles_laid(self.events)

    def last_placed(self) -> tuple[str, ...]:
        return last_placed(self.events)

    def __eq__(self, other: object) -> bool:
        """Whether both know the same: the position, the seat that looks, and the events."""
        if type(other) is not type(self):
            return NotImplemented
        return (self.seat, self.events, self.position) == (other.seat, other.events, other.position)

    def __hash__(self) -> int:
        return hash((self.seat, len(self.events), self.position))

    def __repr__(self) -> str:
        who = "spectator" if self.seat is None else f"seat {self.seat}"
        return f"<View of {self.game} for {who}, {len(self.events)} events>"


def tiles_laid(events: Sequence[Event]) -> tuple[PlacedTile, ...]:
    """The tiles that events have put on the board, in their order."""
    laid: list[PlacedTile] = []
    for event in events:
        if isinstance(event, Place):
            laid.append(PlacedTile(event.tile, event.at))
        elif isinstance(event, Start):
            laid += [PlacedTile(shown.tile, (shown.at,)) for shown in event.display]
    return tuple(laid)


def last_placed(events: Sequence[Event]) -> tuple[str, ...]:
    """The cells of the last placement of a player among these events."""
    return next((event.at for event in reversed(events) if isinstance(event, Place)), ())
