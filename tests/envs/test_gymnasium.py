"""Gymnasium: its checker, strong play compared with a table, and vector environments."""

from __future__ import annotations

import copy
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import axiogames.envs.gymnasium
from axiogames.envs.gymnasium import REWARDS, SoloEnv, SoloVectorEnv
from axiogames.errors import AxioError, IllegalMove, InvalidBatchInput
from axiogames.games import GAMES
from axiogames.rng import Generator
from tests.envs.strong import MirrorTable, bot_move

each_game = pytest.mark.parametrize("game", GAMES)


def new_env(game: str, **settings: Any) -> SoloEnv:
    """Return the unwrapped environment of a registered id."""
    env = gymnasium.make(f"axio/{game}-v0", **settings).unwrapped
    assert isinstance(env, SoloEnv)
    return env


def assert_same_results(first: Any, second: Any) -> None:
    """Fail if two results differ, apart from the info of illegal actions."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for name in first:
            if name != "illegal":
                assert_same_results(first[name], second[name])
    elif isinstance(first, tuple):
        for mine, theirs in zip(first, second, strict=True):
            assert_same_results(mine, theirs)
    else:
        assert first.dtype == second.dtype
        assert np.array_equal(first, second)


@each_game
@pytest.mark.parametrize("settings", [{}, {"reward": "gains", "render_mode": "ansi"}], ids=["plain", "gains"])
def test_environment_checker_passes(
    game: str, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    check_env(new_env(game, **settings))
    assert "seat 0" in capsys.readouterr().out  # the `human` render mode prints


def test_environments_are_registered() -> None:
    for game in GAMES:
        env = gymnasium.make(f"axiogames.envs.gymnasium:axio/{game}-v0", disable_env_checker=True)
        assert env.spec is not None
        assert env.spec.id == f"axio/{game}-v0"
        assert isinstance(gymnasium.make_vec(f"axio/{game}-v0", num_envs=2).unwrapped, SoloVectorEnv)


@each_game
@pytest.mark.parametrize("style", ["greedy", "balanced"])
def test_strong_play_matches_a_table(game: str, style: str) -> None:
    env = new_env(game, reward="rise")
    observed, info = env.reset(seed=8)
    rng, mirror, total, over = Generator(style), MirrorTable(env._game), 0.0, False
    opening = env._game.points.min()
    while not over:
        mirror.compare(info["action_mask"])
        assert (info["action_mask"] == env.action_masks()).all()
        assert observed in env.observation_space
        move = bot_move(env.view(), style, rng)
        observed, reward, over, truncated, info = env.step(env.action(move))
        mirror.play(move)
        total += reward
        assert over == mirror.table.over
        assert not truncated
        assert dict(zip(env.tracks, info["points"].tolist(), strict=True)) == mirror.table.scores[0]
    mirror.compare(info["action_mask"])
    assert total == min(mirror.table.scores[0].values()) - opening


@each_game
def test_rewards_add_up(game: str) -> None:
    totals = {}
    for reward in REWARDS:
        env, rng, rewards, over = new_env(game, reward=reward), random.Random(2), [], False
        _, info = env.reset(seed=2)
        opening = info["points"].astype(int)
        while not over:
            _, value, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"]).tolist()))
            rewards.append(value)
        totals[reward] = sum(rewards)
        points = info["points"]
        assert reward != "lowest" or not any(rewards[:-1])
    assert totals["lowest"] == points.min()
    assert totals["rise"] == points.min() - opening.min()
    assert totals["gains"] == (points - opening).sum()


@each_game
@pytest.mark.parametrize("reward", ["lowest", "gains"])
def test_vector_environment_matches_single_ones(game: str, reward: str) -> None:
    """The results equal those of Gymnasium's own vector environment, after illegal actions too."""
    many = gymnasium.make_vec(f"axio/{game}-v0", num_envs=3, reward=reward)
    single = gymnasium.make_vec(f"axio/{game}-v0", num_envs=3, reward=reward, vectorization_mode="sync")
    assert many.metadata["autoreset_mode"] == single.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(many, name) == getattr(single, name)
    started, expected = many.reset(seed=5), single.reset(seed=5)
    assert_same_results(started, expected)
    rng, ended = random.Random(3), 0
    info = started[1]
    for turn in range(140):
        actions = [rng.choice(np.flatnonzero(mask).tolist() or [0]) for mask in info["action_mask"]]
        if turn % 30 == 29:
            actions[1] = int(info["action_mask"][1].argmin())
        ours, theirs = many.step(np.array(actions)), single.step(np.array(actions))
        assert_same_results(ours, theirs)
        assert many.observation_space.contains(ours[0])
        info = ours[-1]
        ended += int(ours[2].sum())
    assert ended > 4
    many.close()


