"""Environments raise `ResetRequired` before their first reset."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

from axiogames.envs import momaland, pettingzoo
from axiogames.envs.gymnasium import SoloEnv, SoloVectorEnv
from axiogames.errors import AxioError, InvalidEnvironment, ResetRequired

GAME = "rota"
USES: dict[str, Callable[[Any], Any]] = {
    "step": lambda env: env.step(0),
    "step None": lambda env: env.step(None),
    "observe": lambda env: env.observe("player_0"),
    "last": lambda env: env.last(),
    "render": lambda env: env.render(),
    "view": lambda env: env.view("player_0"),
    "forfeit": lambda env: env.forfeit("why"),
    "agent_selection": lambda env: env.agent_selection,
    "terminations": lambda env: env.terminations,
    "rewards": lambda env: env.rewards,
    "move": lambda env: env.move(0),
    "action": lambda env: env.action("RGBO 0,0"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", [pettingzoo.raw_env, momaland.raw_env])
def test_raw_environment_before_reset(make: Callable[..., Any], use: str) -> None:
    env = make(GAME, 2, render_mode="ansi")
    for again in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        with pytest.raises(ResetRequired, match=r"call reset\(\) first") as caught:
            USES[use](again)
        assert isinstance(caught.value, AxioError | InvalidEnvironment)
    assert list(env.agent_iter()) == []
    env.reset(seed=1)
    assert env.agent_selection == "player_0"
    assert not hasattr(env, "nonsense")


def test_unknown_attribute_raises_attribute_error() -> None:
    env = pettingzoo.raw_env(GAME)
    assert not hasattr(env, "agent_selection")
    assert getattr(env, "rewards", None) is None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        env.nonsense  # noqa: B018


@pytest.mark.parametrize("use", ["step", "action_masks", "render", "view", "move"])
def test_solo_environment_before_reset(use: str) -> None:
    env = SoloEnv(GAME, render_mode="ansi")
    with pytest.raises(ResetRequired, match=r"call reset\(\) first"):
        getattr(env, use)(*((0,) if use in ("step", "move") else ()))
    env.reset(seed=1)


@pytest.mark.parametrize("use", ["step", "render"])
def test_vector_environment_before_reset(use: str) -> None:
    envs = SoloVectorEnv(GAME, 2, render_mode="ansi")
    with pytest.raises(gymnasium.error.ResetNeeded):
        getattr(envs, use)(*(([0, 0],) if use == "step" else ()))
    envs.close()
