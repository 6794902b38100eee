"""MOMAland: environments with vector rewards, the points by colour, for games that count points by colour.

>>> from axiogames.envs import momaland
>>> env = momaland.env("rota", players=2)
>>> env.reset(seed=1)
>>> env.unwrapped.reward_space("player_0").shape, env.tracks
((5,), ('R', 'G', 'B', 'O', 'P'))

MOMAland itself is not required: its environments are those of PettingZoo with a `reward_space`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidEnvironment
from ..optional_deps import require
from .pettingzoo import ILLEGAL_REWARD, GameEnv, SafeEnv


class ColourEnv(GameEnv):
    """A game as an AEC environment whose reward is the vector of points of the last move, by colour.

    Args:
        game: the name of a game that counts points by colour.
        players: the number of players, 1 to 4.
        options: options of the game to switch on, by name.
        max_cycles: truncate the game after this number of moves per player.
        render_mode: `human`, `ansi` or `rgb_array`.
    """

    def __init__(
        self,
        game: str,
        players: int = 2,
        *,
        options: Mapping[str, bool] | None = None,
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            game,
            players,
            options=options,
            reward="gains",
            max_cycles=max_cycles,
            render_mode=render_mode,
        )
        if len(self.tracks) < 2:
            raise InvalidEnvironment(
                f"{game} has a single track and no vector of rewards: use axiogames.envs.pettingzoo"
            )
        spaces, cap = require("gymnasium.spaces", "rl"), self._game.variant.cap
        high = float(np.iinfo(np.int16).max) if cap is None else float(cap)
        self._reward_spaces = {
            name: spaces.Box(ILLEGAL_REWARD, high, (len(self.tracks),), np.float32) for name in self._names
        }

    def reward_space(self, agent: str) -> Any:
        """Return the space of rewards: points of one move by colour, -1 for an illegal action."""
        return self._reward_spaces[self._check_agent(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game. The same seed gives the same game; without one, the random generator continues."""
        super().reset(seed, options)
        self.rewards = self._zero_rewards()
        self._cumulative_rewards = self._zero_rewards()

    # Vectors are never modified after they have been returned.

    def _zero_rewards(self) -> dict[str, Any]:
        return {name: np.zeros(len(self.tracks), np.float32) for name in self.agents}

    def _clear_rewards(self) -> None:
        self.rewards = self._zero_rewards()

    def _pay(self, agent: str, reward: float) -> None:
        self.rewards = self._zero_rewards()
        self.rewards[agent][:] = ILLEGAL_REWARD if self._over else self._game.gains[0]
        # The other agents receive 0, and earlier rewards of this agent have already been returned.
        self._cumulative_rewards[agent] = self.rewards[agent].copy()


def raw_env(game: str, players: int = 2, **settings: Any) -> ColourEnv:
    """Return a game without wrappers, which raises `IllegalMove` for an illegal action.

    Arguments are those of `ColourEnv`.
    """
    return ColourEnv(game, players, **settings)


def env(game: str, players: int = 2, **settings: Any) -> SafeEnv:
    """Return a game that behaves as in PettingZoo's usual wrappers: an illegal action ends it with reward -1.

    Arguments are those of `ColourEnv`.
    """
    return SafeEnv(raw_env(game, players, **settings))
