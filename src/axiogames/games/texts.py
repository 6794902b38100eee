"""Texts about games in several languages. The English ones are part of the declaration of a game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import msgspec

from .protocol import Game

LANGUAGES = ("en", "de")
"""The languages of the texts and rules pages of all games; the first one is the fallback."""

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
"""Situations in which the coach can give a tip. A game leaves out those that cannot occur."""


@dataclass(frozen=True, slots=True)
class Localization:
    """The texts about a game in one language.

    Attributes:
        name: Title of the game.
        summary: One sentence about the game.
        options: Summary by option.
        reconstructed: Rules and components that are reconstructions.
        coach: Tip by situation.
    """

    name: str
    summary: str
    options: dict[str, str]
    reconstructed: tuple[str, ...]
    coach: dict[str, str]


class _Coach(msgspec.Struct, forbid_unknown_fields=True):
    """The text file of the first language, whose other texts are declared in `Game`."""

    coach: dict[str, str]


def supported_language(language: str) -> str:
    """Return the supported language for a language tag such as `de-AT`."""
    short = language.partition("-")[0].lower()
    return short if short in LANGUAGES else LANGUAGES[0]


def load_texts(game: Game, language: str) -> Localization:
    """Return the texts about a game in a language."""
    return _load_texts(game, supported_language(language))


@cache
def _load_texts(game: Game, language: str) -> Localization:
    file = game.files / "texts" / f"{language}.json"
    if not file.is_file():  # a registered game may have English texts only, or none but its declaration
        return _load_texts(game, LANGUAGES[0]) if language != LANGUAGES[0] else _declared_texts(game, {})
    text = file.read_bytes()
    if language != LANGUAGES[0]:
        return msgspec.json.decode(text, type=Localization)
    return _declared_texts(game, msgspec.json.decode(text, type=_Coach).coach)


def _declared_texts(game: Game, coach: dict[str, str]) -> Localization:
    return Localization(
        name=game.name,
        summary=game.summary,
        options={option.name: option.summary for option in game.options},
        reconstructed=game.reconstructed,
        coach=coach,
    )


def load_rules_page(game: Game, language: str) -> str:
    """Return the rules page of a game as Markdown."""
    language = supported_language(language)
    file = game.files / f"rules.{language}.md"
    if not file.is_file():
        file = game.files / "rules.md"
    return file.read_text(encoding="utf-8")
