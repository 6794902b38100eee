"""Ledger of messages that clients sent and received, which the log is compared with."""

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
class Told:
    """A view or step, and the seat of its receiver."""

    seat: int | None
    message: Json


@dataclass(slots=True)
class Ledger:
    """Knowledge of all clients about one table."""

    table_id: str
    sent: dict[tuple[int, str], Sent] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)  # since the last check
    seated: set[str] = field(default_factory=set)  # people who received that they have a seat
    left: set[str] = field(default_factory=set)  # people who received that they have left
    highest: int = 0  # highest entry number received by any client

    @property
    def acknowledged(self) -> int:
        """Number of acknowledged messages."""
        return sum(sent.acknowledged is not None for sent in self.sent.values())

    def hear(self, message: Json) -> None:
        """Add a view or step."""
        self.told.append(Told(message["you"], message))
        self.highest = max(self.highest, message["n"])


@dataclass(slots=True)
class Counts:
    """Statistics of a run."""

    kills: int = 0
    tables: int = 0
    finished: int = 0
    entries: int = 0
    acknowledged: int = 0
    told: int = 0
    cut_off: int = 0  # messages without a response because of a crash
    kept: int = 0  # of these, messages found in the log
    untold: int = 0  # kills after which the log had entries unknown to all clients
    bots: int = 0  # bot moves resumed after a kill

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in Counts.__slots__))
