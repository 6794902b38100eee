"""Shortlists of placements are those that listing and rating every move would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiogames import View
from axiogames.games.protocol import top_placements
from axiogames.games.runtime.compile import bind
from axiogames.games.runtime.evaluation import EXTRA, MAX_POINTS, fill_utility
from axiogames.games.runtime.state import allocate
from axiogames.players.evaluation.weights import load_weights, scratch_dtype
from tests.players.search.positions import played

KEEP = 12


def shortlist(tables, states, start, keep, gone, weights, scratch):  # type: ignore[no-untyped-def]
    fill_utility(
        states[0],
        np.int64(states[0].seat),
        weights[0].cap,
        gone,
        weights[0].utility_params,
        scratch[0].utility,
    )
    return top_placements(tables[0], states[0], start, keep, scratch[0])


def listed(view: View, start: int, keep: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The actions of a shortlist, their values, and what points are worth; an extra turn is worth nothing."""
    variant = view.variant
    weights: Any = load_weights(variant).copy()
    weights["utility_params"][0, EXTRA] = 0
    scratch = allocate(scratch_dtype(len(variant.tracks)))
    state = allocate(view.state.dtype, 1)
    state[0] = view.state[0]
    loop = bind(shortlist, variant.kernels.rules)
    n = loop(variant.constants, state, start, keep, np.float32(0.5), weights, scratch)
    return scratch["actions"][0, :n].tolist(), scratch["values"][0, :n].copy(), scratch["utility"][0].copy()


# Not the game with pyramids: there a placement's points in one colour come from two places, and the shortlist
# adds up what each is worth by itself.
@pytest.mark.parametrize(
    ("game", "plies"), [("hex", 9), ("hex", 24), ("rota", 7), ("trio", 10), ("trio", 30)]
)
def test_the_best_placements_are_listed_best_first(game: str, plies: int) -> None:
    table = played(game, 2, plies)
    view = table.view(table.turn)
    placements = [n for n, move in enumerate(view.legal_moves()) if move.kind == "place"]
    gains = view.gains(view.legal_moves())[placements]
    for start in (0, 3, 1000):
        actions, values, worth = listed(view, start, KEEP)
        tracks = np.arange(gains.shape[1])
        plain = worth[tracks, np.minimum(gains, MAX_POINTS - 1)].sum(axis=1)
        assert len(actions) == min(KEEP, len(placements)) == len(set(actions))
        assert values == pytest.approx(np.sort(plain)[::-1][: len(values)], rel=1e-5)
        own = {int(view.legal_moves().actions[n]): value for n, value in zip(placements, plain, strict=True)}
        assert values == pytest.approx([own[action] for action in actions], rel=1e-5)
