"""Routes for tables: opened, listed, joined, played at, left."""

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
from ..domain.entries import Act, Hired, Invited, Sat
from ..domain.game_state import Game, Terms, next_id, now
from ..domain.refusals import NoSuchTable, Refused, Unavailable
from ..domain.room import Room
from ..domain.rooms import new_id
from ..identity.people import Person, clean_name
from ..lifespan import Server
from ..presentation.messages import Summary, ViewMessage, summaries
from ..presentation.views import Replay, Viewer
from ..transport.origin_guard import address
from ..transport.rate_limits import LISTED_FROM_ADDRESS, TABLES_FROM_ADDRESS
from .daily import today
from .errors import problems
from .identity import Asker, Here, TableId, check_pace, writer

SHORTEST_TIME, LONGEST_TIME = 10, 14 * 24 * 3600
LISTED = 50

SeatNumber = Annotated[int, PathParameter(ge=0, le=3)]


class WantedSeat(Struct, frozen=True):
    """Who is to sit somewhere."""

    kind: Literal["me", "bot", "open"]
    level: str | None = None
    name: str | None = None


class NewTable(Struct, frozen=True):
    """A table to be opened."""

    game: str
    seats: Annotated[list[WantedSeat], Meta(min_length=1, max_length=4)]
    options: dict[str, bool] = field(default_factory=dict)
    public: bool = False
    move_time: Annotated[int, Meta(ge=SHORTEST_TIME, le=LONGEST_TIME)] | None = None
    shuffle: bool = False


class Opened(Struct, frozen=True):
    """A new table and the key to its free seats."""

    id: str
    invite: str


class Joining(Struct, frozen=True):
    """How somebody wants to sit down."""

    invite: str | None = None
    seat: Annotated[int, Meta(ge=0, le=3)] | None = None
    name: str | None = None


class WantedBot(Struct, frozen=True):
    """A bot's level, for a free seat; whoever is away gets a bot of the default level."""

    level: str | None = None


class WantedMove(Struct, frozen=True):
    """A move, by its text or by its number among those offered."""

    id: Annotated[str, Meta(max_length=40)]
    n: int
    move: Annotated[str, Meta(max_length=60)] | None = None
    pick: int | None = None
    hold: bool = False
    seat: Annotated[int, Meta(ge=0, le=3)] | None = None


class Made(Struct, frozen=True):
    """The number of the entry that a request has made."""

    n: int


class Next(Struct, frozen=True):
    """Another table."""

    id: str


def may_see(game: Game, person: Person | None) -> bool:
    """Whether somebody may look at a table: today's deals are their players' own."""
    daily = game.terms.daily
    return daily is None or daily < today() or (person is not None and person.id == game.terms.owner)


async def room_for(server: Server, table_id: str, person: Person | None) -> Room:
    """The room of a table that somebody may see. Raises `NoSuchTable`."""
    room = await server.rooms.get(table_id)
    if not may_see(room.game, person):
        raise NoSuchTable
    if person is not None:
        server.rooms.saw(room, person.id)
    return room


def check_level(level: str | None) -> str:
    """Return the level of a bot, the default one if none was asked for. Raises `InvalidPlayers`."""
    if level is None:
        return DEFAULT_LEVEL
    if level not in BOTS:
        raise InvalidPlayers(f"there is no bot {level!r}: choose from {', '.join(BOTS)}")
    return level


@post("/api/tables", responses=problems(400, 401, 403, 404, 413, 422, 429))
async def open_table(
    server: Here, request: Request[Any, Any, Any], person: Asker, data: JSONBody[NewTable]
) -> Opened:
    """Open a table."""
    host = await server.people.keep(writer(person, server))
    variant = find_variant(data.game, len(data.seats), data.options)
    acts = _seating(data, host)
    listed = data.public and any(seat.kind == "open" for seat in data.seats)
    await check_room_for_more(server, host, address(request.scope), listed=listed)
    terms = Terms(
        id=new_id(),
        game=data.game,
        players=len(data.seats),
        options=dict.fromkeys(variant.options, True),
        public=data.public,
        move_time=data.move_time,
        daily=None,
        owner=host.id,
        invite=secrets.token_urlsafe(9),
        seed=secrets.token_hex(32),
        created=now(),
    )
    room = await server.rooms.open(terms, acts)
    return Opened(room.id, terms.invite)


