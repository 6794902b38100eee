"""The entries of a table's log: everything that ever happens at a table, in words."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec import Struct


class Sat(Struct, frozen=True, tag_field="a", tag="sit"):
    """A person takes a seat."""

    seat: int
    person: str
    name: str


class Invited(Struct, frozen=True, tag_field="a", tag="invite"):
    """A seat is kept for a person, who has to come before the game starts."""

    seat: int
    person: str
    name: str


class Rose(Struct, frozen=True, tag_field="a", tag="rise"):
    """A person gives a seat up before the start."""

    seat: int


class Removed(Struct, frozen=True, tag_field="a", tag="remove"):
    """A person is taken off a seat before the start, and may not sit down at this table again."""

    seat: int


class Hired(Struct, frozen=True, tag_field="a", tag="bot"):
    """A bot takes a seat for good: a free one, or that of somebody who has been removed in play."""

    seat: int
    level: str


class Started(Struct, frozen=True, tag_field="a", tag="start"):
    """The game begins with these draws."""

    drawn: tuple[str, ...]


class Moved(Struct, frozen=True, tag_field="a", tag="move", omit_defaults=True):
    """A seat has moved, and tiles were drawn after it; `held` if they still wait to be."""

    seat: int
    move: str
    drawn: tuple[str, ...] = ()
    id: str = ""
    by: str = ""  # who moved, if it was not the seat's person or bot: the clock
    held: bool = False


class Drew(Struct, frozen=True, tag_field="a", tag="draw", omit_defaults=True):
    """Tiles that waited were drawn."""

    drawn: tuple[str, ...]
    id: str = ""


class TookBack(Struct, frozen=True, tag_field="a", tag="back", omit_defaults=True):
    """A seat has taken its last placement back."""

    seat: int
    id: str = ""


class Replaced(Struct, frozen=True, tag_field="a", tag="replace"):
    """A bot plays for a person who has left."""

    seat: int
    level: str


class Returned(Struct, frozen=True, tag_field="a", tag="return"):
    """The person plays again."""

    seat: int


class Closed(Struct, frozen=True, tag_field="a", tag="close"):
    """The table is given up before the game has ended."""


class Continued(Struct, frozen=True, tag_field="a", tag="next"):
    """There is a rematch at another table."""

    table: str


Act: TypeAlias = (
    Sat
    | Invited
    | Rose
    | Removed
    | Hired
    | Started
    | Moved
    | Drew
    | TookBack
    | Replaced
    | Returned
    | Closed
    | Continued
)

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Act] = msgspec.json.Decoder(Act)


def write_act(act: Act) -> str:
    """An act as it is kept."""
    return _ENCODER.encode(act).decode()


def read_act(body: str) -> Act:
    """An act that was kept."""
    return _DECODER.decode(body)
