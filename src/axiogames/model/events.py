"""Events of a game, as the record format `axio-record/1` defines them."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from ..moves import Seat

UNKNOWN = "?"  # a hidden tile


class Display(Struct, frozen=True, forbid_unknown_fields=False):
    """A tile of the opening display in its orientation, and its cell."""

    tile: str
    at: str


class Start(Struct, frozen=True, tag_field="t", tag="start"):
    """The tiles of the opening display are revealed."""

    display: tuple[Display, ...]


class Removed(Struct, frozen=True, tag_field="t", tag="removed"):
    """Tiles are removed unseen before the deal."""

    tiles: tuple[str, ...]


class Draw(Struct, frozen=True, tag_field="t", tag="draw", omit_defaults=True):
    """A seat draws tiles."""

    p: int
    tiles: tuple[str, ...]
    source: str = field(name="from", default="bag")


class Place(Struct, frozen=True, tag_field="t", tag="place", omit_defaults=True):
    """A seat places a tile.

    Attributes:
        p: the seat.
        tile: the letters of the tile, in the order of `at`.
        at: the cells that the tile covers.
        gain: the points scored, by track.
        named: the colour that the player names, in games with such a rule.
        pyramids: the cells on which the placement sets pyramids.
    """

    p: int
    tile: str
    at: tuple[str, ...]
    gain: dict[str, int]
    named: str | None = None
    pyramids: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.p, self.tile, self.at, frozenset(self.gain.items()), self.named, self.pyramids))


class Exchange(Struct, frozen=True, tag_field="t", tag="exchange"):
    """A seat exchanges tiles; the draw that follows replaces them."""

    p: int
    shown: tuple[str, ...]


class Pass(Struct, frozen=True, tag_field="t", tag="pass"):
    """A seat has no other legal move."""

    p: int


Event: TypeAlias = Start | Removed | Draw | Place | Exchange | Pass


class Result(Struct, frozen=True):
    """The result of a game.

    Attributes:
        scores: the points of each seat, by track.
        place: the rank of each seat, 1 the best.
        winners: the seats of rank 1.
    """

    scores: tuple[dict[str, int], ...]
    place: tuple[int, ...]
    winners: tuple[int, ...]

    def __hash__(self) -> int:
        return hash((tuple(frozenset(points.items()) for points in self.scores), self.place, self.winners))


def append_event(events: list[Event], event: Draw | Removed | Start) -> None:
    """Append an event of chance, or extend the last event if both are parts of the same draw.

    Chance draws tile by tile; a record has one event for all tiles that are drawn together.
    """
    last = events[-1] if events else None
    if isinstance(event, Draw) and isinstance(last, Draw):
        if (last.p, last.source) == (event.p, event.source):
            events[-1] = Draw(last.p, last.tiles + event.tiles, last.source)
            return
    elif isinstance(event, Removed) and isinstance(last, Removed):
        events[-1] = Removed(last.tiles + event.tiles)
        return
    elif isinstance(event, Start) and isinstance(last, Start):
        events[-1] = Start(last.display + event.display)
        return
    events.append(event)


def redact_event(event: Event, seat: Seat | None, exchange_is_public: bool) -> Event:
    """Return an event as a seat knows it, with hidden tiles as `?`.

    Args:
        event: the event.
        seat: the seat, or `None` for a spectator.
        exchange_is_public: whether exchanged tiles are public in this game.
    """
    if isinstance(event, Draw) and event.p != seat:
        return Draw(event.p, (UNKNOWN,) * len(event.tiles), event.source)
    if isinstance(event, Exchange) and event.p != seat and not exchange_is_public:
        return Exchange(event.p, (UNKNOWN,) * len(event.shown))
    if isinstance(event, Removed):
        return Removed((UNKNOWN,) * len(event.tiles))
    return event
