"""What holds in every state that a game of the domino family can reach.

The numbers in brackets are the rules of the square game.
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

DERIVED = ("n_free", "free", "cells", "open", "n_pyramids", "order")


def layout(variant: DominoVariant, state: State) -> Iterator[str]:
    """What is wrong with the fields by themselves, and with what is kept up to date beside the board."""
    yield from layout_violations(variant, state)
    cells, order = state["cells"][0], state["order"][0]
    if cells[-1] != EDGE or cells[:-1].min() < SPENT or cells[:-1].max() >= len(variant.colours):
        yield "a cell shows what does not exist"
    if not 0 <= state["n_pyramids"][0] <= len(variant.names) or order.max() >= len(variant.names):
        yield "a pyramid stands beside the board"
    yield from rebuilt_violations(variant, state, DERIVED)
    if state["sums"].size:
        fresh = variant.new_state()
        variant.read_board(fresh, variant.write_board(state))
        empty = state["open"][0] < len(variant.facts.directions) + 1
        if not np.array_equal(fresh["sums"][0][empty], state["sums"][0][empty]):
            yield "`sums` does not fit the board"


def violations(variant: DominoVariant, state: State) -> Iterator[str]:
    """What no sequence of moves leads to."""
    now = Snapshot.of(variant, state)
    phases = (OVER, PLACE, DRAW) if variant.facts.solo else (OVER, PLACE, OFFER, DRAW)
    yield from shared_violations(variant, now, phases)
    yield from _board(variant, state, now)
    if now.dealing:
        if variant.tiles_laid(state) or state["begun"][0] or state["claimed"][0] or state["extra"][0]:
            yield "nobody places a tile before everybody has a hand"
        return
    yield from full_hand_violations(variant, now)
    yield from _scores(variant, state, now)
    yield from _turn(variant, state, now)
    yield from _order_of_turns(variant, state, now)
    yield from _first_tiles(variant, state, now)


def _won(variant: DominoVariant, now: Snapshot) -> int:
    """How many extra placements the seat to move has won in the game (10); there are none alone (16)."""
    return 0 if variant.facts.solo else now.capped(now.seat, variant.cap)


def _board(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    cells, free_sides = state["cells"][0, :-1], state["open"][0, :-1]
    if ((cells >= 0).sum() - len(variant.facts.printed)) % 2:
        yield "an odd number of symbols lies on the board, so half a tile"
    shut_in = np.flatnonzero((cells == -1) & (free_sides == 0))
    if variant.facts.pyramids and len(shut_in):
        yield f"{variant.names[shut_in[0]]} is shut in and should have a pyramid"
    if not _tiling(variant).can_cover(cells >= 0):
        yield "the symbols on the board are not those of whole tiles, each on two neighbouring cells"
    off, laid = sum(now.off_the_board().values()), variant.tiles_laid(state)
    if off + laid != sum(variant.tileset.values()):
        yield f"{off + laid} tiles in all, there are {sum(variant.tileset.values())}"
    if now.removed_unseen:
        yield f"{now.removed_unseen} tiles are neither in the bag nor in a hand"
    wanted = colours_laid(variant, now)
    wanted.update(variant.facts.printed.values())
    counts = np.bincount(cells[cells >= 0], minlength=len(variant.colours)).tolist()
    for shown, colour in zip(counts, variant.colours, strict=True):
        if shown != wanted[colour]:
            yield (
                f"the board shows {shown} {colour}, but by the bag and the hands "
                f"there should be {wanted[colour]}"
            )


@cache
def _tiling(variant: DominoVariant) -> Tiling:
    printed = (variant.number[name] for name in variant.facts.printed)
    return Tiling(len(variant.names), variant.slots, printed)


def _turn(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """What the seat to move holds, and the extra placements that it still has (10, 12, 13, 14)."""
    won, full, held = _won(variant, now), variant.hand, len(now.hand)
    extra, room = int(state["extra"][0]), int(state["n_free"][0]) > 0
    placed = full - held  # in this turn, at least where the bag has not run out
    if extra < 0 or (extra and now.phase not in (PLACE, OVER)) or extra > won:
        yield f"`extra` is {extra}, but seat {now.seat} can have at most {won}, and only while it places"
    if now.phase == PLACE:
        if not held or not room:
            yield "the seat to move cannot place a tile, so the game should be over"
        if placed + extra > won and (now.in_bag or extra) and (placed or extra):
            yield f"seat {now.seat} holds {held} tiles, it should have drawn up to {full}"
        if extra and not placed:
            yield f"`extra` is {extra} before the first placement of a turn"
    elif now.phase == OFFER:
        if now.in_bag < full or not held or not 1 <= placed <= 1 + won:
            yield f"no exchange is offered to {held} tiles in hand and {now.in_bag} in the bag"
        if HIDDEN not in now.hand and _shows_lowest(variant, now, now.hand):
            yield "no exchange is offered to a hand that shows one of its seat's lowest colours"
    elif now.phase == DRAW and now.aside:
        if held + now.due != full or not max(1, full - 1 - won) <= len(now.aside) < full:
            yield f"a hand of {len(now.aside)} is exchanged for {held + now.due} tiles, not for {full}"
        if _shows_lowest(variant, now, now.aside):
            yield "what is laid aside shows one of its seat's lowest colours, so it cannot be exchanged"
    elif now.phase == DRAW:
        if now.due != min(placed, now.in_bag) or placed > 1 + won:
            room_for = min(placed, now.in_bag, 1 + won)
            yield f"{now.due} tiles are due to seat {now.seat}, which holds {held}: it draws {room_for}"
    elif now.in_bag and placed + extra > 1 + won:
        yield f"seat {now.seat} holds {held} tiles, it should have drawn up to {full}"
    yield from _end(variant, now, room)


def _shows_lowest(variant: DominoVariant, now: Snapshot, kinds: tuple[int, ...]) -> bool:
    points = now.scores[now.seat]
    lowest = {variant.colours[n] for n, value in enumerate(points) if value == min(points)}
    return any(lowest & {*variant.kinds[kind]} for kind in kinds)


def _end(variant: DominoVariant, now: Snapshot, room: bool) -> Iterator[str]:
    """The game ends with all colours at the cap (11), or when the seat to move cannot place (14, 16)."""
    colours = len(variant.colours)
    for seat in range(variant.players) if not variant.facts.solo else ():
        won = now.capped(seat, variant.cap) == colours
        if won and (now.phase != OVER or seat != now.seat):
            yield f"seat {seat} has won, so the game should have ended with its turn"
    if now.phase != OVER or not room:
        return
    out_of_tiles = not now.hand and (not now.in_bag or _won(variant, now) >= variant.hand)
    if not out_of_tiles and _won(variant, now) < colours:
        yield "the game is over, but nobody has won and the seat to move can place a tile"


def _order_of_turns(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Seats take turns: after so many placements, less extra ones, it is the turn of one seat only."""
    laid, begun = variant.tiles_laid(state), int(state["begun"][0])
    extra = 0 if variant.facts.solo else sum(now.capped(seat, variant.cap) for seat in range(variant.players))
    placed = variant.hand - len(now.hand)
    first = now.phase == OVER or (now.phase == PLACE and (not placed or not now.in_bag))
    more = now.phase == OVER or (now.phase == PLACE and (placed > 0 or not now.in_bag))
    done = now.phase in (OVER, OFFER, DRAW)
    turns = set()  # (turns before this one, whether the seat has placed in this one)
    for used in range(extra - int(state["extra"][0]) + 1):  # those still to come have not been used
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
        yield f"`begun` is {begun}, but after {laid} placements it should be {(1 << max(fitting)) - 1}"