def test_vector_environment_with_rise_threads_and_seeds() -> None:
    single, threaded = (SoloVectorEnv("rota", 5, reward="rise", threads=threads) for threads in (1, 2))
    assert_same_results(single.reset(seed=[4, 3, 2, 1, 0]), threaded.reset(seed=[4, 3, 2, 1, 0]))
    env = new_env("rota")
    for i, seed in enumerate((4, 3, 2, 1, 0)):
        observed, _ = env.reset(seed=seed)
        assert (observed["board"] == single._observation_and_info(np.ones(5, np.bool_))[0]["board"][i]).all()
    total = np.zeros(5)
    for _ in range(14):
        ours, theirs = single.step(single._batch.greedy()), threaded.step(threaded._batch.greedy())
        assert_same_results(ours, theirs)
        total = np.where(ours[2], 0, total + ours[1])
        assert (total[~ours[2]] == ours[-1]["points"][~ours[2]].min(axis=1)).all()
    threaded.close()


def test_reset_mask_resets_selected_games() -> None:
    envs = SoloVectorEnv("axio", 3)
    first, _ = envs.reset(seed=1)
    envs.step(envs._batch.sample())
    _, before = envs.reset(seed=1, options={"reset_mask": np.array([True, False, True])})
    assert before["_points"].tolist() == [True, False, True]
    again, _ = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert (again["board"][[0, 2]] == first["board"][[0, 2]]).all()
    assert (again["vector"][1] != first["vector"][1]).any()


def test_returned_arrays_are_not_reused() -> None:
    envs = SoloVectorEnv("hex", 4)
    kept = [envs.reset(seed=1)]
    copies = [copy.deepcopy(kept[0])]
    for _ in range(6):
        observed, _, _, _, info = envs.step(envs._batch.sample())
        kept.append((observed, info))
        copies.append(copy.deepcopy(kept[-1]))
    for now, then in zip(kept, copies, strict=True):
        assert_same_results(now, then)


def test_games_without_a_seed_differ() -> None:
    hands = {new_env("hex").reset()[0]["vector"].tobytes() for _ in range(12)}
    hands |= {vector.tobytes() for vector in SoloVectorEnv("hex", 12).reset()[0]["vector"]}
    assert len(hands) > 4


def test_render_modes() -> None:
    env, envs = new_env("trio", render_mode="rgb_array"), SoloVectorEnv("trio", 2, render_mode="ansi")
    env.reset(seed=1)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.shape[1:] == (640, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 5
    envs.reset(seed=1)
    texts = envs.render()
    assert len(texts) == 2
    assert texts[0] == env.view().text()


# ---------------------------------------------------------------- errors


def test_illegal_actions() -> None:
    env = new_env("axio")
    _, info = env.reset(seed=1)
    wrong = int(info["action_mask"].argmin())
    observed, reward, over, truncated, info = env.step(wrong)
    assert (reward, over, truncated) == (-1.0, True, False)
    assert info["illegal"].startswith(f"action {wrong}: ")
    assert not info["action_mask"].any()
    assert dict(zip(env.observation_names, observed["vector"].tolist(), strict=True))["phase.over"] == 1
    assert env.step(0)[1:3] == (-1.0, True)  # the game stays over
    strict = new_env("axio", illegal="raise")
    strict.reset(seed=1)
    before = strict._game.states.tobytes()
    for action in (wrong, -1, 10**9, None):
        with pytest.raises(IllegalMove):
            strict.step(action)
    assert strict._game.states.tobytes() == before
    many = SoloVectorEnv("axio", 2, illegal="raise")
    many.reset(seed=1)
    with pytest.raises(InvalidBatchInput, match=f"action {wrong} is illegal in game 0"):
        many.step(np.array([wrong, wrong]))


@pytest.mark.parametrize("kind", [SoloEnv, SoloVectorEnv])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"options": {"huge": True}}, "no option 'huge'"),
        ({"reward": "win"}, "unknown reward 'win': choose from lowest, rise, gains"),
        ({"illegal": "shrug"}, "'end' or 'raise', not 'shrug'"),
        ({"render_mode": "opera"}, "unknown render mode 'opera'"),
    ],
)
def test_invalid_environment(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AxioError, match=message):
        kind(**{"game": "rota", **settings})


def test_invalid_calls() -> None:
    env, envs = new_env("rota"), SoloVectorEnv("rota", 3)
    env.reset(seed=1)
    with pytest.raises(AxioError, match="no render mode"):
        env.render()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
        envs.step(np.zeros(3, np.int64))
    with pytest.raises(AxioError, match="games must be at least 1"):
        SoloVectorEnv("rota", 0)
    seeds: list[Any] = [[1, 2], "seven", [1, "two", 3]]
    for seed in seeds:
        with pytest.raises(AxioError, match="a seed must be an integer, or a list of 3"):
            envs.reset(seed=seed)
    masks: list[Any] = [np.zeros(3, np.bool_), np.ones(2, np.bool_), [1, 1, 0]]
    for mask in masks:
        with pytest.raises(AxioError, match="reset_mask must be an array of 3 bools"):
            envs.reset(options={"reset_mask": mask})
    envs.reset(seed=1)
    actions: list[Any] = [[0, 0], [0.5, 0, 0], None]
    for wrong in actions:
        with pytest.raises(AxioError, match="actions must be 3 integers"):
            envs.step(wrong)


def test_observation_and_action_names() -> None:
    env = new_env("hex")
    env.reset(seed=1)
    move = env.move(int(env.action_masks().argmax()))
    assert env.action(str(move)) == int(env.action_masks().argmax())
    assert env.board_names[-1] == "empty"
    assert axiogames.envs.gymnasium.__doc__
