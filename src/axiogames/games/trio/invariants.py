"""What holds in every state that a game of trio can reach. The numbers in brackets are its rules."""

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
from .board import BLACK, EDGE, ENOUGH, HAND, LIVE

if TYPE_CHECKING:
    from ..variant import State
    from .variant import TrioVariant

DERIVED = ("slot", "cells", "match", "wants")
ALONE = 3  # points more for a placement with so many matching edges, alone (11)


def layout(variant: TrioVariant, state: State) -> Iterator[str]:
    """What is wrong with the fields by themselves, and with what is kept up to date beside the board."""
    yield from layout_violations(variant, state)
    cells = state["cells"][0]
    if cells[-1] != EDGE or cells[:-1].min() < BLACK or cells[:-1].max() >= len(variant.colours):
        yield "a square shows what does not exist"
    yield from rebuilt_violations(variant, state, DERIVED)


def violations(variant: TrioVariant, state: State) -> Iterator[str]:
    """What no sequence of moves leads to."""
    now = Snapshot.of(variant, state)
    phases = (OVER, PLACE, DRAW, REMOVE) if variant.facts.removed else (OVER, PLACE, DRAW)
    yield from shared_violations(variant, now, phases)
    yield from _board(variant, state, now)
    yield from _removed(variant, now)
    yield from _scores(variant, state, now)
    if now.dealing:
        if variant.tiles_laid(state) or state["idle"][0] or state["again"][0]:
            yield "nobody places a tile before everybody has a hand"
        return
    yield from full_hand_violations(variant, now)
    yield from _turn(variant, state, now)
    yield from _end(variant, state, now)


