"""Random numbers inside compiled loops: xorshift64, small enough to live in every game of a batch.

The generator is an array of one number that the caller owns. It is never part of a state, so that
a search cannot change what will be drawn.
"""

from __future__ import annotations

import numpy as np

from .bitsets import nth_of_multiset
from .compile import rule


def seed_state(seed: int) -> np.ndarray:
    """A generator for `randint`, its bits well mixed (xorshift must not start at zero)."""
    mask = (1 << 64) - 1
    x = (seed + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return np.array([(x ^ (x >> 31)) or 1], np.uint64)


def seed_states(seed: int, first: int, count: int) -> np.ndarray:
    """Generators' states number `first` and those after it, of a sequence that a seed stands for."""
    mixed: np.ndarray = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(
        0x9E3779B97F4A7C15
    )
    mixed += np.uint64(seed)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    started: np.ndarray = np.maximum(mixed ^ (mixed >> np.uint64(31)), np.uint64(1))
    return started


@rule
def randint(rng, n):
    """A number from 0 to n - 1."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@rule
def sample_tile(bag, total, rng):
    """A kind of tile from a multiset of `total` tiles, each tile as likely as any other."""
    return np.int64(nth_of_multiset(bag, np.uint64(randint(rng, np.int64(total)))))
