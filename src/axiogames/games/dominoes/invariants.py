"""Invariants of the states of the domino family.

Numbers in parentheses refer to the rules page of the square game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..invariants import (
    Snapshot,
    Tiling,
    colours_laid,
    full_hand_violations,
    layout_violations,
    rebuilt_violations,
    shared_violations,
)
from ..runtime.state import DRAW, HIDDEN, OFFER, OVER, PLACE
from .board import EDGE, PYRAMID, SPENT

if TYPE_CHECKING:
    from ..variant import State
    from .variant import DominoVariant

DERIVED = ("n_free", "free", "cells", "open", "sums", "n_pyramids", "order")


def layout(variant: DominoVariant, state: State) -> Iterator[str]:
    """Yield errors of single fields and of fields derived from the board."""
    yield from layout_violations(variant, state)
    cells, order = state["cells"][0], state["order"][0]
    if cells[-1] != EDGE or cells[:-1].min() < SPENT or cells[:-1].max() >= len(variant.colours):
        yield "a cell has an invalid value"
    if not 0 <= state["n_pyramids"][0] <= len(variant.names) or order.max() >= len(variant.names):
        yield "a pyramid is outside the board"
    yield from rebuilt_violations(variant, state, DERIVED)


def violations(variant: DominoVariant, state: State) -> Iterator[str]:
    """Yield the reasons why no sequence of moves leads to a state."""
    now = Snapshot.of(variant, state)
    phases = (OVER, PLACE, DRAW) if variant.facts.solo else (OVER, PLACE, OFFER, DRAW)
    yield from shared_violations(variant, now, phases)
    yield from _board(variant, state, now)
    if now.dealing:
        if variant.tiles_laid(state) or state["begun"][0] or state["claimed"][0] or state["extra"][0]:
            yield "a tile has been placed before the deal is complete"
        return
    yield from full_hand_violations(variant, now)
    yield from _scores(variant, state, now)
    yield from _turn(variant, state, now)
    yield from _order_of_turns(variant, state, now)
    yield from _first_tiles(variant, state, now)


def _extra_placements_won(variant: DominoVariant, now: Snapshot) -> int:
    """Return the number of extra placements that the seat to move has won (10); 0 if solo (16)."""
    return 0 if variant.facts.solo else now.capped(now.seat, variant.cap)


def _board(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    cells, free_sides = state["cells"][0, :-1], state["open"][0, :-1]
    if ((cells >= 0).sum() - len(variant.facts.printed)) % 2:
        yield "an odd number of symbols is on the board; tiles have two"
    shut_in = np.flatnonzero((cells == -1) & (free_sides == 0))
    if variant.facts.pyramids and len(shut_in):
        yield f"{variant.names[shut_in[0]]} is shut in and must have a pyramid"
    if not _tiling(variant).can_cover(cells >= 0):
        yield "the symbols on the board do not form whole tiles, each on two neighbouring cells"
    off, laid = sum(now.off_the_board().values()), variant.tiles_laid(state)
    if off + laid != sum(variant.tileset.values()):
        yield f"the state has {off + laid} tiles, not {sum(variant.tileset.values())}"
    if now.removed_unseen:
        yield f"{now.removed_unseen} tiles are neither in the bag nor in a hand"
    expected = colours_laid(variant, now)
    expected.update(variant.facts.printed.values())
    counts = np.bincount(cells[cells >= 0], minlength=len(variant.colours)).tolist()
    for shown, colour in zip(counts, variant.colours, strict=True):
        if shown != expected[colour]:
            yield (f"the board has {shown} symbols {colour}; the other tiles leave {expected[colour]}")


@cache
def _tiling(variant: DominoVariant) -> Tiling:
    printed = (variant.cell_index[name] for name in variant.facts.printed)
    return Tiling(len(variant.names), variant.slots, printed)


def _turn(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check the hand of the seat to move and its extra placements (10, 12, 13, 14)."""
    won, full, held = _extra_placements_won(variant, now), variant.hand, len(now.hand)
    extra, room = int(state["extra"][0]), int(state["n_free"][0]) > 0
    placed = full - held  # in this turn, as long as the bag is not empty
    if extra < 0 or (extra and now.phase not in (PLACE, OVER)) or extra > won:
        yield f"`extra` is {extra}; seat {now.seat} can have at most {won}, and only in phase place"
    if now.phase == PLACE:
        if not held or not room:
            yield "the seat to move cannot place a tile, so the game must be over"
        if placed + extra > won and (now.in_bag or extra) and (placed or extra):
            yield f"seat {now.seat} holds {held} tiles and must draw up to {full}"
        if extra and not placed:
            yield f"`extra` is {extra} before the first placement of a turn"
    elif now.phase == OFFER:
        if now.in_bag < full or not held or not 1 <= placed <= 1 + won:
            yield f"no exchange can be offered with {held} tiles in hand and {now.in_bag} in the bag"
        if HIDDEN not in now.hand and _shows_lowest(variant, now, now.hand):
            yield "no exchange can be offered for a hand that shows one of the seat's lowest colours"
    elif now.phase == DRAW and now.aside:
        if held + now.due != full or not max(1, full - 1 - won) <= len(now.aside) < full:
            yield f"{len(now.aside)} tiles are exchanged for {held + now.due}, not for {full}"
        if _shows_lowest(variant, now, now.aside):
            yield "the tiles set aside show one of the seat's lowest colours, so they cannot be exchanged"
    elif now.phase == DRAW:
        if now.due != min(placed, now.in_bag) or placed > 1 + won:
            draws = min(placed, now.in_bag, 1 + won)
            yield f"`due` is {now.due}; seat {now.seat} holds {held} tiles and draws {draws}"
    elif now.in_bag and placed + extra > 1 + won:
        yield f"seat {now.seat} holds {held} tiles and must draw up to {full}"
    yield from _end(variant, now, room)


