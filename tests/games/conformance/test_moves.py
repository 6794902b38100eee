"""For every variant: legal and illegal moves, their texts and their points."""

from __future__ import annotations

import numpy as np
import pytest

from axiogames.errors import IllegalMove
from axiogames.games.runtime.loops import step
from axiogames.moves import Move
from axiogames.rng import Generator
from tests.games.conformance.positions import EACH, FEW, Case, tables


@pytest.mark.parametrize("case", EACH, ids=str)
def test_legal_moves_are_those_that_step_accepts(case: Case) -> None:
    rng = Generator(f"{case}")
    accepted = refused = 0
    for table in tables(case, games=1):
        before = table.state.tobytes()
        legal = set(table.legal_moves().actions.tolist())
        for _ in range(3 * FEW):
            actions = [rng.randint(table.variant.actions)] + (
                [sorted(legal)[rng.randint(len(legal))]] if legal else []
            )
            for action in actions:
                copy = table.state.copy()
                reason = table.variant.kernels[step](table.variant.constants, copy, action, True)
                assert (reason == 0) == (action in legal)
                assert reason == 0 or copy.tobytes() == before
                accepted, refused = accepted + (reason == 0), refused + (reason != 0)
        assert table.state.tobytes() == before
    assert accepted > 10
    assert refused > 10


@pytest.mark.parametrize("case", EACH, ids=str)
def test_legal_moves_are_in_ascending_order(case: Case) -> None:
    for table in tables(case, games=1, twists=("plain",)):
        actions = table.legal_moves().actions
        assert np.all(np.diff(actions) > 0)


@pytest.mark.parametrize("case", EACH, ids=str)
def test_moves_round_trip_through_text_and_action_id(case: Case) -> None:
    rng = Generator(f"{case}")
    for table in tables(case, games=1):
        moves = table.legal_moves()
        for _ in range(min(len(moves), 4)):
            n = rng.randint(len(moves))
            move = moves[n]
            assert Move.parse(str(move)) == move
            assert eval(repr(move)) == move
            assert table.action_of(str(move)) == moves.actions[n]
            assert move in moves
            if len(move.at) > 1:
                reversed_move = Move("place", move.tile[::-1], move.at[::-1])
                assert table.action_of(reversed_move) == moves.actions[n]


@pytest.mark.parametrize("case", EACH, ids=str)
def test_previewed_points_are_scored(case: Case) -> None:
    rng = Generator(f"{case}")
    for table in tables(case, games=1):
        moves = table.legal_moves()
        if not moves:
            continue
        n = rng.randint(len(moves))
        preview = table.preview(moves[n])
        gains = table.gains(moves[n : n + 1])[0].tolist()
        copy = table.copy()
        before = [dict(points) for points in copy.scores]
        seat = copy.turn or 0
        assert copy.play(moves[n], deal=False) == preview.gain
        after = copy.scores[seat]
        assert {track: after[track] - before[seat][track] for track in after} == dict(
            zip(table.variant.tracks, gains, strict=True)
        )
        assert copy.over == preview.ends_game


@pytest.mark.parametrize("case", EACH, ids=str)
def test_finished_games_accept_no_move(case: Case) -> None:
    *_, table = tables(case, games=1, twists=("plain",))
    assert table.over
    assert table.turn is None
    assert len(table.legal_moves()) == 0
    last = table.moves[-1]
    before = table.state.tobytes()
    with pytest.raises(IllegalMove, match="the game is over"):
        table.play(last)
    assert table.state.tobytes() == before
