"""Hidden tiles: which ones a seat can infer from what it has seen, and random tiles in their place.

A tile that went back into the bag at an exchange cannot be in a hand that was drawn before. Hidden tiles are
therefore grouped by age: older ones come from fewer tiles. `infer_hidden_tiles` finds the groups and
`determinize` samples from them.

What a seat has seen is an event log: an array of 16-bit integers with a row for each tile that a seat has
drawn, placed or given up, in the order of the game. The columns:

    ACTION: `DRAWN`, `PLACED` or `EXCHANGED`.
    SEAT: the seat, counted from 0.
    KIND: the kind of the tile, `HIDDEN` if the log's seat does not know it.

Tiles of one draw or exchange are adjacent rows. Tiles of the opening display, tiles removed before the deal
and passes are not in the log. `players.search.determinization.event_log` writes the log of a view.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.hands import draw_to_hand
from ...games.runtime.signatures import Argument, Constants, Int, Int16Rows, Int64s, States, loop
from ...games.runtime.state import HIDDEN, NO_TILE, packed_dtype
from ...games.runtime.xorshift import sample_tile

ACTION, SEAT, KIND = 0, 1, 2  # columns of an event log
LOG_COLUMNS = 3
DRAWN, PLACED, EXCHANGED = 0, 1, 2

OWNER, TILES, AGE = 0, 1, 2  # columns of `groups`
GONE = -1  # age of a tile that was placed or given up, or seen again after it was returned
SET_ASIDE = -2  # age of a tile that was given up and is not yet back in the bag


def hidden_tiles_dtype(state: np.dtype[Any]) -> np.dtype[Any]:
    """Return the layout of what is known about the hidden tiles of a state of this type."""
    seats, hand = state["hands"].shape
    (kinds,) = state["bag"].shape
    return packed_dtype(
        ("rows", np.int64),  # number of groups
        ("groups", np.int64, (seats * hand, 3)),  # by age and seat: seat, number of tiles, age
        ("excluded", np.int64, (seats * hand, kinds)),  # unseen tiles by kind that are not in the group
        ("oldest", np.int64, seats),  # scratch: first row of the log with a tile that the seat may still hold
        ("returned", np.int64, kinds),  # scratch: tiles returned to the bag and not seen since
    )


HiddenTiles = Annotated[Any, Argument(lambda game: np.zeros(1, hidden_tiles_dtype(game.state_type)))]


# ---------------------------------------------------------------- inference


@loop
def infer_hidden_tiles(
    constants: Constants, states: States, log: Int16Rows, viewer: Int, ages: Int64s, hidden: HiddenTiles
):
    """Write the groups of the tiles that are hidden in `states[0]`.

    The age of a tile is the number of exchanges before it was drawn, or before it was given up. Nothing is
    excluded if the log does not belong to the position.

    Args:
        constants: The constants of the game.
        states: The position as `viewer` knows it.
        log: The event log of `viewer`.
        viewer: The seat, -1 for a spectator.
        ages: Scratch with an entry for each row of `log`.
        hidden: The result.
    """
    c, s, h = constants[0], states[0], hidden[0]
    h.oldest[:] = 0
    h.returned[:] = 0
    n = 0  # exchanges whose tiles have been returned
    exchange = np.int64(-1)  # first row of the latest exchange, while its tiles are set aside
    drawer = np.int64(-1)  # seat that draws new tiles in exchange
    for row in range(len(log)):
        action, seat, kind = log[row, ACTION], np.int64(log[row, SEAT]), np.int64(log[row, KIND])
        if drawer >= 0 and not (action == DRAWN and seat == drawer):
            _return_tiles(log, exchange, row, n, ages, h)
            n += 1
            exchange = drawer = np.int64(-1)
        ages[row] = GONE
        if action == DRAWN:
            ages[row] = n
            if exchange >= 0:  # new tiles are drawn before the old ones go back
                drawer = seat
            _see(log, row, kind, ages, h)
            continue
        _remove_oldest(log, row, seat, ages, h)
        if seat != viewer:
            _see(log, row, kind, ages, h)
        if action == EXCHANGED:
            if exchange < 0 or log[row - 1, ACTION] != EXCHANGED or log[row - 1, SEAT] != seat:
                exchange = np.int64(row)
            if kind != HIDDEN:
                ages[row] = SET_ASIDE
    if drawer >= 0:
        _return_tiles(log, exchange, len(log), n, ages, h)
        n += 1
    h.rows = 0
    for owner in range(c.players):
        _group_hand(s, log, owner, n, ages, h)
    _exclude_tiles(log, ages, h)
    if not _is_consistent(s, h):
        h.excluded[:] = 0


@rule
def _return_tiles(log, exchange, stop, n, ages, h):
    """Return the tiles set aside from row `exchange` to `stop` to the bag, as exchange `n`."""
    for row in range(exchange, stop):
        if ages[row] == SET_ASIDE:
            ages[row] = n
            h.returned[log[row, KIND]] += 1


@rule
def _see(log, stop, kind, ages, h):
    """Record that a tile becomes visible in row `stop`.

    It may have been returned by any exchange; assume the latest. It then no longer counts as returned.
    """
    if kind == HIDDEN or h.returned[kind] == 0:
        return
    row = stop - 1
    while log[row, ACTION] != EXCHANGED or log[row, KIND] != kind or ages[row] < 0:
        row -= 1
    ages[row] = GONE
    h.returned[kind] -= 1


@rule
def _remove_oldest(log, stop, seat, ages, h):
    """Remove the oldest tile of a hand, which was drawn before row `stop`.

    It is not known which of its tiles an opponent gives away. Assuming the oldest is safe: more kinds than
    necessary may be allowed for the remaining tiles, but no possible kind is excluded.
    """
    row = h.oldest[seat]
    while row < stop and (log[row, ACTION] != DRAWN or log[row, SEAT] != seat):
        row += 1
    h.oldest[seat] = row
    if row < stop:
        ages[row] = GONE
        h.oldest[seat] += 1


@rule
def _group_hand(s, log, seat, n, ages, h):
    """Add the hidden tiles of a hand to the groups. Tiles older than the log count as new: age `n`."""
    left = 0
    for i in range(s.held[seat]):
        left += s.hands[seat, i] == HIDDEN
    row = len(log) - 1
    while left > 0:
        while row >= 0 and (log[row, ACTION] != DRAWN or log[row, SEAT] != seat or ages[row] < 0):
            row -= 1
        _add_to_group(h, seat, n if row < 0 else ages[row])
        row -= 1
        left -= 1


@rule
def _add_to_group(h, seat, age):
    """Add a tile to the group of its age and seat, in order."""
    at = h.rows
    while at > 0 and (
        h.groups[at - 1, AGE] > age or (h.groups[at - 1, AGE] == age and h.groups[at - 1, OWNER] > seat)
    ):
        at -= 1
    if at == 0 or h.groups[at - 1, AGE] != age or h.groups[at - 1, OWNER] != seat:
        for row in range(h.rows, at, -1):
            for column in range(h.groups.shape[1]):
                h.groups[row, column] = h.groups[row - 1, column]
        h.groups[at, OWNER], h.groups[at, TILES], h.groups[at, AGE] = seat, 0, age
        h.rows += 1
        at += 1
    h.groups[at - 1, TILES] += 1


@rule
def _exclude_tiles(log, ages, h):
    """Exclude from each group the tiles that were returned after it was drawn and not seen since."""
    h.excluded[:] = 0
    for row in range(len(log)):
        if log[row, ACTION] == EXCHANGED and ages[row] >= 0:
            for group in range(h.rows):
                h.excluded[group, log[row, KIND]] += ages[row] >= h.groups[group, AGE]


@rule
def _is_consistent(s, h):
    """Return whether there are enough unseen tiles: those that are excluded, and one for each hidden tile."""
    tiles = 0
    for group in range(h.rows):
        tiles += h.groups[group, TILES]
        left = 0
        for kind in range(len(s.bag)):
            if h.excluded[group, kind] > s.bag[kind]:
                return False
            left += s.bag[kind] - h.excluded[group, kind]
        if left < tiles:
            return False
    return True


# ---------------------------------------------------------------- sampling


def determinize(c, s, hidden, rng):
    """Replace hidden tiles by random unseen ones, each equally likely.

    Groups with more exclusions come first, so that enough tiles are left for each group.
    """
    in_bag = s.in_bag
    for seat in range(c.players):
        while s.held[seat] > 0 and s.hands[seat, s.held[seat] - 1] == HIDDEN:
            s.held[seat] -= 1
            s.hands[seat, s.held[seat]] = NO_TILE
    for group in range(hidden.rows):
        n_excluded = 0
        for kind in range(len(s.bag)):
            s.bag[kind] -= hidden.excluded[group, kind]
            n_excluded += hidden.excluded[group, kind]
        for _ in range(hidden.groups[group, TILES]):
            draw_to_hand(s, hidden.groups[group, OWNER], sample_tile(s.bag, s.unseen - n_excluded, rng))
        for kind in range(len(s.bag)):
            s.bag[kind] += hidden.excluded[group, kind]
    s.in_bag = in_bag
    while s.unseen > s.in_bag:  # tiles removed before the game
        s.bag[sample_tile(s.bag, s.unseen, rng)] -= 1
        s.unseen -= 1
