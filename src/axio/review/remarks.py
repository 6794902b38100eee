"""What there is to say about a move, as facts: which sentence, and the numbers in it.

Sentences stand in `words/`, in every language. What is said comes from what is likely in the end, by playing
on: which track is the lowest, what the move and the better move make of it, what they leave to the next seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from ..view import View
from .judging import Candidate, Judgement
from .rating import LEAST, SURE

NEAR = 1.5  # points above the lowest track that count as lowest, too: which one it will be is not sure
NOTABLE = 0.4  # points that are worth telling
DECIDED = 0.01  # a chance that is none any more
WASTED = 2  # points beyond the cap that are worth telling


class Remark(Struct, frozen=True, omit_defaults=True):
    """A sentence by its key, and what is to be filled in.

    `mine` and `other` are points that two moves make likely, `value` and `best` what they are worth, `behind`
    a difference of values and `within` how far off that may be.
    """

    key: str
    move: str | None = None
    track: str | None = None
    seat: int | None = None
    mine: float | None = None
    other: float | None = None
    count: int | None = None
    value: float | None = None
    best: float | None = None
    behind: float | None = None
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """What two moves, of which one is the best, make likely for a track, and whether they surely differ."""

    track: int
    mine: float
    other: float
    sure: bool

    @property
    def size(self) -> float:
        """How many points more the other move makes of it."""
        return self.other - self.mine


def remark_on(view: View, judgement: Judgement) -> Remark:
    """The one thing to say about a move that was made."""
    if judgement.forced:
        return Remark("forced")
    best, chosen = judgement.candidates[0], judgement.chosen
    if judgement.made == 0:
        return _praise(view, judgement)
    if not chosen.told_apart and view.players > 1 and not DECIDED < best.value < 1 - DECIDED:
        return Remark("decided")
    if not chosen.told_apart:
        within = max(SURE * chosen.behind_error, LEAST)
        return Remark("equal", move=best.move, behind=chosen.behind, within=within)
    return _blame(view, chosen, best)


def remarks_for(view: View, candidate: Candidate) -> tuple[Remark, ...]:
    """What speaks for a move that could be made: what it wins and raises, and what it leaves to the next."""
    seat = _seat(view)
    told = []
    if candidate.wins_turn:
        told.append(Remark("hint_turn"))
    track = _lowest(candidate.points[seat])
    now = view.scores[seat][view.variant.tracks[track]]
    key = "hint_raises" if len(view.variant.tracks) > 1 else "hint_points"
    told.append(Remark(key, track=view.variant.tracks[track], mine=now, other=candidate.points[seat][track]))
    if view.players > 1:
        after = (seat + 1) % view.players
        theirs = candidate.points[after][_lowest(candidate.points[after])]
        key = "hint_leaves" if len(view.variant.tracks) > 1 else "hint_leaves_points"
        told.append(Remark(key, seat=after, mine=theirs))
    return tuple(told)


def _seat(view: View) -> int:
    assert view.turn is not None, "a decision has a seat to move"
    return view.turn


def _praise(view: View, judgement: Judgement) -> Remark:
    best = judgement.candidates[0]
    surely = [candidate for candidate in judgement.candidates[1:] if candidate.told_apart]
    if not surely:
        return Remark("best_of_equals")
    rival = surely[0]
    if best.wins_turn and not rival.wins_turn:
        return Remark("best_turn", move=rival.move)
    if not best.gain and rival.gain:
        return Remark("best_without_place", move=rival.move)
    own, given = _own(view, rival, best), _given(view, best, rival)
    single = len(view.variant.tracks) == 1
    if own.sure and own.size >= max(NOTABLE, given.size if given else 0):
        key = "best_points" if single else "best_raises"
        return Remark(key, rival.move, view.variant.tracks[own.track], mine=own.other, other=own.mine)
    if given and given.sure and given.size >= NOTABLE:
        key = "best_denies_points" if single else "best_denies"
        return Remark(key, rival.move, seat=_next(view), mine=given.mine, other=given.other)
    return Remark("best")


def _blame(view: View, chosen: Candidate, best: Candidate) -> Remark:
    variant = view.variant
    own, given = _own(view, chosen, best), _given(view, best, chosen)
    track = variant.tracks[own.track]
    single = len(variant.tracks) == 1
    told = own.sure and own.size >= NOTABLE
    if chosen.gain and not best.gain:
        return Remark("exchange_better", best.move, track, mine=own.mine, other=own.other)
    if best.gain and not chosen.gain:
        return Remark("place_better", best.move, track, mine=own.mine, other=own.other)
    if best.wins_turn and not chosen.wins_turn:
        return Remark("turn_given_away", best.move)
    if chosen.wasted >= WASTED and chosen.wasted > best.wasted and told:
        return Remark("wasted", best.move, track, mine=own.mine, other=own.other, count=chosen.wasted)
    if told and own.size >= (given.size if given else 0):
        return Remark("points" if single else "bottleneck", best.move, track, mine=own.mine, other=own.other)
    if given and given.sure and given.size >= NOTABLE:
        key = "opened_points" if single else "opened"
        return Remark(key, best.move, seat=_next(view), mine=given.other, other=given.mine)
    return Remark("overall", best.move, value=chosen.value, best=best.value)


def _next(view: View) -> int:
    return (_seat(view) + 1) % view.players


def _own(view: View, one: Candidate, other: Candidate) -> Difference:
    """What another move makes of the track that is likely to be the seat's lowest after one move."""
    return _difference(one, other, _seat(view))


def _given(view: View, one: Candidate, other: Candidate) -> Difference | None:
    """What another move leaves to the next seat; `None` for those who play alone."""
    return _difference(one, other, _next(view)) if view.players > 1 else None


def _difference(one: Candidate, other: Candidate, seat: int) -> Difference:
    mine, theirs = one.points[seat], other.points[seat]
    low = min(mine) + NEAR
    track = max((n for n in range(len(mine)) if mine[n] <= low), key=lambda n: theirs[n] - mine[n])
    error = max(one.points_error[seat][track], other.points_error[seat][track])  # that of the best is 0
    return Difference(track, mine[track], theirs[track], theirs[track] - mine[track] > SURE * error)


def _lowest(points: Sequence[float]) -> int:
    return min(range(len(points)), key=lambda track: points[track])
