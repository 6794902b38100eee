"""The random number generator of uncompiled code. It is identical on every machine and Python version.

A generator is a seed and a counter. The n-th number is derived from the SHA-256 of both. A generator can
therefore be rewound with its game, cannot be predicted without the seed, and does not depend on the algorithm
of a library.
"""

from __future__ import annotations

import hashlib

from .errors import ParseError


def commitment(seed: int | str) -> str:
    """Return the SHA-256 of a seed in hexadecimal, which is published before the game.

    >>> commitment("seven")[:16]
    '3ba8d02b16fd2a01'
    """
    return hashlib.sha256(seed_bytes(seed)).hexdigest()


def seed_bytes(seed: int | str) -> bytes:
    """Return the text of a seed in UTF-8.

    Raises:
        ParseError: the text is not valid Unicode, or the number has too many digits.
    """
    try:
        return str(seed).encode()
    except UnicodeEncodeError:
        raise ParseError("the seed is not UTF-8 text") from None
    except ValueError:  # Python does not convert integers of more than 4300 digits
        raise ParseError("the seed is a number with too many digits; use text") from None


def _hashed_prefix(seed: int | str) -> bytes:
    """Return what is hashed before the counter."""
    return b"axio-lots/1:%b:" % seed_bytes(seed)


class Generator:
    """A random number generator with a seed and a counter.

    Generators with equal seeds and counters are equal. A generator is not hashable, because its counter
    changes.

    Args:
        seed: a number or any text; `7` and `"7"` are the same seed.
        counter: the number of values already generated.

    >>> rng = Generator("seven")
    >>> first = [rng.randint(100) for _ in range(3)]
    >>> rng.counter = 0
    >>> first == [rng.randint(100) for _ in range(3)]
    True
    """

    __slots__ = ("_prefix", "counter", "seed")

    def __init__(self, seed: int | str, counter: int = 0) -> None:
        self.seed = seed
        self.counter = counter
        self._prefix = hashlib.sha256(_hashed_prefix(seed))

    def bits(self) -> int:
        """Return 64 random bits, as an integer from 0 to 2**64 - 1."""
        state = self._prefix.copy()
        state.update(b"%d" % self.counter)
        self.counter += 1
        return int.from_bytes(state.digest()[:8], "big")

    def words(self, count: int) -> bytes:
        """Return the next `count` values of `bits`, each as 8 bytes with the most significant first.

        Faster than as many calls of `bits`.
        """
        prefix, first, sha256 = _hashed_prefix(self.seed), self.counter, hashlib.sha256
        self.counter += count
        return b"".join([sha256(b"%b%d" % (prefix, n)).digest()[:8] for n in range(first, first + count)])

    def randint(self, n: int) -> int:
        """Return a number from 0 to `n` - 1.

        Args:
            n: upper bound, exclusive. The bias of `n` / 2**64 is far too small to observe.
        """
        return self.bits() * n >> 64

    def child(self, name: int | str) -> Generator:
        """Return an independent generator.

        Args:
            name: added to the seed. Give each part of the work a generator with a different name.
        """
        return Generator(f"{self.seed}/{name}")

    def __eq__(self, other: object) -> bool:
        """Return whether both generate the same numbers."""
        if not isinstance(other, Generator):
            return NotImplemented
        return str(self.seed) == str(other.seed) and self.counter == other.counter

    __hash__ = None  # type: ignore[assignment]  # the counter changes

    def __reduce__(self) -> tuple[type[Generator], tuple[int | str, int]]:
        return Generator, (self.seed, self.counter)  # a hash object can be neither copied nor pickled

    def __repr__(self) -> str:
        return f"Generator({self.seed!r}, counter={self.counter})"
