"""Legal actions by number, without listing them: for those who choose among many games at once."""

from __future__ import annotations

import numpy as np

from ...engine.bits import NONE, ONE, as_bytes, nth, number_of, without_lowest, write_bytes
from ...engine.compile import rule
from ...engine.phases import OFFER, PLACE
from .board import placements
from .rules import first_slots, is_first, nth_first, suiting_first


@rule
def ways_in_hand(t, s):
    """How many ways there are to lay a tile of the hand on one slot; equal tiles count once."""
    ways = 0
    for i in range(s.held[s.seat]):
        kind = s.hands[s.seat, i]
        if i == 0 or s.hands[s.seat, i - 1] != kind:
            ways += t.ways[kind]
    return ways


@rule
def count_legal(t, s):
    """How many legal actions there are."""
    if s.phase == PLACE:
        return ways_in_hand(t, s) * (first_slots(t, s) if is_first(s) else np.int64(s.n_free))
    return 2 if s.phase == OFFER else 0


@rule
def nth_legal(t, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    if s.phase == OFFER:
        return placements(t) + n
    ways = ways_in_hand(t, s)
    before, way = n // ways, n % ways
    slot = nth_first(t, s, before) if is_first(s) else nth(s.free, before)
    kinds = np.int64(0)
    for i in range(s.held[s.seat]):
        kinds |= np.int64(1) << s.hands[s.seat, i]
    colours = t.kind_of.shape[0]
    pair = -1
    while way >= 0:
        pair += 1
        way -= (kinds >> t.kind_of[pair // colours, pair % colours]) & 1
    return np.int64(slot) * colours * colours + pair


@rule
def mark_legal(t, s, mask):
    """Write 1 for every legal action into a mask of zeros."""
    if s.phase == OFFER:
        mask[placements(t)] = mask[placements(t) + 1] = 1
    elif s.phase == PLACE:
        first = is_first(s)
        colours, ways = t.kind_of.shape[0], NONE
        for i in range(s.held[s.seat]):
            kind = s.hands[s.seat, i]
            ca, cb = np.uint64(t.pairs[kind, 0]), np.uint64(t.pairs[kind, 1])
            ways |= ONE << (ca * np.uint64(colours) + cb)
            ways |= ONE << (cb * np.uint64(colours) + ca)
        size = np.uint64(colours * colours)
        for n in range(len(s.free)):
            word = suiting_first(t, s, n) if first else s.free[n]
            while word != NONE:  # the same bytes for every slot, eight at a time; the last eight overlap
                start = np.uint64(number_of(n, word)) * size
                word = without_lowest(word)
                for eight in range(colours * colours // 8):
                    write_bytes(mask, start + np.uint64(8 * eight), as_bytes(ways >> np.uint64(8 * eight)))
                last = size - np.uint64(8)
                write_bytes(mask, start + last, as_bytes(ways >> last))
