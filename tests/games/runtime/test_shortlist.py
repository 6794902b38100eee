"""`top_placements` lists the placements with the highest utility."""

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


def shortlist(constants, states, start, keep, progress, weights, scratch):  # type: ignore[no-untyped-def]
    fill_utility(
        states[0],
        np.int64(states[0].seat),
        weights[0].cap,
        progress,
        weights[0].utility_params,
        scratch[0].utility,
    )
    return top_placements(constants[0], states[0], start, keep, scratch[0])


def listed(view: View, start: int, keep: int) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the actions of a shortlist, their values and the utility table; an extra turn has no utility."""
    variant = view.variant
    weights: Any = load_weights(variant).copy()
    weights["utility_params"][0, EXTRA] = 0
    scratch = allocate(scratch_dtype(len(variant.tracks)))
    state = allocate(view.state.dtype, 1)
    state[0] = view.state[0]
    loop = bind(shortlist, variant.kernels.rules)
    n = loop(variant.constants, state, start, keep, np.float32(0.5), weights, scratch)
    return scratch["actions"][0, :n].tolist(), scratch["values"][0, :n].copy(), scratch["utility"][0].copy()


# Without AXIO: its override adds the utilities of pyramids and halves separately, see `Rules.top_placements`.
@pytest.mark.parametrize(
    ("game", "plies"), [("hex", 9), ("hex", 24), ("rota", 7), ("trio", 10), ("trio", 30)]
)
def test_top_placements_are_sorted_by_utility(game: str, plies: int) -> None:
    table = played(game, 2, plies)
    view = table.view(table.turn)
    placements = [n for n, move in enumerate(view.legal_moves()) if move.kind == "place"]
    gains = view.gains(view.legal_moves())[placements]
    for start in (0, 3, 1000):
        actions, values, utility = listed(view, start, KEEP)
        tracks = np.arange(gains.shape[1])
        expected = utility[tracks, np.minimum(gains, MAX_POINTS - 1)].sum(axis=1)
        assert len(actions) == min(KEEP, len(placements)) == len(set(actions))
        assert values == pytest.approx(np.sort(expected)[::-1][: len(values)], rel=1e-5)
        legal = view.legal_moves().actions
        own = {int(legal[n]): value for n, value in zip(placements, expected, strict=True)}
        assert values == pytest.approx([own[action] for action in actions], rel=1e-5)
