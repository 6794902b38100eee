"""What happens at a table, in the words of the record `axio-record/1`."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

UNKNOWN = "?"


class Display(Struct, frozen=True, forbid_unknown_fields=False):
    """A tile of an opening display, as it lies."""

    tile: str
    at: str


class Start(Struct, frozen=True, tag_field="t", tag="start"):
    """The opening display is turned up."""

    display: tuple[Display, ...]


class Removed(Struct, frozen=True, tag_field="t", tag="removed"):
    """Tiles are set aside unseen before the deal."""

    tiles: tuple[str, ...]


class Draw(Struct, frozen=True, tag_field="t", tag="draw", omit_defaults=True):
    """A seat draws tiles."""

    p: int
    tiles: tuple[str, ...]
    source: str = field(name="from", default="bag")


class Place(Struct, frozen=True, tag_field="t", tag="place", omit_defaults=True):
    """A seat places a tile and scores it."""

    p: int
    tile: str
    at: tuple[str, ...]
    gain: dict[str, int]
    named: str | None = None
    pyramids: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.p, self.tile, self.at, frozenset(self.gain.items()), self.named, self.pyramids))


class Exchange(Struct, frozen=True, tag_field="t", tag="exchange"):
    """A seat gives up tiles; the draw that follows replaces them."""

    p: int
    shown: tuple[str, ...]


class Pass(Struct, frozen=True, tag_field="t", tag="pass"):
    """A seat can do nothing."""

    p: int


Event: TypeAlias = Start | Removed | Draw | Place | Exchange | Pass


class Result(Struct, frozen=True):
    """How a game ended: points and place of each seat, and who shares the first."""

    scores: tuple[dict[str, int], ...]
    place: tuple[int, ...]
    winners: tuple[int, ...]

    def __hash__(self) -> int:
        return hash((tuple(frozenset(points.items()) for points in self.scores), self.place, self.winners))


def redact_event(event: Event, seat: int | None, exchange_is_public: bool) -> Event:
    """The event as a seat (or, for `None`, a spectator) learns of it."""
    if isinstance(event, Draw) and event.p != seat:
        return Draw(event.p, (UNKNOWN,) * len(event.tiles), event.source)
    if isinstance(event, Exchange) and event.p != seat and not exchange_is_public:
        return Exchange(event.p, (UNKNOWN,) * len(event.shown))
    if isinstance(event, Removed):
        return Removed((UNKNOWN,) * len(event.tiles))
    return event
