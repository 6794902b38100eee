"""PettingZoo: its own tests, strong play compared with a table, hidden information, global state."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, max_cycles_test, performance_benchmark, render_test, seed_test
from pettingzoo.utils import BaseWrapper, wrappers
from pettingzoo.utils.conversions import aec_to_parallel_wrapper, turn_based_aec_to_parallel

from axiogames.batch import Batch
from axiogames.envs import pettingzoo
from axiogames.envs.pettingzoo import GameEnv
from axiogames.errors import AxioError, IllegalMove, Reason
from axiogames.games import GAMES
from axiogames.rng import Generator
from tests.envs.strong import MirrorTable, bot_move
from tests.envs.variants import variants

each_variant = pytest.mark.parametrize(("game", "players"), variants())
each_game = pytest.mark.parametrize("game", GAMES)
# Three seats, or two where only these tests would need a larger board: `make slow` compiles those.
LARGER = GAMES[:2]
three_seats = pytest.mark.parametrize(
    ("game", "players"),
    [
        *((game, 2 if game in LARGER else 3) for game in GAMES),
        *(pytest.param(game, 3, marks=pytest.mark.slow) for game in LARGER),
    ],
)

# PettingZoo warns of every environment with a mask in its observations, except its own.
MASK_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


def random_action(env: Any, rng: random.Random) -> int:
    return rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist())


def played_out(env: Any, seed: int = 0) -> dict[str, float]:
    """Play a whole game at random and return each agent's reward."""
    rng, total = random.Random(seed), dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observed, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        if terminated or truncated:
            env.step(None)
        else:
            env.step(rng.choice(np.flatnonzero(observed["action_mask"]).tolist()))
    return total


