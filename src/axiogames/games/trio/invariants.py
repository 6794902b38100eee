"""Invariants of the states of trio. Numbers in parentheses refer to its rules page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..invariants import (
    Snapshot,
    Tiling,
    as_bits,
    colours_laid,
    full_hand_violations,
    layout_violations,
    rebuilt_violations,
    shared_violations,
)
from ..runtime.state import DRAW, HIDDEN, OVER, PLACE, REMOVE
from .board import BLACK, EDGE, EXTRA_TURN_EDGES, HAND, LIVE

if TYPE_CHECKING:
    from ..variant import State
    from .variant import TrioVariant

DERIVED = ("slot", "cells", "match", "wants")
SOLO_BONUS = 3  # extra points for a placement with `EXTRA_TURN_EDGES` matching edges, solo only (11)


def layout(variant: TrioVariant, state: State) -> Iterator[str]:
    """Yield errors of single fields and of fields derived from the board."""
    yield from layout_violations(variant, state)
    cells = state["cells"][0]
    if cells[-1] != EDGE or cells[:-1].min() < BLACK or cells[:-1].max() >= len(variant.colours):
        yield "a square has an invalid value"
    yield from rebuilt_violations(variant, state, DERIVED)


def violations(variant: TrioVariant, state: State) -> Iterator[str]:
    """Yield the reasons why no sequence of moves leads to a state."""
    now = Snapshot.of(variant, state)
    phases = (OVER, PLACE, DRAW, REMOVE) if variant.facts.removed else (OVER, PLACE, DRAW)
    yield from shared_violations(variant, now, phases)
    yield from _board(variant, state, now)
    yield from _removed(variant, now)
    yield from _scores(variant, state, now)
    if now.dealing:
        if variant.tiles_laid(state) or state["idle"][0] or state["again"][0]:
            yield "a tile has been placed before the deal is complete"
        return
    yield from full_hand_violations(variant, now)
    yield from _turn(variant, state, now)
    yield from _end(variant, state, now)


def _board(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    cells = state["cells"][0]
    if (int((cells[:-1] >= 0).sum()) - len(variant.printed)) % 3:
        yield "the number of coloured squares on the board is not a multiple of three"
    if not _tiling(variant).can_cover(cells[:-1] >= 0):
        yield "the coloured squares on the board do not form whole tiles, each on three squares in a row"
    if apart := _disconnected(variant, cells[:-1] >= 0):
        yield f"{apart} is not connected to a starter square by coloured squares"
    total, laid = sum(variant.tileset.values()), variant.tiles_laid(state)
    left = total - sum(now.off_the_board().values()) - laid  # tiles that have left the game
    if left < 0 or (left and not variant.tiles_leave):
        yield f"the state has {total - left} tiles, not {total}"
    expected = colours_laid(variant, now)
    expected.update(variant.printed.values())
    counts = np.bincount(cells[cells >= 0], minlength=len(variant.colours)).tolist()
    for shown, colour in zip(counts, variant.colours, strict=True):
        if shown > expected[colour] or (shown < expected[colour] and not variant.tiles_leave):
            yield (f"the board has {shown} symbols {colour}; the other tiles leave {expected[colour]}")
    yield from _exchanges(variant, state, now, left)


@cache
def _tiling(variant: TrioVariant) -> Tiling:
    return Tiling(len(variant.names), variant.slots, (variant.cell_index[name] for name in variant.printed))


@cache
def _left_column(side: int) -> int:
    return sum(1 << cell for cell in range(0, side * side, side))


@cache
def _starters(variant: TrioVariant) -> int:
    return sum(1 << variant.cell_index[name] for name in variant.printed)


def _disconnected(variant: TrioVariant, coloured: np.ndarray) -> str | None:
    """Return a coloured square that is not connected to a starter square by coloured squares, if any (5)."""
    side = variant.facts.side
    left_column = _left_column(side)
    squares, reached = as_bits(coloured), _starters(variant)
    while True:
        across = (reached & ~left_column) >> 1 | (reached << 1) & ~left_column
        spread = (reached | across | reached >> side | reached << side) & squares
        if spread == reached:
            break
        reached = spread
    rest = squares & ~reached
    return variant.names[rest.bit_length() - 1] if rest else None


def _exchanges(variant: TrioVariant, state: State, now: Snapshot, left: int) -> Iterator[str]:
    """Check consecutive exchanges, which end the game (8), or solo remove tiles from it (11)."""
    idle = int(state["idle"][0])
    solo = variant.players == 1
    if idle < 0 or (solo and idle > left + bool(now.aside)):
        yield f"`idle` is {idle}, but only {left} tiles have been exchanged"
    if not solo:
        limit = 3 * variant.players
        if idle > limit or (idle == limit and now.phase == PLACE):
            yield f"`idle` is {idle}; the game is over after {limit} consecutive exchanges"
        if idle and not now.in_bag:
            yield f"`idle` is {idle}; with an empty bag, no tiles can have been exchanged"
    if now.phase == DRAW and not now.dealing and (idle > 0) != bool(now.aside):
        yield f"`idle` is {idle}; it must count the exchanges since the last placement, this one included"


def _removed(variant: TrioVariant, now: Snapshot) -> Iterator[str]:
    """Check the tiles that the short game removes unseen (10)."""
    expected = variant.facts.removed - (now.due if now.phase == REMOVE else 0)
    removed = sum(now.removed) + now.removed_unseen
    if removed != expected or now.removed_unseen < 0:
        yield f"{removed} tiles are removed, not {expected}"
    if any(now.removed) and now.removed_unseen:
        yield "the removed tiles must be either all known or all hidden"


def _turn(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check the hand and the draws of the seat to move (3, 6, 7)."""
    held, again = len(now.hand), bool(state["again"][0])
    if now.phase != DRAW and now.in_bag and held < HAND:
        yield f"seat {now.seat} holds {held} tiles and must draw up to {HAND}"
    if now.phase == DRAW and held + now.due != HAND:
        yield f"`due` is {now.due}; the hand of seat {now.seat} has room for {HAND - held}"
    if now.phase == DRAW and not now.aside and now.due != 1:
        yield f"`due` is {now.due}; after a placement it must be 1"
    if now.phase == DRAW and not now.aside and not variant.tiles_laid(state):
        yield "a tile is due after a placement, but no tile has been placed"
    if now.phase == DRAW and now.aside and now.due > len(now.aside):
        yield f"`due` is {now.due}, but only {len(now.aside)} tiles are set aside"
    if again and (now.phase != DRAW or now.aside or variant.players == 1):
        yield "`again` is set, but only a placement wins an extra turn, which starts after the draw"
    if again and now.scores[now.seat][0] < EXTRA_TURN_EDGES:
        yield f"`again` is set, but seat {now.seat} has not matched {EXTRA_TURN_EDGES} edges"


