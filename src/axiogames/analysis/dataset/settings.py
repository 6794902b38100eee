"""What decides the rows of a dataset: the same settings give the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ... import __version__
from ...errors import InvalidOption, InvalidPlayers
from ...games import find_variant
from ...games.variant import Variant
from ...players import Budget, Player
from ...players.bots.levels import Glimpse, Level
from ...players.bots.searching import FlatMonteCarlo, Instant, Sim
from ...players.bots.simple import Balanced, Greedy, Random
from ...players.engines.specs import player_or_engine
from ...players.interface import UNLIMITED, Limited

STEADY = (Random, Greedy, Balanced, Instant, Glimpse)  # never look at a clock
COUNTING = (Sim, FlatMonteCarlo)  # nor do these where their rollouts are counted


class Settings(Struct, frozen=True):
    """A game with its options, the bots, the seed and number of games, and what is written of them."""

    game: str
    players: int
    options: tuple[str, ...]
    bots: tuple[str, ...]
    seed: str
    games: int
    noise: float = 0.0  # how likely a move is made by lot instead of by the bot
    legal: bool = False  # whether the legal moves are written
    version: str = __version__

    @property
    def variant(self) -> Variant:
        """The rules of the game that is played."""
        return find_variant(self.game, self.players, dict.fromkeys(self.options, True))

    @property
    def deterministic(self) -> bool:
        """Whether the same settings are sure to give the same rows: no bot thinks by the clock."""
        return all(repeats(player_or_engine(bot)) for bot in self.bots)

    def seats(self, game: int) -> tuple[str, ...]:
        """The bot of each seat in this game: from game to game they move up by one seat.

        >>> [Settings("", 2, (), ("a", "b", "c"), "0", 3).seats(game) for game in range(3)]
        [('a', 'b'), ('b', 'c'), ('c', 'a')]
        """
        return tuple(self.bots[(game + seat) % len(self.bots)] for seat in range(self.players))


def checked(
    game: str,
    bots: Sequence[str],
    *,
    players: int = 2,
    games: int = 100,
    seed: str = "0",
    options: Iterable[str] = (),
    noise: float = 0.0,
    legal: bool = False,
) -> Settings:
    """Settings that can be played. Raises `UnknownGame`, `InvalidPlayers` or `InvalidOption`."""
    variant = find_variant(game, players, dict.fromkeys(options, True))
    if not bots:
        raise InvalidPlayers("a dataset needs bots that play: name one or more")
    for bot in bots:
        player_or_engine(bot)
    if games < 1:
        raise InvalidOption(f"{games} games: 1 or more can be played")
    if not 0 <= noise <= 1:
        raise InvalidOption(f"noise {noise}: it is the chance of a move by lot, from 0 to 1")
    return Settings(variant.game.id, players, variant.options, tuple(bots), seed, games, noise, legal)


def repeats(player: Player) -> bool:
    """Whether a player is sure to choose the same again from the same view and lots.

    Of players that are not known here nothing is promised.
    """
    inner = player
    while isinstance(inner, Limited | Level):
        inner = inner.player
    if isinstance(inner, STEADY):
        return True
    if not isinstance(inner, COUNTING):
        return False
    if isinstance(player, Limited):
        return player.budget.rollouts is not None
    return isinstance(player, Level) and player.rollouts is not None


def budget_of(player: Player) -> Budget:
    """How long a player may think: as usual, or, if only rollouts are to stop it, as long as they take."""
    return Budget(UNLIMITED) if repeats(player) else Budget()
