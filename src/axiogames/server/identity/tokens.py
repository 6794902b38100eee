"""Signed tokens: what a cookie or a program holds to be somebody."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from itsdangerous import BadSignature, Signer

_SHAPE = re.compile(r"[0-9a-f]{20}:\d{1,9}(?::[0-9a-f]{0,32}:\d{1,12})?\.[A-Za-z0-9_-]{20,}")


@dataclass(frozen=True, slots=True)
class Token:
    """What a token says: a person, and the session that it belongs to.

    Raising the person's epoch ends all sessions; one session is ended by its name. Tokens made before there
    were sessions have none and were issued at 0.
    """

    person: str
    epoch: int
    session: str = ""
    issued: int = 0  # seconds since 1970


class Tokens:
    """Makes and reads tokens. The first key signs; tokens signed with any of the keys are good."""

    def __init__(self, keys: Sequence[str]) -> None:
        oldest_first = list(reversed(keys))
        self._signer = _signer(oldest_first)
        self._newest = _signer(oldest_first[-1:])

    def make(self, person: str, epoch: int, session: str = "") -> str:
        """Return a token, of a new session if none is named."""
        session = session or secrets.token_hex(8)
        return self._signer.sign(f"{person}:{epoch}:{session}:{_now()}").decode()

    def read(self, token: str) -> Token | None:
        """Return what a token says, `None` if it was not signed with one of our keys."""
        try:
            person, epoch, *more = self._signer.unsign(token).decode().split(":")
            session, issued = more or ("", "0")
            return Token(person, int(epoch), session, int(issued))
        except (BadSignature, ValueError):
            return None

    def signed_with_newest_key(self, token: str) -> bool:
        """Whether a token stays good when the older keys are left out."""
        return self._newest.validate(token)


def _signer(keys: list[str]) -> Signer:
    return Signer(keys, salt="identity", key_derivation="hmac", digest_method=hashlib.sha256)


def _now() -> int:
    return int(time.time())


def looks_signed(token: str) -> bool:
    """Whether a token that cannot be read may have been made here, with a key that is not known now."""
    return _SHAPE.fullmatch(token) is not None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is known by a cookie or a token."""

    id: str
    name: str
    epoch: int = 0
    username: str | None = None
    phrase: bool = False
    kept: bool = False  # whether the database knows them
    banned: bool = False
    erased: bool = False
    seen: int | None = None  # the day of the last visit, in milliseconds since 1970
    revoked: frozenset[str] = frozenset()  # sessions that were ended one by one

    def allows(self, token: Token) -> bool:
        """Whether a token of this person is still good."""
        return not self.erased and token.epoch == self.epoch and token.session not in self.revoked


SIGNED_OUT = 4401
BANNED = 4403
"""Codes that a WebSocket is closed with; docs/reference/http_and_websocket.md has them."""

End = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class _Open:
    """A WebSocket, and the session that it was opened with."""

    epoch: int
    session: str
    end: End


class Sessions:
    """The WebSockets of this process that belong to somebody."""

    def __init__(self) -> None:
        self._open: dict[str, dict[Hashable, _Open]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    @property
    def people(self) -> list[str]:
        """The ids of those who have a WebSocket."""
        return list(self._open)

    def enter(self, socket: Hashable, token: Token, end: End) -> None:
        """Note a WebSocket; `end` is called with a code when its session ends."""
        self._open.setdefault(token.person, {})[socket] = _Open(token.epoch, token.session, end)

    def leave(self, socket: Hashable, person: str) -> None:
        """Forget a WebSocket."""
        theirs = self._open.get(person, {})
        theirs.pop(socket, None)
        if not theirs:
            self._open.pop(person, None)

    def check(self, person: Person) -> None:
        """End the WebSockets of a person whose sessions are over."""
        for socket, it in list(self._open.get(person.id, {}).items()):
            if person.banned or not person.allows(Token(person.id, it.epoch, it.session)):
                self.leave(socket, person.id)
                it.end(BANNED if person.banned else SIGNED_OUT)


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