def _first_tiles(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Every first tile touches one printed symbol that no other first tile touches (5)."""
    begun, claimed = int(state["begun"][0]), int(state["claimed"][0])
    printed = len(variant.facts.printed)
    if claimed >> printed or claimed.bit_count() != begun.bit_count():
        yield f"`claimed` is {claimed}, but each seat that has begun touches one of {printed} printed symbols"
    near, cells = variant.constants["near"][0], state["cells"][0]
    beside = variant.constants["beside"][0] & state["free"][0]
    waiting = variant.players - begun.bit_count()
    places = 0
    for symbol, name in enumerate(variant.facts.printed):
        if not claimed >> symbol & 1:
            places += bool(beside[symbol].any())
        elif (cells[near[variant.number[name]]] < 0).all():
            yield f"`claimed` names {name}, but no tile lies beside it"
    if waiting > places and now.phase != OVER:
        yield f"{waiting} seats still have to place a first tile, and there is room for {places}"


def _scores(variant: DominoVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Nobody has points that the board cannot have given (6, 7)."""
    most = most_points(variant, state)
    most.subtract(_printed_points(variant))
    for number, colour in enumerate(variant.colours):
        points = sum(row[number] for row in now.scores)
        if points > most[colour]:
            yield f"{points} points in {colour}, but the board can have given at most {most[colour]}"


@cache
def _printed_points(variant: DominoVariant) -> Counter[str]:
    return most_points(variant, variant.opening)


def most_points(variant: DominoVariant, state: State) -> Counter[str]:
    """Return by colour how many points a board can have given.

    A symbol scores those of its colour to which it is joined by an unbroken line, so each pair on such a line
    has scored once at most; a pyramid scores the symbols beside it.
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
