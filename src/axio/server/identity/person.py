"""A person as the server knows them."""

from __future__ import annotations

from dataclasses import dataclass

from .tokens import Token


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
