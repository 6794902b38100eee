"""The best moves of a position, and what speaks for each."""

from __future__ import annotations

from msgspec import Struct

from ...errors import AxioError
from ...model.view import View
from ...players.interface import Budget
from .judging import Candidate, judge
from .remarks import Remark, remarks_for
from .values import Terms, terms_of


class Suggestion(Struct, frozen=True):
    """A move, how it was judged, and what there is to say for it."""

    candidate: Candidate
    remarks: tuple[Remark, ...]


class Hint(Struct, frozen=True):
    """The best moves of a position, the best first."""

    terms: Terms
    tracks: tuple[str, ...]
    suggestions: tuple[Suggestion, ...]
    rollouts: int


def hint(view: View, budget: Budget, seed: int) -> Hint:
    """What the seat to move could do, from what the view shows. Raises `AxioError` if nobody is to move."""
    if view.turn is None:
        raise AxioError("nobody is to move in this position: " + _waits_for(view))
    if view.hides_turn:
        raise AxioError(f"the tiles of seat {view.turn}, which is to move, are hidden in this position")
    judgement = judge(view, None, budget, seed)
    return Hint(
        terms_of(view.variant),
        view.variant.tracks,
        tuple(Suggestion(one, remarks_for(view, one)) for one in judgement.candidates),
        judgement.rollouts,
    )


def _waits_for(view: View) -> str:
    return "the game is over" if view.over else "a tile has to be drawn first"
