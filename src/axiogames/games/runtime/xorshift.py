"""xorshift64, the random number generator of compiled loops, small enough for every game of a batch.

The generator state is an array of one word that the caller owns. It is never part of a game state, so a
search cannot change future draws.
"""

from __future__ import annotations

import numpy as np

from .bitsets import nth_of_multiset
from .compile import rule

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def seed_state(seed: int) -> np.ndarray:
    """Return a generator state for `randint`, with mixed bits; xorshift must not start at zero."""
    mask = (1 << 64) - 1
    x = (seed + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return np.array([(x ^ (x >> 31)) or 1], np.uint64)


def seed_states(seed: int, first: int, count: int) -> np.ndarray:
    """Return the generator states `first` to `first + count - 1` of the sequence of a seed."""
    mixed: np.ndarray = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(
        0x9E3779B97F4A7C15
    )
    mixed += np.uint64(seed)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    states: np.ndarray = np.maximum(mixed ^ (mixed >> np.uint64(31)), np.uint64(1))
    return states


@rule
def randint(rng, n):
    """Return a random integer from 0 to `n` - 1."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return np.int64(((x >> _HALF) * np.uint64(n)) >> _HALF)


# ---------------------------------------------------------------- words of the generator of uncompiled code
#
# Products are built from 32-bit halves: interpreted, NumPy would warn of an overflow.


@rule
def scale(word, n):
    """Return `word * n // 2**64`, a number below `n`, like `Generator.randint`; `n` is below 2**32."""
    factor = np.uint64(n)
    return np.int64(((word >> _HALF) * factor + ((word & _LOW) * factor >> _HALF)) >> _HALF)


@rule
def seed_from_word(rng, word):
    """Seed a generator with a random word, like `seed_state`."""
    low = (word & _LOW) + (_GOLDEN & _LOW)
    high = ((word >> _HALF) + (_GOLDEN >> _HALF) + (low >> _HALF)) & _LOW
    x = (high << _HALF) | (low & _LOW)
    x = _product(x ^ (x >> np.uint64(30)), _FIRST)
    x = _product(x ^ (x >> np.uint64(27)), _SECOND)
    rng[0] = max(x ^ (x >> np.uint64(31)), np.uint64(1))


@rule
def _product(a, b):
    """Return the product of two words modulo 2**64."""
    low = (a & _LOW) * (b & _LOW)
    high = (((a >> _HALF) * (b & _LOW)) & _LOW) + (((a & _LOW) * (b >> _HALF)) & _LOW)
    return (((high + (low >> _HALF)) & _LOW) << _HALF) | (low & _LOW)


@rule
def sample_tile(bag, total, rng):
    """Return the kind of a tile drawn uniformly from a multiset of `total` tiles."""
    return np.int64(nth_of_multiset(bag, np.uint64(randint(rng, np.int64(total)))))
