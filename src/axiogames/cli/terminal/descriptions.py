"""Descriptions of moves and results in English."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias, TypeGuard

from ...model.events import UNKNOWN, Event, Exchange, Pass, Place
from ...model.position import Position
from .options import YOU
from .text import count, format_points, format_table

MoveEvent: TypeAlias = Place | Exchange | Pass
"""An event that is a move of a player."""

ORDINALS = ("lowest", "second lowest", "third lowest", "fourth lowest", "fifth lowest", "highest")


# ---------------------------------------------------------------- moves


def is_move(event: Event) -> TypeGuard[MoveEvent]:
    """Return whether an event is a move of a player."""
    return isinstance(event, Place | Exchange | Pass)


def last_move(events: Sequence[Event]) -> MoveEvent | None:
    """Return the last move among events, or `None`."""
    return next((event for event in reversed(events) if is_move(event)), None)


def notation(move: MoveEvent) -> str:
    """Return a move in notation, with `?` for a hidden tile."""
    match move:
        case Place(_, tile, at, _, named):
            colour = f"({named})" if named else ""
            return f"{tile}{colour} {'-'.join(at)}"
        case Exchange(_, shown):
            return " ".join(("exchange", *shown))
        case Pass():
            return "pass"


def describe_move(move: MoveEvent) -> str:
    """Return a move as a sentence without its subject: `placed GR k8-j8, scored 2 G`."""
    match move:
        case Place(_, _, _, gain, _, pyramids):
            return f"placed {notation(move)}, scored {format_points(gain)}{describe_pyramids(pyramids)}"
        case Exchange(_, shown):
            hidden = UNKNOWN in shown
            return f"exchanged {count(len(shown), 'tile') if hidden else ' '.join(shown)}"
        case Pass():
            return "passed"


def describe_pyramids(pyramids: Sequence[str]) -> str:
    """Return the pyramids that a move sets, as the end of a sentence."""
    if not pyramids:
        return ""
    return f", {'a pyramid' if len(pyramids) == 1 else 'pyramids'} on {' '.join(pyramids)}"


# ---------------------------------------------------------------- results


def explain_result(position: Position, names: Sequence[str]) -> list[str]:
    """Return lines with the points of all players by rank, and the comparisons that decide the ranks."""
    result = position.result
    assert result is not None, "only a game that is over has a result"
    vectors = [sorted(scores.values()) for scores in result.scores]
    if len(names) == 1:
        return [_solo_result(position, vectors[0])]
    order = sorted(range(len(names)), key=lambda seat: result.place[seat])
    rows = [
        (f"{result.place[seat]}.", names[seat], *(str(points) for points in vectors[seat])) for seat in order
    ]
    several_tracks = len(vectors[0]) > 1
    head = (
        "The game is over. Points, each player's lowest first:"
        if several_tracks
        else "The game is over. Points:"
    )
    lines = [head, *format_table(rows, right=range(2, 2 + len(vectors[0])), indent=2)]
    winners = [names[seat] for seat in result.winners]
    if len(winners) > 1:
        lines.append(f"{' and '.join(winners)} share the victory.")
    for ahead, behind in pairwise(order):
        if vectors[ahead] != vectors[behind]:
            wins = [ahead] == list(result.winners)
            reason = _deciding_comparison(vectors[ahead], vectors[behind])
            lines.append(f"{names[ahead]} {_verb(names[ahead], wins)} {names[behind]}: {reason}.")
    return lines


def _verb(name: str, wins: bool) -> str:
    if name == YOU:
        return "win, ahead of" if wins else "are ahead of"
    return "wins, ahead of" if wins else "is ahead of"


def _solo_result(position: Position, vector: Sequence[int]) -> str:
    if len(vector) == 1:
        return f"The game is over, with {count(vector[0], 'point')}."
    lowest = [track for track, points in position.scores[0].items() if points == vector[0]]
    points = " ".join(map(str, vector))
    return (
        f"The game is over. The result is {vector[0]}, the lowest colour ({', '.join(lowest)}) of {points}."
    )


def _deciding_comparison(ahead: Sequence[int], behind: Sequence[int]) -> str:
    at = next(n for n, (more, less) in enumerate(zip(ahead, behind, strict=True)) if more != less)
    beats = f"{ahead[at]} beats {behind[at]}"
    if len(ahead) == 1:
        return beats
    which = ORDINALS[-1] if at == len(ahead) - 1 else ORDINALS[at]
    equal = "" if at == 0 else f"equal so far ({' '.join(map(str, ahead[:at]))}), then "
    return f"{equal}{beats} at the {which}"