class AnyAction(BaseWrapper):  # type: ignore[misc]
    """Maps any integer to a legal action, for tests without masks."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "is_parallelizable": True}

    def step(self, action: Any) -> None:
        if action is not None:
            legal = np.flatnonzero(self.env.observe(self.env.agent_selection)["action_mask"])
            action = legal[action % len(legal)]
        self.env.step(action)


# ---------------------------------------------------------------- tests of PettingZoo


@each_variant
def test_api_test_passes(game: str, players: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(pettingzoo.env(game, players), num_cycles=60)
        api_test(pettingzoo.raw_env(game, players, reward="gains"), num_cycles=60)
    assert {str(warning.message) for warning in caught} <= MASK_WARNINGS


@each_variant
def test_seed_test_passes(game: str, players: int) -> None:
    seed_test(lambda: pettingzoo.env(game, players), num_cycles=30)


def test_max_cycles_test_passes() -> None:
    """The test ignores masks and assumes alternating seats, as in the first moves of this game."""

    def env(max_cycles: int) -> Any:
        return AnyAction(pettingzoo.raw_env("rota", 3, max_cycles=max_cycles))

    def parallel_env(max_cycles: int) -> Any:
        return aec_to_parallel_wrapper(env(max_cycles))

    max_cycles_test(SimpleNamespace(env=env, parallel_env=parallel_env))


def test_performance_benchmark_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = iter(range(100_000))
    clock = SimpleNamespace(time=lambda: next(ticks) / 40)  # it would measure for five seconds
    monkeypatch.setattr(sys.modules["pettingzoo.test.performance_benchmark"], "time", clock)
    performance_benchmark(pettingzoo.env("axio", 2))
    assert "turns per second" in capsys.readouterr().out


@each_game
def test_render_test_passes(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    def new_env(render_mode: str) -> Any:
        return pettingzoo.env(game, 2, render_mode=render_mode)

    render_test(new_env, custom_tests={"ansi": lambda text: "seat 1" in text})
    assert "seat 0" in capsys.readouterr().out
    env = new_env("ansi")
    env.reset(seed=1)
    agent = env.agent_selection
    assert env.render() == env.view(agent).text()
    assert "?" in env.view(agent).hand(1 - env.possible_agents.index(agent))


def test_turn_based_parallel_wrapper_works() -> None:
    parallel = turn_based_aec_to_parallel(pettingzoo.raw_env("trio", 2))
    observed, _ = parallel.reset(seed=3)
    moving = next(agent for agent, observed in observed.items() if observed["action_mask"].any())
    observed, _, ended, _, infos = parallel.step({moving: int(observed[moving]["action_mask"].argmax())})
    assert infos[moving]["active_agent"] in observed
    assert not any(ended.values())


# ---------------------------------------------------------------- comparison with tables


def play_and_compare(env: GameEnv, style: str, seed: int) -> int:
    """Play a game with a bot, comparing with a table; return the number of extra turns."""
    env.reset(seed=seed)
    rng, mirror, total = Generator(style), MirrorTable(env._game), dict.fromkeys(env.agents, 0.0)
    again = 0
    for agent in env.agent_iter():
        observed, reward, ended, _, info = env.last()
        total[agent] += reward
        mirror.compare(observed["action_mask"])
        assert env.observation_space(agent).contains(observed)
        assert ended == mirror.table.over
        if ended:
            seat = env.possible_agents.index(agent)
            assert info == {"place": mirror.table.ranks[seat], "points": mirror.table.scores[seat]}
            env.step(None)
            continue
        assert agent == f"player_{mirror.table.turn}"
        move = bot_move(env.view(agent), style, rng)
        env.step(env.action(move))
        mirror.play(move)
        again += env.agent_selection == agent
    places = np.array(mirror.table.ranks)
    expected = [((places > own).sum() - (places < own).sum()) / max(len(places) - 1, 1) for own in places]
    assert list(total.values()) == pytest.approx(expected)
    return again


@each_variant
@pytest.mark.parametrize("style", ["greedy", "balanced"])
def test_strong_play_matches_a_table(game: str, players: int, style: str) -> None:
    again = play_and_compare(pettingzoo.raw_env(game, players, reward="place"), style, seed=players)
    assert again > 0 or game == "rota"


@pytest.mark.parametrize("option", ["children", "short"])
def test_strong_play_with_options_matches_a_table(option: str) -> None:
    env = pettingzoo.raw_env("trio", 2, options={option: True}, reward="place")
    assert env._game.variant.options == (option,)
    assert play_and_compare(env, "greedy", seed=1) > 0


def test_strong_solo_play_matches_a_table() -> None:
    env = pettingzoo.raw_env("hex", 1, reward="place")
    assert play_and_compare(env, "greedy", seed=1) > 10
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=30)
    assert {str(warning.message) for warning in caught} <= MASK_WARNINGS


def test_strong_play_reaches_caps_and_extra_turns() -> None:
    """Random play never reaches the cap of a track, which wins an extra turn."""
    for game in ("axio", "hex", "rota"):
        env, capped, again = pettingzoo.raw_env(game, 2), 0, 0
        rng = Generator(game)
        for seed in range(3):
            env.reset(seed=seed)
            while not any(env.terminations.values()):
                agent, cap = env.agent_selection, env._game.variant.cap
                seat = env.possible_agents.index(agent)
                before = (env._game.points[seat] == cap).sum()
                env.step(env.action(bot_move(env.view(agent), "greedy", rng)))
                reached = (env._game.points[seat] == cap).sum() > before
                capped += reached
                again += reached and env.agent_selection == agent
        assert capped > 0
        assert again > 0


@three_seats
def test_rewards_add_up(game: str, players: int) -> None:
    final = pettingzoo.raw_env(game, players)
    wins = played_out(final)
    points, places = final._game.points, final._game.view(None).ranks
    winners = places.count(1)
    won = (players - winners) / winners / (players - 1)
    lost = -1 / (players - 1)
    assert list(wins.values()) == pytest.approx([won if place == 1 else lost for place in places])
    total = {
        name: list(played_out(pettingzoo.raw_env(game, players, reward=name)).values())
        for name in pettingzoo.REWARDS
    }
    opening = final._game.variant.opening["scores"][0, :players].astype(int)
    assert total["lowest"] == points.min(axis=1).tolist()
    assert total["rise"] == (points.min(axis=1) - opening.min(axis=1)).tolist()
    assert total["gains"] == (points - opening).sum(axis=1).tolist()
    assert total["none"] == [0] * players


# ---------------------------------------------------------------- hidden information, copies, generators


def reshuffled(env: GameEnv, seat: int, rng: np.random.Generator) -> GameEnv:
    """Return the same game with other hidden tiles for a seat."""
    other = copy.deepcopy(env)
    state = other._game.states[0]
    hidden = [kind for kind, count in enumerate(state["bag"]) for _ in range(count)]
    holders = [holder for holder in range(env._game.players) if holder != seat]
    for holder in holders:
        hidden += state["hands"][holder][: state["held"][holder]].tolist()
    rng.shuffle(hidden)
    for holder in holders:
        held = int(state["held"][holder])
        state["hands"][holder][:held] = sorted(hidden.pop() for _ in range(held))
    state["bag"][:] = np.bincount(hidden, minlength=len(state["bag"]))
    return other


@three_seats
def test_observations_contain_no_hidden_tiles(game: str, players: int) -> None:
    env, rng, np_rng = pettingzoo.raw_env(game, players), Generator(game), np.random.default_rng(1)
    env.reset(seed=2)
    changed = 0
    while not any(env.terminations.values()):
        for seat, agent in enumerate(env.possible_agents):
            other = reshuffled(env, seat, np_rng)
            changed += other._game.states.tobytes() != env._game.states.tobytes()
            observed = env.observe(agent)
            assert data_equivalence(observed, other.observe(agent), exact=True)
            assert env.infos == other.infos
            # The mask of another seat would reveal its hand.
            assert observed["action_mask"].any() == (agent == env.agent_selection)
        env.step(env.action(bot_move(env.view(env.agent_selection), "balanced", rng)))
    assert changed > 10


def test_returned_observations_are_not_reused() -> None:
    env, rng = pettingzoo.raw_env("hex", 2), random.Random(4)
    env.reset(seed=4)
    kept, copies = [], []
    for _ in range(20):
        for observed in (env.last()[0], env.observe("player_0"), env.observe("player_1"), env.last()[0]):
            kept.append(observed)
            copies.append(copy.deepcopy(observed))
        env.step(random_action(env, rng))
    assert data_equivalence(kept, copies, exact=True)
    arrays = [
        array for observed in kept for array in (*observed["observation"].values(), observed["action_mask"])
    ]
    bases = {array.__array_interface__["data"][0] for array in arrays}
    assert len(bases) == len(arrays)


def test_seed_determines_the_game() -> None:
    """It is the first game of a batch with this seed, and so is the next game, without a seed."""
    env, batch = pettingzoo.raw_env("axio", 2), Batch("axio", 2, 1, seed=11, auto_reset=False)
    for seed in (11, None):
        env.reset(seed=seed)
        while not batch.over[0]:
            assert env._game.states.tobytes() == batch.states.tobytes()
            action = int(batch.masks()[0].argmax())
            batch.step(np.array([action]))
            env.step(action)
        assert all(env.terminations.values())
        batch.reset()


def test_environments_without_a_seed_differ() -> None:
    one, other = pettingzoo.env("hex", 2), pettingzoo.env("hex", 2)
    one.reset()
    other.reset()
    assert not data_equivalence(one.last()[0], other.last()[0])
    one.reset(seed=5)
    first = one.last()[0]
    one.reset()
    second = one.last()[0]
    assert not data_equivalence(first, second)
    other.reset(seed=5)
    other.reset()
    assert data_equivalence(second, other.last()[0], exact=True)


def test_environments_do_not_touch_global_generators() -> None:
    before = random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]
    played_out(pettingzoo.env("rota", 2), seed=9)
    pettingzoo.env("rota", 2).reset()
    assert random.getstate() == before[0]
    assert (np.random.get_state()[1] == before[1]).all()  # type: ignore[index]


def test_copies_are_independent() -> None:
    env, rng = pettingzoo.env("trio", 2), random.Random(1)
    env.reset(seed=1)
    env.step(random_action(env, rng))
    other = copy.deepcopy(env)
    action = random_action(env, rng)
    before = other.unwrapped._game.states.tobytes()
    env.step(action)
    assert other.unwrapped._game.states.tobytes() == before
    other.step(action)
    assert data_equivalence(env.last(), other.last(), exact=True)


# ---------------------------------------------------------------- errors


def test_illegal_action_changes_nothing() -> None:
    env = pettingzoo.raw_env("rota", 2)
    env.reset(seed=1)
    mask = env.last()[0]["action_mask"]
    before = env._game.states.tobytes(), env.agent_selection, dict(env.rewards)
    wrong: list[Any] = [
        int(np.flatnonzero(mask == 0)[0]),
        len(mask) - 1,
        len(mask),
        -1,
        1 << 70,
        None,
        1.5,
        "move",
    ]
    for action in wrong:
        with pytest.raises(IllegalMove, match="action "):
            env.step(action)
        assert (env._game.states.tobytes(), env.agent_selection, env.rewards) == before
    env = pettingzoo.raw_env("axio", 2)
    env.reset(seed=1)
    with pytest.raises(IllegalMove, match="only when an exchange is offered") as refused:
        env.step(env.action_space("player_0").n - 1)
    assert refused.value.reason == Reason.EXCHANGE_NOT_ALLOWED


def in_usual_wrappers(game: str, players: int) -> Any:
    """Return a game in PettingZoo's three usual wrappers."""
    env = wrappers.TerminateIllegalWrapper(pettingzoo.raw_env(game, players), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


@pytest.mark.parametrize("when", [0, 5, 10_000])
def test_safe_env_matches_the_usual_wrappers(when: int) -> None:
    ours, theirs = pettingzoo.env("rota", 3), in_usual_wrappers("rota", 3)
    for env in (ours, theirs):
        for name in (
            "agents",
            "num_agents",
            "agent_selection",
            "rewards",
            "terminations",
            "truncations",
            "infos",
        ):
            with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
                getattr(env, name)
        for call in (
            env.last,
            env.render,
            lambda env=env: env.step(0),
            lambda env=env: env.observe("player_0"),
            env.agent_iter,
        ):
            with pytest.raises((AssertionError, AttributeError), match="reset"):
                call()
        env.reset(seed=6)
        with pytest.raises(AssertionError, match="not in action space"):
            env.step(1 << 20)
        with pytest.raises(AssertionError, match="need to call step"):
            for _ in env.agent_iter():
                pass
        env.reset(seed=6)
    rng = random.Random(6)
    for turn, (one, other) in enumerate(zip(ours.agent_iter(), theirs.agent_iter(), strict=True)):
        assert one == other
        (*own, info), (*others, theirs_info) = ours.last(), theirs.last()
        assert data_equivalence(own, others, exact=True)
        assert info == theirs_info or "illegal" in info
        if own[2]:
            with pytest.raises(ValueError, match="only valid action is None"):
                ours.step(0)
            action = None
        else:
            mask = own[0]["action_mask"] != (turn == when)
            action = rng.choice(np.flatnonzero(mask).tolist())
        for env in (ours, theirs):
            env.step(action)
        for name in ("agents", "rewards", "terminations", "truncations"):
            assert getattr(ours, name) == getattr(theirs, name)
    assert not ours.agents
    ours.step(None)  # warns only
    assert str(ours) == str(theirs) == "rota_v0"


def test_max_cycles_truncates_the_game() -> None:
    env = pettingzoo.raw_env("hex", 2, max_cycles=3)
    assert sum(played_out(env).values()) == 0
    rng = random.Random(0)
    env.reset(seed=0)
    for _ in range(6):
        assert not any(env.truncations.values())
        env.step(random_action(env, rng))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert set(env.infos["player_1"]) == {"place", "points"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"players": 5}, "1 to 4 players, not 5"),
        ({"options": {"huge": True}}, "no option 'huge'"),
        ({"reward": "gold"}, "unknown reward 'gold': choose from none, win, place, lowest, gains, rise"),
        ({"max_cycles": 0}, "max_cycles must be a positive integer, not 0"),
        ({"render_mode": "opera"}, "unknown render mode 'opera': choose from human, ansi, rgb_array"),
    ],
)
def test_invalid_environment(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AxioError, match=message):
        pettingzoo.env(**{"game": "rota", **settings})


