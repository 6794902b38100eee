"""What a move does at once: the state it leads to, points it wastes, turns it wins."""

from __future__ import annotations

import numpy as np

from ..engine.loops import step
from ..engine.phases import DRAW, PLACE
from ..games.variant import State
from ..view import View


def after(view: View, action: int) -> State:
    """The state that a move leads to, before anything is drawn."""
    state = view.state.copy()
    view.variant.kernels[step](view.variant.tables, state, action, False)
    return state


def wasted(view: View, action: int, led_to: State) -> int:
    """How many points of a move are lost because a track cannot show them."""
    variant = view.variant
    if variant.cap is None or action >= variant.first_other_action:
        return 0
    fresh = view.state.copy()
    fresh["scores"] = 0  # so that no track is near its cap
    rated = variant.gains(fresh, np.array([action], np.int32))[0]
    return int(np.maximum(rated - led_to["gain"][0], 0).sum())


def wins_turn(view: View, led_to: State) -> bool:
    """Whether the move that has led to a state won one more turn or placement."""
    variant, before = view.variant, view.state
    if led_to["phase"][0] == DRAW:
        elsewhere = variant.source(led_to) != variant.source(before)
        return elsewhere or variant.extra_turns(led_to) > variant.extra_turns(before)
    return bool(
        variant.players > 1 and led_to["phase"][0] == PLACE and led_to["seat"][0] == before["seat"][0]
    )
