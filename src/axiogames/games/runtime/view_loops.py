"""Loops about views, which the page runs as well.

They redact a state, restore its derived fields, write moves and points as numbers, and rank the seats. Like
those in `loops`, they are templates.
"""

from __future__ import annotations

import numpy as np

from ..protocol import apply, describe, explain, restore
from .hands import hide_aside, hide_hand, hide_removed
from .ranks import rank_of
from .signatures import Actions, Constants, Int, Int16Rows, Int64s, States, loop


@loop
def redact(constants: Constants, states: States, seat: Int):
    """Hide from a state what a seat may not know; -1 stands for a spectator.

    Hidden tiles count among the unseen, so that the result has no trace of where they are.
    """
    c, s = constants[0], states[0]
    for other in range(c.players):
        if other != seat:
            hide_hand(s, other)
    hide_aside(c, s, seat)
    hide_removed(s)


@loop
def restore_derived(constants: Constants, states: States):
    """Recompute the fields that follow from the others, whatever they contain."""
    s = states[0]
    s.unseen = 0
    for kind in range(len(s.bag)):
        s.unseen += s.bag[kind]
    restore(constants[0], s)


@loop
def describe_actions(constants: Constants, states: States, actions: Actions, n: Int, rows: Int16Rows):
    """Write the first `n` of `actions` into rows of numbers, see `describing`."""
    for at in range(n):
        describe(constants[0], states[0], np.int64(actions[at]), rows, at)


@loop
def preview(constants: Constants, states: States, action: Int, rows: Int16Rows):
    """Write where the points of a placement come from, then apply it; return the number of rows.

    `describing` defines the rows. Their points are those before caps; `gain` of the new state contains those
    that count. Another action has no rows and leaves `gain` as it is.
    """
    c, s = constants[0], states[0]
    count = np.int64(0)
    if action < c.placements:
        count = np.int64(explain(c, s, action, rows))
    apply(c, s, action)
    return count


@loop
def rank_seats(constants: Constants, states: States, out: Int64s):
    """Write the rank of every seat, 1 for the best; seats that tie share a rank (1, 1, 3)."""
    players = np.int64(constants[0].players)
    for seat in range(players):
        out[seat] = rank_of(states[0].scores, players, seat)


LOOPS = (redact, restore_derived, rank_seats)  # needed for playing in Python; the page needs all
