"""What players think with: the worth of points, what the board offers, results, the network, guesses.

These run interpreted, too, so they play little: every rule is compared with the plain way to say the same.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from axiogames import Table, new_game
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.evaluation import FRESH, expected_best
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

# Interpreted rules are a thousand times slower: short games, and positions close to the end. Loops that only
# training needs are compiled here and nowhere else, so there are few of those games in any case.
SHORT: list[Any] = [("rota", 1)]
if not INTERPRETED:
    SHORT += [("rota", 2), ("rota", 3)]
    SHORT += [pytest.param(*one, marks=pytest.mark.slow) for one in (("axio", 2), ("trio", 3))]
LATE = [("axio", 1, 33), ("axio", 2, 33), ("hex", 2, 38), ("rota", 2, 22), ("trio", 1, 40), ("trio", 2, 60)]
MOVER = "random" if INTERPRETED else "greedy"  # who looks at no points is there sooner
POSITIONS = LATE if INTERPRETED else [*LATE, *((game, players, 6) for game, players in VARIANTS)]


def desk_of(table: Table) -> Any:
    return allocate(scratch_dtype(len(table.variant.tracks)))


@pytest.mark.parametrize(("game", "players"), SHORT)
def test_a_mind_plays_whole_games(game: str, players: int) -> None:
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
        if players > 1:  # everybody's share of opponents left behind: together half of all pairs
            last = [results[np.flatnonzero(seats[:rows] == seat)[-1]] for seat in range(players)]
            assert sum(last) == pytest.approx(players / 2, abs=1e-5)


@pytest.mark.parametrize(("game", "players", "plies"), POSITIONS)
def test_rollouts_to_the_end_count_real_results(game: str, players: int, plies: int) -> None:
    table = played(game, players, plies, by=MOVER)
    assert table.turn is not None
    view = table.view(table.turn)
    playing = Rollouts(view, untrained_weights(view.variant), 7)
    actions = view.legal_moves().actions[:: max(1, len(view.legal_moves()) // 3)][:3]
    (tally,) = playing.run(actions, 0, 1 if INTERPRETED else 4, TO_THE_END)
    assert (tally.points >= 0).all()
    if players == 2:
        assert set((2 * tally.sums).tolist()) <= set(range(9))
    (again,) = playing.run(actions, 0, 1 if INTERPRETED else 4, TO_THE_END)
    assert (tally.sums == again.sums).all()
    assert (tally.points == again.points).all()


@pytest.mark.parametrize(
    ("game", "players", "plies"),
    [("rota", 2, 22)] if INTERPRETED else [(game, players, 6) for game in GAMES for players in (1, 2, 4)],
)
def test_late_in_a_game_everybody_looks_at_what_moves_lead_to(game: str, players: int, plies: int) -> None:
    """By looks from now on, or never: that leads elsewhere, and each to the same again."""
    table = played(game, players, plies, by=MOVER)
    assert table.turn is not None
    view = table.view(table.turn)
    weights, action = load_weights(view.variant), view.legal_moves().actions[:1]
    often = 1 if INTERPRETED else 16

    def points(search_after: float) -> list[float]:
        (tally,) = Rollouts(view, weights, 7, search_after=search_after).run(action, 0, often, TO_THE_END)
        assert tally.count.tolist() == [often]
        assert 0 <= tally.means[0] <= 1
        return [*tally.points.ravel().tolist(), *tally.sums.tolist()]

    looking = points(0.0)
    assert looking == points(0.0)
    if not INTERPRETED:
        assert points(NEVER) == points(1.0)  # never more than all of it is gone
        assert looking != points(NEVER)


@pytest.mark.parametrize(("game", "players", "plies"), [*POSITIONS, ("axio", 2, 20)])
def test_a_glance_takes_a_legal_move(game: str, players: int, plies: int) -> None:
    table = played(game, players, plies, by=MOVER)
    variant = table.variant
    assert table.turn is not None
    states = allocate(table.state.dtype, 2)
    states[0] = table.view(table.turn).state[0]
    keen = variant.kernels[rollout_policy_at](
        variant.constants, states[:1], seed_state(1), load_weights(variant), desk_of(table)
    )
    assert keen in table.legal_moves().actions
    for keep in (1, 4):
        action, value = variant.kernels[one_ply_search_at](
            variant.constants, states, keep, load_weights(variant), desk_of(table)
        )
        assert action in table.legal_moves().actions
        assert 0 <= value <= 1


@pytest.mark.parametrize("players", [2] if INTERPRETED else [1, 2, 3, 4])
def test_simple_play_places_first_tiles_where_they_may_lie(players: int) -> None:
    table = new_game("axio", players, seed=5)
    for _ in range(players):
        legal = table.legal_moves()
        keen = table.variant.kernels[rollout_policy_at](
            table.variant.constants,
            table.state.copy(),
            seed_state(1),
            untrained_weights(table.variant),
            desk_of(table),
        )
        assert keen in legal.actions
        assert len({move.at for move in legal}) < int(table.state["n_free"][0])  # not every place will do
        table.play_unchecked(keen)


@pytest.mark.parametrize("game", ["axio"] if INTERPRETED else ["axio", "hex"])
def test_simple_play_takes_a_new_hand_where_it_is_offered(game: str) -> None:
    table, rng = new_game(game, 2, seed=1), Generator(1)
    while table.state["phase"][0] != OFFER:
        table = table if not table.over else new_game(game, 2, seed=rng.bits())
        table.play(player("random").choose(table.view(table.turn), Budget(), rng).move)
    keen = table.variant.kernels[rollout_policy_at](
        table.variant.constants,
        table.state.copy(),
        seed_state(1),
        untrained_weights(table.variant),
        desk_of(table),
    )
    assert table.variant.decode(table.state, keen).kind == "exchange"
    assert _glance(table, load_weights(table.variant)) in table.legal_moves().actions


@pytest.mark.parametrize("fresh", [-1.0, 1e6])
def test_exchanges_are_looked_at_where_no_placement_is_worth_as_much(fresh: float) -> None:
    table = played("trio", 2, 12, by=MOVER)
    weights = load_weights(table.variant).copy()
    weights["utility_params"][0, FRESH] = fresh
    weights["output_weights"], weights["output_bias"] = (
        0,
        0,
    )  # all positions look alike: the first of the list is taken, or the last
    states, scratch = allocate(table.state.dtype, 2), desk_of(table)
    states[0] = table.state[0]
    table.variant.kernels[one_ply_search_at](table.variant.constants, states, 1, weights, scratch)
    listed = [table.variant.decode(table.state, int(action)).kind for action in scratch["actions"][0, :8]]
    assert listed[0] == "place"
    assert (listed[1:] == ["exchange"] * 7) == (fresh > 0)


def test_passing_is_the_only_choice_where_nothing_fits_and_the_bag_is_empty() -> None:
    table, rng = new_game("trio", 2, seed=1, options={"short": True}), Generator(1)
    while (legal := list(table.legal_moves()))[0].kind != "pass":
        placements = [move for move in legal if move.kind == "place"]
        table.play((placements or legal)[rng.randint(len(placements or legal))])
    assert len(legal) == 1
    chosen = _glance(table, load_weights(table.variant))
    assert table.variant.decode(table.state, chosen).kind == "pass"


def _glance(table: Table, weights: Any) -> int:
    states = allocate(table.state.dtype, 2)
    states[0] = table.state[0]
    action, _ = table.variant.kernels[one_ply_search_at](
        table.variant.constants, states, 4, weights, desk_of(table)
    )
    return int(action)


def test_tiles_that_were_set_aside_are_guessed_too() -> None:
    """In the short game some unseen tiles are in no hand and not in the bag either."""
    table = new_game("trio", 2, seed=5, options={"short": True})
    view = table.view(0)
    playing = Rollouts(view, untrained_weights(view.variant), 3)
    (tally,) = playing.run(view.legal_moves().actions[:1], 0, 1, 1)
    assert tally.count.tolist() == [1]
    assert int(view.state["unseen"][0]) > int(view.state["in_bag"][0]) + 3


@pytest.mark.parametrize("game", ["rota", pytest.param("axio", marks=pytest.mark.slow)])
def test_minds_meet(game: str) -> None:
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
def test_the_best_of_some_draws(draws: int) -> None:
    rng = np.random.default_rng(draws)
    for _ in range(20):
        bag = rng.integers(0, 4, 6).astype(np.int8)
        best = rng.random(6).astype(np.float32)
        sure = np.float32(rng.random() * 0.5)
        found = _expected_best(bag, draws, sure, best)
        tiles = np.repeat(best, bag)
        if len(tiles) == 0 or draws == 0:
            assert found == pytest.approx(sure)
            continue
        values = np.sort(np.maximum(tiles, sure))
        n = len(values)
        shares = [((i + 1) / n) ** draws for i in range(n)]
        exact = sum(v * (b - a) for v, (a, b) in zip(values, pairwise([0.0, *shares]), strict=True))
        assert found == pytest.approx(exact, abs=1e-4)


def _expected_best(bag: np.ndarray, draws: int, sure: np.float32, best: np.ndarray) -> float:
    order = np.zeros(len(bag), np.int64)
    if INTERPRETED:
        return float(expected_best(bag, int(bag.sum()), draws, sure, best, order))
    from axiogames.games.runtime.compile import entry_point

    return float(entry_point(_through)(bag, int(bag.sum()), draws, sure, best, order))


def _through(bag, unseen, draws, sure, best, order):  # type: ignore[no-untyped-def]
    return expected_best(bag, unseen, draws, sure, best, order)
