"""PettingZoo: every game for 2 to 4 players (or one), agent by agent.

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

from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ..batch import REWARDS as AT_THE_END
from ..errors import IllegalMove, InvalidEnvironment, InvalidPlayers, ResetRequired
from ..model.view import View
from ..optional_deps import require
from .rendering import MODES, checked_mode, rendered
from .single import NOT_BEGUN, CopyableGame, NamedSpaces, Seen, SingleGame
from .spaces import action_space, masked_space


class SafeEnv(CopyableGame, OrderEnforcingWrapper):  # type: ignore[misc]
    """An environment that minds the order of calls, and whose game an illegal action ends."""

    def step(self, action: Any) -> None:
        """Make a move. Raises `AssertionError` for an action that is not in the action space."""
        env = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        try:
            env.step(action)
        except IllegalMove as why:
            assert env.action_space(env.agent_selection).contains(action), "action is not in action space"
            EnvLogger.warn_on_illegal_move()
            env.forfeit(str(why))

    def last(self, observe: bool = True) -> Any:
        """What the agent to move knows, what it has got since it last moved, and whether the game goes on."""
        if observe and not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Each agent when its turn comes, until the game is over for all."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._in_turn(max_iter)

    def _in_turn(self, most: int) -> Iterator[str]:
        env = self.env
        while env.agents and most > 0:
            most -= 1
            assert self._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self._has_updated = False
            yield env.agent_selection

    def __str__(self) -> str:
        return str(self.env)

    # Found at once; before the first reset they are missing, and `__getattr__` says why.

    @property
    def agents(self) -> Any:
        """The agents that are still in the game."""
        return self._begun.agents

    @property
    def agent_selection(self) -> Any:
        """The agent whose turn it is."""
        return self._begun.agent_selection

    @property
    def terminations(self) -> Any:
        """Whether the game has ended, for each agent."""
        return self._begun.terminations

    @property
    def truncations(self) -> Any:
        """Whether the game was broken off, for each agent."""
        return self._begun.truncations

    @property
    def _begun(self) -> Any:
        if not self._has_reset:
            raise AttributeError
        return self.env


require("pettingzoo", "rl")  # says what to install where it is missing


# Paid for every move: all points of it, or by how much it raised one's lowest track.
STEP_BY_STEP = ("gains", "rise")
REWARDS = (*AT_THE_END, *STEP_BY_STEP)
SET_BY_RESET = (
    "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos", "_over",
    "_left",
)  # fmt: skip
ILLEGAL = -1.0  # what classic games of PettingZoo pay for an illegal action


class GameEnv(NamedSpaces, AECEnv[str, Seen, Any]):  # type: ignore[misc]
    """A game as PettingZoo's agent-environment cycle, without wrappers.

    `step` raises `IllegalMove` for an action that is not legal; nothing has changed then.
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
            raise InvalidEnvironment(f"there is no reward {reward!r}; there are {', '.join(REWARDS)}")
        if max_cycles is not None and not (isinstance(max_cycles, int) and max_cycles > 0):
            raise InvalidEnvironment(f"max_cycles should be a whole number from 1 on, not {max_cycles!r}")
        self._dense = reward in STEP_BY_STEP
        self._rises = reward == "rise"
        self._game = SingleGame(game, players, options, "none" if self._dense else reward)
        self.render_mode = checked_mode(render_mode)
        self._prints = render_mode == "human"
        self._most = -1 if max_cycles is None else max_cycles * players
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
        self._observation_spaces = {name: masked_space(variant) for name in self._names}
        self._action_spaces = {name: action_space(variant) for name in self._names}

    def __getattr__(self, name: str) -> Any:
        """What `reset` sets is missing before. Raises `ResetRequired`, an `AttributeError`."""
        if name in SET_BY_RESET:
            raise ResetRequired(NOT_BEGUN)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}", name=name, obj=self)

    # ------------------------------------------------------------ what it is about

    def observation_space(self, agent: str) -> Any:
        """What `observe` gives an agent."""
        return self._observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Any:
        """The numbers of moves."""
        return self._action_spaces[self._known(agent)]

    def view(self, agent: str) -> View:
        """The position as an agent may know it: what the players of this package choose from."""
        return self._game.view(self._seats[self._known(agent)])

    def _known(self, agent: str) -> str:
        if agent not in self._seats:
            raise InvalidPlayers(f"there is no agent {agent!r}; there are {', '.join(self._names)}")
        return agent

    # ------------------------------------------------------------ what it does

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. The same seed gives the same game; without one, the generator goes on."""
        names = self._names
        seat = self._game.begin(seed)
        self.agents = list(names)
        self.rewards: dict[str, Any] = dict.fromkeys(names, 0.0)
        self._cumulative_rewards: dict[str, Any] = dict.fromkeys(names, 0.0)
        self.terminations = dict.fromkeys(names, False)
        self.truncations = dict.fromkeys(names, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in names}
        self._over = False
        self._left = self._most
        self._turned(seat)

    def step(self, action: Any) -> None:
        """Make the move of the agent whose turn it is. Raises `IllegalMove`."""
        if self._over:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        seat, over, points, rise = self._game.play(action)
        self._cumulative_rewards[agent] = 0.0
        if self._dense:
            self._pay(agent, rise if self._rises else points)
        self._left -= 1
        if over or self._left == 0:
            self._finish(over)
        self._turned(seat)

    def observe(self, agent: str) -> Seen:
        """What an agent knows, and the mask of its legal actions; the arrays are its caller's."""
        if agent == self._ready:
            # What `step` has written for it is handed out once.
            self._ready = None
            return self._game.seen
        return self._game.look(self._seats[self._known(agent)])

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Each agent when its turn comes, until the game is over for all."""
        while self.agents and max_iter > 0:
            max_iter -= 1
            yield self.agent_selection

    def forfeit(self, why: str) -> None:
        """End the game by an illegal action, as PettingZoo's `TerminateIllegalWrapper` does it."""
        agent = self.agent_selection
        self._over = True
        self.terminations = dict.fromkeys(self._names, True)
        self.truncations = dict.fromkeys(self._names, True)
        self.infos[agent] = {"illegal": why}
        self._cumulative_rewards[agent] = 0.0
        self._pay(agent, ILLEGAL)
        self._deads_step_first()

    def render(self) -> Any:
        """What the agent whose turn it is sees, as text or as pixels."""
        return rendered(self.view(self.agent_selection), self.render_mode)

    def close(self) -> None:
        """Nothing has to be let go."""

    # ------------------------------------------------------------ inside

    def _turned(self, seat: int) -> None:
        self.agent_selection = self._ready = self._names[seat]
        if self._prints:
            self.render()

    def _pay(self, agent: str, points: float) -> None:
        rewards = self.rewards
        for name in self._names:
            rewards[name] = 0.0
        rewards[agent] = float(points)
        self._accumulate_rewards()

    def _finish(self, over: bool) -> None:
        """Tell everybody that the game has ended, or (without a result) has been broken off."""
        self._over = True
        ends = self.terminations if over else self.truncations
        standing = self._game.view(None).ranks
        points, tracks = self._game.points.tolist(), self.tracks
        for seat, name in enumerate(self._names):
            ends[name] = True
            self.infos[name] = {
                "place": standing[seat],
                "points": dict(zip(tracks, points[seat], strict=True)),
            }
        if over and not self._dense:
            self._pay_at_the_end()

    def _pay_at_the_end(self) -> None:
        self.rewards = dict(zip(self._names, self._game.rewards[0].tolist(), strict=True))
        self._accumulate_rewards()


def raw_env(game: str, players: int = 2, **settings: Any) -> GameEnv:
    """A game without wrappers: the fastest, which raises `IllegalMove` where an action is not legal."""
    return GameEnv(game, players, **settings)


def env(game: str, players: int = 2, **settings: Any) -> SafeEnv:
    """A game that behaves as if in PettingZoo's usual wrappers: an illegal action ends it and costs 1."""
    return SafeEnv(raw_env(game, players, **settings))
