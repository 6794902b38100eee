"""What clients sent and what they were told: the truth that the log is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Sent:
    """A message that asks for a change, and what has come of it so far."""

    id: str
    seat: int
    n: int
    do: str
    pick: int | None = None
    hold: bool = False
    acknowledged: int | None = None  # the number that its acknowledgement carried
    exactly: bool = False  # whether that is the number of its own entry
    refused: str | None = None

    @property
    def order(self) -> Json:
        """The message, the same every time it is sent."""
        order: Json = {"do": self.do, "id": self.id, "n": self.n}
        if self.pick is not None:
            order |= {"pick": self.pick, "hold": self.hold}
        return order


@dataclass(slots=True)
class Told:
    """A view or a step, and from which seat its receiver looked."""

    seat: int | None
    message: Json


@dataclass(slots=True)
class Ledger:
    """All that clients know of one table."""

    table_id: str
    sent: dict[tuple[int, str], Sent] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)  # since the last comparison
    seated: set[str] = field(default_factory=set)  # people who were told that they sit here
    left: set[str] = field(default_factory=set)  # people who were told that they have left
    highest: int = 0  # the highest number that anybody was told

    @property
    def acknowledged(self) -> int:
        """How many messages were acknowledged."""
        return sum(sent.acknowledged is not None for sent in self.sent.values())

    def hear(self, message: Json) -> None:
        """Note a view or a step."""
        self.told.append(Told(message["you"], message))
        self.highest = max(self.highest, message["n"])


@dataclass(slots=True)
class Counts:
    """What a run has seen."""

    kills: int = 0
    tables: int = 0
    finished: int = 0
    entries: int = 0
    acknowledged: int = 0
    told: int = 0
    cut_off: int = 0  # messages whose sender did not hear what came of them, because the server was dead
    kept: int = 0  # of these, how many were in the log
    untold: int = 0  # kills after which the log had entries that nobody had been told of
    bots: int = 0  # moves that bots made after a kill at their turn

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in Counts.__slots__))
