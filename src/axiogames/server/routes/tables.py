"""Routes for tables: open, list, join, play and leave."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Annotated, Any, Literal

from litestar import Request, Response, get, post
from litestar.openapi import ResponseSpec
from litestar.params import FromQuery, JSONBody, PathParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import Meta, Struct, field
from sqlalchemy.exc import IntegrityError

from ...errors import InvalidPlayers
from ...games import find_variant
from ...model.record import Record, record_of
from ..domain.bots import BOTS, DEFAULT_LEVEL
from ..domain.entries import BotSeated, SeatReserved, SeatTaken, TableEntry
from ..domain.game_state import GameState, TableConfig, now, rematch_id
from ..domain.journaled_game import SeatCommand
from ..domain.refusals import NoSuchTable, Refused, Unavailable
from ..domain.room import Room
from ..domain.rooms import new_table_id
from ..identity.people import Person, clean_name
from ..lifespan import Server
from ..presentation.messages import TableSummary, ViewMessage, table_summaries
from ..presentation.views import Replay, Viewer
from ..transport.origin_guard import client_network
from ..transport.rate_limits import LISTED_FROM_ADDRESS, TABLES_FROM_ADDRESS
from .daily import today
from .errors import problems
from .identity import PersonDep, ServerDep, TableId, check_picture_rate, require_person

MIN_MOVE_TIME, MAX_MOVE_TIME = 10, 14 * 24 * 3600
LOBBY_LENGTH = 50

SeatNumber = Annotated[int, PathParameter(ge=0, le=3)]


class SeatRequest(Struct, frozen=True):
    """Occupant of a seat of a new table."""

    kind: Literal["me", "bot", "open"]
    level: str | None = None
    name: str | None = None


class TableRequest(Struct, frozen=True):
    """Table to open."""

    game: str
    seats: Annotated[list[SeatRequest], Meta(min_length=1, max_length=4)]
    options: dict[str, bool] = field(default_factory=dict)
    public: bool = False
    move_time: Annotated[int, Meta(ge=MIN_MOVE_TIME, le=MAX_MOVE_TIME)] | None = None
    shuffle: bool = False


class OpenedTable(Struct, frozen=True):
    """New table, and the invitation key for its free seats."""

    id: str
    invite: str


class JoinRequest(Struct, frozen=True):
    """Request for a free seat."""

    invite: str | None = None
    seat: Annotated[int, Meta(ge=0, le=3)] | None = None
    name: str | None = None


class BotRequest(Struct, frozen=True):
    """Level of a bot for a free seat. For an absent player the level is ignored."""

    level: str | None = None


class MoveRequest(Struct, frozen=True):
    """Move, by its text or by its index among the offered moves."""

    id: Annotated[str, Meta(max_length=40)]
    n: int
    move: Annotated[str, Meta(max_length=60)] | None = None
    pick: int | None = None
    hold: bool = False
    seat: Annotated[int, Meta(ge=0, le=3)] | None = None


class MoveResult(Struct, frozen=True):
    """Number of the entry of a move."""

    n: int


class RematchResult(Struct, frozen=True):
    """Table of the rematch."""

    id: str


def may_see(game: GameState, person: Person | None) -> bool:
    """Return whether a person may watch a table. Attempts at today's deal are private."""
    daily = game.config.daily
    return daily is None or daily < today() or (person is not None and person.id == game.config.owner)


async def room_for(server: Server, table_id: str, person: Person | None) -> Room:
    """Return the room of a table that the person may watch. Raises `NoSuchTable`."""
    room = await server.rooms.get(table_id)
    if not may_see(room.game, person):
        raise NoSuchTable
    if person is not None:
        server.rooms.note_seen(room, person.id)
    return room


def check_level(level: str | None) -> str:
    """Return the level of a bot, by default the default level. Raises `InvalidPlayers`."""
    if level is None:
        return DEFAULT_LEVEL
    if level not in BOTS:
        raise InvalidPlayers(f"unknown bot {level!r}: choose from {', '.join(BOTS)}")
    return level


@post("/api/tables", responses=problems(400, 401, 403, 404, 413, 422, 429))
async def open_table(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, data: JSONBody[TableRequest]
) -> OpenedTable:
    """Open a table."""
    owner = await server.people.ensure_stored(require_person(person, server))
    variant = find_variant(data.game, len(data.seats), data.options)
    entries = _seating(data, owner)
    listed = data.public and any(seat.kind == "open" for seat in data.seats)
    await check_table_limits(server, owner, client_network(request.scope), listed=listed)
    config = TableConfig(
        id=new_table_id(),
        game=data.game,
        players=len(data.seats),
        options=dict.fromkeys(variant.options, True),
        public=data.public,
        move_time=data.move_time,
        daily=None,
        owner=owner.id,
        invite=secrets.token_urlsafe(9),
        seed=secrets.token_hex(32),
        created=now(),
    )
    room = await server.rooms.open(config, entries)
    return OpenedTable(room.id, config.invite)


