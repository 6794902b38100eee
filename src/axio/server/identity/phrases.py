"""Secret phrases that move somebody to another device: short made-up words, easy to read out and to type."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
WORDS = 6  # of 12.25 bits each

_SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]


def new_phrase() -> str:
    """A phrase that nobody guesses.

    >>> len(new_phrase().split("-"))
    6
    """
    return "-".join(secrets.choice(_SYLLABLES) + secrets.choice(_SYLLABLES) for _ in range(WORDS))


def hashed(phrase: str, key: str) -> str:
    """What is kept of a phrase. How it is written (capitals, blanks, hyphens) does not matter.

    >>> hashed("Bado keMI", "key") == hashed(" bado-kemi ", "key")
    True
    """
    letters = re.sub(r"[^a-z]", "", phrase.lower())
    return hmac.new(key.encode(), f"phrase:{letters}".encode(), hashlib.sha256).hexdigest()
