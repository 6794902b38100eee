"""The eight levels: each considers or computes more than the one below it."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.players import Budget, player
from axiogames.players.bots.levels import LEVELS, SampledMoves
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.match import play_match
from axiogames.players.search.rollouts import Rollouts
from axiogames.rng import Generator
from tests.players.search.positions import played

QUICK = [f"level{n}" for n in range(1, 7)]  # those that run no rollouts
STEPS = list(zip(QUICK, QUICK[2:], strict=False))
DEALS = 8
ALL = 2000  # samples, so many that no move is missed


def test_eight_levels_exist() -> None:
    assert list(LEVELS) == [f"level{n}" for n in range(1, 9)]
    assert all(player(name).name == name and make.__doc__ for name, make in LEVELS.items())


@pytest.mark.skipif(INTERPRETED, reason="whole games take minutes")
@pytest.mark.parametrize("game", [GAMES[0], GAMES[-1]])
@pytest.mark.parametrize(("weaker", "stronger"), STEPS)
def test_a_bot_two_levels_higher_wins_most_games(game: str, weaker: str, stronger: str) -> None:
    wins = 0
    for deal in range(DEALS):
        for seat in (0, 1):
            names = (stronger, weaker) if seat == 0 else (weaker, stronger)
            wins += play_match(game, [player(name) for name in names], deal).ranks[seat] == 1
    assert wins > 0.7 * 2 * DEALS


@pytest.mark.skipif(INTERPRETED, reason="evaluates every move of a position")
@pytest.mark.parametrize("game", GAMES)
def test_sampling_every_move_finds_the_best(game: str) -> None:
    table = played(game, 2, 8)
    assert table.turn is not None
    view = table.view(table.turn)
    moves = view.legal_moves()
    points = SampledMoves("all", ALL).choose(view, Budget(), Generator(1))
    assert sum(view.gain(points.move).values()) == view.gains(moves).sum(axis=1).max()
    values = SampledMoves("all", ALL, one_ply=True).choose(view, Budget(), Generator(1))
    expected = Rollouts(view, load_weights(view.variant), 1).one_ply_values(moves.actions)
    chosen = moves.actions.tolist().index(view.action_of(values.move))
    assert expected[chosen] == pytest.approx(expected.max(), abs=0.05)  # the determinizations differ
