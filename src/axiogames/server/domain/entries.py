"""Entries of a table's log: one record per change, stored as JSON.

A table is stored as its log. Replaying the entries through `GameState.apply` restores it. The tags and field
names are the stored format and must not change.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

UNDRAWN = UNSET
"""The tiles of a new entry, which `GameState.apply` draws from the bag. A stored entry names its tiles."""


class SeatTaken(Struct, frozen=True, tag_field="a", tag="sit"):
    """A person takes a seat."""

    seat: int
    person: str
    name: str


class SeatReserved(Struct, frozen=True, tag_field="a", tag="invite"):
    """A seat is reserved for a person, who has to join before the game starts."""

    seat: int
    person: str
    name: str


class SeatVacated(Struct, frozen=True, tag_field="a", tag="rise"):
    """A seat becomes free before the start."""

    seat: int


class PlayerRemoved(Struct, frozen=True, tag_field="a", tag="remove"):
    """The owner removes a person before the start. That person cannot join this table again."""

    seat: int


class BotSeated(Struct, frozen=True, tag_field="a", tag="bot"):
    """A bot takes a seat permanently: a free one, or that of a person removed during the game."""

    seat: int
    level: str


class GameStarted(Struct, frozen=True, tag_field="a", tag="start"):
    """The game starts, and its first tiles are drawn."""

    drawn: tuple[str, ...] | UnsetType


class MovePlayed(Struct, frozen=True, tag_field="a", tag="move", omit_defaults=True):
    """A seat moves and draws.

    Attributes:
        move: Text of the move.
        drawn: The tiles drawn after it.
        id: Id of the client's message, empty if there is none.
        by: `clock` if the server moved for the seat, otherwise empty.
        held: Whether the draw is held back, so that the move can still be taken back.
    """

    seat: int
    move: str
    drawn: tuple[str, ...] | UnsetType = ()
    id: str = ""
    by: str = ""
    held: bool = False


class TilesDrawn(Struct, frozen=True, tag_field="a", tag="draw", omit_defaults=True):
    """The tiles of a held draw are drawn."""

    drawn: tuple[str, ...] | UnsetType
    id: str = ""


class MoveTakenBack(Struct, frozen=True, tag_field="a", tag="back", omit_defaults=True):
    """A seat takes back its last placement."""

    seat: int
    id: str = ""


class BotSubstituted(Struct, frozen=True, tag_field="a", tag="replace"):
    """A bot plays for a person who has left."""

    seat: int
    level: str


class PlayerReturned(Struct, frozen=True, tag_field="a", tag="return"):
    """A person takes their seat back from the bot that plays for them."""

    seat: int


class TableClosed(Struct, frozen=True, tag_field="a", tag="close"):
    """The table is abandoned before the game has ended."""


class RematchLinked(Struct, frozen=True, tag_field="a", tag="next"):
    """The rematch is played at another table."""

    table: str


TableEntry: TypeAlias = (
    SeatTaken
    | SeatReserved
    | SeatVacated
    | PlayerRemoved
    | BotSeated
    | GameStarted
    | MovePlayed
    | TilesDrawn
    | MoveTakenBack
    | BotSubstituted
    | PlayerReturned
    | TableClosed
    | RematchLinked
)

# Entries that change the occupant of a seat.
SeatEntry: TypeAlias = (
    SeatTaken | SeatReserved | SeatVacated | PlayerRemoved | BotSeated | BotSubstituted | PlayerReturned
)

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[TableEntry] = msgspec.json.Decoder(TableEntry)


def encode_entry(entry: TableEntry) -> str:
    """Return an entry as it is stored: JSON text."""
    return _ENCODER.encode(entry).decode()


def decode_entry(body: str) -> TableEntry:
    """Return the entry of a stored JSON text. Raises `msgspec.DecodeError`."""
    return _DECODER.decode(body)
