"""Remarks on moves, and their wording in every language.

A remark is language-independent: the key of a sentence in `texts/`, and the values of its placeholders. It is
derived from the expected final points after the compared moves: the lowest track, the difference that two
moves make to it, and the points that they leave to the next seat. `Wording` turns remarks and values into
text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

from ...games.texts import supported_language
from ...model.view import View
from ...moves import Move
from .judging import JudgedMove, Judgement
from .values import MIN_DIFFERENCE, SIGNIFICANCE, ValueScale

LOWEST_MARGIN = 1.5  # tracks within this many points of the lowest could become the lowest
MIN_POINTS = 0.4  # smaller differences of points are not mentioned
DECIDED = 0.01  # a smaller chance to win or lose counts as none
MIN_WASTED = 2  # fewer points lost to the cap are not mentioned

DECIMAL_SEPARATORS = {"de": ","}  # "." in all other languages


class Remark(Struct, frozen=True, omit_defaults=True):
    """The key of a sentence and the values of its placeholders.

    `mine` and `other` are expected points of two moves, `value` and `best` their values, `behind` a
    difference of values and `within` its margin of error.
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
class TrackDifference:
    """Expected points on a track after two moves, one of them the best."""

    track: int
    first: float
    second: float
    significant: bool

    @property
    def size(self) -> float:
        """Expected points after the second move minus those after the first."""
        return self.second - self.first


def remark_on(view: View, judgement: Judgement) -> Remark:
    """Return the most important remark on a chosen move."""
    if judgement.forced:
        return Remark("forced")
    best, chosen = judgement.candidates[0], judgement.chosen
    if judgement.chosen_index == 0:
        return _remark_on_best(view, judgement)
    if not chosen.significantly_worse and view.players > 1 and not DECIDED < best.value < 1 - DECIDED:
        return Remark("decided")
    if not chosen.significantly_worse:
        within = max(SIGNIFICANCE * chosen.behind_error, MIN_DIFFERENCE)
        return Remark("equal", move=best.move, behind=chosen.behind, within=within)
    return _remark_on_worse(view, chosen, best)


def hint_remarks(view: View, candidate: JudgedMove) -> tuple[Remark, ...]:
    """Return remarks on a legal move: extra turns, expected points, and points left to the next seat."""
    seat = _seat_to_move(view)
    remarks = []
    if candidate.wins_turn:
        remarks.append(Remark("hint_turn"))
    track = _lowest(candidate.points[seat])
    current = view.scores[seat][view.variant.tracks[track]]
    key = "hint_raises" if len(view.variant.tracks) > 1 else "hint_points"
    remarks.append(
        Remark(key, track=view.variant.tracks[track], mine=current, other=candidate.points[seat][track])
    )
    if view.players > 1:
        next_seat = _next_seat(view)
        next_points = candidate.points[next_seat][_lowest(candidate.points[next_seat])]
        key = "hint_leaves" if len(view.variant.tracks) > 1 else "hint_leaves_points"
        remarks.append(Remark(key, seat=next_seat, mine=next_points))
    return tuple(remarks)


def _seat_to_move(view: View) -> int:
    assert view.turn is not None, "a decision has a seat to move"
    return view.turn


def _remark_on_best(view: View, judgement: Judgement) -> Remark:
    best = judgement.candidates[0]
    worse = [candidate for candidate in judgement.candidates[1:] if candidate.significantly_worse]
    if not worse:
        return Remark("best_of_equals")
    rival = worse[0]
    if best.wins_turn and not rival.wins_turn:
        return Remark("best_turn", move=rival.move)
    if not best.gain and rival.gain:
        return Remark("best_without_place", move=rival.move)
    own, following = _own_difference(view, rival, best), _next_seat_difference(view, best, rival)
    single = len(view.variant.tracks) == 1
    if own.significant and own.size >= max(MIN_POINTS, following.size if following else 0):
        key = "best_points" if single else "best_raises"
        return Remark(key, rival.move, view.variant.tracks[own.track], mine=own.second, other=own.first)
    if following and following.significant and following.size >= MIN_POINTS:
        key = "best_denies_points" if single else "best_denies"
        return Remark(key, rival.move, seat=_next_seat(view), mine=following.first, other=following.second)
    return Remark("best")


def _remark_on_worse(view: View, chosen: JudgedMove, best: JudgedMove) -> Remark:
    variant = view.variant
    own, following = _own_difference(view, chosen, best), _next_seat_difference(view, best, chosen)
    track = variant.tracks[own.track]
    single = len(variant.tracks) == 1
    notable = own.significant and own.size >= MIN_POINTS
    if chosen.gain and not best.gain:
        return Remark("exchange_better", best.move, track, mine=own.first, other=own.second)
    if best.gain and not chosen.gain:
        return Remark("place_better", best.move, track, mine=own.first, other=own.second)
    if best.wins_turn and not chosen.wins_turn:
        return Remark("turn_given_away", best.move)
    if chosen.wasted >= MIN_WASTED and chosen.wasted > best.wasted and notable:
        return Remark("wasted", best.move, track, mine=own.first, other=own.second, count=chosen.wasted)
    if notable and own.size >= (following.size if following else 0):
        return Remark(
            "points" if single else "bottleneck", best.move, track, mine=own.first, other=own.second
        )
    if following and following.significant and following.size >= MIN_POINTS:
        key = "opened_points" if single else "opened"
        return Remark(key, best.move, seat=_next_seat(view), mine=following.second, other=following.first)
    return Remark("overall", best.move, value=chosen.value, best=best.value)


