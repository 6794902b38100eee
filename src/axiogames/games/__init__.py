"""The games: those built in (`BUILT_IN`), a folder each, and packages added by `register_game`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, overload

from ..errors import GameDefinitionError, InvalidOption, InvalidPlayers, UnknownGame
from .protocol import MAX_PLAYERS, MAX_TILES, Game
from .texts import LANGUAGES as LANGUAGES
from .texts import Localization as Localization
from .texts import load_rules_page, load_texts

if TYPE_CHECKING:
    from .variant import Variant

BUILT_IN = ("axio", "hex", "rota", "trio")

_registered: dict[str, str] = {}  # package by name of the game


class _GameNames(Sequence[str]):
    """The names of all games: built-in games first, then registered ones."""

    def _all(self) -> tuple[str, ...]:
        return (*BUILT_IN, *_registered)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


GAMES = _GameNames()


def register_game(package: str) -> Game:
    """Add a game, so that its name is accepted wherever a game is named.

    The package declares its facts as `GAME`, and its module `variant` has a function
    `make(game, players, options)` that returns a `Variant`. Worker processes that start later (`--jobs`,
    `parallel`) register the game as well.

    Args:
        package: Name of an importable package.

    Returns:
        The facts of the game.

    Raises:
        GameDefinitionError: Another game has the same id, or the package lacks `GAME` or `make`.
    """
    # Imported on first use: `multiprocessing` takes longer to import than this package.
    from ..parallel import on_worker_start

    declared = getattr(import_module(package), "GAME", None)
    if not isinstance(declared, Game) or declared.package != package:
        raise GameDefinitionError(f"{package}: declare `GAME = Game(..., package={package!r})`")
    if declared.id in GAMES and _registered.get(declared.id) != package:
        raise GameDefinitionError(f"{package}: a game {declared.id!r} already exists; choose another id")
    if not callable(getattr(import_module(f"{package}.variant"), "make", None)):
        raise GameDefinitionError(f"{package}.variant: define `make(game, players, options)`")
    _registered[declared.id] = package
    on_worker_start(register_game, package)
    return declared


def unregister_game(name: str) -> None:
    """Remove a registered game. Its existing positions and tables remain usable.

    Does nothing if no registered game has this name; built-in games cannot be removed.
    """
    from ..parallel import cancel_on_worker_start

    if name in _registered:
        cancel_on_worker_start(register_game, _registered.pop(name))
    game.cache_clear()
    _variant.cache_clear()


def registered_packages() -> tuple[str, ...]:
    """Return the packages of the registered games."""
    return tuple(_registered.values())


def _package(name: str) -> str:
    return _registered.get(name, f"{__name__}.{name}")


@cache
def game(name: str) -> Game:
    """Return the facts of a game.

    Args:
        name: Name of the game, one of `GAMES`.

    Raises:
        UnknownGame: There is no game with this name.
    """
    if name not in GAMES:
        raise UnknownGame(f"unknown game {name!r}: choose one of {', '.join(GAMES)}")
    declared: Game = import_module(_package(name)).GAME
    return declared


def localization(name: str, language: str = LANGUAGES[0]) -> Localization:
    """Return the texts about a game in a language, in English if the language is not supported.

    Args:
        name: Name of the game.
        language: Language tag such as `de` or `de-AT`.

    Raises:
        UnknownGame: There is no game with this name.
    """
    return load_texts(game(name), language)


def rules_page(name: str, language: str = LANGUAGES[0]) -> str:
    """Return the rules of a game as Markdown.

    Images have addresses of the form `figure:ID`; `figure` renders them.

    Args:
        name: Name of the game.
        language: Language tag such as `de` or `de-AT`; English if it is not supported.

    Returns:
        The Markdown text.

    Raises:
        UnknownGame: There is no game with this name.
    """
    return load_rules_page(game(name), language)


def figures(name: str) -> tuple[str, ...]:
    """Return the ids of the figures on the rules page of a game. Raises `UnknownGame`."""
    from .illustrations import load_figures

    return tuple(load_figures(game(name)))


def figure(name: str, figure_id: str, *, dark: bool = False) -> str:
    """Return a figure of the rules page of a game as SVG.

    Args:
        name: Name of the game.
        figure_id: One of `figures(name)`.
        dark: Whether to use the colours of the dark theme.

    Raises:
        UnknownGame: There is no game with this name.
        UnknownFigure: The rules page has no figure with this id.
    """
    from .illustrations import find_figure, render

    found = find_figure(game(name), figure_id)
    return render(find_variant(name, found.players, found.options), found, dark=dark)


def find_variant(name: str, players: int = 2, options: Mapping[str, bool] | None = None) -> Variant:
    """Return a game for a number of players and a set of options.

    Args:
        name: Name of the game, one of `GAMES`.
        players: Number of players, 1 to 4.
        options: Options by name; those that are left out are off.

    Returns:
        The variant, the same object for equal arguments.

    Raises:
        UnknownGame: There is no game with this name.
        InvalidPlayers: The number of players is not supported.
        InvalidOption: The game has no such option, or its value is not a boolean.
        GameDefinitionError: The game has more tiles than shared rule code can count.
    """
    declared = game(name)
    if isinstance(players, bool) or not isinstance(players, int) or not 1 <= players <= MAX_PLAYERS:
        raise InvalidPlayers(f"{name} is for 1 to {MAX_PLAYERS} players, not {players!r}")
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
    variant: Variant = import_module(f"{_package(name)}.variant").make(game(name), players, options)
    if (tiles := sum(variant.tileset.values())) > MAX_TILES:
        raise GameDefinitionError(
            f"{name} for {players} players has {tiles} tiles, but at most {MAX_TILES} are allowed"
        )
    return variant
