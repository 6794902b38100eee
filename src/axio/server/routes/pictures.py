"""Routes for pictures of positions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, TypeVar

from litestar import Response, get
from litestar.params import FromPath, FromQuery, QueryParameter

from ...drawing import svg
from ...drawing.png import render as render_png
from ...games import game, words
from ...match import play_match
from ...players import player
from ...position import Position
from ...record import record_of, replay
from ..identity.people import Person
from ..play.refusals import Refused
from ..play.room import Room
from ..running import Server
from .errors import problems
from .person import Asker, Here, TableId
from .tables import room_for

SVG = "image/svg+xml"
EXAMPLE_MOVES = 14
EXAMPLE = "balanced"
PNG_WIDTH = 1600

Body = TypeVar("Body", str, bytes)

MoveNumber = Annotated[
    int | None, QueryParameter(name="move", ge=0, le=1000, description="After so many moves.")
]


async def _position(
    server: Server, person: Person | None, table_id: str, move: int | None
) -> tuple[Position, list[str]]:
    room = await room_for(server, table_id, person)
    async with room.alone():  # not while a change waits for its commit
        return _seen(room, person, move)


def _seen(room: Room, person: Person | None, move: int | None) -> tuple[Position, list[str]]:
    game_now = room.game
    table = game_now.table
    if table is None:
        raise Refused("not_yet", "there is a picture when the game has started")
    names = [seat.name for seat in game_now.seats]
    if game_now.status == "over":
        return replay(record_of(table), upto=move) if move is not None else table.copy(), names
    who = person.id if person else None
    return table.view(room.seat_to_look_from(who)), names


@get("/api/tables/{table_id:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 409, 503))
async def show_svg(
    server: Here,
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[str]:
    """A position as an SVG picture; earlier ones when the game is over."""
    position, names = await _position(server, person, table_id, move_number)
    return _picture(position.svg(names, dark=dark), SVG)


@get("/api/tables/{table_id:str}/picture.png", media_type="image/png", responses=problems(400, 404, 409, 503))
async def show_png(
    server: Here,
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """A position as a PNG picture; earlier ones when the game is over."""
    position, names = await _position(server, person, table_id, move_number)
    drawn = position.svg(names, dark=dark)
    return _picture(await asyncio.to_thread(render_png, drawn, width=PNG_WIDTH), "image/png")


@get("/api/games/{name:str}/picture.svg", media_type=SVG, responses=problems(400, 404))
async def show_example(name: FromPath[str], dark: FromQuery[bool] = False) -> Response[str]:
    """What a game looks like in the middle of a game between two bots."""
    return _picture(
        await asyncio.to_thread(_example, game(name).id, dark), SVG, {"cache-control": "max-age=3600"}
    )


_EXAMPLES: dict[tuple[str, bool], str] = {}


def _example(name: str, dark: bool) -> str:
    if (name, dark) not in _EXAMPLES:
        players = [player(EXAMPLE), player(EXAMPLE)]
        table = play_match(name, players, "example")
        position = replay(record_of(table), upto=EXAMPLE_MOVES)
        content = replace(position.content(), panels=(), last=(), title=words(name).name)
        scene = position.variant.scene(content)
        _EXAMPLES[name, dark] = svg.render(scene, dark=dark)
    return _EXAMPLES[name, dark]


def _picture(body: Body, media_type: str, headers: dict[str, str] | None = None) -> Response[Body]:
    return Response(body, media_type=media_type, headers=headers or {"cache-control": "no-store"})


PICTURES = [show_svg, show_png, show_example]