async def check_room_for_more(server: Server, host: Person, asker: str, *, listed: bool = False) -> None:
    """Whether there is room for another table, which the lobby lists or not. Raises `Refused`."""
    if listed and not server.limits.allow(LISTED_FROM_ADDRESS, asker):
        raise Refused(
            "too_many_tables",
            "too many public tables were opened from here; wait a few minutes and try again",
        )
    if not server.limits.allow(TABLES_FROM_ADDRESS, asker):
        raise Refused("too_many_tables", "too many tables were opened from here; wait a minute and try again")
    if await server.store.unfinished(host.id) >= server.settings.most_tables_each:
        raise Refused("too_many_tables", "you have too many unfinished tables; finish or leave some of them")
    if await server.store.unfinished() >= server.settings.most_tables:
        raise Refused("too_many_tables", "the server is full; try again later")


def _seating(data: NewTable, host: Person) -> list[Act]:
    seats = list(data.seats)
    if data.shuffle:
        secrets.SystemRandom().shuffle(seats)
    acts: list[Act] = []
    for number, seat in enumerate(seats):
        if seat.kind == "me":
            acts.append(Sat(number, host.id, clean_name(seat.name) if seat.name else host.name))
        elif seat.kind == "bot":
            acts.append(Hired(number, check_level(seat.level)))
    if not any(isinstance(act, Sat) for act in acts) and not any(seat.kind == "open" for seat in seats):
        raise InvalidPlayers("somebody has to play: a seat for you, or an open one")
    return acts


@get("/api/tables", responses=problems(400))
async def list_tables(
    server: Here, person: Asker, which: FromQuery[Literal["open", "live", "mine"]] = "open"
) -> list[Summary]:
    """Tables that wait for players, are played in public, or are yours."""
    if which == "mine":
        rows = await server.store.of(person.id, LISTED) if person else []
    elif which == "open":
        rows = await server.store.waiting(LISTED, server.rooms.awaited(), now())
    else:
        rows = await server.store.live(LISTED)
    return await summaries(server.store, rows, person.id if person else None)


@get("/api/tables/{table_id:str}", responses=problems(400, 404, 409, 503))
async def show_table(server: Here, person: Asker, table_id: TableId) -> ViewMessage:
    """All that you may know of a table."""
    room = await room_for(server, table_id, person)
    return await _view(room, person)


async def _view(room: Room, person: Person | None) -> ViewMessage:
    who = person.id if person else None
    async with room.alone():  # not while a change waits for its commit
        view: ViewMessage = room.view(Viewer(who, room.seat_to_look_from(who)))
        return view


@post(
    "/api/tables/{table_id:str}/join",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503),
)
async def join_table(server: Here, person: Asker, table_id: TableId, data: JSONBody[Joining]) -> ViewMessage:
    """Take a free seat."""
    guest = await server.people.keep(writer(person, server))
    room = await room_for(server, table_id, guest)
    terms = room.game.terms
    invited = data.invite is not None and secrets.compare_digest(data.invite.encode(), terms.invite.encode())
    if not (terms.public or invited or guest.id == terms.owner or room.game.seats_of(guest.id)):
        raise Refused("not_allowed", "this table is private: you need its invite link to sit down")
    await room.sit(guest.id, clean_name(data.name) if data.name else guest.name, data.seat)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/leave",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def leave_table(server: Here, person: Asker, table_id: TableId) -> ViewMessage:
    """Give up your seats."""
    guest = writer(person, server)
    room = await room_for(server, table_id, guest)
    await room.give_up(guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/bot",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503),
)
async def call_bot(
    server: Here, person: Asker, table_id: TableId, seat: SeatNumber, data: JSONBody[WantedBot]
) -> ViewMessage:
    """Put a bot on a free seat, or let it play for somebody who is away."""
    guest = writer(person, server)
    room = await room_for(server, table_id, guest)
    await room.hire(seat, check_level(data.level), guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/remove",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 429, 503),
)
async def remove_from_seat(server: Here, person: Asker, table_id: TableId, seat: SeatNumber) -> ViewMessage:
    """Take somebody off a seat of your table before the start; they cannot sit down there again."""
    guest = writer(person, server)
    room = await room_for(server, table_id, guest)
    await room.remove(seat, guest.id)
    return await _view(room, guest)


