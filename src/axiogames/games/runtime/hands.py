"""Hands and the bag, the same in every game: a hand is a sorted list of kinds, the bag is counts.

Sorted hands mean that a state does not remember in which order tiles came, so nothing about the
order can leak and equal hands are equal bytes.
"""

from __future__ import annotations

from .compile import rule
from .state import NO_TILE


@rule
def draw_to_hand(s, seat, kind):
    """Move a tile from the bag into a hand."""
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    s.held[seat] += 1
    # Into its place in the order without a branch; `NO_TILE` is larger than any kind and goes last.
    for i in range(s.hands.shape[1] - 1, 0, -1):
        s.hands[seat, i] = max(s.hands[seat, i - 1], min(s.hands[seat, i], kind))
    s.hands[seat, 0] = min(s.hands[seat, 0], kind)


@rule
def remove_from_hand(s, seat, kind):
    """Take a tile of this kind, which it has, out of a hand."""
    s.held[seat] -= 1
    last = s.hands.shape[1] - 1
    for i in range(last):
        before = s.hands[seat, i] < kind
        s.hands[seat, i] = s.hands[seat, i] if before else s.hands[seat, i + 1]
    s.hands[seat, last] = NO_TILE


@rule
def find_in_hand(s, seat, kind):
    """Where a hand has a tile of this kind, -1 if nowhere."""
    for i in range(s.held[seat]):
        if s.hands[seat, i] == kind:
            return i
    return -1


@rule
def set_aside(s, seat, kind):
    """Lay a tile of a hand aside, to go back into the bag after the draw."""
    remove_from_hand(s, seat, kind)
    s.aside[s.n_aside] = kind
    s.n_aside += 1


@rule
def return_aside(s):
    """Put what was laid aside back into the bag."""
    for i in range(s.n_aside):
        s.bag[s.aside[i]] += 1
        s.aside[i] = NO_TILE
    s.in_bag += s.n_aside
    s.unseen += s.n_aside
    s.n_aside = 0
