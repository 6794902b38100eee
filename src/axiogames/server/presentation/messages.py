"""What clients are told, as docs/reference/http_and_websocket.md describes it."""

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
from ...games import game as declared
from ...model.events import Event, Result
from ..storage.tables import TableStore

Phase = Literal["open", "place", "offer", "draw", "over", "closed"]
SeatKind = Literal["person", "bot", "open"]
Status = Literal["open", "playing", "over", "closed"]


class Shape(Struct, frozen=True):
    """The drawing of a tile in one of its directions, around the middle of its symbols."""

    path: str
    wells: str
    spots: tuple[tuple[int, int, int], ...]
    box: tuple[int, int, int, int]


class Board(Struct, frozen=True):
    """What a board looks like, in hundredths of a cell."""

    title: str
    box: tuple[int, int, int, int]
    frame: str
    outlines: tuple[str, ...]
    cells: tuple[tuple[str, int, int, int, str, str], ...]
    printed: tuple[tuple[str, int, int, int, str], ...]
    labels: tuple[tuple[str, int, int], ...]
    shapes: tuple[Shape, ...]
    hand: int


class BoardTile(Struct, frozen=True):
    """A tile where it lies."""

    tile: str
    at: tuple[str, ...]
    shape: int
    x: int
    y: int


class OtherMove(Struct, frozen=True, omit_defaults=True):
    """A move that is no placement."""

    move: str
    tiles: tuple[str, ...] = ()


class OfferedMoves(Struct, frozen=True):
    """Everything that the seat to move may do, with the points of every placement."""

    places: list[tuple[int, int, int, str]]
    looks: list[str]
    tile: list[int]
    look: list[int]
    place: list[int]
    named: list[str] | None
    gain: list[list[int]]
    others: list[OtherMove]


class SeatInfo(Struct, frozen=True, omit_defaults=True):
    """Who sits where."""

    name: str
    kind: SeatKind
    level: str | None
    here: bool
    away: str | None
    invited: bool = False  # whether the seat is kept for its person, who has yet to come


class PositionInfo(Struct, frozen=True):
    """Where the game stands, as one viewer may know it."""

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
    """What does not change while a game is played, or seldom."""

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
    """All that a viewer may know."""

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
    """What one entry of the log changed."""

    n: int
    ack: str | None
    you: int | None
    events: tuple[Event, ...]
    tiles: list[BoardTile]
    now: PositionInfo
    moves: OfferedMoves | None
    board: Board | UnsetType = UNSET


class SeatsMessage(Struct, frozen=True, tag_field="type", tag="seats"):
    """Somebody came or went."""

    seats: list[SeatInfo]


class PreviewMessage(Struct, frozen=True, tag_field="type", tag="preview"):
    """What a move would do besides its points."""

    id: str | None
    pyramids: tuple[str, ...]
    ends: bool


class HintPick(Struct, frozen=True):
    """A move that could be made: what it is worth, how sure that is, and what speaks for it.

    There is no value where there is no other move.
    """

    pick: int
    move: str
    value: float | None
    error: float | None
    remarks: tuple[Remark, ...]


class HintMessage(Struct, frozen=True, tag_field="type", tag="hint"):
    """The best moves, and in what terms they are valued."""

    id: str | None
    terms: ValueScale
    picks: list[HintPick]


class RefusedMessage(Struct, frozen=True, tag_field="type", tag="refused"):
    """Something was not done, and why."""

    id: str | None
    code: str
    detail: str
    view: ViewMessage | None = None


class PongMessage(Struct, frozen=True, tag_field="type", tag="pong"):
    """The answer to a ping."""


class ClientCommand(Struct, frozen=True, kw_only=True):
    """What a client asks for over its WebSocket."""

    do: Literal["move", "draw", "back", "look", "preview", "hint", "ping"]
    id: str | None = None
    n: int | None = None
    move: str | None = None
    pick: int | None = None
    hold: bool = False
    seat: int | None = None


class TableSummary(Struct, frozen=True):
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


async def table_summaries(
    store: TableStore, rows: Sequence[RowMapping], person: str | None
) -> list[TableSummary]:
    """The summaries of tables from their rows. What cannot be described is left out."""
    seats = await store.seats([row["id"] for row in rows])
    made = []
    for row in rows:
        with suppress(UnknownGame, msgspec.DecodeError):
            made.append(_summary(row, seats[row["id"]], person))
    return made


def _summary(row: RowMapping, seats: Sequence[RowMapping], person: str | None) -> TableSummary:
    turn = row["turn"]
    on_turn = [seat for seat in seats if seat["seat"] == turn and seat["bot"] is None]
    return TableSummary(
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
    kind: SeatKind = "bot" if bot is not None else "person" if person is not None else "open"
    away = row["name"] if bot is not None and person is not None else None
    return SeatInfo(bot if away else row["name"], kind, bot, False, away)