def _next_seat(view: View) -> int:
    return (_seat_to_move(view) + 1) % view.players


def _own_difference(view: View, first: JudgedMove, second: JudgedMove) -> TrackDifference:
    """Return the difference for the seat to move, on a track expected to be its lowest after `first`."""
    return _difference(first, second, _seat_to_move(view))


def _next_seat_difference(view: View, first: JudgedMove, second: JudgedMove) -> TrackDifference | None:
    """Return the difference for the next seat; `None` in one-player games."""
    return _difference(first, second, _next_seat(view)) if view.players > 1 else None


def _difference(first: JudgedMove, second: JudgedMove, seat: int) -> TrackDifference:
    """Return the largest difference for `seat` on a track that could be its lowest after `first`."""
    points_first, points_second = first.points[seat], second.points[seat]
    limit = min(points_first) + LOWEST_MARGIN
    low_tracks = (track for track, points in enumerate(points_first) if points <= limit)
    track = max(low_tracks, key=lambda track: points_second[track] - points_first[track])
    error = max(first.points_error[seat][track], second.points_error[seat][track])  # one of them is 0
    significant = points_second[track] - points_first[track] > SIGNIFICANCE * error
    return TrackDifference(track, points_first[track], points_second[track], significant)


def _lowest(points: Sequence[float]) -> int:
    return min(range(len(points)), key=lambda track: points[track])


# ---------------------------------------------------------------- wording


def review_texts(language: str) -> Mapping[str, str]:
    """Return all texts of a language by key. Languages without texts fall back to English."""
    return _read_texts(supported_language(language))


@cache
def _read_texts(language: str) -> Mapping[str, str]:
    text = (resources.files(__package__) / "texts" / f"{language}.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, str])


class Wording:
    """Formats texts about a game in a language, with its display scale and the names of its seats."""

    def __init__(self, language: str, scale: ValueScale, names: Sequence[str] = ()) -> None:
        self.language = supported_language(language)
        self.scale = scale
        self._texts = review_texts(language)
        self._names = names

    def text(self, key: str, **values: str | int) -> str:
        """Return a text with its {placeholders} filled in."""
        return self._texts[key].format(**values)

    def number(self, n: float, decimals: int = 0) -> str:
        """Return a number with `decimals` decimal places, in the notation of the language."""
        text = f"{n:.{decimals}f}"
        if float(text) == 0:
            text = text.lstrip("-")
        return text.replace("-", "\N{MINUS SIGN}").replace(".", DECIMAL_SEPARATORS.get(self.language, "."))

    @property
    def _decimals(self) -> int:
        return 0 if self.scale.kind == "win" else 2 if self.scale.kind == "place" else 1

    def value(self, value: float) -> str:
        """Return a value as text: `62%`, `place 1.80`, `17.3`."""
        return self.text(
            f"value.{self.scale.kind}", n=self.number(self.scale.to_display(value), self._decimals)
        )

    def bare(self, value: float) -> str:
        """Return a value as a number only."""
        return self.number(self.scale.to_display(value), self._decimals)

    def change(self, change: float, *, signed: bool = False) -> str:
        """Return a difference of values: `4%`, `0.12 places`, `1.5 points`; small ones get an extra digit."""
        amount = self.scale.change_to_display(change)
        decimals = self._decimals + (self.scale.kind == "win" and abs(amount) < 9.95)
        text = self.number(amount, decimals)
        if signed and amount > 0 and any(digit in text for digit in "123456789"):
            text = f"+{text}"
        key = f"change.{self.scale.kind}"
        if key in self._texts:
            return self.text(key, n=text)
        return self.text(f"{key}.one" if text == "1" else f"{key}.other", n=text)

    def bare_change(self, change: float) -> str:
        """Return a difference of values as a number only."""
        amount = self.scale.change_to_display(change)
        return self.number(amount, max(self._decimals, 1))

    def track(self, track: str) -> str:
        """Return the name of a track."""
        return self._texts.get(f"colour.{track}", track)

    def move(self, text: str) -> str:
        """Return a move as part of a sentence: placements in notation, other moves in words."""
        move = Move.parse(text)
        return text if move.kind == "place" or move.tiles else self.text(move.kind)

    def seat(self, seat: int) -> str:
        """Return the name of a seat."""
        return self._names[seat] if self._names else self.text("next")

    def remark(self, remark: Remark) -> str:
        """Return a remark as a sentence."""
        values: dict[str, str] = {}
        if remark.move is not None:
            values["move"] = self.move(remark.move)
        if remark.track is not None:
            values["track"] = self.track(remark.track)
        if remark.seat is not None:
            values["seat"] = self.seat(remark.seat)
        if remark.count is not None:
            values["count"] = str(remark.count)
        if remark.mine is not None:
            values["mine"], values["other"] = self._pair(remark.mine, remark.other)
        if remark.value is not None and remark.best is not None:
            values |= {"value": self.value(remark.value), "best": self.value(remark.best)}
        if remark.behind is not None and remark.within is not None:
            values |= {"behind": self.change(remark.behind), "within": self.change(remark.within)}
        sentence = self.text(remark.key, **values)
        return sentence[:1].upper() + sentence[1:]

    def _pair(self, first: float, second: float | None) -> tuple[str, str]:
        """Return two numbers, with one decimal place if they would otherwise look equal."""
        if second is None:
            return self.number(first), ""
        decimals = 0 if round(first) != round(second) else 1
        return self.number(first, decimals), self.number(second, decimals)