def _board(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    cells = state["cells"][0]
    if (int((cells[:-1] >= 0).sum()) - len(variant.printed)) % 3:
        yield "the coloured squares on the board do not make whole tiles"
    if not _tiling(variant).can_cover(cells[:-1] >= 0):
        yield "the coloured squares on the board are not those of whole tiles, each on three in a row"
    if apart := _apart(variant, cells[:-1] >= 0):
        yield f"{apart} is not joined to the starting squares by coloured squares"
    total, laid = sum(variant.tileset.values()), variant.tiles_laid(state)
    left = total - sum(now.off_the_board().values()) - laid  # tiles that have left the game
    if left < 0 or (left and not variant.tiles_leave):
        yield f"{total - left} tiles in all, there are {total}"
    wanted = colours_laid(variant, now)
    wanted.update(variant.printed.values())
    counts = np.bincount(cells[cells >= 0], minlength=len(variant.colours)).tolist()
    for shown, colour in zip(counts, variant.colours, strict=True):
        if shown > wanted[colour] or (shown < wanted[colour] and not variant.tiles_leave):
            yield (
                f"the board shows {shown} {colour}, but by the bag and the hands "
                f"there should be {wanted[colour]}"
            )
    yield from _exchanges(variant, state, now, left)


@cache
def _tiling(variant: TrioVariant) -> Tiling:
    return Tiling(len(variant.names), variant.slots, (variant.number[name] for name in variant.printed))


@cache
def _left_most(side: int) -> int:
    return sum(1 << cell for cell in range(0, side * side, side))


@cache
def _starters(variant: TrioVariant) -> int:
    return sum(1 << variant.number[name] for name in variant.printed)


def _apart(variant: TrioVariant, coloured: np.ndarray) -> str | None:
    """Return a coloured square that no chain of coloured squares joins to a starting square (5)."""
    side = variant.facts.side
    left_most = _left_most(side)
    squares, reached = as_bits(coloured), _starters(variant)
    while True:
        across = (reached & ~left_most) >> 1 | (reached << 1) & ~left_most
        more = (reached | across | reached >> side | reached << side) & squares
        if more == reached:
            break
        reached = more
    rest = squares & ~reached
    return variant.names[rest.bit_length() - 1] if rest else None


def _exchanges(variant: TrioVariant, state: State, now: Snapshot, left: int) -> Iterator[str]:
    """Exchanges in a row end the game (8); alone each of them takes tiles out of it (11)."""
    idle = int(state["idle"][0])
    alone = variant.players == 1
    if idle < 0 or (alone and idle > left + bool(now.aside)):
        yield f"`idle` is {idle}, but {left} tiles have been exchanged"
    if not alone:
        most = 3 * variant.players
        if idle > most or (idle == most and now.phase == PLACE):
            yield f"after {most} exchanges in a row the game is over"
        if idle and not now.in_bag:
            yield f"`idle` is {idle}, but with an empty bag there are no exchanges"
    if now.phase == DRAW and not now.dealing and (idle > 0) != bool(now.aside):
        yield f"`idle` is {idle}, but it counts the exchanges since the last placement, this one included"


def _removed(variant: TrioVariant, now: Snapshot) -> Iterator[str]:
    """The short game starts without some tiles that nobody has seen (10)."""
    most = variant.facts.removed
    wanted = most - now.due if now.phase == REMOVE else most
    removed = sum(now.removed) + now.removed_unseen
    if removed != wanted or now.removed_unseen < 0:
        yield f"{wanted} tiles are removed in this game, not {removed}"
    if any(now.removed) and now.removed_unseen:
        yield "the removed tiles are known or hidden, not both"


def _turn(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """What the seat to move holds and draws (3, 6, 7)."""
    held, again = len(now.hand), bool(state["again"][0])
    if now.phase != DRAW and now.in_bag and held < HAND:
        yield f"seat {now.seat} holds {held} tiles, it should have drawn up to {HAND}"
    if now.phase == DRAW and held + now.due != HAND:
        yield f"{now.due} tiles are due to seat {now.seat}, which has room for {HAND - held}"
    if now.phase == DRAW and not now.aside and now.due != 1:
        yield f"{now.due} tiles are due after a placement, it should be 1"
    if now.phase == DRAW and not now.aside and not variant.tiles_laid(state):
        yield "a tile is due after a placement, but none has been made"
    if now.phase == DRAW and now.aside and now.due > len(now.aside):
        yield f"{now.due} tiles are due for the {len(now.aside)} that are laid aside"
    if again and (now.phase != DRAW or now.aside or variant.players == 1):
        yield "`again` is set, but an extra turn is won by a placement, and taken after the draw"
    if again and now.scores[now.seat][0] < ENOUGH:
        yield f"`again` is set, but seat {now.seat} has not matched {ENOUGH} edges"


def _end(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """The game goes on as long as any tile can be placed (8)."""
    in_hand = {kind for hand in now.hands for kind in hand if kind != HIDDEN}
    fitting = kinds_that_fit(variant, state)
    unseen = sum(count for kind, count in enumerate(now.bag) if kind in fitting)
    if now.phase == PLACE and not unseen and not in_hand & fitting:
        yield "no tile can be placed any more, so the game should be over"
    ended = variant.players > 1 and int(state["idle"][0]) >= 3 * variant.players
    # Removed tiles that nobody has seen do not count: all that fit can be among them.
    if now.phase == OVER and not ended and (in_hand & fitting or unseen > now.removed_unseen):
        yield "the game is over, but a tile can be placed"


def kinds_that_fit(variant: TrioVariant, state: State) -> set[int]:
    """Return the kinds of tiles that can be placed somewhere on the board."""
    t, s = variant.constants[0], state[0]
    live = t["slots"][s["slot"][: len(t["slots"])] == LIVE]
    if not len(live):
        return set()
    suits = [t["suits"][square, s["wants"][live[:, square]]] for square in range(3)]
    any_or_all = np.bitwise_or if variant.facts.children else np.bitwise_and
    allowed = np.bitwise_or.reduce(any_or_all.reduce(suits))
    return set(np.flatnonzero(t["ways"] & allowed).tolist())


def _scores(variant: TrioVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Nobody has points that the board cannot have given (6; alone 11)."""
    edges = matching_pairs(variant, state) - _printed_pairs(variant)
    most = 2 * edges + (ALONE * variant.tiles_laid(state) if variant.players == 1 else 0)
    points = sum(row[0] for row in now.scores)
    if points > most or min(row[0] for row in now.scores) < 0:
        yield f"{points} points, but the board can have given at most {most}"


@cache
def _printed_pairs(variant: TrioVariant) -> int:
    return matching_pairs(variant, variant.opening)


def matching_pairs(variant: TrioVariant, state: State) -> int:
    """Return how many pairs of neighbouring squares show the same colour."""
    side = variant.facts.side
    squares = state["cells"][0, :-1].reshape(side, side)
    across = (squares[:, 1:] == squares[:, :-1]) & (squares[:, 1:] >= 0)
    upright = (squares[1:] == squares[:-1]) & (squares[1:] >= 0)
    return int(across.sum() + upright.sum())
