"""xorshift64, the random number generator of compiled loops, small enough for every game of a batch.

The generator state is an array of one word that the caller owns. It is never part of a game state, so a
search cannot change future draws.
"""

from __future__ import annotations

import numpy as np

from .bitsets import nth_of_multiset
from .compile import entry_point, rule

MAX_WORD = (1 << 64) - 1
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)  # bits of half a word


def seed_state(seed: int) -> np.ndarray:
    """Return the first generator state of the sequence of a seed."""
    return seed_states(seed, 0, 1)


def seed_states(seed: int, first: int, count: int) -> np.ndarray:
    """Return the generator states `first` to `first + count - 1` of the sequence of a seed."""
    states = np.zeros(count, np.uint64)
    write_seed_states(seed_word(seed), first, states)
    return states


def seed_word(seed: int) -> np.ndarray:
    """Return a seed as compiled loops take it: an array of one word."""
    return np.array([seed & MAX_WORD], np.uint64)


@entry_point
def write_seed_states(word, first, states):
    """Write the generator states from `first` on of the sequence of a seed."""
    for i in range(len(states)):
        states[i] = nth_seed_state(word[0], first + i)


@rule
def nth_seed_state(word, index):
    """Return the generator state with an index in the sequence of a seed; xorshift must not start at zero.

    The bits are mixed as by SplitMix64.
    """
    x = _add(word, _multiply(np.uint64(index + 1), np.uint64(0x9E3779B97F4A7C15)))
    x = _multiply(x ^ (x >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
    x = _multiply(x ^ (x >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
    return max(x ^ (x >> np.uint64(31)), np.uint64(1))


# NumPy, which runs interpreted rules, warns if the sum or product of two words overflows. Those of halves do
# not.


@rule
def _add(x, y):
    """Return `x` + `y` modulo 2^64."""
    low = (x & LOW) + (y & LOW)
    return (((x >> HALF) + (y >> HALF) + (low >> HALF)) << HALF) | (low & LOW)


@rule
def _multiply(x, y):
    """Return `x` * `y` modulo 2^64."""
    low = (x & LOW) * (y & LOW)
    high = (low >> HALF) + (((x >> HALF) * (y & LOW)) & LOW) + (((x & LOW) * (y >> HALF)) & LOW)
    return (high << HALF) | (low & LOW)


@rule
def randint(rng, n):
    """Return a random integer from 0 to `n` - 1."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return np.int64(((x >> HALF) * np.uint64(n)) >> HALF)


@rule
def scale(word, n):
    """Return `word * n // 2**64`, a number below `n`, like `Generator.randint`; `n` is below 2**32."""
    factor = np.uint64(n)
    return np.int64(((word >> HALF) * factor + ((word & LOW) * factor >> HALF)) >> HALF)


@rule
def seed_from_word(rng, word):
    """Seed a generator with a random word, like `seed_state`."""
    rng[0] = nth_seed_state(word, 0)


@rule
def sample_tile(bag, total, rng):
    """Return the kind of a tile drawn uniformly from a multiset of `total` tiles."""
    return np.int64(nth_of_multiset(bag, np.uint64(randint(rng, np.int64(total)))))
