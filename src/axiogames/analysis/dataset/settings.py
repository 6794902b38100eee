"""Settings of a dataset. Equal settings give equal rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from ... import __version__
from ...errors import InvalidOption, InvalidPlayers
from ...games import find_variant
from ...players import Budget, Player
from ...players.bots.levels import Level, SampledMoves
from ...players.bots.searching import FlatMonteCarlo, Instant, Sim
from ...players.bots.simple import Balanced, Greedy, Random
from ...players.engines.specs import parse_player
from ...players.interface import UNLIMITED, FixedBudget
from ..run_config import RunConfig

DETERMINISTIC = (Random, Greedy, Balanced, Instant, SampledMoves)  # never use the clock
DETERMINISTIC_BY_ROLLOUTS = (Sim, FlatMonteCarlo)  # do not use the clock if limited by rollouts


class DatasetSettings(RunConfig, frozen=True):
    """Settings of a dataset: game, bots, seed, number of games, noise, and optional columns."""

    flags: ClassVar[Mapping[str, str]] = {**RunConfig.flags, "legal": "--legal-actions"}

    games: int
    noise: float = 0.0  # probability of a uniformly random move instead of the bot's
    legal: bool = False  # whether to write the legal actions
    version: str = __version__

    @classmethod
    def create(
        cls,
        game: str,
        bots: Sequence[str],
        *,
        players: int = 2,
        games: int = 100,
        seed: str = "0",
        options: Iterable[str] = (),
        noise: float = 0.0,
        legal: bool = False,
    ) -> DatasetSettings:
        """Return validated settings.

        Raises:
            UnknownGame: there is no such game.
            InvalidPlayers: unknown or missing bots, or a wrong number of players.
            InvalidOption: unknown option, or a number out of range.
        """
        variant = find_variant(game, players, dict.fromkeys(options, True))
        if not bots:
            raise InvalidPlayers("a dataset needs bots: name one or more")
        for bot in bots:
            parse_player(bot)
        if games < 1:
            raise InvalidOption(f"{games} games: must be 1 or more")
        if not 0 <= noise <= 1:
            raise InvalidOption(f"noise {noise}: must be a probability, from 0 to 1")
        return cls(variant.game.id, players, variant.options, tuple(bots), seed, games, noise, legal)

    @property
    def deterministic(self) -> bool:
        """Whether equal settings are guaranteed to give equal rows, because no bot uses the clock."""
        return all(is_deterministic(parse_player(bot)) for bot in self.bots)

    def seats(self, game: int) -> tuple[str, ...]:
        """Return the bot in each seat of a game. Bots rotate by one seat from game to game.

        >>> [DatasetSettings("", 2, (), ("a", "b", "c"), "0", 3).seats(game) for game in range(3)]
        [('a', 'b'), ('b', 'c'), ('c', 'a')]
        """
        return tuple(self.bots[(game + seat) % len(self.bots)] for seat in range(self.players))


def is_deterministic(player: Player) -> bool:
    """Return whether equal views and random generators are guaranteed to give equal choices.

    Players of unknown classes are not considered deterministic.
    """
    inner = player
    while isinstance(inner, FixedBudget | Level):
        inner = inner.player
    if isinstance(inner, DETERMINISTIC):
        return True
    if not isinstance(inner, DETERMINISTIC_BY_ROLLOUTS):
        return False
    if isinstance(player, FixedBudget):
        return player.budget.rollouts is not None
    return isinstance(player, Level) and player.rollouts is not None


def budget_of(player: Player) -> Budget:
    """Return the budget of a player: unlimited if it is deterministic, otherwise the default budget."""
    return Budget(UNLIMITED) if is_deterministic(player) else Budget()