def _shows_lowest(variant: DominoVariant, now: Snapshot, kinds: tuple[int, ...]) -> bool:
    points = now.scores[now.seat]
    lowest = {variant.colours[n] for n, value in enumerate(points) if value == min(points)}
    return any(lowest & {*variant.kinds[kind]} for kind in kinds)


def _end(variant: DominoVariant, now: Snapshot, room: bool) -> Iterator[str]:
    """Check the end: all colours at the cap (11), or the seat to move cannot place a tile (14, 16)."""
    colours = len(variant.colours)
    for seat in range(variant.players) if not variant.facts.solo else ():
        won = now.capped(seat, variant.cap) == colours
        if won and (now.phase != OVER or seat != now.seat):
            yield f"seat {seat} has won, so the game must be over"
    if now.phase != OVER or not room:
        return
    out_of_tiles = not now.hand and (not now.in_bag or _extra_placements_won(variant, now) >= variant.hand)
    if not out_of_tiles and _extra_placements_won(variant, now) < colours:
        yield "the game is over, but nobody has won and the seat to move can place a tile"


def _order_of_turns(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that the number of placements, without extra ones, determines the seat to move."""
    laid, begun = variant.tiles_laid(state), int(state["begun"][0])
    extra = 0 if variant.facts.solo else sum(now.capped(seat, variant.cap) for seat in range(variant.players))
    placed = variant.hand - len(now.hand)
    first = now.phase == OVER or (now.phase == PLACE and (not placed or not now.in_bag))
    more = now.phase == OVER or (now.phase == PLACE and (placed > 0 or not now.in_bag))
    done = now.phase in (OVER, OFFER, DRAW)
    turns = set()  # (turns before this one, whether the seat has placed a tile in this one)
    for used in range(extra - int(state["extra"][0]) + 1):  # possible numbers of extra placements so far
        if first:
            turns.add((laid - used, False))
        if more and used:
            turns.add((laid - used, True))
        if done:
            turns.add((laid - used - 1, True))
    fitting = [
        min(before + has_placed, variant.players)
        for before, has_placed in turns
        if before >= 0 and before % variant.players == now.seat
    ]
    if not fitting:
        yield f"it cannot be the turn of seat {now.seat} after {laid} placements"
    elif begun not in [(1 << count) - 1 for count in fitting]:
        yield f"`begun` is {begun}; after {laid} placements it must be {(1 << max(fitting)) - 1}"


def _first_tiles(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that every first tile touches a printed symbol that no other first tile touches (5)."""
    begun, claimed = int(state["begun"][0]), int(state["claimed"][0])
    printed = len(variant.facts.printed)
    if claimed >> printed or claimed.bit_count() != begun.bit_count():
        yield f"`claimed` is {claimed}; each seat that has begun has one of {printed} printed symbols"
    near, cells = variant.constants["near"][0], state["cells"][0]
    beside = variant.constants["beside"][0] & state["free"][0]
    waiting = variant.players - begun.bit_count()
    places = 0
    for symbol, name in enumerate(variant.facts.printed):
        if not claimed >> symbol & 1:
            places += bool(beside[symbol].any())
        elif (cells[near[variant.cell_index[name]]] < 0).all():
            yield f"`claimed` contains {name}, but no tile touches it"
    if waiting > places and now.phase != OVER:
        yield f"{waiting} seats still have to place a first tile, but only {places} printed symbols have room"


def _scores(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that the board can have given all points (6, 7)."""
    limits = max_points(variant, state)
    limits.subtract(_printed_points(variant))
    for index, colour in enumerate(variant.colours):
        points = sum(row[index] for row in now.scores)
        if points > limits[colour]:
            yield f"the scores have {points} points in {colour}; the board gives at most {limits[colour]}"


@cache
def _printed_points(variant: DominoVariant) -> Counter[str]:
    return max_points(variant, variant.opening)


def max_points(variant: DominoVariant, state: State) -> Counter[str]:
    """Return the maximum points by colour that a board can have given.

    A symbol scores the symbols of its colour along an unbroken line, so each pair on such a line has scored
    at most once. A pyramid scores the adjacent symbols.
    """
    near, cells = variant.constants["near"][0], state["cells"][0]
    symbols = np.flatnonzero(cells[:-1] >= 0)
    counts = np.zeros(len(variant.colours), int)
    for direction in range(near.shape[1] // 2):
        start = at = symbols
        while len(at):
            onward = near[at, direction]
            same = cells[onward] == cells[start]
            start, at = start[same], onward[same]
            counts += np.bincount(cells[start], minlength=len(counts))
    pyramids = np.flatnonzero((cells[:-1] == PYRAMID) | (cells[:-1] == SPENT))
    around = cells[near[pyramids]].ravel()
    counts += np.bincount(around[around >= 0], minlength=len(counts))
    return Counter(dict(zip(variant.colours, counts.tolist(), strict=True)))
