"""Determinization samples all hidden tiles that the events allow, and no others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from axiogames import Table, View, new_game
from axiogames.errors import AxioError
from axiogames.games import GAMES
from axiogames.games.runtime.state import HIDDEN, allocate
from axiogames.games.runtime.xorshift import seed_word
from axiogames.model.events import Draw, Exchange
from axiogames.players import Budget, player
from axiogames.players.evaluation.hidden_tiles import AGE
from axiogames.players.evaluation.rollout_loops import (
    ROLLOUT_STATES,
    RolloutSums,
    RolloutTask,
    run_rollouts,
)
from axiogames.players.evaluation.weights import load_weights, scratch_dtype
from axiogames.players.search.determinization import event_log, hidden_tiles
from axiogames.rng import Generator


def games_with_exchanges(game: str, players: int) -> Iterator[Table]:
    """Yield tables after every move of games with many exchanges."""
    rng = Generator(f"{game}{players}")
    for seed in range(4):
        table = new_game(game, players, seed=seed)
        mover = player("balanced" if seed % 2 else "greedy")
        while not table.over:
            actions = table.legal_moves().actions
            others = actions[actions >= table.variant.placements].tolist()  # decoding is slow
            exchanges = [at for at in others if table.variant.decode(table.state, at).kind == "exchange"]
            if exchanges and rng.randint(3) == 0:
                table.play_unchecked(exchanges[rng.randint(len(exchanges))])
            else:
                table.play(mover.choose(table.view(table.turn), Budget(), rng).move)
            yield table


def groups_of(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the seat and size of each group of hidden tiles, and the tiles that it excludes."""
    hidden = hidden_tiles(view)[0]
    rows = int(hidden["rows"])
    return hidden["groups"][:rows, :AGE], hidden["excluded"][:rows]


def hidden_kinds(table: Table, view: View) -> np.ndarray:
    """Return the number of tiles of each kind in hands that the seat does not see."""
    hidden = view.state["hands"][0] == HIDDEN
    return np.bincount(table.state["hands"][0][hidden], minlength=len(table.variant.kinds))


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_true_hidden_tiles_are_never_excluded(game: str, players: int) -> None:
    n_excluded_in_all = 0
    for i, table in enumerate(games_with_exchanges(game, players)):
        view = table.view(i % (players + 1) % players)  # every seat at every point of a round
        groups, excluded = groups_of(view)
        true, unseen = hidden_kinds(table, view), view.state["bag"][0].astype(int)
        assert groups[:, 1].sum() == true.sum()
        # Tiles that a row excludes must be newer ones, in the rows after it.
        for row in range(len(groups)):
            beyond = np.maximum(true - (unseen - excluded[row]), 0).sum()
            assert beyond <= groups[row + 1 :, 1].sum()
        n_excluded_in_all += int(excluded.sum())
    exchanges = game != "rota"
    assert (n_excluded_in_all > 0) == exchanges


def after_an_exchange() -> tuple[Table, tuple[str, ...]]:
    """Return a table after an exchange of the other seat, and the tiles that it exchanged."""
    for seed in range(100):
        table = new_game("axio", 2, seed=seed)
        mover, rng = player("greedy"), Generator(seed)
        while not table.over:
            table.play(mover.choose(table.view(table.turn), Budget(), rng).move)
            match table.events[-2:]:
                case (Exchange(p, shown), Draw()) if table.turn == 1 - p:
                    return table, shown
    raise AssertionError("no game had an exchange")


def test_new_hand_excludes_the_tiles_just_returned() -> None:
    table, shown = after_an_exchange()
    assert table.turn is not None
    groups, excluded = groups_of(table.view(table.turn))
    kinds = np.array([table.variant.kind_of(tile) for tile in shown], np.int64)
    assert groups.tolist() == [[1 - table.turn, len(table.hand(1 - table.turn))]]
    assert excluded.tolist() == [np.bincount(kinds, minlength=len(table.variant.kinds)).tolist()]


def test_own_exchange_is_known_in_every_game() -> None:
    table = new_game("trio", 2, seed=3)
    exchange = next(move for move in table.legal_moves() if move.kind == "exchange" and len(move.tiles) == 3)
    table.play(exchange)
    own, others = groups_of(table.view(0)), groups_of(table.view(1))
    assert own[1].sum() == 3
    assert others[1].sum() == 0  # this game hides exchanged tiles


def test_inconsistent_events_exclude_nothing() -> None:
    """More tiles were returned than exist, or so many that none is left for a hand."""
    table = new_game("axio", 2, seed=1)
    view = table.view(0)
    unseen = view.state["bag"][0].tolist()
    tiles = [tile for tile, count in zip(view.variant.kinds, unseen, strict=True) for _ in range(count)]
    drawn = Draw(1, view.hand(1), "bag")
    for shown, n_excluded in ((tiles[:3], 3), (tiles[:1] * (max(unseen) + 1), 0), (tiles, 0)):
        changed = View(view.variant, view.state, 0, (Exchange(1, tuple(shown)), drawn))
        groups, excluded = groups_of(changed)
        assert groups.tolist() == [[1, len(view.hand(1))]]
        assert excluded.sum() == n_excluded


def test_events_of_unknown_seats_are_refused() -> None:
    view = new_game("axio", 2, seed=1).view(0)
    changed = View(view.variant, view.state, 0, (Draw(2, ("?",), "bag"),))
    with pytest.raises(AxioError, match="names seat 2: 0 to 1"):
        event_log(changed)


def test_determinizations_are_uniform() -> None:
    """Each kind occurs in sampled hands as often as in draws from the tiles not excluded; no tile is lost."""
    table, _ = after_an_exchange()
    view = table.view(table.turn)
    variant, other = view.variant, 1 - int(view.state["seat"][0])
    groups, excluded = groups_of(view)
    unseen = view.state["bag"][0].astype(int)
    pool = unseen - excluded[0]
    action = view.legal_moves().actions[:1].copy()
    states = allocate(view.state.dtype, ROLLOUT_STATES)
    states[0] = view.state[0]
    weights, scratch = load_weights(variant), allocate(scratch_dtype(len(variant.tracks)))
    sums = RolloutSums(np.zeros(1), np.zeros(1), np.zeros((1, variant.players, len(variant.tracks))))
    total, samples = np.zeros(len(pool)), 4000
    for sample in range(samples):
        task = RolloutTask(action, seed_word(5), sample, 1, hidden_tiles(view), 0, np.float32(2))
        variant.kernels[run_rollouts](variant.constants, states, task, weights, scratch, sums)
        hand = states["hands"][1, other, : int(states["held"][1, other])]
        counts = np.bincount(hand, minlength=len(pool))
        assert (np.diff(hand.astype(int)) >= 0).all()
        assert (states["bag"][1] + counts == unseen).all()
        assert states["in_bag"][1] == view.state["in_bag"][0] == states["bag"][1].sum()
        total += counts
    expected = samples * groups[0, 1] * pool / pool.sum()
    assert (total[pool == 0] == 0).all()
    likely = expected > 0
    chi_square = ((total - expected)[likely] ** 2 / expected[likely]).sum()
    degrees_of_freedom = likely.sum() - 1
    assert chi_square < degrees_of_freedom + 5 * np.sqrt(2 * degrees_of_freedom)
