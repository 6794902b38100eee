"""Evaluation in rule code: utility, features, results, the network and rollouts.

These tests also run interpreted, so they play few moves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from axiogames import Table, new_game
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.evaluation import NEW_HAND, expected_best
from axiogames.games.runtime.signatures import GameArrays
from axiogames.games.runtime.state import OFFER, OVER, allocate
from axiogames.games.runtime.xorshift import seed_state
from axiogames.players import Budget, player
from axiogames.players.evaluation.network import feature_count
from axiogames.players.evaluation.rollout_loops import (
    PositionArrays,
    one_ply_search_at,
    play_matches,
    rollout_policy_at,
    self_play,
)
from axiogames.players.evaluation.weights import MAX_SEATS, load_weights, scratch_dtype, untrained_weights
from axiogames.players.search.rollouts import NEVER, TO_THE_END, Rollouts
from axiogames.rng import Generator
from tests.players.search.positions import VARIANTS, played

# Interpreted rules are a thousand times slower, so games are short and positions close to the end. Loops for
# training are compiled for these tests only, so few games use them in any case.
SHORT: list[Any] = [("rota", 1)]
if not INTERPRETED:
    SHORT += [("rota", 2), ("rota", 3)]
    SHORT += [pytest.param(*case, marks=pytest.mark.slow) for case in (("axio", 2), ("trio", 3))]
LATE = [("axio", 1, 33), ("axio", 2, 33), ("hex", 2, 38), ("rota", 2, 22), ("trio", 1, 40), ("trio", 2, 60)]
MOVER = "random" if INTERPRETED else "greedy"  # random moves are faster
POSITIONS = LATE if INTERPRETED else [*LATE, *((game, players, 6) for game, players in VARIANTS)]


def scratch_of(table: Table) -> Any:
    return allocate(scratch_dtype(len(table.variant.tracks)))


@pytest.mark.parametrize(("game", "players"), SHORT)
def test_self_play_finishes_games(game: str, players: int) -> None:
    variant = find_variant(game, players)
    weights, scratch = load_weights(variant), allocate(scratch_dtype(len(variant.tracks)))
    states = allocate(variant.opening.dtype, 2)
    columns = feature_count(MAX_SEATS, len(variant.tracks))
    inputs, results = np.zeros((400, columns), np.float32), np.zeros(400, np.float32)
    seats = np.full(400, -1, np.int64)
    for keep in (0, 3):
        rows = variant.kernels[self_play](
            variant.constants,
            GameArrays(variant.opening, states, seed_state(keep + 1)),
            keep,
            100,
            weights,
            scratch,
            PositionArrays(inputs, results, seats),
        )
        assert states["phase"][0] == OVER
        assert 5 < rows < 400
        assert set(seats[:rows].tolist()) == set(range(players))
        assert np.isfinite(inputs[:rows]).all()
        assert ((results[:rows] >= 0) & (results[:rows] <= 1)).all()
        if players > 1:  # each seat's share of opponents beaten: half of all pairs in total
            last = [results[np.flatnonzero(seats[:rows] == seat)[-1]] for seat in range(players)]
            assert sum(last) == pytest.approx(players / 2, abs=1e-5)


@pytest.mark.parametrize(("game", "players", "plies"), POSITIONS)
def test_rollouts_to_the_end_count_results(game: str, players: int, plies: int) -> None:
    table = played(game, players, plies, by=MOVER)
    assert table.turn is not None
    view = table.view(table.turn)
    playing = Rollouts(view, untrained_weights(view.variant), 7)
    actions = view.legal_moves().actions[:: max(1, len(view.legal_moves()) // 3)][:3]
    (stats,) = playing.run(actions, 0, 1 if INTERPRETED else 4, TO_THE_END)
    assert (stats.points >= 0).all()
    if players == 2:
        assert set((2 * stats.sums).tolist()) <= set(range(9))
    (again,) = playing.run(actions, 0, 1 if INTERPRETED else 4, TO_THE_END)
    assert (stats.sums == again.sums).all()
    assert (stats.points == again.points).all()


@pytest.mark.parametrize(
    ("game", "players", "plies"),
    [("rota", 2, 22)] if INTERPRETED else [(game, players, 6) for game in GAMES for players in (1, 2, 4)],
)
def test_rollouts_use_one_ply_search_after_a_threshold(game: str, players: int, plies: int) -> None:
    """One-ply search from the start and none at all lead to different, reproducible points."""
    table = played(game, players, plies, by=MOVER)
    assert table.turn is not None
    view = table.view(table.turn)
    weights, action = load_weights(view.variant), view.legal_moves().actions[:1]
    rollouts = 1 if INTERPRETED else 16

    def points(search_after: float) -> list[float]:
        (stats,) = Rollouts(view, weights, 7, search_after=search_after).run(action, 0, rollouts, TO_THE_END)
        assert stats.samples == rollouts
        assert 0 <= stats.means[0] <= 1
        return [*stats.points.ravel().tolist(), *stats.sums.tolist()]

    searching = points(0.0)
    assert searching == points(0.0)
    if not INTERPRETED:
        assert points(NEVER) == points(1.0)  # progress never exceeds 1
        assert searching != points(NEVER)


@pytest.mark.parametrize(("game", "players", "plies"), [*POSITIONS, ("axio", 2, 20)])
def test_policy_and_one_ply_search_choose_legal_moves(game: str, players: int, plies: int) -> None:
    table = played(game, players, plies, by=MOVER)
    variant = table.variant
    assert table.turn is not None
    states = allocate(table.state.dtype, 2)
    states[0] = table.view(table.turn).state[0]
    policy_action = variant.kernels[rollout_policy_at](
        variant.constants, states[:1], seed_state(1), load_weights(variant), scratch_of(table)
    )
    assert policy_action in table.legal_moves().actions
    for keep in (1, 4):
        action, value = variant.kernels[one_ply_search_at](
            variant.constants, states, keep, load_weights(variant), scratch_of(table)
        )
        assert action in table.legal_moves().actions
        assert 0 <= value <= 1


@pytest.mark.parametrize("players", [2] if INTERPRETED else [1, 2, 3, 4])
def test_rollout_policy_places_first_tiles_legally(players: int) -> None:
    table = new_game("axio", players, seed=5)
    for _ in range(players):
        legal = table.legal_moves()
        policy_action = table.variant.kernels[rollout_policy_at](
            table.variant.constants,
            table.state.copy(),
            seed_state(1),
            untrained_weights(table.variant),
            scratch_of(table),
        )
        assert policy_action in legal.actions
        assert len({move.at for move in legal}) < int(table.state["n_free"][0])  # some free slots are illegal
        table.play_unchecked(policy_action)


@pytest.mark.parametrize("game", ["axio"] if INTERPRETED else ["axio", "hex"])
def test_rollout_policy_accepts_an_offered_exchange(game: str) -> None:
    table, rng = new_game(game, 2, seed=1), Generator(1)
    while table.state["phase"][0] != OFFER:
        table = table if not table.over else new_game(game, 2, seed=rng.bits())
        table.play(player("random").choose(table.view(table.turn), Budget(), rng).move)
    policy_action = table.variant.kernels[rollout_policy_at](
        table.variant.constants,
        table.state.copy(),
        seed_state(1),
        untrained_weights(table.variant),
        scratch_of(table),
    )
    assert table.variant.decode(table.state, policy_action).kind == "exchange"
    assert _one_ply_choice(table, load_weights(table.variant)) in table.legal_moves().actions


@pytest.mark.parametrize("new_hand", [-1.0, 1e6])
def test_one_ply_search_lists_exchanges_of_higher_utility(new_hand: float) -> None:
    table = played("trio", 2, 12, by=MOVER)
    weights = load_weights(table.variant).copy()
    weights["utility_params"][0, NEW_HAND] = new_hand
    weights["output_weights"], weights["output_bias"] = 0, 0  # all positions have the same value
    states, scratch = allocate(table.state.dtype, 2), scratch_of(table)
    states[0] = table.state[0]
    table.variant.kernels[one_ply_search_at](table.variant.constants, states, 1, weights, scratch)
    listed = [table.variant.decode(table.state, int(action)).kind for action in scratch["actions"][0, :8]]
    assert listed[0] == "place"
    assert (listed[1:] == ["exchange"] * 7) == (new_hand > 0)


def test_one_ply_search_passes_without_an_alternative() -> None:
    table, rng = new_game("trio", 2, seed=1, options={"short": True}), Generator(1)
    while (legal := list(table.legal_moves()))[0].kind != "pass":
        placements = [move for move in legal if move.kind == "place"]
        table.play((placements or legal)[rng.randint(len(placements or legal))])
    assert len(legal) == 1
    chosen = _one_ply_choice(table, load_weights(table.variant))
    assert table.variant.decode(table.state, chosen).kind == "pass"


def _one_ply_choice(table: Table, weights: Any) -> int:
    states = allocate(table.state.dtype, 2)
    states[0] = table.state[0]
    action, _ = table.variant.kernels[one_ply_search_at](
        table.variant.constants, states, 4, weights, scratch_of(table)
    )
    return int(action)


def test_rollouts_sample_removed_tiles() -> None:
    """In the short game, some unseen tiles are neither in a hand nor in the bag."""
    table = new_game("trio", 2, seed=5, options={"short": True})
    view = table.view(0)
    playing = Rollouts(view, untrained_weights(view.variant), 3)
    (stats,) = playing.run(view.legal_moves().actions[:1], 0, 1, 1)
    assert stats.samples == 1
    assert int(view.state["unseen"][0]) > int(view.state["in_bag"][0]) + 3


@pytest.mark.parametrize("game", ["rota", pytest.param("axio", marks=pytest.mark.slow)])
def test_matches_of_two_weights_share_the_points(game: str) -> None:
    variant = find_variant(game, 2)
    weights = untrained_weights(variant)
    contestants = np.concatenate([weights, weights])
    points = np.zeros(2)
    states = allocate(variant.opening.dtype, 2)
    keeps, games = np.array([0, 2], np.int64), 1 if INTERPRETED else 2
    variant.kernels[play_matches](
        variant.constants,
        GameArrays(variant.opening, states, seed_state(3)),
        keeps,
        games,
        contestants,
        allocate(scratch_dtype(len(variant.tracks))),
        points,
    )
    assert points.sum() == pytest.approx(games)


@pytest.mark.parametrize("draws", [0, 1, 2, 5])
def test_expected_best_is_the_mean_maximum(draws: int) -> None:
    rng = np.random.default_rng(draws)
    for _ in range(20):
        bag = rng.integers(0, 4, 6).astype(np.int8)
        best = rng.random(6).astype(np.float32)
        known_best = np.float32(rng.random() * 0.5)
        found = _expected_best(bag, draws, known_best, best)
        tiles = np.repeat(best, bag)
        if len(tiles) == 0 or draws == 0:
            assert found == pytest.approx(known_best)
            continue
        values = np.sort(np.maximum(tiles, known_best))
        n = len(values)
        shares = [((i + 1) / n) ** draws for i in range(n)]
        exact = sum(v * (b - a) for v, (a, b) in zip(values, pairwise([0.0, *shares]), strict=True))
        assert found == pytest.approx(exact, abs=1e-4)


def _expected_best(bag: np.ndarray, draws: int, known_best: np.float32, best: np.ndarray) -> float:
    order = np.zeros(len(bag), np.int64)
    if INTERPRETED:
        return float(expected_best(bag, int(bag.sum()), draws, known_best, best, order))
    from axiogames.games.runtime.compile import entry_point

    return float(entry_point(_through)(bag, int(bag.sum()), draws, known_best, best, order))


def _through(bag, unseen, draws, known_best, best, order):  # type: ignore[no-untyped-def]
    return expected_best(bag, unseen, draws, known_best, best, order)
