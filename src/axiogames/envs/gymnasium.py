"""Gymnasium: every game for a single player, as an environment and as a vector environment.

>>> import gymnasium, axiogames.envs.gymnasium
>>> env = gymnasium.make("axio/rota-v0", reward="rise")
>>> observation, info = env.reset(seed=1)
>>> sorted(observation), info["action_mask"].shape
(['board', 'vector'], (3072,))
>>> envs = gymnasium.make_vec("axio/rota-v0", num_envs=8)
>>> envs.reset(seed=1)[1]["action_mask"].shape
(8, 3072)
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np

from ..batch import Batch
from ..errors import IllegalMove, InvalidEnvironment
from ..games import GAMES
from ..games.runtime.state import OVER
from ..games.runtime.xorshift import seed_states
from ..model.view import View
from ..optional_deps import require
from .rendering import MODES, check_render_mode, render_view
from .single import MASK, CopyableGame, NamedSpaces, SingleGame
from .spaces import action_space_of, observation_space_of

require("gymnasium", "rl")  # raises `MissingDependency` with the install command

import gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

# `lowest`: the points of the lowest track, the result of a solo game, at the end; `rise`: their increase with
# every move; `gains`: the points of every move.
REWARDS = ("lowest", "rise", "gains")
# Effect of an illegal action: end the game, or raise `IllegalMove` and change nothing.
ILLEGAL_MODES = ("end", "raise")
ILLEGAL_REWARD = -1.0


def _check(reward: str, illegal: str) -> None:
    if reward not in REWARDS:
        raise InvalidEnvironment(f"unknown reward {reward!r}: choose from {', '.join(REWARDS)}")
    if illegal not in ILLEGAL_MODES:
        raise InvalidEnvironment(f"illegal must be {' or '.join(map(repr, ILLEGAL_MODES))}, not {illegal!r}")


class SoloEnv(NamedSpaces, gymnasium.Env[dict[str, np.ndarray], Any]):
    """A game for a single player.

    The info has the mask of legal actions as `action_mask`. MaskablePPO of sb3-contrib calls
    `action_masks()`.

    Args:
        game: the name of a game, one of `GAMES`.
        options: options of the game to switch on, by name.
        reward: `lowest` at the end, or `rise` or `gains` for every move.
        illegal: `end` ends the game with reward -1 after an illegal action, `raise` raises `IllegalMove`.
        render_mode: `human`, `ansi` or `rgb_array`.

    Raises:
        InvalidEnvironment: an option of the environment is invalid.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 1}

    def __init__(
        self,
        game: str,
        *,
        options: Mapping[str, bool] | None = None,
        reward: str = "lowest",
        illegal: str = "end",
        render_mode: str | None = None,
    ) -> None:
        _check(reward, illegal)
        self.reward = reward
        self.illegal = illegal
        self.render_mode = check_render_mode(render_mode)
        self._game = SingleGame(game, 1, options)
        self.observation_space = observation_space_of(self._game.variant)
        self.action_space = action_space_of(self._game.variant)

    def view(self) -> View:
        """Return the position as the player knows it."""
        return self._game.view(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start a game. The same seed gives the same game; without one, the random generator continues."""
        super().reset(seed=seed)
        self._game.reset(seed)
        return self._observation_and_info()

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Play an action.

        Raises:
            IllegalMove: the action is illegal, with `illegal="raise"`. Nothing has changed.
        """
        try:
            _, over, points, rise = self._game.step(action)
        except IllegalMove as error:
            if self.illegal == "raise":
                raise
            self._game.end()
            observation, info = self._observation_and_info()
            return observation, ILLEGAL_REWARD, True, False, {**info, "illegal": str(error)}
        observation, info = self._observation_and_info()
        if self.reward == "lowest":
            reward = int(self._game.points.min()) if over else 0
        else:
            reward = rise if self.reward == "rise" else points
        return observation, float(reward), over, False, info

    def _observation_and_info(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        observed = self._game.observed
        info = {"action_mask": observed["action_mask"], "points": self._game.points[0]}
        return observed["observation"], info

    def action_masks(self) -> np.ndarray:
        """Return the mask of legal actions, for MaskablePPO of sb3-contrib."""
        mask: np.ndarray = self._game.observe()["action_mask"].astype(np.bool_)
        return mask

    def render(self) -> Any:
        """Render the game as text or pixels."""
        return render_view(self.view(), self.render_mode)


class SoloVectorEnv(CopyableGame, VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """Many games for a single player, in one `Batch`.

    With seed s, game i is the game of a `SoloEnv` with seed s + i. Games are reset as in Gymnasium's own
    vector environments (`NEXT_STEP`): by the step after the one that ended them, whatever its action.

    Args:
        game: the name of a game, one of `GAMES`.
        num_envs: the number of games.
        options: options of the game to switch on, by name.
        reward: as in `SoloEnv`.
        illegal: as in `SoloEnv`.
        render_mode: `human`, `ansi` or `rgb_array`.
        threads: the number of threads.

    Raises:
        InvalidEnvironment: an option of the environment is invalid.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 1, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        options: Mapping[str, bool] | None = None,
        reward: str = "lowest",
        illegal: str = "end",
        render_mode: str | None = None,
        threads: int = 1,
    ) -> None:
        _check(reward, illegal)
        self.reward = reward
        self.illegal = illegal
        self.render_mode = check_render_mode(render_mode)
        self._batch = Batch(game, 1, num_envs, options=options, auto_reset=False, threads=threads)
        self.num_envs = num_envs
        self.single_observation_space = observation_space_of(self._batch.variant)
        self.single_action_space = action_space_of(self._batch.variant)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seeded = False
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start all games, or those selected by `options["reset_mask"]`.

        With seed s, game i has seed s + i.
        """
        which = self._reset_mask(options)
        seeds = self._seeds(seed)
        super().reset(seed=seeds[0])
        if not self._seeded:
            self._batch.rngs[:] = seed_states(secrets.randbits(64), 0, self.num_envs)
            self._seeded = True
        for i in np.flatnonzero(which).tolist():
            if (game_seed := seeds[i]) is not None:
                self._batch.rngs[i : i + 1] = seed_states(game_seed & MASK, 0, 1)
        self._batch.reset(which)
        self._ended[which] = False
        self._masks = self._batch.masks()
        return self._observation_and_info(which)

    def _reset_mask(self, options: dict[str, Any] | None) -> np.ndarray:
        which = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any():
            raise InvalidEnvironment(
                f"reset_mask must be an array of {self.num_envs} bools, at least one of them true"
            )
        return which

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        """Return the seed of each game, as in Gymnasium's own vector environments."""
        try:
            if seed is None:
                return [None] * self.num_envs
            if isinstance(seed, list | tuple | np.ndarray):
                seeds = [None if game_seed is None else index(game_seed) for game_seed in seed]
                if len(seeds) == self.num_envs:
                    return seeds
            else:
                return [index(seed) + i for i in range(self.num_envs)]
        except TypeError:
            pass
        raise InvalidEnvironment(f"a seed must be an integer, or a list of {self.num_envs}, not {seed!r}")

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action in every game; reset games that ended with the last step instead."""
        if not self._seeded:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        batch, resets = self._batch, self._ended
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise InvalidEnvironment(f"actions must be {self.num_envs} integers, one for each game")
        chosen = chosen.astype(np.int64)
        in_range = (chosen >= 0) & (chosen < batch.num_actions)
        legal = in_range & (self._masks[np.arange(self.num_envs), np.where(in_range, chosen, 0)] == 1)
        illegal = ~legal & ~resets
        if illegal.any() and self.illegal == "raise":
            batch.step(np.where(resets, 0, chosen))  # raises an error that names the games
        batch.states["phase"][illegal] = OVER
        before = batch.scores[:, 0].min(axis=1).astype(np.int64)
        outcome = batch.step(np.where(legal, chosen, 0), checked=False)
        after = batch.scores[:, 0].min(axis=1).astype(np.int64)
        over = outcome.ended & ~resets
        if self.reward == "lowest":
            rewards = np.where(over, after, 0).astype(np.float64)
        else:
            rewards = (after - before if self.reward == "rise" else outcome.gains.sum(axis=1)).astype(
                np.float64
            )
        rewards[illegal] = ILLEGAL_REWARD
        if resets.any():
            rewards[resets] = 0.0
            batch.reset(resets)
        self._ended = over
        self._masks = batch.masks()
        observations, infos = self._observation_and_info(np.ones(self.num_envs, np.bool_))
        if illegal.any():
            infos |= {"illegal": illegal, "_illegal": illegal.copy()}
        return observations, rewards, over.copy(), np.zeros(self.num_envs, np.bool_), infos

    def _observation_and_info(self, which: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        # The arrays of a batch are reused; returned observations are copies.
        board, vector = self._batch.observe(np.zeros(self.num_envs, np.uint8))
        infos = {
            "action_mask": self._masks.astype(np.int8),
            "points": self._batch.scores[:, 0].astype(np.int16),
        }
        return {"board": board.copy(), "vector": vector.copy()}, infos | {
            f"_{name}": which.copy() for name in infos
        }

    def render(self) -> Any:
        """Render all games as text or pixels."""
        if not self._seeded:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        variant, states = self._batch.variant, self._batch.states
        views = (View(variant, variant.redact(states[i : i + 1], 0), 0, ()) for i in range(self.num_envs))
        return tuple(render_view(view, self.render_mode) for view in views)

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        self._batch.close()


for _game in GAMES:
    gymnasium.register(
        id=f"axio/{_game}-v0",
        entry_point=f"{__name__}:SoloEnv",
        vector_entry_point=f"{__name__}:SoloVectorEnv",
        kwargs={"game": _game},
    )
