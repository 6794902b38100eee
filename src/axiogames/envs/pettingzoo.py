"""PettingZoo: every game for 1 to 4 players as an AEC environment.

`env` returns a game with PettingZoo's usual wrappers, `raw_env` one without them.

>>> from axiogames.envs import pettingzoo
>>> env = pettingzoo.env("rota", players=3, reward="win")
>>> env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.last()
>>> sorted(observation), observation["action_mask"].shape
(['action_mask', 'observation'], (3072,))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..batch import REWARDS as FINAL_REWARDS
from ..errors import IllegalMove, InvalidEnvironment, InvalidPlayers, ResetRequired
from ..model.view import View
from ..optional_deps import require
from .rendering import MODES, check_render_mode, render_view
from .single import NOT_STARTED, CopyableGame, MaskedObservation, NamedSpaces, SingleGame
from .spaces import action_space_of, masked_space_of

require("pettingzoo", "rl")  # raises `MissingDependency` with the install command

from pettingzoo import AECEnv  # noqa: E402
from pettingzoo.utils.env_logger import EnvLogger  # noqa: E402
from pettingzoo.utils.wrappers import OrderEnforcingWrapper  # noqa: E402

# Rewards of every move: its points, or the rise of the lowest track.
DENSE_REWARDS = ("gains", "rise")
REWARDS = (*FINAL_REWARDS, *DENSE_REWARDS)
SET_BY_RESET = (
    "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos", "_over",
    "_left",
)  # fmt: skip
ILLEGAL_REWARD = -1.0  # as in the classic environments of PettingZoo


class GameEnv(NamedSpaces, AECEnv[str, MaskedObservation, Any]):  # type: ignore[misc]
    """A game as an AEC environment of PettingZoo, without wrappers.

    `step` raises `IllegalMove` for an illegal action and changes nothing.

    Args:
        game: the name of a game, one of `GAMES`.
        players: the number of players, 1 to 4.
        options: options of the game to switch on, by name.
        reward: `win`, `place` or `lowest`, paid at the end, or `gains` or `rise`, paid for every move.
        max_cycles: truncate the game after this number of moves per player.
        render_mode: `human`, `ansi` or `rgb_array`.

    Raises:
        InvalidEnvironment: an option of the environment is invalid.
    """

    def __init__(
        self,
        game: str,
        players: int = 2,
        *,
        options: Mapping[str, bool] | None = None,
        reward: str = "win",
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if reward not in REWARDS:
            raise InvalidEnvironment(f"unknown reward {reward!r}: choose from {', '.join(REWARDS)}")
        if max_cycles is not None and not (isinstance(max_cycles, int) and max_cycles > 0):
            raise InvalidEnvironment(f"max_cycles must be a positive integer, not {max_cycles!r}")
        self._dense = reward in DENSE_REWARDS
        self._rises = reward == "rise"
        self._game = SingleGame(game, players, options, "none" if self._dense else reward)
        self.render_mode = check_render_mode(render_mode)
        self._prints = render_mode == "human"
        self._max_moves = -1 if max_cycles is None else max_cycles * players
        self.metadata = {
            "name": f"{game}_v0",
            "render_modes": list(MODES),
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._names = tuple(self.possible_agents)
        self._ready: str | None = None
        self._seats = {name: seat for seat, name in enumerate(self._names)}
        variant = self._game.variant
        self._observation_spaces = {name: masked_space_of(variant) for name in self._names}
        self._action_spaces = {name: action_space_of(variant) for name in self._names}

    def __getattr__(self, name: str) -> Any:
        """Raise `ResetRequired`, an `AttributeError`, for attributes that `reset` sets."""
        if name in SET_BY_RESET:
            raise ResetRequired(NOT_STARTED)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}", name=name, obj=self)

    # ------------------------------------------------------------ spaces and views

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self._observation_spaces[self._check_agent(agent)]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self._action_spaces[self._check_agent(agent)]

    def view(self, agent: str) -> View:
        """Return the position as an agent knows it. Bots of this package choose from it."""
        return self._game.view(self._seats[self._check_agent(agent)])

    def _check_agent(self, agent: str) -> str:
        if agent not in self._seats:
            raise InvalidPlayers(f"unknown agent {agent!r}: choose from {', '.join(self._names)}")
        return agent

    # ------------------------------------------------------------ the agent-environment cycle

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game. The same seed gives the same game; without one, the random generator continues."""
        names = self._names
        seat = self._game.reset(seed)
        self.agents = list(names)
        self.rewards: dict[str, Any] = dict.fromkeys(names, 0.0)
        self._cumulative_rewards: dict[str, Any] = dict.fromkeys(names, 0.0)
        self.terminations = dict.fromkeys(names, False)
        self.truncations = dict.fromkeys(names, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in names}
        self._over = False
        self._left = self._max_moves
        self._set_turn(seat)

    def step(self, action: Any) -> None:
        """Play an action for the agent to move.

        Raises:
            IllegalMove: the action is not legal. Nothing has changed.
        """
        if self._over:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        seat, over, points, rise = self._game.step(action)
        self._cumulative_rewards[agent] = 0.0
        if self._dense:
            self._pay(agent, rise if self._rises else points)
        self._left -= 1
        if over or self._left == 0:
            self._finish(over)
        self._set_turn(seat)

    def observe(self, agent: str) -> MaskedObservation:
        """Return the observation of an agent and the mask of its legal actions. The arrays are not reused."""
        if agent == self._ready:
            # `step` has already written this observation; it is returned once.
            self._ready = None
            return self._game.observed
        return self._game.observe(self._seats[self._check_agent(agent)])

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent to move until the game is over for all agents."""
        while self.agents and max_iter > 0:
            max_iter -= 1
            yield self.agent_selection

    def forfeit(self, reason: str) -> None:
        """End the game after an illegal action, as PettingZoo's `TerminateIllegalWrapper` does."""
        agent = self.agent_selection
        self._over = True
        self.terminations = dict.fromkeys(self._names, True)
        self.truncations = dict.fromkeys(self._names, True)
        self.infos[agent] = {"illegal": reason}
        self._cumulative_rewards[agent] = 0.0
        self._pay(agent, ILLEGAL_REWARD)
        self._deads_step_first()

    def render(self) -> Any:
        """Render the view of the agent to move, as text or pixels."""
        return render_view(self.view(self.agent_selection), self.render_mode)

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    # ------------------------------------------------------------ inside

    def _set_turn(self, seat: int) -> None:
        self.agent_selection = self._ready = self._names[seat]
        if self._prints:
            self.render()

    def _pay(self, agent: str, reward: float) -> None:
        rewards = self.rewards
        for name in self._names:
            rewards[name] = 0.0
        rewards[agent] = float(reward)
        self._accumulate_rewards()

    def _finish(self, over: bool) -> None:
        """Terminate the game for all agents, or with `over` false truncate it."""
        self._over = True
        ends = self.terminations if over else self.truncations
        ranks = self._game.view(None).ranks
        points, tracks = self._game.points.tolist(), self.tracks
        for seat, name in enumerate(self._names):
            ends[name] = True
            self.infos[name] = {
                "place": ranks[seat],
                "points": dict(zip(tracks, points[seat], strict=True)),
            }
        if over and not self._dense:
            self._pay_result()

    def _pay_result(self) -> None:
        self.rewards = dict(zip(self._names, self._game.rewards[0].tolist(), strict=True))
        self._accumulate_rewards()


