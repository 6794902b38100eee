"""What happened, in words: events as a seat learned of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from ..events import UNKNOWN, Event, Exchange, Pass, Place
from .lines import count, points

Made: TypeAlias = Place | Exchange | Pass
"""The events that are moves of players."""


def is_made(event: Event) -> TypeGuard[Made]:
    """Whether a player did this."""
    return isinstance(event, Place | Exchange | Pass)


def last_made(events: Sequence[Event]) -> Made | None:
    """The last move that everybody has heard of."""
    return next((event for event in reversed(events) if is_made(event)), None)


def written(made: Made) -> str:
    """The move in notation, with `?` for what is hidden."""
    match made:
        case Place(_, tile, at, _, named):
            colour = f"({named})" if named else ""
            return f"{tile}{colour} {'-'.join(at)}"
        case Exchange(_, shown):
            return " ".join(("exchange", *shown))
        case Pass():
            return "pass"


def told(made: Made) -> str:
    """The move as a sentence about its player, without the player."""
    match made:
        case Place(_, _, _, gain, _, pyramids):
            return f"placed {written(made)}, scored {points(gain)}{set_on(pyramids)}"
        case Exchange(_, shown):
            hidden = UNKNOWN in shown
            return f"exchanged {count(len(shown), 'tile') if hidden else ' '.join(shown)}"
        case Pass():
            return "passed"


def set_on(pyramids: Sequence[str]) -> str:
    """Which pyramids were set, as the end of a sentence."""
    if not pyramids:
        return ""
    return f", {'a pyramid' if len(pyramids) == 1 else 'pyramids'} on {' '.join(pyramids)}"
