"""Inference of hidden tiles from event logs, case by case. These tests also run interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.state import HIDDEN, NO_TILE
from axiogames.games.variant import copied
from axiogames.players.evaluation.hidden_tiles import (
    DRAWN,
    EXCHANGED,
    LOG_COLUMNS,
    PLACED,
    hidden_tiles_dtype,
    infer_hidden_tiles,
)

VARIANT = find_variant(GAMES[0], 3)
SPECTATOR = -1
Rows = list[tuple[int, int, int]]
# The seat, number of tiles and age of a group, and the number of tiles of each kind that it excludes.
Group = tuple[int, int, int, dict[int, int]]


def rows(action: int, seat: int, *kinds: int) -> Rows:
    """Return the rows of one event."""
    return [(action, seat, kind) for kind in kinds]


def unknown(count: int) -> Sequence[int]:
    return [HIDDEN] * count


def groups(
    *events: Rows,
    hidden: Mapping[int, int],
    unseen: Mapping[int, int] | None = None,
    viewer: int = 0,
) -> list[Group]:
    """Infer groups from hidden tiles by seat and unseen tiles by kind; by default 9 of each are unseen."""
    state = copied(VARIANT.opening)
    state["hands"], state["held"] = NO_TILE, 0
    for seat, count in hidden.items():
        state["hands"][0, seat, :count], state["held"][0, seat] = HIDDEN, count
    state["bag"] = 9 if unseen is None else 0
    for kind, count in (unseen or {}).items():
        state["bag"][0, kind] = count
    log = np.array([row for event in events for row in event], np.int16).reshape(-1, LOG_COLUMNS)
    ages = np.full(len(log), 99)
    found = np.ones(1, hidden_tiles_dtype(state.dtype)).view(type(state))  # what is in the record is ignored
    VARIANT.kernels[infer_hidden_tiles](VARIANT.constants, state, log, viewer, ages, found)
    return [
        (*found["groups"][0, row].tolist(), {kind: int(n) for kind, n in enumerate(excluded) if n})
        for row, excluded in enumerate(found["excluded"][0, : found["rows"][0]])
    ]


def test_without_hidden_tiles_there_are_no_groups() -> None:
    assert groups(rows(DRAWN, 0, 1, 2), hidden={}) == []


def test_hands_drawn_before_any_exchange_are_one_group_each() -> None:
    log = (rows(DRAWN, 0, 1, 2), rows(DRAWN, 1, *unknown(2)), rows(DRAWN, 2, *unknown(2)))
    assert groups(*log, hidden={2: 2, 1: 2}) == [(1, 2, 0, {}), (2, 2, 0, {})]


def test_tiles_older_than_the_log_exclude_nothing() -> None:
    log = (rows(EXCHANGED, 0, 3), rows(DRAWN, 0, 4))
    assert groups(*log, hidden={1: 2}) == [(1, 2, 1, {})]
    assert groups(hidden={1: 2}) == [(1, 2, 0, {})]


def test_returned_tiles_are_excluded_from_older_tiles_only() -> None:
    log = (
        rows(DRAWN, 0, 3, 3, 5),
        rows(DRAWN, 1, *unknown(2)),
        rows(EXCHANGED, 0, 3, 3, 5),
        rows(DRAWN, 0, 6, 7, 8),
        rows(PLACED, 1, 9),
        rows(DRAWN, 1, HIDDEN),
    )
    assert groups(*log, hidden={1: 2}) == [(1, 1, 0, {3: 2, 5: 1}), (1, 1, 1, {})]


def test_new_tiles_are_drawn_before_the_old_ones_are_returned() -> None:
    log = (rows(DRAWN, 1, *unknown(2)), rows(EXCHANGED, 1, 3, 4), rows(DRAWN, 1, *unknown(2)))
    assert groups(*log, hidden={1: 2}) == [(1, 2, 0, {3: 1, 4: 1})]
    later = rows(DRAWN, 2, HIDDEN)
    assert groups(*log, later, hidden={1: 2, 2: 1}) == [(1, 2, 0, {3: 1, 4: 1}), (2, 1, 1, {})]


def test_tiles_that_are_set_aside_are_not_yet_returned() -> None:
    log = (rows(DRAWN, 1, *unknown(3)), rows(EXCHANGED, 1, 3))
    assert groups(*log, hidden={1: 2}) == [(1, 2, 0, {})]


def test_a_player_gives_up_the_oldest_tiles() -> None:
    exchange = (rows(EXCHANGED, 0, 3), rows(DRAWN, 0, 4))
    log = (rows(DRAWN, 1, *unknown(2)), *exchange, rows(DRAWN, 1, *unknown(2)))
    placed = rows(PLACED, 1, 5)
    assert groups(*log, hidden={1: 4}) == [(1, 2, 0, {3: 1}), (1, 2, 1, {})]
    assert groups(*log, placed, hidden={1: 3}) == [(1, 1, 0, {3: 1}), (1, 2, 1, {})]
    assert groups(*log, placed, placed, placed, hidden={1: 1}) == [(1, 1, 1, {})]


def test_more_tiles_given_up_than_drawn_are_ignored() -> None:
    log = (rows(PLACED, 1, 5), rows(PLACED, 1, 5), rows(DRAWN, 1, HIDDEN))
    assert groups(*log, hidden={1: 1}) == [(1, 1, 0, {})]


def test_a_returned_tile_that_is_seen_again_was_returned_last() -> None:
    log = (
        rows(DRAWN, 1, HIDDEN),
        *(rows(EXCHANGED, 0, 3), rows(DRAWN, 0, 4)),
        rows(DRAWN, 2, HIDDEN),
        *(rows(EXCHANGED, 0, 3), rows(DRAWN, 0, 5)),
        rows(PLACED, 0, 5),
    )
    assert groups(*log, hidden={1: 1, 2: 1}) == [(1, 1, 0, {3: 2}), (2, 1, 1, {3: 1})]
    seen = [rows(PLACED, 2, 3), rows(DRAWN, 0, 3), rows(EXCHANGED, 2, 3)]
    for again in seen:
        # Seat 2 has no hidden tile any more after it has placed or exchanged its only one.
        assert groups(*log, again, hidden={1: 1})[0] == (1, 1, 0, {3: 1})
    assert groups(*log, seen[1], seen[1], hidden={1: 1}) == [(1, 1, 0, {})]


def test_own_tiles_are_seen_when_they_are_drawn() -> None:
    log = (
        rows(DRAWN, 1, HIDDEN),
        *(rows(EXCHANGED, 2, 3), rows(DRAWN, 2, HIDDEN)),
        rows(PLACED, 0, 3),  # not the tile that seat 2 returned
    )
    assert groups(*log, hidden={1: 1}) == [(1, 1, 0, {3: 1})]
    assert groups(*log, hidden={1: 1}, viewer=SPECTATOR) == [(1, 1, 0, {})]


def test_secret_exchanges_separate_ages_and_exclude_nothing() -> None:
    log = (
        rows(DRAWN, 1, HIDDEN),
        *(rows(EXCHANGED, 2, HIDDEN), rows(DRAWN, 2, HIDDEN)),
        rows(DRAWN, 1, HIDDEN),
    )
    assert groups(*log, hidden={1: 2}) == [(1, 1, 0, {}), (1, 1, 1, {})]


def test_groups_are_ordered_by_age_and_then_by_seat() -> None:
    exchange = (rows(EXCHANGED, 0, 3), rows(DRAWN, 0, 4))
    log = (
        rows(DRAWN, 2, *unknown(2)),
        *exchange,
        rows(DRAWN, 1, HIDDEN),
        *exchange,
        rows(DRAWN, 1, HIDDEN),
        rows(DRAWN, 2, HIDDEN),
    )
    found = groups(*log, hidden={1: 2, 2: 3})
    assert found == [
        (2, 2, 0, {3: 2}),
        (1, 1, 1, {3: 1}),
        (1, 1, 2, {}),
        (2, 1, 2, {}),
    ]


def test_an_exchange_without_a_draw_is_dropped_by_the_next_one() -> None:
    log = (
        rows(DRAWN, 2, HIDDEN),
        rows(EXCHANGED, 1, 3),
        rows(EXCHANGED, 0, 4),
        rows(DRAWN, 0, 5),
    )
    assert groups(*log, hidden={2: 1}) == [(2, 1, 0, {4: 1})]


def test_logs_of_other_positions_exclude_nothing() -> None:
    log = (rows(DRAWN, 1, *unknown(2)), rows(EXCHANGED, 0, 3, 3), rows(DRAWN, 0, 4, 4))
    assert groups(*log, hidden={1: 2}, unseen={3: 2, 5: 2}) == [(1, 2, 0, {3: 2})]
    assert groups(*log, hidden={1: 2}, unseen={3: 1, 5: 3}) == [(1, 2, 0, {})]  # more returned than unseen
    assert groups(*log, hidden={1: 2}, unseen={3: 3}) == [(1, 2, 0, {})]  # too few tiles are left
