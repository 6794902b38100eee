"""Hands and the bag, shared by all games: a hand is a sorted list of kinds, the bag holds counts by kind.

Because hands are sorted, a state does not record the order in which tiles were drawn. The order cannot leak,
and equal hands are equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .compile import rule
from .state import HIDDEN, NO_TILE


@rule
def draw_to_hand(s, seat, kind):
    """Move a tile from the bag into a hand."""
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    s.held[seat] += 1
    # Insert in order without a branch; `NO_TILE` is larger than any kind and sorts last.
    for i in range(s.hands.shape[1] - 1, 0, -1):
        s.hands[seat, i] = max(s.hands[seat, i - 1], min(s.hands[seat, i], kind))
    s.hands[seat, 0] = min(s.hands[seat, 0], kind)


@rule
def remove_from_hand(s, seat, kind):
    """Remove a tile of a kind from a hand that holds one."""
    s.held[seat] -= 1
    last = s.hands.shape[1] - 1
    for i in range(last):
        before = s.hands[seat, i] < kind
        s.hands[seat, i] = s.hands[seat, i] if before else s.hands[seat, i + 1]
    s.hands[seat, last] = NO_TILE


@rule
def find_in_hand(s, seat, kind):
    """Return the index of a tile of a kind in a hand, -1 if there is none."""
    for i in range(s.held[seat]):
        if s.hands[seat, i] == kind:
            return i
    return -1


@rule
def set_aside(s, seat, kind):
    """Set a tile of a hand aside; it returns to the bag after the draw."""
    remove_from_hand(s, seat, kind)
    s.aside[s.n_aside] = kind
    s.n_aside += 1


@rule
def return_aside(s):
    """Return the tiles that were set aside to the bag."""
    for i in range(s.n_aside):
        s.bag[s.aside[i]] += 1
        s.aside[i] = NO_TILE
    s.in_bag += s.n_aside
    s.unseen += s.n_aside
    s.n_aside = 0


# ---------------------------------------------------------------- hiding tiles
#
# Hidden tiles count among the unseen, so that a view has no trace of where they are.


@rule
def hide_tile(s, kind):
    """Count a tile among the unseen and return what a view has in its place. Hidden tiles stay hidden."""
    if kind == HIDDEN:
        return kind
    s.bag[kind] += 1
    s.unseen += 1
    return HIDDEN


@rule
def hide_hand(s, seat):
    """Hide the tiles in the hand of a seat."""
    for i in range(s.held[seat]):
        s.hands[seat, i] = hide_tile(s, s.hands[seat, i])


@rule
def hide_aside(c, s, seat):
    """Hide the tiles that were set aside from a seat that may not see them."""
    if c.hides_exchanges and s.seat != seat:
        for i in range(s.n_aside):
            s.aside[i] = hide_tile(s, s.aside[i])


@rule
def hide_removed(s):
    """Hide which tiles were removed before the deal."""
    for kind in range(len(s.removed)):
        s.bag[kind] += s.removed[kind]
        s.unseen += s.removed[kind]
        s.removed[kind] = 0


@rule
def hide_no_aside(c, s, seat):
    """Hide nothing, in games that set no tiles aside."""


@rule
def hide_no_removed(s):
    """Hide nothing, in games that remove no tiles."""


def hiding_rules(fields: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Return the rules that hide tiles outside hands, for states with these fields.

    They follow from the fields and are no hooks, so that no game can forget to hide its tiles.
    """
    return {
        "hide_aside": hide_aside if "aside" in fields else hide_no_aside,
        "hide_removed": hide_removed if "removed" in fields else hide_no_removed,
    }
