"""Legal actions by number, without listing them: for those who choose among many games at once."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
from ...engine.lots import below
from ...engine.phases import PLACE
from ...reasons import OK
from .board import (
    ARRANGEMENTS,
    LIVE,
    NOTHING,
    ONE,
    SUBSETS,
    allowed,
    count,
    encode,
    exchange_of,
    in_hand,
    nth_of,
    passing,
)
from .rules import exchange_refusal


@rule
def count_placements(t, s):
    """How many placements are legal."""
    hand = in_hand(t, s, s.seat)
    total = 0
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            total += count(allowed(t, s, slot) & hand)
    return total


@rule
def count_exchanges(t, s):
    """How many exchanges are legal."""
    total = 0
    if s.in_bag > 0:
        for chosen in range(1, SUBSETS + 1):
            total += exchange_refusal(t, s, chosen) == OK
    return total


@rule
def count_legal(t, s):
    """How many legal actions there are."""
    return max(count_placements(t, s) + count_exchanges(t, s), 1) if s.phase == PLACE else 0


@rule
def nth_placement(t, s, n):
    """The n-th legal placement in ascending order, counted from 0."""
    hand = in_hand(t, s, s.seat)
    slot = 0
    while True:
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            here = count(ways)
            if n < here:
                return encode(slot, nth_of(ways, n))
            n -= here
        slot += 1


@rule
def nth_exchange(t, s, n):
    """The n-th legal exchange in ascending order, counted from 0."""
    chosen = 0
    while n >= 0:
        chosen += 1
        n -= exchange_refusal(t, s, chosen) == OK
    return exchange_of(t, chosen)


@rule
def nth_legal(t, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    placed = count_placements(t, s)
    if n < placed:
        return nth_placement(t, s, n)
    return nth_exchange(t, s, n - placed) if s.in_bag > 0 else passing(t)


@rule
def pick(t, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    exchanges = count_exchanges(t, s)
    total = exchanges + count_placements(t, s)
    if total == 0:
        return passing(t)
    nth = below(rng, total)
    return nth_exchange(t, s, nth) if nth < exchanges else nth_placement(t, s, nth - exchanges)


@rule
def mark_legal(t, s, mask):
    """Write 1 for every legal action into a mask of zeros."""
    if s.phase != PLACE:
        return
    hand = in_hand(t, s, s.seat)
    placed = 0
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            for arrangement in range(ARRANGEMENTS):
                if (ways >> np.uint64(arrangement)) & ONE:
                    mask[encode(slot, arrangement)] = 1
            placed |= ways != NOTHING
    if s.in_bag > 0:
        for chosen in range(1, SUBSETS + 1):
            mask[exchange_of(t, chosen)] = exchange_refusal(t, s, chosen) == OK
    elif not placed:
        mask[passing(t)] = 1
