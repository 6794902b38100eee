"""What there is to say about a move, as facts: which sentence, and the numbers in it.

Sentences stand in `words/`, in every language. What is said comes from what is likely in the end, by playing
on: which track is the lowest, what the move and the better move make of it, what they leave to the next seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from ...games.texts import spoken
from ...model.view import View
from ...moves import Move
from .judging import Candidate, Judgement
from .values import LEAST, SURE, Terms

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


COMMA = {"de": ","}  # where a number has no point


def words(language: str) -> Mapping[str, str]:
    """All words of a language by their keys; another language than ours is English."""
    return _words(spoken(language))


@cache
def _words(language: str) -> Mapping[str, str]:
    text = (resources.files(__package__) / "texts" / f"{language}.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, str])


class Wording:
    """The words for one game: in a language, in its terms, with the names of its seats."""

    def __init__(self, language: str, terms: Terms, names: Sequence[str] = ()) -> None:
        self.language = spoken(language)
        self.terms = terms
        self._words = words(language)
        self._names = names

    def say(self, key: str, **holes: str | int) -> str:
        """A text with its {holes} filled."""
        return self._words[key].format(**holes)

    def number(self, n: float, places: int = 0) -> str:
        """A number as it is written in this language."""
        text = f"{n:.{places}f}"
        if float(text) == 0:
            text = text.lstrip("-")
        return text.replace("-", "\N{MINUS SIGN}").replace(".", COMMA.get(self.language, "."))

    @property
    def _places(self) -> int:
        return 0 if self.terms.kind == "win" else 2 if self.terms.kind == "place" else 1

    def value(self, value: float) -> str:
        """What a position is worth: `62%`, `place 1.80`, `17.3`."""
        return self.say(f"value.{self.terms.kind}", n=self.number(self.terms.told(value), self._places))

    def bare(self, value: float) -> str:
        """The same without a word."""
        return self.number(self.terms.told(value), self._places)

    def change(self, change: float, *, signed: bool = False) -> str:
        """A difference of values: `4%`, `0.12 places`, `1.5 points`; small ones with one more digit."""
        amount = self.terms.told_change(change)
        places = self._places + (self.terms.kind == "win" and abs(amount) < 9.95)
        text = self.number(amount, places)
        if signed and amount > 0 and any(digit in text for digit in "123456789"):
            text = f"+{text}"
        key = f"change.{self.terms.kind}"
        if key in self._words:
            return self.say(key, n=text)
        return self.say(f"{key}.one" if text == "1" else f"{key}.other", n=text)

    def bare_change(self, change: float) -> str:
        """A difference of values without a word."""
        amount = self.terms.told_change(change)
        return self.number(amount, max(self._places, 1))

    def track(self, track: str) -> str:
        """The name of a track."""
        return self._words.get(f"colour.{track}", track)

    def move(self, text: str) -> str:
        """A move in a sentence: placements as they are written, the rest in words."""
        move = Move.parse(text)
        return text if move.kind == "place" or move.tiles else self.say(move.kind)

    def seat(self, seat: int) -> str:
        """What a seat is called."""
        return self._names[seat] if self._names else self.say("next")

    def remark(self, remark: Remark) -> str:
        """A remark as a sentence."""
        holes: dict[str, str] = {}
        if remark.move is not None:
            holes["move"] = self.move(remark.move)
        if remark.track is not None:
            holes["track"] = self.track(remark.track)
        if remark.seat is not None:
            holes["seat"] = self.seat(remark.seat)
        if remark.count is not None:
            holes["count"] = str(remark.count)
        if remark.mine is not None:
            holes["mine"], holes["other"] = self._pair(remark.mine, remark.other)
        if remark.value is not None and remark.best is not None:
            holes |= {"value": self.value(remark.value), "best": self.value(remark.best)}
        if remark.behind is not None and remark.within is not None:
            holes |= {"behind": self.change(remark.behind), "within": self.change(remark.within)}
        sentence = self.say(remark.key, **holes)
        return sentence[:1].upper() + sentence[1:]

    def _pair(self, one: float, other: float | None) -> tuple[str, str]:
        """Two numbers with as few digits as tell them apart."""
        if other is None:
            return self.number(one), ""
        places = 0 if round(one) != round(other) else 1
        return self.number(one, places), self.number(other, places)