async def check_table_limits(server: Server, owner: Person, network: str, *, listed: bool = False) -> None:
    """Check the limits for another table, listed in the lobby or not. Raises `Refused`."""
    if listed and not server.limits.allow(LISTED_FROM_ADDRESS, network):
        raise Refused(
            "too_many_tables",
            "too many public tables from your network; wait a few minutes and try again",
        )
    if not server.limits.allow(TABLES_FROM_ADDRESS, network):
        raise Refused("too_many_tables", "too many tables from your network; wait a minute and try again")
    if await server.store.count_unfinished(owner.id) >= server.settings.max_tables_per_person:
        raise Refused("too_many_tables", "you have too many unfinished tables; finish or leave some of them")
    if await server.store.count_unfinished() >= server.settings.max_tables:
        raise Refused("too_many_tables", "the server is full; try again later")


def _seating(data: TableRequest, owner: Person) -> list[TableEntry]:
    """Return the first entries of a new table. Raises `InvalidPlayers` or `InvalidName`."""
    seats = list(data.seats)
    if data.shuffle:
        secrets.SystemRandom().shuffle(seats)
    entries: list[TableEntry] = []
    for number, seat in enumerate(seats):
        if seat.kind == "me":
            entries.append(SeatTaken(number, owner.id, clean_name(seat.name) if seat.name else owner.name))
        elif seat.kind == "bot":
            entries.append(BotSeated(number, check_level(seat.level)))
    if not any(isinstance(entry, SeatTaken) for entry in entries) and not any(
        seat.kind == "open" for seat in seats
    ):
        raise InvalidPlayers("no seat for a person: add a seat for you or an open one")
    return entries


@get("/api/tables", responses=problems(400))
async def list_tables(
    server: ServerDep, person: PersonDep, which: FromQuery[Literal["open", "live", "mine"]] = "open"
) -> list[TableSummary]:
    """Open tables with free seats, public games in play, or your own tables."""
    return await find_tables(server, person, which)


async def find_tables(
    server: Server, person: Person | None, which: Literal["open", "live", "mine"]
) -> list[TableSummary]:
    """Return open tables with free seats, public games in play, or the tables of a person."""
    if which == "mine":
        rows = await server.store.of_person(person.id, LOBBY_LENGTH) if person else []
    elif which == "open":
        rows = await server.store.list_open(LOBBY_LENGTH, server.rooms.waiting_for_players(), now())
    else:
        rows = await server.store.list_playing(LOBBY_LENGTH)
    return await table_summaries(server.store, rows, person.id if person else None)


@get("/api/tables/{table_id:str}", responses=problems(400, 404, 409, 503))
async def show_table(server: ServerDep, person: PersonDep, table_id: TableId) -> ViewMessage:
    """Your view of a table."""
    room = await room_for(server, table_id, person)
    return await _view(room, person)


async def _view(room: Room, person: Person | None) -> ViewMessage:
    person_id = person.id if person else None
    async with room.transaction():  # wait for changes in progress
        return room.view(Viewer(person_id, room.default_seat(person_id)))


@post(
    "/api/tables/{table_id:str}/join",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503),
)
async def join_table(
    server: ServerDep, person: PersonDep, table_id: TableId, data: JSONBody[JoinRequest]
) -> ViewMessage:
    """Take a free seat."""
    guest = await server.people.ensure_stored(require_person(person, server))
    room = await room_for(server, table_id, guest)
    config = room.game.config
    invited = data.invite is not None and secrets.compare_digest(data.invite.encode(), config.invite.encode())
    if not (config.public or invited or guest.id == config.owner or room.game.seats_of(guest.id)):
        raise Refused("not_allowed", "this table is private: you need its invite link to sit down")
    await room.take_seat(guest.id, clean_name(data.name) if data.name else guest.name, data.seat)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/leave",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def leave_table(server: ServerDep, person: PersonDep, table_id: TableId) -> ViewMessage:
    """Leave your seats."""
    guest = require_person(person, server)
    room = await room_for(server, table_id, guest)
    await room.leave_table(guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/bot",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503),
)
async def call_bot(
    server: ServerDep, person: PersonDep, table_id: TableId, seat: SeatNumber, data: JSONBody[BotRequest]
) -> ViewMessage:
    """Put a bot on a free seat, or let it play for an absent player."""
    guest = require_person(person, server)
    room = await room_for(server, table_id, guest)
    await room.seat_bot(seat, check_level(data.level), guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/remove",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 429, 503),
)
async def remove_from_seat(
    server: ServerDep, person: PersonDep, table_id: TableId, seat: SeatNumber
) -> ViewMessage:
    """Remove a player from a seat of your table before the start. The player cannot join it again."""
    guest = require_person(person, server)
    room = await room_for(server, table_id, guest)
    await room.remove_player(seat, guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/return",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def return_to_seat(
    server: ServerDep, person: PersonDep, table_id: TableId, seat: SeatNumber
) -> ViewMessage:
    """Take your seat back from a bot."""
    guest = require_person(person, server)
    room = await room_for(server, table_id, guest)
    await room.take_seat_back(guest.id, seat)
    return await _view(room, guest)


