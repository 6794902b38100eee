"""For every variant: compiled playouts, random and greedy choices follow the rules."""

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


def sample_many(constants, states, rng, out):  # type: ignore[no-untyped-def]
    """Fill `out` with random legal actions of a position."""
    for i in range(len(out)):
        out[i] = sample_legal(constants[0], states[0], rng)


def choose_greedily(constants, states, rng):  # type: ignore[no-untyped-def]
    """Return an action with the most points."""
    action, _ = greedy_action(constants[0], states[0], rng)
    return action


def on_larger_board(case: Case) -> bool:
    """Return whether a case has a larger state than two players have, and so needs its own compilation."""
    return bool(case.variant().opening.nbytes > find_variant(case.game, 2).opening.nbytes)


def larger_boards_slow(cases: list[Case]) -> list[Any]:
    """Return cases as parameters; those on larger boards, which add little, run in `make slow`."""
    return [pytest.param(case, marks=[pytest.mark.slow] if on_larger_board(case) else []) for case in cases]


@cache
def bound(loop: Any, game: str) -> Any:
    """Return a loop with the rules of a game, which are the same for all numbers of players."""
    return bind(loop, find_variant(game, 2).kernels.rules)


@pytest.mark.parametrize("twist", TWISTS[2:] if INTERPRETED else TWISTS)
@pytest.mark.parametrize("case", CASES if INTERPRETED else larger_boards_slow(CASES), ids=str)
def test_playouts_end_in_valid_positions(case: Case, twist: str) -> None:
    variant = twisted(case, twist)
    states, rng = variant.new_state(), seed_state(7)
    by_chance = int(variant.opening["due"][0]) if variant.opening["phase"][0] == START else 0
    for _ in range(1 if INTERPRETED else 20):
        moves = variant.kernels[random_playouts](variant.constants, variant.opening, states, rng, 1)
        assert states["phase"][0] == OVER
        assert moves >= variant.tiles_laid(states) - by_chance
        moves, scored = variant.kernels[greedy_playouts](variant.constants, variant.opening, states, rng, 1)
        assert states["phase"][0] == OVER
        # Every placement has been scored before it was chosen.
        assert min(moves, scored) >= variant.tiles_laid(states) - by_chance
        for action in (0, variant.actions - 1):
            assert variant.kernels[step](variant.constants, states, action, True) == Reason.GAME_OVER
        if twist == "plain":
            text = Position(variant, states).position
            assert Position.parse(text).position == text


@pytest.mark.skipif(INTERPRETED, reason="thousands of samples are slow")
@pytest.mark.parametrize("case", larger_boards_slow(CASES), ids=str)
def test_sampled_actions_are_uniform(case: Case) -> None:
    """A chi-square test with fixed seeds fails if an action is missing or preferred."""
    tested = 0
    for table in tables(case, games=1):
        actions = table.legal_moves().actions
        if not 2 <= len(actions) <= 150 or table.plies % 3 or tested == 6:
            continue
        each = 200
        samples = np.zeros(each * len(actions), np.int32)
        bound(sample_many, case.game)(table.variant.constants, table.state, seed_state(table.plies), samples)
        counts = np.array([(samples == action).sum() for action in actions])
        assert counts.sum() == len(samples)  # all are legal
        freedom = len(actions) - 1
        chi_square = ((counts - each) ** 2 / each).sum()
        assert chi_square < freedom + 5 * np.sqrt(2 * freedom) + 10
        tested += 1
    assert tested > 0


@pytest.mark.parametrize("case", larger_boards_slow(CASES[1::4] if INTERPRETED else CASES), ids=str)
def test_greedy_action_has_the_most_points(case: Case) -> None:
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
def test_forced_pass_is_chosen(case: Case) -> None:
    for n in range(40):
        for table in play(twisted(case, "short of tiles"), ("random",), f"pass {n}"):
            moves = table.legal_moves()
            if len(moves) == 1 and moves[0].kind == "pass":
                samples = np.zeros(3, np.int32)
                bound(sample_many, case.game)(table.variant.constants, table.state, seed_state(1), samples)
                assert set(samples.tolist()) == {moves.actions[0]}
                assert (
                    bound(choose_greedily, case.game)(table.variant.constants, table.state, seed_state(1))
                    == moves.actions[0]
                )
                return
    raise AssertionError("no position had a forced pass")