class SafeEnv(CopyableGame, OrderEnforcingWrapper):  # type: ignore[misc]
    """An environment that checks the order of calls and ends the game at an illegal action.

    It behaves like PettingZoo's `OrderEnforcingWrapper`, `AssertOutOfBoundsWrapper` and
    `TerminateIllegalWrapper` together, but is five times faster.
    """

    def step(self, action: Any) -> None:
        """Play an action. Raises `AssertionError` if it is not in the action space."""
        env = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        try:
            env.step(action)
        except IllegalMove as error:
            assert env.action_space(env.agent_selection).contains(action), "action is not in action space"
            EnvLogger.warn_on_illegal_move()
            env.forfeit(str(error))

    def last(self, observe: bool = True) -> Any:
        """Return observation, cumulative reward, termination, truncation and info of the agent to move."""
        if observe and not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent to move until the game is over for all agents."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._in_turn(max_iter)

    def _in_turn(self, max_iter: int) -> Iterator[str]:
        env = self.env
        while env.agents and max_iter > 0:
            max_iter -= 1
            assert self._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self._has_updated = False
            yield env.agent_selection

    def __str__(self) -> str:
        return str(self.env)

    # Defined here because the wrapper's `__getattr__` is slow. Before the first reset it raises the error.

    @property
    def agents(self) -> Any:
        """The agents still in the game."""
        return self._reset_env.agents

    @property
    def agent_selection(self) -> Any:
        """The agent to move."""
        return self._reset_env.agent_selection

    @property
    def terminations(self) -> Any:
        """Whether the game has ended, by agent."""
        return self._reset_env.terminations

    @property
    def truncations(self) -> Any:
        """Whether the game was truncated, by agent."""
        return self._reset_env.truncations

    @property
    def _reset_env(self) -> Any:
        if not self._has_reset:
            raise AttributeError
        return self.env


def raw_env(game: str, players: int = 2, **settings: Any) -> GameEnv:
    """Return a game without wrappers, which is faster and raises `IllegalMove` for an illegal action.

    Arguments are those of `GameEnv`.
    """
    return GameEnv(game, players, **settings)


def env(game: str, players: int = 2, **settings: Any) -> SafeEnv:
    """Return a game that behaves as in PettingZoo's usual wrappers: an illegal action ends it with reward -1.

    Arguments are those of `GameEnv`.
    """
    return SafeEnv(raw_env(game, players, **settings))