@post("/api/tables/{table_id:str}/moves", responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503))
async def make_move(
    server: ServerDep, person: PersonDep, table_id: TableId, data: JSONBody[MoveRequest]
) -> MoveResult:
    """Make a move without a WebSocket."""
    guest = require_person(person, server)
    room = await room_for(server, table_id, guest)
    own_seats = room.game.seats_of(guest.id)
    if not own_seats:
        raise Refused("not_allowed", "you have no seat at this table")
    if data.seat is not None and data.seat not in own_seats:
        raise Refused("not_allowed", f"seat {data.seat} is not yours")
    if data.seat is None and (number := await room.acknowledge(guest.id, data.id)) is not None:
        return MoveResult(number)
    turn = room.game.turn
    seat = data.seat if data.seat is not None else turn if turn in own_seats else own_seats[0]
    move: Any = data.pick if data.move is None else data.move
    if move is None:
        raise Refused("bad_message", "send the text of a move, or `pick` with the index of an offered move")
    return MoveResult(await room.move(SeatCommand(seat, data.n, data.id), move, hold=data.hold))


@post(
    "/api/tables/{table_id:str}/rematch",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def rematch(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, table_id: TableId
) -> RematchResult:
    """Open a rematch with rotated seats, or join it. It starts when all people have joined.

    Bots are seated again. Seats are reserved for the other people, who join by the same request.
    """
    guest = await server.people.ensure_stored(require_person(person, server))
    room = await room_for(server, table_id, guest)
    async with room.transaction():  # wait for changes in progress
        game = room.game
    if game.status != "over" or game.config.daily is not None:
        raise Refused("not_yet", "a rematch needs a finished game that is not a daily deal")
    if not game.seats_of(guest.id):
        raise Refused("not_allowed", "only players of the game can request a rematch")
    previous = game.rematch
    if previous is not None and await _is_joinable(server, previous):
        return await _join_rematch(server, previous, guest)
    await check_table_limits(server, guest, client_network(request.scope))
    count = game.config.players
    entries: list[TableEntry] = []
    for number, seat in enumerate(game.seats):
        rotated = (number - 1) % count
        if seat.person is not None:
            entry_type = SeatTaken if seat.person == guest.id else SeatReserved
            entries.append(entry_type(rotated, seat.person, seat.name))
        elif seat.bot is not None:
            entries.append(BotSeated(rotated, seat.bot))
    config = game.config
    successor = TableConfig(
        id=rematch_id(config, previous),
        game=config.game,
        players=count,
        options=config.options,
        public=config.public,
        move_time=config.move_time,
        daily=None,
        owner=guest.id,
        invite=secrets.token_urlsafe(9),
        seed=secrets.token_hex(32),
        created=now(),
    )
    with suppress(IntegrityError):  # opened by a concurrent request
        await server.rooms.open(successor, entries)
    return await _join_rematch(server, await room.link_rematch(successor.id, previous), guest)


async def _is_joinable(server: Server, table_id: str) -> bool:
    """Return whether a rematch is not closed, deleted or in quarantine."""
    row = await server.store.find(table_id)
    return row is not None and row["status"] != "closed" and row["quarantined"] is None


async def _join_rematch(server: Server, table_id: str, person: Person) -> RematchResult:
    """Take a seat of a rematch if possible, and return it."""
    try:
        room = await server.rooms.get(table_id)
        await room.take_seat(person.id, person.name)
    except Unavailable:
        raise
    except Refused:
        pass  # already started or closed: the person can only watch
    return RematchResult(table_id)


@get("/api/tables/{table_id:str}/replay", responses=problems(400, 404, 409, 429, 503))
async def show_replay(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, table_id: TableId
) -> Replay:
    """Replay of a finished game with all hands visible."""
    check_picture_rate(server, person, client_network(request.scope))
    room = await finished_room(server, table_id, person)
    start, entries = await server.rooms.state_at(room, 0)
    return await server.replays.build(start, entries, person.id if person else None)


@get(
    "/api/tables/{table_id:str}/record",
    responses={200: ResponseSpec(Record, False, "The record.")} | problems(400, 404, 409, 503),
)
async def show_record(server: ServerDep, person: PersonDep, table_id: TableId) -> Response[bytes]:
    """Record of a finished game, which anybody can verify."""
    room = await finished_room(server, table_id, person)
    game = room.game
    assert game.table is not None
    secret = game.config.daily is not None and game.config.daily >= today()
    record = record_of(game.table, [seat.name for seat in game.seats], with_seed=not secret)
    name = f"{game.config.game}-{game.config.id}.json"
    return Response(
        (record.to_json() + "\n").encode(),
        media_type="application/json",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


async def finished_room(server: Server, table_id: str, person: Person | None) -> Room:
    """Return the room of a finished game. Raises `Refused`."""
    room = await room_for(server, table_id, person)
    async with room.transaction():  # wait for changes in progress
        if room.game.status != "over":
            raise Refused("not_yet", "available only when the game is over")
    return room


TABLES = [
    open_table,
    list_tables,
    show_table,
    join_table,
    leave_table,
    call_bot,
    remove_from_seat,
    return_to_seat,
    make_move,
    rematch,
    show_replay,
    show_record,
]
