"""What a page says about a game, in several languages. English is the language of the declaration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import msgspec

from .protocol import Game

LANGUAGES = ("en", "de")
"""Every game has its words and its rules in these; the first stands in for all that are not here."""

SITUATIONS = (
    "welcome",
    "pick",
    "turn",
    "place",
    "score",
    "lowest",
    "pyramid",
    "extra",
    "exchange",
    "naming",
    "wait",
    "end",
)
"""When a coach may say something. A game leaves out what cannot happen in it."""


@dataclass(frozen=True, slots=True)
class Words:
    """A game in the words of a language; `options` and `coach` by option and by situation."""

    name: str
    summary: str
    options: dict[str, str]
    reconstructed: tuple[str, ...]
    coach: dict[str, str]


class _Coach(msgspec.Struct, forbid_unknown_fields=True):
    """The file of the first language: the rest is declared."""

    coach: dict[str, str]


def spoken(language: str) -> str:
    """The language to use for one that is asked for, such as `de-AT`."""
    short = language.partition("-")[0].lower()
    return short if short in LANGUAGES else LANGUAGES[0]


def words_of(game: Game, language: str) -> Words:
    """What there is to say about a game."""
    return _words(game, spoken(language))


@cache
def _words(game: Game, language: str) -> Words:
    file = game.files / "texts" / f"{language}.json"
    if not file.is_file():  # a registered game may speak English only
        return _words(game, LANGUAGES[0]) if language != LANGUAGES[0] else _declared(game, {})
    text = file.read_bytes()
    if language != LANGUAGES[0]:
        return msgspec.json.decode(text, type=Words)
    return _declared(game, msgspec.json.decode(text, type=_Coach).coach)


def _declared(game: Game, coach: dict[str, str]) -> Words:
    return Words(
        name=game.name,
        summary=game.summary,
        options={option.name: option.summary for option in game.options},
        reconstructed=game.reconstructed,
        coach=coach,
    )


def page_of(game: Game, language: str) -> str:
    """The rules page of a game."""
    language = spoken(language)
    file = game.files / f"rules.{language}.md"
    if not file.is_file():
        file = game.files / "rules.md"
    return file.read_text(encoding="utf-8")
