"""Two hooks for speed: every free slot takes every tile in hand, so legal actions need no list."""

from __future__ import annotations

from axiogames.games.runtime.compile import rule
from axiogames.games.runtime.hands import find_in_hand
from axiogames.games.runtime.state import PLACE

from .rules import is_free

# Rule code is typed by Numba at compilation.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs


@rule
def count_free(c, s):
    """Return the number of slots with two empty cells."""
    n = 0
    for slot in range(len(c.slots)):
        n += is_free(c, s, slot)
    return n


@rule
def count_ways(c, s):
    """Return the number of ways to lay a tile in hand on a slot."""
    n = 0
    for way in range(len(c.ways)):
        n += find_in_hand(s, s.seat, c.kind_of[way]) >= 0
    return n


@rule
def count_legal(c, s):
    """Return the number of legal actions."""
    return count_free(c, s) * count_ways(c, s) if s.phase == PLACE else 0


@rule
def nth_legal(c, s, n):
    """Return the n-th legal action, ascending, counted from 0: by slot, then by way."""
    ways = count_ways(c, s)
    slot, left = -1, n // ways
    while left >= 0:
        slot += 1
        left -= is_free(c, s, slot)
    way, left = -1, n % ways
    while left >= 0:
        way += 1
        left -= find_in_hand(s, s.seat, c.kind_of[way]) >= 0
    return slot * len(c.ways) + way
