"""Legal actions by number, without listing them: for those who choose among many games at once."""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule
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
def action_for(t, s, number):
    """The action that a number of the batch stands for: itself."""
    return np.int64(number)


@rule
def number_for(t, s, action):
    """The number of an action in a batch: itself."""
    return np.int64(action)


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
def nth_legal(t, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    hand = in_hand(t, s, s.seat)
    for slot in range(len(t.slots)):
        if s.slot[slot] == LIVE:
            ways = allowed(t, s, slot) & hand
            here = count(ways)
            if n < here:
                return encode(slot, nth_of(ways, n))
            n -= here
    if s.in_bag == 0:
        return passing(t)
    chosen = 0
    while n >= 0:
        chosen += 1
        n -= exchange_refusal(t, s, chosen) == OK
    return exchange_of(t, chosen)


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
