"""Choices in compiled code are those of a simple reading of the rules of each bot.

These tests also run interpreted, so they choose in few positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiogames import Table, View, new_game
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.compile import INTERPRETED, bind
from axiogames.games.runtime.loops import step
from axiogames.games.runtime.state import OFFER, OVER, allocate
from axiogames.games.runtime.xorshift import randint, scale, seed_from_word, seed_state
from axiogames.players import Budget, player
from axiogames.players.bots.choosing import (
    BALANCED,
    GREEDY,
    RANDOM,
    SAMPLED,
    choice_buffers,
    choose_by_points,
    choose_by_value,
)
from axiogames.players.bots.levels import SampledMoves
from axiogames.players.bulk.games import BulkGames, policies_of
from axiogames.players.evaluation.weights import load_weights, scratch_dtype
from axiogames.rng import Generator
from tests.players.search.positions import VARIANTS, played

MOVER = "random" if INTERPRETED else "greedy"
LATE = [
    ("axio", 1, 33),
    ("axio", 2, 0),
    ("axio", 2, 28),
    ("hex", 2, 38),
    ("rota", 2, 22),
    ("trio", 1, 40),
    ("trio", 2, 60),
]
POSITIONS = LATE if INTERPRETED else [*LATE, *((*one, plies) for one in VARIANTS for plies in (0, 7, 16))]
WORDS = [0, 1 << 63, (1 << 64) - 1] if INTERPRETED else [n << 58 for n in range(64)]


def view_of(table: Table) -> View:
    return table.view(table.turn)


def chosen(view: View, policy: int, word: int, samples: int = 0) -> int:
    variant = view.variant
    words, buffers = np.array([word], np.uint64), choice_buffers(variant)
    state = allocate(view.state.dtype, 1)
    state[0] = view.state[0]
    kernel = variant.kernels[choose_by_points]
    return int(kernel(variant.constants, state, policy, samples, words, buffers))


def best(view: View, policy: int) -> list[int]:
    """Return the equally good actions of a policy by comparing all legal moves."""
    moves = view.legal_moves()
    gains, turn = view.gains(moves), view.turn
    assert turn is not None
    own = list(view.scores[turn].values())
    keys = []
    for move, gain in zip(moves, gains.tolist(), strict=True):
        after = sorted(a + b for a, b in zip(own, gain, strict=True))
        exchanged = len(move.tiles) or len(view.hand(turn)) if move.kind == "exchange" else 0
        keys.append((after if policy == BALANCED else sum(gain), exchanged))
    highest = max(keys)
    return [action for action, key in zip(moves.actions.tolist(), keys, strict=True) if key == highest]


@pytest.mark.parametrize(("game", "players", "plies"), POSITIONS)
@pytest.mark.parametrize("policy", [RANDOM, GREEDY, BALANCED])
def test_a_word_selects_one_of_the_best_moves(game: str, players: int, plies: int, policy: int) -> None:
    view = view_of(played(game, players, plies, by=MOVER))
    among = view.legal_moves().actions.tolist() if policy == RANDOM else best(view, policy)
    for word in WORDS:
        assert chosen(view, policy, word) == among[word * len(among) >> 64]


@pytest.mark.parametrize(("game", "players", "plies"), POSITIONS)
def test_samples_are_compared_by_points(game: str, players: int, plies: int) -> None:
    view = view_of(played(game, players, plies, by=MOVER))
    legal = view.legal_moves().actions.tolist()
    assert chosen(view, SAMPLED, 5, samples=1) in legal
    many = 40 if INTERPRETED else 100_000  # so many that no move is missed
    found = chosen(view, SAMPLED, 5, samples=many)
    if not INTERPRETED:
        assert found in best(view, GREEDY)
    assert found in legal


@pytest.mark.parametrize("policy", [GREEDY, BALANCED, SAMPLED])
def test_an_offered_exchange_is_accepted(policy: int) -> None:
    table, rng = new_game(GAMES[0], 2, seed=1), Generator(1)
    while table.state["phase"][0] != OFFER:
        table = table if not table.over else new_game(GAMES[0], 2, seed=rng.bits())
        table.play(player("random").choose(view_of(table), Budget(), rng).move)
    view = view_of(table)
    for word in WORDS:
        assert view.variant.decode(view.state, chosen(view, policy, word, samples=20)).kind == "exchange"


@pytest.mark.parametrize("own", [(0, 0, 0, 0, 0), (3, 3, 17, 9, 3), (34, 2, 30, 35, 31), (1, 36, 36, 36, 36)])
def test_points_far_apart_are_compared_exactly(own: tuple[int, ...]) -> None:
    """In a solo game, tracks can differ by more points than a sum of keys has digits."""
    table = played(GAMES[0], 1, 20, by=MOVER)
    table.state["scores"][0, 0] = own
    view = view_of(table)
    among = best(view, BALANCED)
    for word in WORDS:
        assert chosen(view, BALANCED, word) == among[word * len(among) >> 64]


@pytest.mark.parametrize(("game", "players", "plies"), POSITIONS)
def test_samples_are_compared_by_value(game: str, players: int, plies: int) -> None:
    """The value is that of the position after the move, and more samples never find a lower one."""
    view = view_of(played(game, players, plies, by=MOVER))
    variant = view.variant
    values = []
    for samples in (1, 4) if INTERPRETED else (1, 5, 200):
        states = allocate(view.state.dtype, 2)
        states[0] = view.state[0]
        action, value = variant.kernels[choose_by_value](
            variant.constants,
            states,
            samples,
            np.array([7], np.uint64),
            load_weights(variant),
            allocate(scratch_dtype(len(variant.tracks))),
        )
        assert action in view.legal_moves().actions
        values.append(float(value))
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


@pytest.mark.parametrize("game", GAMES)
def test_a_choice_takes_one_word(game: str) -> None:
    view = view_of(played(game, 2, 60 if INTERPRETED else 6, by=MOVER))
    names = ["random", "greedy", "balanced"] if INTERPRETED else ["random", "greedy", *LEVELS_1_TO_5]
    for name in names:
        rng = Generator(3)
        choice = player(name).choose(view, Budget(), rng)
        assert rng.counter == 1
        assert choice.action == view.action_of(choice.move)
        assert choice.candidates[0].move == choice.move
    assert SampledMoves("few", 2).choose(view, Budget(), Generator(1)).move in view.legal_moves()


LEVELS_1_TO_5 = [f"level{n}" for n in range(1, 6)]


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_whole_game_is_that_of_its_actions(noise: float) -> None:
    """Interpreted, too: the smallest game, from its opening display to the end."""
    variant = find_variant("rota", 1)
    policies = policies_of(("random",))
    assert policies is not None
    played_game = BulkGames(variant).play("short", policies, noise)
    state = variant.new_state()
    for action in played_game.actions.tolist():
        variant.kernels[step](variant.constants, state, action, False)
    assert state["phase"][0] == OVER
    assert state.tobytes() == played_game.states[-1:].tobytes()
    assert played_game.noisy.any() == (noise > 0)


def test_draws_are_those_of_a_table() -> None:
    table = new_game("rota", 1, seed="draws")
    policies = policies_of(("random",))
    assert policies is not None
    found = BulkGames(table.variant).play("draws", policies)
    assert found.actions[: len(table.actions)].tolist() == table.actions


def scaled(words, n):  # type: ignore[no-untyped-def]
    return scale(words[0], n)


def seeded(rng, words):  # type: ignore[no-untyped-def]
    seed_from_word(rng, words[0])
    return randint(rng, 1000)


@pytest.mark.parametrize("word", [0, 1, 0x61C8864680B583EB, 0xDEADBEEF12345678, (1 << 63) + 5, (1 << 64) - 1])
def test_words_are_scaled_and_mixed_as_by_uncompiled_code(word: int) -> None:
    rules: Any = find_variant(GAMES[0], 2).kernels.rules
    words = np.array([word], np.uint64)
    scale_word, seed_rng = bind(scaled, rules), bind(seeded, rules)
    for n in (1, 2, 7, 1000, (1 << 32) - 1):
        assert scale_word(words, n) == word * n >> 64
    rng, expected = np.zeros(1, np.uint64), seed_state(word)
    found = seed_rng(rng, words)
    assert found == int(bind(_first, rules)(expected))
    assert rng[0] == expected[0]


def _first(rng):  # type: ignore[no-untyped-def]
    return randint(rng, 1000)
