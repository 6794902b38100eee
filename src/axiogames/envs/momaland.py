"""MOMAland: a vector of rewards, one for each colour, in every game that counts its points by colour.

>>> from axiogames.envs import momaland
>>> env = momaland.env("rota", players=2)
>>> env.reset(seed=1)
>>> env.unwrapped.reward_space("player_0").shape, env.tracks
((5,), ('R', 'G', 'B', 'O', 'P'))

MOMAland itself is not needed: its environments are PettingZoo's with a `reward_space`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidEnvironment
from ..optional_deps import require
from .pettingzoo import ILLEGAL, GameEnv, SafeEnv


class ColourEnv(GameEnv):
    """A game as PettingZoo's cycle, whose rewards are the points just scored, by colour."""

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
                f"{game} counts its points on one track, which is no vector: see axiogames.envs.pettingzoo"
            )
        spaces, cap = require("gymnasium.spaces", "rl"), self._game.variant.cap
        high = float(np.iinfo(np.int16).max) if cap is None else float(cap)
        self._reward_spaces = {
            name: spaces.Box(ILLEGAL, high, (len(self.tracks),), np.float32) for name in self._names
        }

    def reward_space(self, agent: str) -> Any:
        """The points that one move can bring, by colour; -1 is for an illegal one."""
        return self._reward_spaces[self._known(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. The same seed gives the same game; without one, the generator goes on."""
        super().reset(seed, options)
        self.rewards = self._nothing()
        self._cumulative_rewards = self._nothing()

    # Vectors are never written into again: whoever was given one may keep it.

    def _nothing(self) -> dict[str, Any]:
        return {name: np.zeros(len(self.tracks), np.float32) for name in self.agents}

    def _clear_rewards(self) -> None:
        self.rewards = self._nothing()

    def _pay(self, agent: str, points: float) -> None:
        self.rewards = self._nothing()
        self.rewards[agent][:] = ILLEGAL if self._over else self._game.gains[0]
        # Nobody else has got anything, and what the agent had got before has been told.
        self._cumulative_rewards[agent] = self.rewards[agent].copy()


def raw_env(game: str, players: int = 2, **settings: Any) -> ColourEnv:
    """A game without wrappers, which raises `IllegalMove` where an action is not legal."""
    return ColourEnv(game, players, **settings)


def env(game: str, players: int = 2, **settings: Any) -> SafeEnv:
    """A game that behaves as if in PettingZoo's usual wrappers: an illegal action ends it and costs 1."""
    return SafeEnv(raw_env(game, players, **settings))
