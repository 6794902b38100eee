"""Every variant: the loops that play whole games inside compiled code play by the same rules."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from axiogames.errors import Reason
from axiogames.games import find_variant
from axiogames.games.protocol import greedy_action, sample_legal
from axiogames.games.runtime.compile import INTERPRETED, bind
from axiogames.games.runtime.loops import greedy_playouts, random_playouts, step
from axiogames.games.runtime.state import OVER, START
from axiogames.games.runtime.xorshift import seed_state
from axiogames.model.position import Position
from tests.games.conformance.positions import CASES, TWISTS, Case, play, tables, twisted


def pick_many(tables, states, rng, out):  # type: ignore[no-untyped-def]
    """Fill `out` with moves by lot, all from the same position."""
    for i in range(len(out)):
        out[i] = sample_legal(tables[0], states[0], rng)


def choose_greedily(tables, states, rng):  # type: ignore[no-untyped-def]
    """A move with the most points now."""
    action, _ = greedy_action(tables[0], states[0], rng)
    return action


def on_larger_board(case: Case) -> bool:
    """Whether this is another layout than that for two players: the loops here are compiled for it, too."""
    return bool(case.variant().opening.nbytes > find_variant(case.game, 2).opening.nbytes)


def seldom_larger(cases: list[Case]) -> list[Any]:
    """Cases, of which those on larger boards, which show little that is new here, are for `make slow`."""
    return [pytest.param(case, marks=[pytest.mark.slow] if on_larger_board(case) else []) for case in cases]


@cache
def bound(loop: Any, game: str) -> Any:
    """A loop with the rules of a game, which are the same for any number of players."""
    return bind(loop, find_variant(game, 2).kernels.rules)


@pytest.mark.parametrize("twist", TWISTS[2:] if INTERPRETED else TWISTS)
@pytest.mark.parametrize("case", CASES if INTERPRETED else seldom_larger(CASES), ids=str)
def test_playouts_end_and_leave_a_position_that_reads(case: Case, twist: str) -> None:
    variant = twisted(case, twist)
    states, rng = variant.new_state(), seed_state(7)
    by_chance = int(variant.opening["due"][0]) if variant.opening["phase"][0] == START else 0
    for _ in range(1 if INTERPRETED else 20):
        moves = variant.kernels[random_playouts](variant.constants, variant.opening, states, rng, 1)
        assert states["phase"][0] == OVER
        assert moves >= variant.tiles_laid(states) - by_chance
        made, rated = variant.kernels[greedy_playouts](variant.constants, variant.opening, states, rng, 1)
        assert states["phase"][0] == OVER
        # Every tile that a player laid was rated before it was chosen.
        assert min(made, rated) >= variant.tiles_laid(states) - by_chance
        for action in (0, variant.actions - 1):
            assert variant.kernels[step](variant.constants, states, action, True) == Reason.GAME_OVER
        if twist == "plain":
            text = Position(variant, states).position
            assert Position.parse(text).position == text


@pytest.mark.skipif(INTERPRETED, reason="thousands of lots are drawn")
@pytest.mark.parametrize("case", seldom_larger(CASES), ids=str)
def test_moves_by_lot_are_legal_and_each_is_as_likely(case: Case) -> None:
    """A chi-square test with fixed seeds: it fails when a kind of move is left out or preferred."""
    tested = 0
    for table in tables(case, games=1):
        actions = table.legal_moves().actions
        if not 2 <= len(actions) <= 150 or table.plies % 3 or tested == 6:
            continue
        each = 200
        picked = np.zeros(each * len(actions), np.int32)
        bound(pick_many, case.game)(table.variant.constants, table.state, seed_state(table.plies), picked)
        counts = np.array([(picked == action).sum() for action in actions])
        assert counts.sum() == len(picked)  # nothing but legal moves
        freedom = len(actions) - 1
        chi_square = ((counts - each) ** 2 / each).sum()
        assert chi_square < freedom + 5 * np.sqrt(2 * freedom) + 10
        tested += 1
    assert tested > 0


@pytest.mark.parametrize("case", seldom_larger(CASES[1::4] if INTERPRETED else CASES), ids=str)
def test_greed_takes_the_most_points(case: Case) -> None:
    """Replay a greedy game from its deal: at each of its moves no other scores more."""
    variant = case.variant()
    table_states = [table.state.copy() for table in tables(case, games=1, twists=("near the cap",))]
    for state in table_states[:: 7 if INTERPRETED else 2]:
        position = Position(variant, state)
        moves = position.legal_moves()
        if moves and moves[0].kind == "place":
            chosen = bound(choose_greedily, case.game)(variant.constants, state.copy(), seed_state(3))
            gains = position.gains(moves).sum(axis=1)
            assert gains[moves.actions.tolist().index(chosen)] == gains.max()


@pytest.mark.parametrize(
    "case", [Case("trio", 2), *([] if INTERPRETED else [Case("trio", 2, ("children",))])], ids=str
)
def test_who_can_only_pass_passes(case: Case) -> None:
    for n in range(40):
        for table in play(twisted(case, "short of tiles"), ("random",), f"pass {n}"):
            moves = table.legal_moves()
            if len(moves) == 1 and moves[0].kind == "pass":
                picked = np.zeros(3, np.int32)
                bound(pick_many, case.game)(table.variant.constants, table.state, seed_state(1), picked)
                assert set(picked.tolist()) == {moves.actions[0]}
                assert (
                    bound(choose_greedily, case.game)(table.variant.constants, table.state, seed_state(1))
                    == moves.actions[0]
                )
                return
    raise AssertionError("nobody ever had to pass")
