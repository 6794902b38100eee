"""OpenSpiel: its own checks, and strong play compared with a table."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter, defaultdict
from random import Random
from typing import Any

import numpy as np
import pytest

from axiogames.batch import REWARDS, Batch
from axiogames.envs.openspiel import PREFIX, SpielBot, SpielGame, SpielState, pyspiel
from axiogames.errors import AxioError, IllegalMove
from axiogames.games import GAMES, find_variant
from axiogames.games import game as declared_game
from axiogames.games.runtime.state import DRAW, OFFER, OVER, START
from axiogames.model.position import Position
from axiogames.model.table import Table, new_game
from axiogames.players import Budget, player
from axiogames.rng import Generator
from tests.envs.variants import variants

SEATS = range(1, 5)


def loaded(name: str, **chosen: Any) -> SpielGame:
    game: SpielGame = pyspiel.load_game(PREFIX + name, chosen)
    return game


def options_of(name: str) -> dict[str, bool]:
    return {option.name: True for option in declared_game(name).options}


def resolve_chance(state: SpielState, rng: Random) -> None:
    """Apply outcomes of chance until a player has to move."""
    while state.is_chance_node():
        outcomes, odds = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, odds)[0])


def played(game: SpielGame, seed: int, moves: int = 10**6) -> SpielState:
    """Return a state after random moves, or at the end."""
    rng = Random(seed)
    state = game.new_initial_state()
    resolve_chance(state, rng)
    while moves > 0 and not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        resolve_chance(state, rng)
        moves -= 1
    return state


# ---------------------------------------------------------------- OpenSpiel's own checks


@pytest.mark.parametrize(("name", "players"), variants(players=SEATS))
def test_openspiel_suite_passes(name: str, players: int) -> None:
    chosen = options_of(name) if players > 2 else {}
    reward = list(REWARDS)[1 + players % 3]
    game = loaded(name, players=players, reward=reward, **chosen)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("name", GAMES)
def test_game_type_and_info(name: str) -> None:
    kind = pyspiel.GameType
    for players in SEATS:
        for reward in ("win", "place", "lowest"):
            game = loaded(name, players=players, reward=reward)
            game_type = game.get_type()
            assert game_type.chance_mode == kind.ChanceMode.EXPLICIT_STOCHASTIC
            assert game_type.dynamics == kind.Dynamics.SEQUENTIAL
            hides = players > 1
            assert (game_type.information == kind.Information.IMPERFECT_INFORMATION) == hides
            zero_sum = players > 1 and reward != "lowest"
            assert (game_type.utility == kind.Utility.ZERO_SUM) == zero_sum
            assert game.utility_sum() == (0 if zero_sum else None)
            assert game.num_distinct_actions() == find_variant(name, players).actions
    short = loaded(name, players=1, **options_of(name))
    removes = find_variant(name, 1, options_of(name)).opening["phase"][0] > START
    assert (short.get_type().information == kind.Information.IMPERFECT_INFORMATION) == removes


def test_rl_environment_runs() -> None:
    from open_spiel.python import rl_environment

    environment = rl_environment.Environment(loaded(GAMES[2], players=3))
    environment.seed(1)
    step = environment.reset()
    while not step.last():
        seat = step.observations["current_player"]
        assert len(step.observations["info_state"][seat]) == environment.observation_spec()["info_state"][0]
        step = environment.step([step.observations["legal_actions"][seat][-1]])
    assert sum(step.rewards) == pytest.approx(0)


def test_games_are_loaded_by_name_with_parameters() -> None:
    game = pyspiel.load_game(f"{PREFIX}{GAMES[1]}(players=3,reward=place)")
    assert (game.num_players(), game.reward, game.variant) == (3, "place", find_variant(GAMES[1], 3))
    game = pyspiel.load_game(f"{PREFIX}{GAMES[3]}(short=True)")
    assert game.variant.options == ("short",)
    assert {PREFIX + name for name in GAMES} <= set(pyspiel.registered_names())


# ---------------------------------------------------------------- comparison with tables


def follow(state: SpielState, table: Table, applied: int) -> int:
    """Apply new events of a table to a state, and return their number."""
    for action in table.actions[applied:]:
        if state.is_chance_node():
            weights = dict(state.play.variant.chances(state.play.state))
            odds = dict(state.chance_outcomes())
            assert odds.keys() == weights.keys()
            assert odds[action] == pytest.approx(weights[action] / sum(weights.values()))
            assert sum(odds.values()) == pytest.approx(1)
            state.apply_action(action)
        else:
            legal = state.legal_actions()
            actions = state.play.variant.legal_actions(state.play.state).tolist()
            assert len(legal) == len(actions)
            state.apply_action(legal[actions.index(action)])
    return len(table.actions)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if number % 2 else []) for number, name in enumerate(GAMES)],
)
def test_strong_play_matches_a_table(name: str) -> None:
    seen: Counter[str] = Counter()
    for style, players in (("greedy", 1), ("greedy", 2), ("balanced", 2), ("balanced", 3), ("greedy", 4)):
        table = new_game(name, players, seed=f"{style} {players}")
        game = loaded(name, players=players, reward="place")
        state, rng, applied, before = game.new_initial_state(), Generator(players), 0, None
        while True:
            applied = follow(state, table, applied)
            assert state.is_terminal() == table.over
            assert state.play.state.tobytes() == table.state.tobytes()
            assert state.scores().tolist() == [list(points.values()) for points in table.scores]
            if table.over:
                break
            assert state.current_player() == table.turn
            seen["again"] += before == table.turn and players > 1
            seen["offer"] += bool(table.state["phase"][0] == OFFER)
            before = table.turn
            legal, moves = state.legal_actions(), table.legal_moves()
            assert len(legal) == len(moves)
            for action, move in list(zip(legal, moves, strict=True))[:: 1 + len(moves) // 8]:
                assert state.action_to_string(action) == str(move)
                assert state.move(action) == move
            assert table.turn is not None
            table.play(player(style).choose(table.view(table.turn), Budget(), rng).move)
        cap = table.variant.cap
        seen["cap"] += cap is not None and any(cap in points.values() for points in table.scores)
        places = np.array(table.ranks)
        order = [(places > place).sum() - (places < place).sum() for place in places]
        assert state.returns() == pytest.approx(np.array(order) / max(players - 1, 1))
        assert state.rewards() == state.returns()
        assert len(state.history()) == len(table.actions) <= game.max_history_length()
        assert table.plies <= game.max_game_length()
        assert len(table.actions) - table.plies <= game.max_chance_nodes_in_history()
        assert Position.parse(str(state)).position == table.position
    # Cases that random play hardly ever reaches.
    assert seen["again"]
    assert seen["offer"] or not table.variant.exchange_is_public or not table.variant.non_placements
    assert seen["cap"] or table.variant.cap is None


@pytest.mark.parametrize("reward", ["win", "place", "lowest"])
def test_returns_are_the_rewards_of_a_batch(reward: str) -> None:
    for players in SEATS:
        game = loaded(GAMES[2], players=players, reward=reward)
        batch = Batch(GAMES[2], players, 1, seed=players, reward=reward, auto_reset=False)
        while not batch.over.all():
            rewards = batch.step(batch.sample()).rewards[0]
        state = game.new_initial_state()
        assert state.returns() == [0] * players
        state.play.state[0], state.play.phase = batch.states[0], OVER
        assert state.returns() == pytest.approx(rewards, abs=1e-6)
        assert all(game.min_utility() <= value <= game.max_utility() for value in state.returns())
        assert game.utility_sum() is None or abs(sum(state.returns())) < 1e-12


def test_first_draw_has_all_tiles() -> None:
    for name in GAMES:
        game = loaded(name)
        variant, state = game.variant, game.new_initial_state()
        total = sum(variant.tileset.values())
        odds = dict(state.chance_outcomes())
        if state.play.phase == DRAW:
            assert odds == {
                kind: pytest.approx(variant.tileset[tile] / total) for kind, tile in enumerate(variant.kinds)
            }
        else:  # in an opening display each tile has the same odds, however many ways it can lie
            kinds: dict[str, float] = defaultdict(float)
            for outcome, chance in odds.items():
                kinds["".join(sorted(state.action_to_string(outcome).split()[0]))] += chance
            whole: dict[str, float] = defaultdict(float)
            for tile, count in variant.tileset.items():
                whole["".join(sorted(tile))] += count / total
            assert kinds == pytest.approx(whole)
        assert max(odds) < game.max_chance_outcomes()


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("name", GAMES)
def test_copies_are_independent_and_pickles_are_equal(name: str) -> None:
    game = loaded(name, players=3, **options_of(name))
    state = played(game, 5, moves=9)
    text = str(state)
    for other in (state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert (str(other), other.history()) == (text, state.history())
        assert other.information_state_string(1) == state.information_state_string(1)
        other.apply_action(other.legal_actions()[0])
        assert str(other) != str(state) == text
    again, state_again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert (str(again), str(state_again)) == (str(game), text)
    assert state_again.play.state.tobytes() == state.play.state.tobytes()
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


def test_state_does_not_depend_on_earlier_games() -> None:
    first, second = (played(loaded(GAMES[0]), 4) for _ in range(2))
    played(loaded(GAMES[0]), 5)
    assert str(first) == str(second) == str(played(loaded(GAMES[0]), 4))


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"players": 5}, "1 to 4 players"),
        ({"reward": "gold"}, "unknown reward 'gold': choose from win, place, lowest"),
    ],
)
def test_invalid_game_parameters(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(AxioError, match=message):
        loaded(GAMES[0], **chosen)
    with pytest.raises(pyspiel.SpielError, match="colour"):
        pyspiel.load_game(PREFIX + GAMES[0], {"colour": "red"})


@pytest.mark.parametrize("name", GAMES)
def test_illegal_actions_change_nothing(name: str) -> None:
    game = loaded(name)
    state = game.new_initial_state()
    for wrong in (-2, game.max_chance_outcomes(), 10**9):
        with pytest.raises(IllegalMove, match="not among those"):
            state.apply_action(wrong)
    assert not state.history()
    state = played(game, 3, moves=4)
    before, history = state.play.state.tobytes(), state.history()
    legal = set(state.legal_actions())
    illegal = [action for action in range(game.num_distinct_actions()) if action not in legal]
    for wrong in (-2, game.num_distinct_actions(), 10**9, illegal[0], illegal[-1]):
        with pytest.raises(IllegalMove):
            state.apply_action(wrong)
    assert (state.play.state.tobytes(), state.history()) == (before, history)
    over = played(game, 3)
    with pytest.raises(IllegalMove, match="over"):
        over.apply_action(0)
    assert game.action_to_string(0, 0)


def test_missing_library_error_has_the_install_command() -> None:
    program = "import sys; sys.modules['pyspiel'] = None; import axiogames.envs.openspiel"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert run.returncode == 1
    assert 'pip install ".[rl]"' in run.stderr


def test_interpreter_exits_without_errors() -> None:
    """OpenSpiel releases registered games after the interpreter has shut down."""
    state = f"pyspiel.load_game('{PREFIX}{GAMES[0]}').new_initial_state()"
    program = f"import pyspiel, axiogames.envs.openspiel; {state}"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert (run.returncode, "Fatal" in run.stderr) == (0, False)


# ---------------------------------------------------------------- bots


@pytest.mark.parametrize("name", GAMES)
def test_players_are_openspiel_bots(name: str) -> None:
    """Bots see the same views as at a table and choose the same moves."""
    table = new_game(name, 2, seed=3)
    state, applied, rng = loaded(name).new_initial_state(), 0, Generator("bot")
    bot = SpielBot("balanced", seed="bot")
    bot.restart_at(state)
    for _ in range(12):
        applied = follow(state, table, applied)
        assert table.turn is not None
        view, own = table.view(table.turn), state.view(table.turn)
        assert (view.events, view.position) == (own.events, own.position)
        assert "?" in state.view().hand(0)
        move = player("balanced").choose(view, Budget(), rng).move
        action = bot.step(state)
        assert state.move(action) == move
        assert state.action(str(move)) == action
        table.play(move)
    with pytest.raises(IllegalMove):
        state.action("exchange" if name == GAMES[2] else "pass")


def test_bots_play_the_same_moves_as_at_a_table() -> None:
    game = loaded(GAMES[2])
    returns = pyspiel.evaluate_bots(game.new_initial_state(), [SpielBot("greedy"), SpielBot("random")], 1)
    assert returns == [1.0, -1.0]
