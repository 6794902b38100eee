"""Ledger of the messages that clients sent and received, for comparison with the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Sent:
    """A message that requests a change, and its outcome so far."""

    id: str
    seat: int
    n: int
    do: str
    pick: int | None = None
    hold: bool = False
    acknowledged: int | None = None  # number in its acknowledgement
    exactly: bool = False  # the number is that of its own entry
    refused: str | None = None

    @property
    def message(self) -> Json:
        """The message, identical on every transmission."""
        message: Json = {"do": self.do, "id": self.id, "n": self.n}
        if self.pick is not None:
            message |= {"pick": self.pick, "hold": self.hold}
        return message


@dataclass(slots=True)
class Delivered:
    """A view or step, and the seat of its receiver."""

    seat: int | None
    message: Json


@dataclass(slots=True)
class Ledger:
    """Knowledge of all clients about one table."""

    table_id: str
    sent: dict[tuple[int, str], Sent] = field(default_factory=dict)
    delivered: list[Delivered] = field(default_factory=list)  # since the last check
    seated: set[str] = field(default_factory=set)  # people whose seat was confirmed
    left: set[str] = field(default_factory=set)  # people whose leaving was confirmed
    highest: int = 0  # highest entry number received by any client

    @property
    def acknowledged(self) -> int:
        """Number of acknowledged messages."""
        return sum(sent.acknowledged is not None for sent in self.sent.values())

    def add(self, message: Json) -> None:
        """Add a view or step."""
        self.delivered.append(Delivered(message["you"], message))
        self.highest = max(self.highest, message["n"])


@dataclass(slots=True)
class Counts:
    """Statistics of a run."""

    kills: int = 0
    tables: int = 0
    finished: int = 0
    entries: int = 0
    acknowledged: int = 0
    delivered: int = 0
    cut_off: int = 0  # messages without a response because of a crash
    stored: int = 0  # messages without a response that are in the log
    undelivered: int = 0  # kills after which the log had entries unknown to all clients
    bots: int = 0  # bot moves resumed after a kill

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in Counts.__slots__))
