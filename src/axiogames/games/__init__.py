"""The games. A game is a folder here and a name in `BUILT_IN`, or a package that `register_game` adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, overload

from ..errors import GameDefinitionError, InvalidOption, InvalidPlayers, UnknownGame
from .protocol import MOST_PLAYERS, Game
from .texts import LANGUAGES as LANGUAGES
from .texts import Words as Words
from .texts import page_of, words_of

if TYPE_CHECKING:
    from .variant import Variant

BUILT_IN = ("axio", "hex", "rota", "trio")

_registered: dict[str, str] = {}  # packages by name of the game


class _Names(Sequence[str]):
    """The names of all games: those built in, then the registered ones."""

    def _all(self) -> tuple[str, ...]:
        return (*BUILT_IN, *_registered)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        return self._all()[at]

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


GAMES = _Names()


def register_game(package: str) -> Game:
    """Add a game, so that everything that takes the name of a game knows it.

    The package declares its facts as `GAME`, and its module `variant` has a function
    `make(game, players, options)` that returns a `Variant`.

    Args:
        package: Name of an importable package. Worker processes have to register it, too.

    Returns:
        The facts of the game.

    Raises:
        GameDefinitionError: Another game has the name, or the game lacks something that every game provides.
    """
    declared = getattr(import_module(package), "GAME", None)
    if not isinstance(declared, Game) or declared.package != package:
        raise GameDefinitionError(f"{package}: it needs `GAME = Game(..., package={package!r})`")
    if declared.id in GAMES and _registered.get(declared.id) != package:
        raise GameDefinitionError(f"{package}: there is a game {declared.id!r} already, choose another id")
    if not callable(getattr(import_module(f"{package}.variant"), "make", None)):
        raise GameDefinitionError(f"{package}.variant: it needs `make(game, players, options)`")
    _registered[declared.id] = package
    return declared


def unregister_game(name: str) -> None:
    """Remove a registered game. Positions and tables of it can still be used."""
    _registered.pop(name, None)
    game.cache_clear()
    _variant.cache_clear()


def _package(name: str) -> str:
    return _registered.get(name, f"{__name__}.{name}")


@cache
def game(name: str) -> Game:
    """A game by its name. Raises `UnknownGame`."""
    if name not in GAMES:
        raise UnknownGame(f"unknown game {name!r}: choose one of {', '.join(GAMES)}")
    declared: Game = import_module(_package(name)).GAME
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
    made: Variant = import_module(f"{_package(name)}.variant").make(game(name), players, options)
    return made
