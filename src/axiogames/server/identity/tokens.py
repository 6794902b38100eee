"""Signed tokens, the people and sessions they identify, and secret phrases."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from itsdangerous import BadSignature, Signer

SIGNED_OUT, BANNED = 4401, 4403
"""WebSocket close codes, documented in docs/reference/http_and_websocket.md."""

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
WORDS_PER_PHRASE = 6  # of 12.25 bits each

CloseSocket = Callable[[int], None]

_TOKEN = re.compile(r"[0-9a-f]{20}:\d{1,9}(?::[0-9a-f]{0,32}:\d{1,12})?\.[A-Za-z0-9_-]{20,}")
_SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]


@dataclass(frozen=True, slots=True)
class Token:
    """Content of a token: a person, and the session that it belongs to.

    Incrementing the person's epoch ends all sessions; revoking the session id ends one. Tokens of versions
    before sessions existed have an empty session id and were issued at 0.
    """

    person: str
    epoch: int
    session: str = ""
    issued: int = 0  # seconds since 1970


class Tokens:
    """Signs and verifies tokens. The first key signs; tokens signed with any of the keys are valid."""

    def __init__(self, keys: Sequence[str]) -> None:
        oldest_first = list(reversed(keys))
        self._signer = _signer(oldest_first)
        self._newest = _signer(oldest_first[-1:])

    def make(self, person: str, epoch: int, session: str = "") -> str:
        """Return a signed token, by default for a new session."""
        session = session or secrets.token_hex(8)
        return self._signer.sign(f"{person}:{epoch}:{session}:{_now()}").decode()

    def read(self, token: str) -> Token | None:
        """Return the content of a token, `None` if its signature is invalid."""
        try:
            person, epoch, *more = self._signer.unsign(token).decode().split(":")
            session, issued = more or ("", "0")
            return Token(person, int(epoch), session, int(issued))
        except (BadSignature, ValueError):
            return None

    def signed_with_newest_key(self, token: str) -> bool:
        """Return whether a token stays valid without the older keys."""
        return self._newest.validate(token)


def _signer(keys: list[str]) -> Signer:
    return Signer(keys, salt="identity", key_derivation="hmac", digest_method=hashlib.sha256)


def _now() -> int:
    return int(time.time())


def looks_like_token(token: str) -> bool:
    """Return whether an invalid token has the form of a valid one. It may be signed with another key."""
    return _TOKEN.fullmatch(token) is not None


@dataclass(frozen=True, slots=True)
class Person:
    """A person identified by a cookie or token."""

    id: str
    name: str
    epoch: int = 0
    username: str | None = None
    phrase: bool = False  # has a secret phrase
    stored: bool = False  # has a row in the database
    banned: bool = False
    erased: bool = False  # the person's data were deleted
    seen: int | None = None  # day of the last visit, in milliseconds since 1970
    revoked: frozenset[str] = frozenset()  # ids of individually ended sessions

    def allows(self, token: Token) -> bool:
        """Return whether a token of this person is still valid."""
        return not self.erased and token.epoch == self.epoch and token.session not in self.revoked


# ------------------------------------------------------------ WebSockets of sessions


@dataclass(frozen=True, slots=True)
class _OpenSocket:
    """A WebSocket and the session that opened it."""

    epoch: int
    session: str
    end: CloseSocket


class SessionSockets:
    """WebSockets of this process by person, closed when their session ends."""

    def __init__(self) -> None:
        self._open: dict[str, dict[Hashable, _OpenSocket]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    @property
    def people(self) -> list[str]:
        """Ids of the people with a WebSocket."""
        return list(self._open)

    def add(self, socket: Hashable, token: Token, end: CloseSocket) -> None:
        """Register a WebSocket. `end` is called with a close code when its session ends."""
        self._open.setdefault(token.person, {})[socket] = _OpenSocket(token.epoch, token.session, end)

    def remove(self, socket: Hashable, person: str) -> None:
        """Remove a WebSocket."""
        sockets = self._open.get(person, {})
        sockets.pop(socket, None)
        if not sockets:
            self._open.pop(person, None)

    def close_ended(self, person: Person) -> None:
        """Close the WebSockets of a person whose sessions have ended."""
        for socket, opened in list(self._open.get(person.id, {}).items()):
            if person.banned or not person.allows(Token(person.id, opened.epoch, opened.session)):
                self.remove(socket, person.id)
                opened.end(BANNED if person.banned else SIGNED_OUT)


# ------------------------------------------------------------ phrases


def new_phrase() -> str:
    """Return a random phrase of six words with 73 bits of entropy.

    >>> len(new_phrase().split("-"))
    6
    """
    return "-".join(secrets.choice(_SYLLABLES) + secrets.choice(_SYLLABLES) for _ in range(WORDS_PER_PHRASE))


def hash_phrase(phrase: str, key: str) -> str:
    """Return the keyed hash of a phrase. Case and characters other than a to z are ignored.

    >>> hash_phrase("Bado keMI", "key") == hash_phrase(" bado-kemi ", "key")
    True
    """
    letters = re.sub(r"[^a-z]", "", phrase.lower())
    return hmac.new(key.encode(), f"phrase:{letters}".encode(), hashlib.sha256).hexdigest()
