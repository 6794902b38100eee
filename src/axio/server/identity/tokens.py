"""Signed tokens: what a cookie or a program holds to be somebody."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Sequence
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
