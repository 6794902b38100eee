"""MOMAland: its API test, and reward vectors that add up to the points of the game."""

from __future__ import annotations

import logging
import random
import warnings

import numpy as np
import pytest
from momaland.test import api_test

from axiogames.envs import momaland
from axiogames.errors import AxioError, IllegalMove
from axiogames.games import GAMES, find_variant
from axiogames.rng import Generator
from tests.envs.strong import MirrorTable, bot_move
from tests.envs.variants import variants

BY_COLOUR = [game for game in GAMES if len(find_variant(game).tracks) > 1]
each_variant = pytest.mark.parametrize(("game", "players"), variants(BY_COLOUR))

# MOMAland warns of every environment with a mask in its observations.
MASK_WARNINGS = {
    "Observation is not NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


@each_variant
def test_api_test_passes(game: str, players: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # it tries an action of one deal in another
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(momaland.env(game, players), num_cycles=60)
    assert {str(warning.message) for warning in caught} <= MASK_WARNINGS


@each_variant
def test_reward_vectors_add_up_to_the_points(game: str, players: int) -> None:
    env = momaland.raw_env(game, players)
    env.reset(seed=players)
    rng, mirror = Generator(game), MirrorTable(env._game)
    total = {agent: np.zeros(len(env.tracks)) for agent in env.agents}
    opening = env._game.points
    kept = []
    for agent in env.agent_iter():
        _, reward, ended, _, _ = env.last()
        kept.append((reward, reward.copy()))
        total[agent] += reward
        assert reward.dtype == env.reward_space(agent).dtype
        if ended:
            env.step(None)
            continue
        move = bot_move(env.view(agent), "balanced", rng)
        env.step(env.action(move))
        gain = mirror.play(move)
        points = [int(value) for value in env.rewards[agent]]
        # Points beyond the cap are lost.
        uncapped = [gain.get(track, 0) for track in env.tracks]
        assert all(point <= limit for point, limit in zip(points, uncapped, strict=True))
        assert env.reward_space(agent).contains(env.rewards[agent])
        for other, vector in env.rewards.items():
            assert other == agent or not vector.any()
    for seat, vector in enumerate(total.values()):
        assert (opening[seat] + vector).tolist() == list(mirror.table.scores[seat].values())
    assert all((now == then).all() for now, then in kept)
    assert len({id(now) for now, _ in kept}) == len(kept)


def test_illegal_action_costs_one_in_every_colour() -> None:
    env = momaland.env("axio", 2)
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards[agent].tolist() == [-1.0] * 5
    assert env.last()[1].tolist() == ([-1.0] * 5 if env.agent_selection == agent else [0.0] * 5)
    raw = momaland.raw_env("axio", 2)
    raw.reset(seed=1)
    with pytest.raises(IllegalMove, match="action 0"):
        raw.step(int(raw.last()[0]["action_mask"].argmin()))


def test_max_cycles_truncates_the_game() -> None:
    env, rng = momaland.raw_env("rota", 2, max_cycles=2, options={}), random.Random(1)
    env.reset(seed=1)
    for _ in range(4):
        env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]).tolist()))
    assert all(env.truncations.values())


@pytest.mark.parametrize("game", sorted(set(GAMES) - set(BY_COLOUR)))
def test_single_track_is_rejected(game: str) -> None:
    with pytest.raises(AxioError, match=f"{game} has a single track .* use axiogames.envs.pettingzoo"):
        momaland.env(game, 2)


def test_unknown_agent_is_rejected() -> None:
    env = momaland.raw_env("hex", 2)
    assert env.reward_space("player_1").shape == (6,)
    assert env.reward_space("player_1") is env.reward_space("player_1")
    with pytest.raises(AxioError, match="unknown agent 'player_7'"):
        env.reward_space("player_7")
