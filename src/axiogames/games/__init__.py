"""The games. A game is a folder here and a line in `GAMES`; no other file names one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import InvalidOption, InvalidPlayers, UnknownGame
from .protocol import MOST_PLAYERS, Game
from .texts import LANGUAGES as LANGUAGES
from .texts import Words as Words
from .texts import page_of, words_of

if TYPE_CHECKING:
    from .variant import Variant

GAMES = ("axio", "hex", "rota", "trio")


@cache
def game(name: str) -> Game:
    """A game by its name. Raises `UnknownGame`."""
    if name not in GAMES:
        raise UnknownGame(f"unknown game {name!r}: choose one of {', '.join(GAMES)}")
    declared: Game = import_module(f".{name}", __name__).GAME
    return declared


def words(name: str, language: str = LANGUAGES[0]) -> Words:
    """What a page says about a game. Raises `UnknownGame`; another language than ours is English."""
    return words_of(game(name), language)


def rules_page(name: str, language: str = LANGUAGES[0]) -> str:
    """A game's rules in our own words, as Markdown; images `figure:NAME` are drawn by `figure`."""
    return page_of(game(name), language)


def figures(name: str) -> tuple[str, ...]:
    """The names of the pictures on a game's rules page."""
    from .illustrations import declared

    return tuple(declared(game(name)))


def figure(name: str, shown: str, *, dark: bool = False) -> str:
    """A picture of a game's rules page as SVG. Raises `UnknownGame` or `UnknownFigure`."""
    from .illustrations import drawn, find

    found = find(game(name), shown)
    return drawn(find_variant(name, found.players, found.options), found, dark=dark)


def find_variant(name: str, players: int = 2, options: Mapping[str, bool] | None = None) -> Variant:
    """A game for a number of players and with options, ready to be played.

    Raises `UnknownGame`, `InvalidPlayers` or `InvalidOption`.
    """
    declared = game(name)
    if isinstance(players, bool) or not isinstance(players, int) or not 1 <= players <= MOST_PLAYERS:
        raise InvalidPlayers(f"{name} is for 1 to {MOST_PLAYERS} players, not {players!r}")
    known = {option.name for option in declared.options}
    for option, value in (options or {}).items():
        if option not in known:
            has = f"its options are {', '.join(sorted(known))}" if known else "it has no options"
            raise InvalidOption(f"{name} has no option {option!r}: {has}")
        if not isinstance(value, bool):
            raise InvalidOption(f"option {option!r} of {name} is true or false, not {value!r}")
    switched_on = tuple(sorted(option for option, value in (options or {}).items() if value))
    return _variant(name, players, switched_on)


@cache
def _variant(name: str, players: int, options: tuple[str, ...]) -> Variant:
    made: Variant = import_module(f".{name}.variant", __name__).make(game(name), players, options)
    return made
