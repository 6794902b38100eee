"""Tables in lists: what is told of a table without looking at its game."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct
from sqlalchemy import RowMapping

from ...errors import UnknownGame
from ...games import game as declared
from ..storage.tables import TableStore
from .messages import Kind, SeatInfo


class Summary(Struct, frozen=True):
    """A table in a list."""

    id: str
    game: str
    name: str
    players: int
    options: dict[str, bool]
    status: str
    public: bool
    move_time: int | None
    created: int
    updated: int
    seats: list[SeatInfo]
    moves: int
    turn: int | None
    your_turn: bool
    daily: str | None


async def summaries(store: TableStore, rows: Sequence[RowMapping], person: str | None) -> list[Summary]:
    """The summaries of tables from their rows. What cannot be described is left out."""
    seats = await store.seats([row["id"] for row in rows])
    made = []
    for row in rows:
        with suppress(UnknownGame, msgspec.DecodeError):
            made.append(_summary(row, seats[row["id"]], person))
    return made


def _summary(row: RowMapping, seats: Sequence[RowMapping], person: str | None) -> Summary:
    turn = row["turn"]
    on_turn = [seat for seat in seats if seat["seat"] == turn and seat["bot"] is None]
    return Summary(
        id=row["id"],
        game=row["game"],
        name=declared(row["game"]).name,
        players=row["players"],
        options=msgspec.json.decode(row["options"], type=dict[str, bool]),
        status=row["status"],
        public=bool(row["public"]),
        move_time=row["move_time"],
        created=row["created"],
        updated=row["updated"],
        seats=[_seat(seat) for seat in seats],
        moves=row["moves"],
        turn=turn,
        your_turn=person is not None and any(seat["person"] == person for seat in on_turn),
        daily=row["daily"],
    )


def _seat(row: RowMapping) -> SeatInfo:
    person, bot = row["person"], row["bot"]
    kind: Kind = "bot" if bot is not None else "person" if person is not None else "open"
    away = row["name"] if bot is not None and person is not None else None
    return SeatInfo(bot if away else row["name"], kind, bot, False, away)