def _end(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check the end: the game is over as soon as no tile can be placed (8)."""
    in_hand = {kind for hand in now.hands for kind in hand if kind != HIDDEN}
    fitting = kinds_that_fit(variant, state)
    unseen = sum(count for kind, count in enumerate(now.bag) if kind in fitting)
    if now.phase == PLACE and not unseen and not in_hand & fitting:
        yield "no tile can be placed, so the game must be over"
    ended = variant.players > 1 and int(state["idle"][0]) >= 3 * variant.players
    # All unseen tiles that fit may be among the removed ones.
    if now.phase == OVER and not ended and (in_hand & fitting or unseen > now.removed_unseen):
        yield "the game is over, but a tile can be placed"


def kinds_that_fit(variant: TrioVariant, state: State) -> set[int]:
    """Return the kinds of tiles that can be placed somewhere on the board."""
    c, s = variant.constants[0], state[0]
    live = c["slots"][s["slot"][: len(c["slots"])] == LIVE]
    if not len(live):
        return set()
    suits = [c["suits"][square, s["wants"][live[:, square]]] for square in range(3)]
    any_or_all = np.bitwise_or if variant.facts.children else np.bitwise_and
    allowed = np.bitwise_or.reduce(any_or_all.reduce(suits))
    return set(np.flatnonzero(c["ways"] & allowed).tolist())


def _scores(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that the board can have given all points (6; solo 11)."""
    edges = matching_pairs(variant, state) - _printed_pairs(variant)
    limit = 2 * edges + (SOLO_BONUS * variant.tiles_laid(state) if variant.players == 1 else 0)
    points = sum(row[0] for row in now.scores)
    if points > limit or min(row[0] for row in now.scores) < 0:
        yield f"the scores have {points} points; the board gives at most {limit}"


@cache
def _printed_pairs(variant: TrioVariant) -> int:
    return matching_pairs(variant, variant.opening)


def matching_pairs(variant: TrioVariant, state: State) -> int:
    """Return the number of pairs of neighbouring squares with the same colour."""
    side = variant.facts.side
    squares = state["cells"][0, :-1].reshape(side, side)
    across = (squares[:, 1:] == squares[:, :-1]) & (squares[:, 1:] >= 0)
    upright = (squares[1:] == squares[:-1]) & (squares[1:] >= 0)
    return int(across.sum() + upright.sum())
