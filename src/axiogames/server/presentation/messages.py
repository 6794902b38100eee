"""Messages to and from clients, described in docs/reference/http_and_websocket.md."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import RowMapping

from ...analysis.review.remarks import Remark
from ...analysis.review.values import ValueScale
from ...errors import UnknownGame
from ...games import game as game_info
from ...model.events import Event, Result
from ...web.board_json import Board, BoardTile
from ..storage.tables import TableStore

Phase = Literal["open", "place", "offer", "draw", "over", "closed"]
SeatKind = Literal["person", "bot", "open"]
Status = Literal["open", "playing", "over", "closed"]


class OtherMove(Struct, frozen=True, omit_defaults=True):
    """A move other than a placement."""

    move: str
    tiles: tuple[str, ...] = ()


class OfferedMoves(Struct, frozen=True):
    """The legal moves of the seat to move, with the points of every placement, as parallel columns."""

    places: list[tuple[int, int, int, str]]
    looks: list[str]
    tile: list[int]
    look: list[int]
    place: list[int]
    named: list[str] | None
    gain: list[list[int]]
    others: list[OtherMove]


class SeatInfo(Struct, frozen=True, omit_defaults=True):
    """Occupant of a seat."""

    name: str
    kind: SeatKind
    level: str | None
    here: bool
    away: str | None
    invited: bool = False  # whether the seat is reserved for its person, who has not joined yet


class PositionInfo(Struct, frozen=True):
    """Current position, as far as a viewer may know it."""

    turn: int | None
    phase: Phase
    scores: list[list[int]]
    hands: list[tuple[str, ...]]
    in_bag: int
    standing: tuple[int, ...]
    extra: int
    pyramids: tuple[str, ...]
    spent: tuple[str, ...]
    last: tuple[str, ...]
    lowest: list[list[str]]
    back: bool
    held: bool
    deadline: int | None
    result: Result | None


class TableInfo(Struct, frozen=True):
    """Properties of a table, which rarely or never change during a game."""

    id: str
    game: str
    name: str
    options: dict[str, bool]
    status: Status
    public: bool
    move_time: int | None
    commitment: str
    daily: str | None
    next: str | None
    host: bool
    invite: str | None
    hints: bool
    tracks: tuple[str, ...]
    cap: int | None
    colours: str


class ViewMessage(Struct, frozen=True, tag_field="type", tag="view"):
    """Everything that a viewer may know."""

    n: int
    ack: str | None
    table: TableInfo
    seats: list[SeatInfo]
    you: int | None
    yours: list[int]
    board: Board
    tiles: list[BoardTile]
    events: tuple[Event, ...]
    now: PositionInfo
    moves: OfferedMoves | None


class StepMessage(Struct, frozen=True, tag_field="type", tag="step"):
    """Changes by one entry of the log."""

    n: int
    ack: str | None
    you: int | None
    events: tuple[Event, ...]
    tiles: list[BoardTile]
    now: PositionInfo
    moves: OfferedMoves | None
    board: Board | UnsetType = UNSET


class SeatsMessage(Struct, frozen=True, tag_field="type", tag="seats"):
    """The occupants of the seats, sent when somebody connects or leaves."""

    seats: list[SeatInfo]


class PreviewMessage(Struct, frozen=True, tag_field="type", tag="preview"):
    """Effects of a move in addition to its points."""

    id: str | None
    pyramids: tuple[str, ...]
    ends: bool


class HintPick(Struct, frozen=True):
    """A suggested move: its index among the legal moves, its value with standard error, and remarks.

    If there is only one legal move, it has no value.
    """

    pick: int
    move: str
    value: float | None
    error: float | None
    remarks: tuple[Remark, ...]


class HintMessage(Struct, frozen=True, tag_field="type", tag="hint"):
    """The best moves, and the scale of their values."""

    id: str | None
    terms: ValueScale
    picks: list[HintPick]


class RefusedMessage(Struct, frozen=True, tag_field="type", tag="refused"):
    """A command was refused."""

    id: str | None
    code: str
    detail: str
    view: ViewMessage | None = None


class PongMessage(Struct, frozen=True, tag_field="type", tag="pong"):
    """Response to a ping."""


class ClientCommand(Struct, frozen=True, kw_only=True):
    """Command of a client, sent over its WebSocket."""

    do: Literal["move", "draw", "back", "look", "preview", "hint", "ping"]
    id: str | None = None
    n: int | None = None
    move: str | None = None
    pick: int | None = None
    hold: bool = False
    seat: int | None = None


class TableSummary(Struct, frozen=True):
    """A table in a list of tables."""

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


async def table_summaries(
    store: TableStore, rows: Sequence[RowMapping], person: str | None
) -> list[TableSummary]:
    """Return the summaries of tables from their rows. Tables with unknown games or options are left out."""
    seats = await store.seats([row["id"] for row in rows])
    summaries = []
    for row in rows:
        with suppress(UnknownGame, msgspec.DecodeError):
            summaries.append(_summary(row, seats[row["id"]], person))
    return summaries


def _summary(row: RowMapping, seats: Sequence[RowMapping], person: str | None) -> TableSummary:
    turn = row["turn"]
    to_move = [seat for seat in seats if seat["seat"] == turn and seat["bot"] is None]
    return TableSummary(
        id=row["id"],
        game=row["game"],
        name=game_info(row["game"]).name,
        players=row["players"],
        options=msgspec.json.decode(row["options"], type=dict[str, bool]),
        status=row["status"],
        public=bool(row["public"]),
        move_time=row["move_time"],
        created=row["created"],
        updated=row["updated"],
        seats=[_seat_info(seat) for seat in seats],
        moves=row["moves"],
        turn=turn,
        your_turn=person is not None and any(seat["person"] == person for seat in to_move),
        daily=row["daily"],
    )


def _seat_info(row: RowMapping) -> SeatInfo:
    person, bot = row["person"], row["bot"]
    kind: SeatKind = "bot" if bot is not None else "person" if person is not None else "open"
    away = row["name"] if bot is not None and person is not None else None
    return SeatInfo(bot if away else row["name"], kind, bot, False, away)
