"""Simple play, which choices are measured against: the move that rollouts would make in a position.

It takes the points that are worth the most to the seat at once. What a move leads to is judged by playing on
like this, so if everybody goes on like this, values stay where they are on average: the rest is luck.
"""

from __future__ import annotations

from ..engine.layout import allocate
from ..engine.lots import seeded
from ..engine.minds import desk_dtype
from ..engine.thinking import keenest_at
from ..games.variant import copied
from ..search.minds import find_mind
from ..view import View


def simple_move(view: View) -> int:
    """The number of the move that simple play makes for the seat to move."""
    variant = view.variant
    desk = allocate(desk_dtype(len(variant.tracks)))
    state = copied(view.state)  # rating writes into the state's scratch fields
    return int(variant.kernels[keenest_at](variant.tables, state, seeded(0), find_mind(variant), desk))
