"""Hints: the best moves of a position, with their advantages."""

from __future__ import annotations

from msgspec import Struct, field

from ...errors import AxioError
from ...model.view import View
from ...players.interface import Budget
from .judging import JudgedMove, judge
from .remarks import Remark, hint_remarks
from .values import ValueScale, value_scale


class Suggestion(Struct, frozen=True):
    """A move with its evaluation, and remarks on its advantages."""

    candidate: JudgedMove
    remarks: tuple[Remark, ...]


class Hint(Struct, frozen=True):
    """The best moves of a position, best first."""

    scale: ValueScale = field(name="terms")
    tracks: tuple[str, ...]
    suggestions: tuple[Suggestion, ...]
    rollouts: int


def best_moves(view: View, budget: Budget, seed: int) -> Hint:
    """Return the best moves of the seat to move, given what the view contains.

    Raises:
        AxioError: no seat is to move, or the tiles of the seat to move are hidden.
    """
    if view.turn is None:
        raise AxioError(f"no seat is to move in this position: {_reason_for_no_turn(view)}")
    if view.hides_turn:
        raise AxioError(f"the tiles of seat {view.turn}, which is to move, are hidden in this position")
    judgement = judge(view, None, budget, seed)
    return Hint(
        value_scale(view.variant),
        view.variant.tracks,
        tuple(Suggestion(move, hint_remarks(view, move)) for move in judgement.candidates),
        judgement.rollouts,
    )


def _reason_for_no_turn(view: View) -> str:
    return "the game is over" if view.over else "a tile has to be drawn first"
