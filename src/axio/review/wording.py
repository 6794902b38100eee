"""Reviews in words: values, changes and remarks as sentences of a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

import msgspec

from ..games.words import spoken
from ..moves import Move
from .remarks import Remark
from .terms import Terms

COMMA = {"de": ","}  # where a number has no point


def words(language: str) -> Mapping[str, str]:
    """All words of a language by their keys; another language than ours is English."""
    return _words(spoken(language))


@cache
def _words(language: str) -> Mapping[str, str]:
    text = (resources.files(__package__) / "words" / f"{language}.json").read_bytes()
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
