"""Routes for pictures of positions."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.params import FromPath, FromQuery, QueryParameter

from ...position import Position
from ...record import record_of, replay
from ..draw import Drawing
from ..guard.gate import address
from ..identity.people import Person
from ..play.refusals import Refused
from ..play.room import Room
from ..running import Server
from .connected import while_connected
from .errors import problems
from .person import Asker, Here, TableId, check_pace
from .tables import room_for

SVG, PNG = "image/svg+xml", "image/png"

MoveNumber = Annotated[
    int | None, QueryParameter(name="move", ge=0, le=1000, description="After so many moves.")
]


async def _picture(
    server: Server,
    request: Request[Any, Any, Any],
    person: Person | None,
    table_id: str,
    move: int | None,
    *,
    dark: bool,
    png: bool,
) -> Response[bytes]:
    """A picture of what somebody may see of a table. Whoever sees the same is sent the same one."""
    asker = address(request.scope)
    check_pace(server, person, asker)
    room = await room_for(server, table_id, person)
    async with room.alone():  # not while a change waits for its commit
        seen = _seen_from(room, person)
        move = _earlier(room, move)
        names = tuple(seat.name for seat in room.game.seats)  # they change when somebody deletes their data
        key = (room.id, room.game.number, move, seen, names, dark, png)
        body = server.pictures.kept(key)
        if body is None:
            server.pictures.check(key, asker, png=png)
            wanted = _drawing(room, seen, move, dark=dark, png=png)
    if body is None:
        body = await while_connected(request, server.pictures.picture(key, wanted, asker))
    return _response(body, PNG if png else SVG)


def _seen_from(room: Room, person: Person | None) -> int | None:
    """The seat whose tiles are shown, `None` for those of nobody; when the game is over all are shown."""
    if room.game.table is None:
        raise Refused("not_yet", "there is a picture when the game has started")
    if room.game.status == "over":
        return None
    return room.seat_to_look_from(person.id if person else None)


def _earlier(room: Room, move: int | None) -> int | None:
    """The number of moves after which a game is shown, `None` for all; only a game that is over goes back."""
    assert room.game.table is not None
    earlier = room.game.status == "over" and move is not None and move < room.game.table.plies
    return move if earlier else None


def _drawing(room: Room, seen: int | None, move: int | None, *, dark: bool, png: bool) -> Drawing:
    now, table = room.game, room.game.table
    assert table is not None
    position: Position
    if now.status != "over":
        position = table.view(seen)
    else:
        position = table if move is None else replay(record_of(table), upto=move)
    content = position.content([seat.name for seat in now.seats])
    return Drawing(now.terms.game, now.terms.players, position.variant.options, content, dark=dark, png=png)


@get("/api/tables/{table_id:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 409, 429, 503))
async def show_svg(
    server: Here,
    request: Request[Any, Any, Any],
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """A position as an SVG picture; earlier ones when the game is over."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=False)


@get("/api/tables/{table_id:str}/picture.png", media_type=PNG, responses=problems(400, 404, 409, 429, 503))
async def show_png(
    server: Here,
    request: Request[Any, Any, Any],
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """A position as a PNG picture; earlier ones when the game is over."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=True)


@get("/api/games/{name:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 503))
async def show_example(server: Here, name: FromPath[str], dark: FromQuery[bool] = False) -> Response[bytes]:
    """What a game looks like in the middle of a game between two bots."""
    return _response(await server.pictures.example(name, dark=dark), SVG, {"cache-control": "max-age=3600"})


def _response(body: bytes, media_type: str, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(body, media_type=media_type, headers=headers or {"cache-control": "no-store"})


PICTURES = [show_svg, show_png, show_example]
