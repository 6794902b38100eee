"""Sets of small numbers as bits of 64-bit words: which are in it, how many, the n-th, the next.

Plain arithmetic, for processors and GPUs alike. Compilers know the way in which `count` is written, and
take the one instruction for it that a machine has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .compile import INTERPRETED, rule

WORD = 64
NONE, ONE = np.uint64(0), np.uint64(1)

_U = np.uint64
_BYTE, _SIGN, _BITS, _TOP = _U(8), _U(7), _U(WORD), _U(56)
_PAIRS = _U(0x5555555555555555)
_QUADS = _U(0x3333333333333333)
_HALVES = _U(0x0F0F0F0F0F0F0F0F)
_ONES = _U(0x0101010101010101)
_SIGNS = _U(0x8080808080808080)
_OTHERS = _U(0x7F7F7F7F7F7F7F7F)
_DIAGONAL = _U(0x8040201008040201)
_LOWEST_BYTE = _U(0xFF)
_ALL = ~NONE


def words_for(numbers: int) -> int:
    """How many words have room for so many numbers."""
    return -(-numbers // WORD)


def words_of(members: Sequence[int] | np.ndarray, numbers: int) -> np.ndarray:
    """The set of these members as words with room for so many numbers."""
    bits = np.zeros(words_for(numbers) * WORD, np.uint8)
    bits[np.asarray(members, np.int64)] = 1
    return np.packbits(bits, bitorder="little").view(np.uint64)


@rule
def contains(words, number):
    """Whether a number is in the set."""
    return (words[_U(number) // _BITS] >> (_U(number) % _BITS)) & ONE != 0


@rule
def running_sums(word):
    """In every byte the sum of itself and all bytes below it, if no sum is above 255."""
    if INTERPRETED:  # NumPy would warn that the upper half of the product is lost
        word = word + (word << _BYTE)
        word = word + (word << _U(16))
        return word + (word << _U(32))
    return word * _ONES  # pragma: no cover - compiled only


@rule
def _bit_sums(word):
    """In every byte the number of bits set in it and all bytes below it."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _QUADS) + ((word >> _U(2)) & _QUADS)
    return running_sums((word + (word >> _U(4))) & _HALVES)


@rule
def count(word):
    """How many bits of a word are set."""
    return _bit_sums(word) >> _TOP


@rule
def lowest(word):
    """Which bit of a word is the first that is set."""
    return count(~word & (word - ONE))


@rule
def without_lowest(word):
    """A word without the first of its bits that is set; there is one."""
    return word & (word - ONE)


@rule
def count_at_most(sums, n):
    """How many bytes of a word are n or less; all of them and n are below 128."""
    return count(((n * _ONES | _SIGNS) - sums) & _SIGNS)


@rule
def as_bytes(word):
    """The lowest eight bits of a word as eight bytes, each 0 or 1."""
    one_each = (word & _LOWEST_BYTE) * _ONES & _DIAGONAL
    return ((one_each + _OTHERS) >> _SIGN) & _ONES


@rule
def write_bytes(out, first, word):
    """Write the eight bytes of a word, the lowest first; compilers write all at once."""
    for i in range(8):
        out[first + _U(i)] = np.uint8((word >> _U(8 * i)) & _LOWEST_BYTE)


@rule
def nth_in_word(word, n):
    """Which bit of a word is the n-th that is set, counted from 0; without a branch nobody could foresee."""
    sums = _bit_sums(word)
    at = _BYTE * count_at_most(sums, n)
    n -= ((sums << _BYTE) >> at) & _LOWEST_BYTE
    return at + count_at_most(running_sums(as_bytes(word >> at)), n)


@rule
def nth_of_multiset(counts, n):
    """Of which kind the n-th thing is, counted from 0, where there are so many of each; 127 at most in all.

    Eight kinds at a time, without a branch: compilers read the eight bytes at once.
    """
    kind, before = NONE, NONE
    for eight in range(len(counts) // 8):
        sums = running_sums(eight_bytes(counts, 8 * eight) + before)
        kind += count_at_most(sums, n)
        before = sums >> _TOP
    if len(counts) < 8:
        kind += count_at_most(running_sums(few_bytes(counts)), n)
    elif len(counts) % 8:  # the last eight begin earlier, and lose those that have been seen
        rest = eight_bytes(counts, len(counts) - 8) >> _U(8 * (8 - len(counts) % 8))
        kind += count_at_most(running_sums(rest + before), n)
    return kind


@rule
def eight_bytes(counts, first):
    """Eight numbers from 0 to 255 as the bytes of a word."""
    word = NONE
    for i in range(8):
        word |= _U(np.uint8(counts[first + i])) << _U(8 * i)
    return word


@rule
def few_bytes(counts):
    """Fewer than eight numbers from 0 to 255 as the lowest bytes of a word."""
    word = NONE
    for i in range(len(counts)):
        word |= _U(np.uint8(counts[i])) << _U(8 * i)
    return word


@rule
def nth(words, n):
    """The n-th number of a set, counted from 0; there is one."""
    at, before, total = NONE, NONE, NONE
    for word in range(len(words) - 1):
        total += count(words[word])
        beyond = _U(n) >= total
        at += _U(beyond)
        before = total if beyond else before
    return np.int64(at * _BITS + nth_in_word(words[at], _U(n) - before))


# Going through a set: `at, left = starting(words, number)`, and then for each number of the set
#
#     at, left = onward(words, at, left)
#     number, left = number_of(at, left), without_lowest(left)


@rule
def iterate_from(words, number):
    """Where to go through a set from: a number, whether it is in the set or not."""
    at = _U(number) // _BITS
    return at, words[at] & (_ALL << (_U(number) % _BITS))


@rule
def next_word(words, at, left):
    """The word that has the next number, and what is left of it; after the last word comes the first."""
    while left == NONE:
        at += ONE
        if at == len(words):
            at = NONE
        left = words[at]
    return at, left


@rule
def lowest_member(at, left):
    """The lowest number of the word with this index, of which this is left."""
    return np.int64(_U(at) * _BITS + lowest(left))
