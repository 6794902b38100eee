"""The levels for people: each sees or thinks more than the one before it."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.players import Budget, player
from axiogames.players.bots.levels import LEVELS, Glimpse
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.match import play_match
from axiogames.players.search.rollouts import Rollouts
from axiogames.rng import Generator
from tests.players.search.positions import played

QUICK = [f"level{n}" for n in range(1, 7)]  # those that do not play on
STEPS = list(zip(QUICK, QUICK[2:], strict=False))
DEALS = 8
ALL = 2000  # moves, any of them, so many times that none is missed


def test_there_are_eight() -> None:
    assert list(LEVELS) == [f"level{n}" for n in range(1, 9)]
    assert all(player(name).name == name and make.__doc__ for name, make in LEVELS.items())


@pytest.mark.skipif(INTERPRETED, reason="whole games take minutes")
@pytest.mark.parametrize("game", [GAMES[0], GAMES[-1]])
@pytest.mark.parametrize(("weaker", "stronger"), STEPS)
def test_two_levels_more_win_most_games(game: str, weaker: str, stronger: str) -> None:
    wins = 0
    for deal in range(DEALS):
        for seat in (0, 1):
            names = (stronger, weaker) if seat == 0 else (weaker, stronger)
            wins += play_match(game, [player(name) for name in names], deal).standing[seat] == 1
    assert wins > 0.7 * 2 * DEALS


@pytest.mark.skipif(INTERPRETED, reason="looks at every move of a position")
@pytest.mark.parametrize("game", GAMES)
def test_who_sees_every_move_takes_the_best(game: str) -> None:
    table = played(game, 2, 8)
    assert table.turn is not None
    view = table.view(table.turn)
    moves = view.legal_moves()
    points = Glimpse("all", ALL).choose(view, Budget(), Generator(1))
    assert sum(view.gain(points.move).values()) == view.gains(moves).sum(axis=1).max()
    prospects = Glimpse("all", ALL, prospects=True).choose(view, Budget(), Generator(1))
    looks = Rollouts(view, load_weights(view.variant), 1).look(moves.actions)
    chosen = moves.actions.tolist().index(view.action_of(prospects.move))
    assert looks[chosen] == pytest.approx(looks.max(), abs=0.05)  # what is hidden was guessed differently
