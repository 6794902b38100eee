"""Generators of lots outside compiled code: the same numbers on every machine and every Python.

A generator is a seed and a counter. The n-th number comes from SHA-256 of both, so a generator can
be wound back with the game it deals for, cannot be predicted without its seed, and needs nothing
from any library's own idea of randomness.
"""

from __future__ import annotations

import hashlib

from .errors import ParseError


def commitment(seed: int | str) -> str:
    """What may be shown of a secret seed before it is told: its SHA-256.

    >>> commitment("seven")[:16]
    '3ba8d02b16fd2a01'
    """
    return hashlib.sha256(seed_bytes(seed)).hexdigest()


def seed_bytes(seed: int | str) -> bytes:
    """Return the text of a seed in UTF-8. Raises `ParseError` for invalid Unicode and huge numbers."""
    try:
        return str(seed).encode()
    except UnicodeEncodeError:
        raise ParseError("the seed is not UTF-8 text") from None
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        raise ParseError("the seed is a number of more digits than can be written; use text") from None


class Generator:
    """Numbers by lot from a seed.

    >>> lots = Generator("seven")
    >>> first = [lots.below(100) for _ in range(3)]
    >>> lots.counter = 0
    >>> first == [lots.below(100) for _ in range(3)]
    True
    """

    __slots__ = ("_prefix", "counter", "seed")

    def __init__(self, seed: int | str, counter: int = 0) -> None:
        self.seed = seed
        self.counter = counter
        self._prefix = hashlib.sha256(b"axio-lots/1:%b:" % seed_bytes(seed))

    def bits(self) -> int:
        """The next number of 64 bits."""
        state = self._prefix.copy()
        state.update(b"%d" % self.counter)
        self.counter += 1
        return int.from_bytes(state.digest()[:8], "big")

    def randint(self, n: int) -> int:
        """A number from 0 to n - 1 (the bias of n / 2**64 is far below anything observable)."""
        return self.bits() * n >> 64

    def child(self, name: int | str) -> Generator:
        """A generator of its own for a part of the work, by name."""
        return Generator(f"{self.seed}/{name}")

    def __eq__(self, other: object) -> bool:
        """Whether both give the same numbers from here on."""
        if not isinstance(other, Generator):
            return NotImplemented
        return str(self.seed) == str(other.seed) and self.counter == other.counter

    __hash__ = None  # type: ignore[assignment]  # the counter changes

    def __reduce__(self) -> tuple[type[Generator], tuple[int | str, int]]:
        return Generator, (self.seed, self.counter)  # a hash object can be neither copied nor pickled

    def __repr__(self) -> str:
        return f"Generator({self.seed!r}, counter={self.counter})"
