"""What decides the games of an arena: the same settings give the same games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb

from msgspec import Struct

from ..errors import WrongOption, WrongPlayers
from ..games import find_variant
from ..talk.players import player_or_engine
from ..version import __version__
from .sprt import Hypotheses, fault

MOST_BOTS = 100
MOST_LINE_UPS = 10_000


class Settings(Struct, frozen=True):
    """A game with its options, the bots, their seats, the seed of all deals, and when to stop early."""

    game: str
    players: int
    options: tuple[str, ...]
    bots: tuple[str, ...]
    seed: str
    sprt: Hypotheses | None = None
    version: str = __version__


def checked(
    game: str,
    bots: Sequence[str],
    *,
    players: int = 2,
    seed: str = "0",
    options: Iterable[str] = (),
    sprt: Hypotheses | None = None,
) -> Settings:
    """Settings that can be played. Raises `UnknownGame`, `WrongPlayers` or `WrongOption`."""
    variant = find_variant(game, players, dict.fromkeys(options, True))
    for bot, often in Counter(bots).items():
        player_or_engine(bot)
        if often > 1:
            raise WrongPlayers(f"{bot!r} stands {often} times among the bots: name each once")
    if not bots:
        raise WrongPlayers("an arena needs bots: name one or more")
    _must_be_few(len(bots), players)
    if sprt is not None and (wrong := fault(sprt)):
        raise WrongOption(f"the sequential test is none: {wrong}")
    if sprt is not None and (len(bots) != 2 or players != 2):
        raise WrongOption(
            f"the sequential test is for 2 bots at 2 seats, not for {len(bots)} bots and {players} players"
        )
    return Settings(variant.game.id, players, variant.options, tuple(bots), seed, sprt)


def _must_be_few(bots: int, players: int) -> None:
    """Raise `WrongPlayers` for more bots than a schedule can be made for."""
    line_ups = comb(bots, players) if 1 < players <= bots else 1
    if bots > MOST_BOTS or line_ups > MOST_LINE_UPS:
        raise WrongPlayers(
            f"{bots} bots for {players} seats make {line_ups} line-ups: "
            f"at most {MOST_BOTS} bots and {MOST_LINE_UPS} line-ups can play"
        )
