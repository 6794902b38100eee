"""Open WebSockets by the people they belong to, so that a session that ends takes them with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from .person import Person
from .tokens import Token

SIGNED_OUT = 4401
BANNED = 4403
"""Codes that a WebSocket is closed with; docs/protocol.md has them."""

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
