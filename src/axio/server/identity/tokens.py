"""Signed names: what a cookie or a program's token holds."""

from __future__ import annotations

import hashlib

from itsdangerous import BadSignature, Signer


class Tokens:
    """Makes and reads tokens. A token names a person and an epoch; raising the epoch makes it worthless."""

    def __init__(self, key: str) -> None:
        self._signer = Signer(key, salt="identity", key_derivation="hmac", digest_method=hashlib.sha256)

    def make(self, person: str, epoch: int) -> str:
        """The token of a person."""
        return self._signer.sign(f"{person}:{epoch}").decode()

    def read(self, token: str) -> tuple[str, int] | None:
        """The person and the epoch of a token, `None` if it was not made here."""
        try:
            person, _, epoch = self._signer.unsign(token).decode().rpartition(":")
            return person, int(epoch)
        except (BadSignature, ValueError):
            return None
