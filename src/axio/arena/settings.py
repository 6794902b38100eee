"""What decides the games of an arena: the same settings give the same games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..errors import WrongOption, WrongPlayers
from ..games import find_variant
from ..talk.players import player_or_engine
from ..version import __version__
from .sprt import Hypotheses


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
    if sprt is not None and (len(bots) != 2 or players != 2):
        raise WrongOption(
            f"the sequential test is for 2 bots at 2 seats, not for {len(bots)} bots and {players} players"
        )
    return Settings(variant.game.id, players, variant.options, tuple(bots), seed, sprt)