def test_invalid_calls() -> None:
    env = pettingzoo.raw_env("trio", 2, options={"short": True})
    with pytest.raises(AxioError, match="a seed must be an integer, not 'seven'"):
        env.reset(seed="seven")  # type: ignore[arg-type]
    env.reset(seed=1)
    for method in (env.observe, env.view, env.action_space, env.observation_space):
        with pytest.raises(AxioError, match="unknown agent 'player_2': choose from player_0, player_1"):
            method("player_2")
    with pytest.raises(AxioError, match="no render mode"):
        env.render()
    with pytest.raises(IllegalMove, match="not a legal action"):
        env.move(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))


def test_observation_and_action_names() -> None:
    env = pettingzoo.raw_env("axio", 2)
    env.reset(seed=1)
    observed = env.last()[0]
    entries = dict(zip(env.observation_names, observed["observation"]["vector"].tolist(), strict=True))
    assert entries["bag"] == 90
    assert sum(count for name, count in entries.items() if name.startswith("hand.")) == 5
    assert len(env.board_names) == observed["observation"]["board"].shape[0]
    assert env.tracks == tuple("RGBOP")


def test_package_imports_no_framework() -> None:
    """Only environments import frameworks, and they report a missing one."""
    script = """
import sys
for library in ("gymnasium", "pettingzoo", "momaland", "pyspiel"):
    sys.modules[library] = None
import axiogames, axiogames.batch, axiogames.model.table, axiogames.players, axiogames.envs, axiogames.cli
from axiogames.errors import MissingDependency
for framework in ("pettingzoo", "gymnasium", "momaland"):
    try:
        __import__(f"axiogames.envs.{framework}")
    except MissingDependency as error:
        print(error)
"""
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    assert output.count('pip install ".[rl]"') == 3
    assert "pettingzoo is required" in output
    assert "gymnasium is required" in output
