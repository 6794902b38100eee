"""Bit sets: sets of small non-negative integers as arrays of 64-bit words.

The functions use plain arithmetic, so they compile for CPUs and GPUs. Compilers recognize the form of `count`
and emit the machine's population-count instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .compile import COMPILED, rule

WORD_BITS = 64
NONE, ONE = np.uint64(0), np.uint64(1)

_U = np.uint64
_BYTE, _SIGN, _BITS, _TOP = _U(8), _U(7), _U(WORD_BITS), _U(56)
_PAIRS = _U(0x5555555555555555)
_QUADS = _U(0x3333333333333333)
_HALVES = _U(0x0F0F0F0F0F0F0F0F)
_ONES = _U(0x0101010101010101)
_SIGNS = _U(0x8080808080808080)
_NO_SIGNS = _U(0x7F7F7F7F7F7F7F7F)
_DIAGONAL = _U(0x8040201008040201)
_LOWEST_BYTE = _U(0xFF)
_ALL = ~NONE


def word_count(size: int) -> int:
    """Return the number of words of a set that can hold 0 to `size` - 1."""
    return -(-size // WORD_BITS)


def from_members(members: Sequence[int] | np.ndarray, size: int) -> np.ndarray:
    """Return the words of a set with these members, all below `size`."""
    bits = np.zeros(word_count(size) * WORD_BITS, np.uint8)
    bits[np.asarray(members, np.int64)] = 1
    return np.packbits(bits, bitorder="little").view(np.uint64)


@rule
def add_member(words, member):
    """Add a member to a set."""
    words[member // WORD_BITS] |= ONE << np.uint64(member % WORD_BITS)


@rule
def contains(words, member):
    """Return whether `member` is in the set."""
    return (words[_U(member) // _BITS] >> (_U(member) % _BITS)) & ONE != 0


@rule
def running_sums(word):
    """Return a word whose bytes are the prefix sums of the bytes of `word`; no sum may exceed 255."""
    if COMPILED:
        return word * _ONES  # pragma: no cover - compiled only
    # NumPy would warn that the upper half of the product is lost.
    word = word + (word << _BYTE)
    word = word + (word << _U(16))
    return word + (word << _U(32))


@rule
def _bit_sums(word):
    """Return a word whose bytes count the set bits of that byte and all lower bytes."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _QUADS) + ((word >> _U(2)) & _QUADS)
    return running_sums((word + (word >> _U(4))) & _HALVES)


@rule
def count(word):
    """Return the number of set bits of a word."""
    return _bit_sums(word) >> _TOP


@rule
def lowest(word):
    """Return the index of the lowest set bit, 64 for an empty word."""
    return count(~word & (word - ONE))


@rule
def without_lowest(word):
    """Return a non-empty word with its lowest set bit cleared."""
    return word & (word - ONE)


@rule
def count_at_most(sums, n):
    """Return the number of bytes of `sums` that are at most `n`; all bytes and `n` are below 128."""
    return count(((n * _ONES | _SIGNS) - sums) & _SIGNS)


@rule
def as_bytes(word):
    """Spread the lowest eight bits of a word over eight bytes, each 0 or 1."""
    one_each = (word & _LOWEST_BYTE) * _ONES & _DIAGONAL
    return ((one_each + _NO_SIGNS) >> _SIGN) & _ONES


@rule
def write_bytes(out, start, word):
    """Write the eight bytes of a word to `out[start:start + 8]`, the lowest first, in a single store."""
    for i in range(8):
        out[start + _U(i)] = np.uint8((word >> _U(8 * i)) & _LOWEST_BYTE)


@rule
def nth_in_word(word, n):
    """Return the index of the n-th set bit, counted from 0, without unpredictable branches."""
    sums = _bit_sums(word)
    at = _BYTE * count_at_most(sums, n)
    n -= ((sums << _BYTE) >> at) & _LOWEST_BYTE
    return at + count_at_most(running_sums(as_bytes(word >> at)), n)


@rule
def nth_of_multiset(counts, n):
    """Return the kind of the n-th item of a multiset, counted from 0 in the order of the kinds.

    `counts` has the number of items by kind, at most 127 in all. Eight kinds are handled at a time and
    without a branch; compilers read their counts in a single load.
    """
    kind, before = NONE, NONE
    for eight in range(len(counts) // 8):
        sums = running_sums(eight_bytes(counts, 8 * eight) + before)
        kind += count_at_most(sums, n)
        before = sums >> _TOP
    if len(counts) < 8:
        kind += count_at_most(running_sums(few_bytes(counts)), n)
    elif len(counts) % 8:  # load the last eight kinds, and shift out those that are counted already
        rest = eight_bytes(counts, len(counts) - 8) >> _U(8 * (8 - len(counts) % 8))
        kind += count_at_most(running_sums(rest + before), n)
    return kind


@rule
def eight_bytes(counts, start):
    """Pack eight counts from index `start` into a word, a byte for each."""
    word = NONE
    for i in range(8):
        word |= _U(np.uint8(counts[start + i])) << _U(8 * i)
    return word


@rule
def few_bytes(counts):
    """Pack fewer than eight counts into the lowest bytes of a word."""
    word = NONE
    for i in range(len(counts)):
        word |= _U(np.uint8(counts[i])) << _U(8 * i)
    return word


@rule
def nth(words, n):
    """Return the n-th member of a set in ascending order, counted from 0; it must exist."""
    at, before, total = NONE, NONE, NONE
    for word in range(len(words) - 1):
        total += count(words[word])
        beyond = _U(n) >= total
        at += _U(beyond)
        before = total if beyond else before
    return np.int64(at * _BITS + nth_in_word(words[at], _U(n) - before))


# To iterate over a set, start with `at, left = iterate_from(words, start)`, and then for each member:
#
#     at, left = next_word(words, at, left)
#     member, left = lowest_member(at, left), without_lowest(left)


@rule
def iterate_from(words, start):
    """Return the state of an iteration over a set from `start` on: a word's index and its remaining bits."""
    at = _U(start) // _BITS
    return at, words[at] & (_ALL << (_U(start) % _BITS))


@rule
def next_word(words, at, left):
    """Return the index and the remaining bits of the word with the next member; the iteration is cyclic."""
    while left == NONE:
        at += ONE
        if at == len(words):
            at = NONE
        left = words[at]
    return at, left


@rule
def lowest_member(at, left):
    """Return the lowest member among the remaining bits `left` of the word with index `at`."""
    return np.int64(_U(at) * _BITS + lowest(left))