@post(
    "/api/tables/{table_id:str}/seats/{seat:int}/return",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def return_to_seat(server: Here, person: Asker, table_id: TableId, seat: SeatNumber) -> ViewMessage:
    """Take your seat back from a bot."""
    guest = writer(person, server)
    room = await room_for(server, table_id, guest)
    await room.come_back(guest.id, seat)
    return await _view(room, guest)


@post("/api/tables/{table_id:str}/moves", responses=problems(400, 401, 403, 404, 409, 413, 422, 429, 503))
async def make_move(server: Here, person: Asker, table_id: TableId, data: JSONBody[WantedMove]) -> Made:
    """Make a move without a WebSocket."""
    guest = writer(person, server)
    room = await room_for(server, table_id, guest)
    yours = room.game.seats_of(guest.id)
    if not yours:
        raise Refused("not_allowed", "you have no seat at this table")
    if data.seat is not None and data.seat not in yours:
        raise Refused("not_allowed", f"seat {data.seat} is not yours")
    if data.seat is None and (made := await room.acknowledge(guest.id, data.id)) is not None:
        return Made(made)
    turn = room.game.turn
    seat = data.seat if data.seat is not None else turn if turn in yours else yours[0]
    room.check_present(seat)
    wanted: Any = data.pick if data.move is None else data.move
    if wanted is None:
        raise Refused("bad_message", "send a move as text, or pick one of those offered by its number")
    return Made(await room.move(seat, wanted, based_on=data.n, message=data.id, hold=data.hold))


@post(
    "/api/tables/{table_id:str}/rematch",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def rematch(server: Here, request: Request[Any, Any, Any], person: Asker, table_id: TableId) -> Next:
    """Another game of the same kind, with the seats turned by one. It starts when all people have come.

    Bots follow. Seats are kept for the other people, who come by asking for the same rematch.
    """
    guest = await server.people.keep(writer(person, server))
    room = await room_for(server, table_id, guest)
    async with room.alone():  # not while a change waits for its commit
        game = room.game
    if game.status != "over" or game.terms.daily is not None:
        raise Refused("not_yet", "there is a rematch when the game is over, and none of a daily deal")
    if not game.seats_of(guest.id):
        raise Refused("not_allowed", "only those who played can ask for a rematch")
    before = game.next
    if before is not None and await _is_open_to_players(server, before):
        return await _come_to(server, before, guest)
    await check_room_for_more(server, guest, address(request.scope))
    count = game.terms.players
    acts: list[Act] = []
    for number, seat in enumerate(game.seats):
        turned = (number - 1) % count
        if seat.person is not None:
            act = Sat if seat.person == guest.id else Invited
            acts.append(act(turned, seat.person, seat.name))
        elif seat.bot is not None:
            acts.append(Hired(turned, seat.bot))
    terms = game.terms
    made = Terms(
        id=next_id(terms, before),
        game=terms.game,
        players=count,
        options=terms.options,
        public=terms.public,
        move_time=terms.move_time,
        daily=None,
        owner=guest.id,
        invite=secrets.token_urlsafe(9),
        seed=secrets.token_hex(32),
        created=now(),
    )
    with suppress(IntegrityError):  # somebody else asked at the same time
        await server.rooms.open(made, acts)
    return await _come_to(server, await room.go_on_at(made.id, before), guest)


async def _is_open_to_players(server: Server, table_id: str) -> bool:
    """Whether a rematch has not been given up, deleted or put aside."""
    row = await server.store.find(table_id)
    return row is not None and row["status"] != "closed" and row["quarantined"] is None


async def _come_to(server: Server, table_id: str, person: Person) -> Next:
    """Sit down at a rematch, if there is a seat."""
    try:
        room = await server.rooms.get(table_id)
        await room.sit(person.id, person.name)
    except Unavailable:
        raise
    except Refused:
        pass  # it has begun without them, or is no more: they can look
    return Next(table_id)


@get("/api/tables/{table_id:str}/replay", responses=problems(400, 404, 409, 429, 503))
async def show_replay(
    server: Here, request: Request[Any, Any, Any], person: Asker, table_id: TableId
) -> Replay:
    """A finished game from the start, with all hands open."""
    check_pace(server, person, address(request.scope))
    room = await finished(server, table_id, person)
    start, since = await server.rooms.before(room, 0)
    return await server.replays.make(start, since, person.id if person else None)


@get(
    "/api/tables/{table_id:str}/record",
    responses={200: ResponseSpec(Record, False, "The record.")} | problems(400, 404, 409, 503),
)
async def show_record(server: Here, person: Asker, table_id: TableId) -> Response[bytes]:
    """The record of a finished game, which anybody can check."""
    room = await finished(server, table_id, person)
    game = room.game
    assert game.table is not None
    secret = game.terms.daily is not None and game.terms.daily >= today()
    record = record_of(game.table, [seat.name for seat in game.seats], with_seed=not secret)
    name = f"{game.terms.game}-{game.terms.id}.json"
    return Response(
        (record.to_json() + "\n").encode(),
        media_type="application/json",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


async def finished(server: Server, table_id: str, person: Person | None) -> Room:
    """The room of a game that is over. Raises `Refused`."""
    room = await room_for(server, table_id, person)
    async with room.alone():  # not while a change waits for its commit
        if room.game.status != "over":
            raise Refused("not_yet", "this is told when the game is over")
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
