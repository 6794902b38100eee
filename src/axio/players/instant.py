"""`instant`: looks once at what each promising move leads to, and does not search at all."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..chance import Generator
from ..engine.layout import allocate
from ..engine.minds import desk_dtype
from ..engine.thinking import glance_at
from ..games.variant import Variant
from ..search.minds import find_mind
from ..view import View
from .interface import Budget, Candidate, Choice

KEPT = 24  # moves that it looks at closely


class Instant:
    """Judges positions by what has been learned of the game, in a fraction of a millisecond."""

    name = "instant"

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """The move that leads to the position that looks best."""
        variant = view.variant
        states = allocate(view.state.dtype, 2)
        states[0] = view.state[0]
        desk, room = _room(variant)
        action, value = variant.kernels[glance_at](
            variant.tables, states, KEPT, find_mind(variant), desk.copy(), room.copy()
        )
        move = variant.decode(view.state, int(action))
        return Choice(move, (Candidate(move, (float(value),), f"{value:.0%} at a glance"),))


@cache
def _room(variant: Variant) -> tuple[Any, np.ndarray]:
    return allocate(desk_dtype(len(variant.tracks))), np.zeros(variant.most_actions, np.int32)
