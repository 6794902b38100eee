"""What PettingZoo's three usual wrappers do, in one that costs little.

`OrderEnforcingWrapper`, `AssertOutOfBoundsWrapper` and `TerminateIllegalWrapper` look everything up through
each other and take five times as long as the game. A test compares what comes of them and of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ..errors import IllegalMove
from .single import CopiedWhole


class Wrapped(CopiedWhole, OrderEnforcingWrapper):  # type: ignore[misc]
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
