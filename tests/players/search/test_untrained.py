"""Search with untrained weights: moves are selected by points, and rollouts run to the end of the game."""

from __future__ import annotations

import pytest

from axiogames.players.evaluation.weights import untrained_weights
from axiogames.players.search import analysis
from tests.players.search.positions import EACH_VARIANT, played


@pytest.mark.parametrize(("game", "players"), EACH_VARIANT)
def test_search_without_a_network_runs_rollouts_to_the_end(
    game: str, players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "load_weights", untrained_weights)
    table = played(game, players, 12)
    view = table.view(table.turn)
    found = analysis.analyse(view, seed=1, rollouts=40)
    assert found.best.move in view.legal_moves()
    points = dict(zip(map(str, view.legal_moves()), view.gains(view.legal_moves()).sum(axis=1), strict=True))
    tried = [points[str(line.move)] for line in found.lines]
    assert sorted(tried) == sorted(points.values())[-len(tried) :]
    without_time = analysis.analyse(view, seed=1, seconds=0.0, rollouts=40)  # no time for any rollout
    assert without_time.best.move in view.legal_moves()
    if players == 2:  # only results count: won, drawn or lost
        assert all((2 * line.value * line.rollouts) % 1 == pytest.approx(0, abs=1e-6) for line in found.lines)
