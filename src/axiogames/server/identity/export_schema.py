"""Format of exported personal data. Times are milliseconds since 1970."""

from __future__ import annotations

from msgspec import Raw, Struct

FORMAT = "axio-export/1"


class OwnSeat(Struct, frozen=True):
    """A seat of the person, and the name shown there."""

    seat: int
    name: str


class OwnTable(Struct, frozen=True):
    """A table that the person plays at, has opened or has left.

    `seats` are current seats, `left` are former ones. `record` is the game, once it is over.
    """

    id: str
    game: str
    players: int
    options: dict[str, bool]
    public: bool
    move_time: int | None
    daily: str | None
    status: str
    opened: bool
    created: int
    updated: int
    seats: list[OwnSeat]
    left: list[OwnSeat]
    record: Raw | None


class OwnResult(Struct, frozen=True):
    """A result of a daily deal."""

    day: str
    game: str
    table: str
    name: str
    scores: list[int]
    finished: int


class EndedSession(Struct, frozen=True):
    """An individually ended session."""

    session: str
    at: int


class HostAction(Struct, frozen=True):
    """An action of a host that concerned the person."""

    action: str
    at: int


class Export(Struct, frozen=True):
    """All stored data of a person. Times are milliseconds since 1970."""

    format: str
    id: str
    name: str
    username: str | None
    password: bool
    phrase: bool
    created: int | None
    seen: int | None
    banned: int | None
    sessions_ended: list[EndedSession]
    daily_results: list[OwnResult]
    reviews_asked_for: list[str]
    host_actions: list[HostAction]
    tables: list[OwnTable]  # must be the last field: tables are streamed one by one
