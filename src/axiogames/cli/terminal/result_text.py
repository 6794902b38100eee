"""How a game ended, and why that is so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias, TypeGuard

from ...model.events import UNKNOWN, Event, Exchange, Pass, Place
from ...model.position import Position
from .options import YOU
from .text import count, in_columns, points

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


ORDINALS = ("lowest", "second lowest", "third lowest", "fourth lowest", "fifth lowest", "highest")


def explained(position: Position, names: Sequence[str]) -> list[str]:
    """The result of a game that is over: everybody's points by their places, and what decided."""
    result = position.result
    assert result is not None, "only a game that is over has a result"
    vectors = [sorted(scores.values()) for scores in result.scores]
    if len(names) == 1:
        return [_alone(position, vectors[0])]
    order = sorted(range(len(names)), key=lambda seat: result.place[seat])
    rows = [
        (f"{result.place[seat]}.", names[seat], *(str(points) for points in vectors[seat])) for seat in order
    ]
    many = len(vectors[0]) > 1
    head = "The game is over. Points, each player's lowest first:" if many else "The game is over. Points:"
    lines = [head, *in_columns(rows, right=range(2, 2 + len(vectors[0])), indent=2)]
    winners = [names[seat] for seat in result.winners]
    if len(winners) > 1:
        lines.append(f"{' and '.join(winners)} share the victory.")
    for ahead, behind in pairwise(order):
        if vectors[ahead] != vectors[behind]:
            wins = [ahead] == list(result.winners)
            why = _decided(vectors[ahead], vectors[behind])
            lines.append(f"{names[ahead]} {_verb(names[ahead], wins)}, before {names[behind]}: {why}.")
    return lines


def _verb(name: str, wins: bool) -> str:
    if name == YOU:
        return "win" if wins else "are ahead"
    return "wins" if wins else "is ahead"


def _alone(position: Position, vector: Sequence[int]) -> str:
    if len(vector) == 1:
        return f"The game is over, with {count(vector[0], 'point')}."
    lowest = [track for track, points in position.scores[0].items() if points == vector[0]]
    every = " ".join(map(str, vector))
    return f"The game is over. The result is {vector[0]}, the lowest colour ({', '.join(lowest)}) of {every}."


def _decided(ahead: Sequence[int], behind: Sequence[int]) -> str:
    at = next(n for n, (more, less) in enumerate(zip(ahead, behind, strict=True)) if more != less)
    beats = f"{ahead[at]} beats {behind[at]}"
    if len(ahead) == 1:
        return beats
    which = ORDINALS[-1] if at == len(ahead) - 1 else ORDINALS[at]
    equal = "" if at == 0 else f"equal so far ({' '.join(map(str, ahead[:at]))}), "
    return f"{equal}at the {which} {beats}"
