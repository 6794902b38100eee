"""One game, moved and looked at in one call: a template like those of `engine.batches`, of the same parts.

What an environment of one game costs is calls from Python, not rules. So one loop begins the game, makes a
move and writes what a seat then knows and may do, into arrays that its caller has just made.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..engine import batches
from ..engine.batches import Finals, advance, begin
from ..engine.observing import clear, observe
from ..engine.phases import OVER
from ..engine.signatures import Flags, Float32Rows, Int, Int16Rows, Int16s, Rng, States, Tables, array, loop
from ..engine.standins import action_for, mark_legal, refusal

# Numbers that are no moves.
LOOK, BEGIN = -1, -2
# Why a number was refused that stands for no move at all; other reasons are those of `reasons`.
NO_SUCH_MOVE = -1


def lowest_of(s, seat):
    """The points of a seat's lowest track, which decides a game."""
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, s.scores.shape[1]):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    return lowest


PARTS = (*batches.PARTS, lowest_of)


@loop(parts=PARTS)
def turn(
    tables: Tables, openings: States, states: States, rngs: Rng, kind: Int, places: Int16s, gains: Int16Rows,
    finals: Finals, rewards: Float32Rows, ended: Flags, number: Int, looking: Int, board: Any,
    vector: Int16s, mask: Annotated[Any, array(np.int8)],
):  # fmt: skip
    """Begin the game, make a move or neither; then write what a seat knows and which moves it has.

    `looking` is that seat, -1 the one to move; how many dimensions `board` has is each game's own. Gives back
    why the move was refused (0: it was not; otherwise nothing has changed), the seat to move, whether the
    game is over, the points of the seat that moved, and by how much its lowest track rose.
    """
    t, s = tables[0], states[0]
    why, points, rise = np.int64(0), np.int64(0), np.int64(0)
    if number == BEGIN:
        begin(t, openings, states, rngs, 0)
    elif number != LOOK:
        action = action_for(t, s, np.int64(number))
        why = np.int64(refusal(t, s, action)) if action >= 0 else np.int64(NO_SUCH_MOVE)
        if why == 0:
            seat = np.int64(s.seat)
            rise = -lowest_of(s, seat)
            advance(t, openings, states, rngs, 0, number, False, kind, gains, finals, rewards, ended)
            rise += lowest_of(s, seat)
            for track in range(gains.shape[1]):
                points += np.int64(gains[0, track])
    if why == 0:
        seat = np.int64(s.seat) if looking < 0 else np.int64(looking)
        planes = board.reshape(board.size)
        clear(planes)
        observe(t, s, seat, places, planes, vector)
        clear(mask)
        if s.seat == seat:
            mark_legal(t, s, mask)
    return why, np.int64(s.seat), s.phase == OVER, points, rise
