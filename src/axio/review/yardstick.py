"""Simple play, which choices are measured against: the move that rollouts would make in a position.

It takes the points that are worth the most to the seat at once. What a move leads to is judged by playing on
like this, so if everybody goes on like this, values stay where they are on average: the rest is luck.
"""

from __future__ import annotations

import numpy as np

from ..engine.layout import allocate
from ..engine.minds import desk_dtype
from ..engine.phases import PLACE
from ..engine.worth import EXTRA, FRESH
from ..search.minds import find_mind
from ..view import View
from .effects import after, wins_turn

LOOKED_AT = 16  # placements, of which some may win another turn


def simple_move(view: View) -> int:
    """The number of the move that simple play makes for the seat to move."""
    variant, state = view.variant, view.state
    actions = view.legal_moves().actions
    others = actions[actions >= variant.first_other_action]
    if state["phase"][0] != PLACE or len(others) == len(actions):
        return int(others[0])  # a new hand, where one is offered
    desk = allocate(desk_dtype(len(variant.tracks)))
    states = allocate(state.dtype, 2)
    states[0] = state[0]
    mind = find_mind(variant)
    keep = min(len(others) + LOOKED_AT, len(actions))
    variant.kernels.glance_at(
        variant.tables, states, keep, mind, desk, np.zeros(variant.most_actions, np.int32)
    )
    # The desk lists what is no placement first, then placements by what their points are worth.
    placements = desk["chosen"][0, len(others) : keep].tolist()
    worth = desk["values"][0, len(others) : keep].tolist()
    if variant.cap is None:  # elsewhere the worth of points up to the cap has the extra turn in it
        extra = float(mind["knobs"][0, EXTRA])
        worth = [
            n + extra * wins_turn(view, after(view, move)) for n, move in zip(worth, placements, strict=True)
        ]
    best = max(range(len(placements)), key=lambda n: worth[n])
    if len(others) and worth[best] < float(mind["knobs"][0, FRESH]):
        return int(max(others.tolist(), key=lambda action: len(variant.decode(state, action).tiles)))
    return int(placements[best])
