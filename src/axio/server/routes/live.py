"""The WebSocket of a table."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from functools import partial
from typing import Any

from litestar.connection import ASGIConnection
from litestar.types import ASGIApp, Receive, Scope, Send

from ..guard.limits import MESSAGES, Bucket
from ..identity.people import Person
from ..play.acts import Drew, Moved
from ..play.connection import Connection, encode
from ..play.entries import deadline
from ..play.messages import SeatsMessage
from ..play.orders import hear, id_of
from ..play.refusals import NoSuchTable, Refused
from ..play.room import Room
from ..play.telling import Step, seat_infos
from ..running import Server
from ..settings import PROGRAM
from .person import who
from .tables import room_for

PATH = re.compile(r"/api/tables/([^/]+)/live/?")
NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
BROKEN = 1011
MOST_MISSED = 30  # entries that are told one by one to a client that comes back

TOO_FAST = Refused("too_fast", "that was too often; wait a moment and try again")

log = logging.getLogger(__name__)


def live(server: Server) -> ASGIApp:
    """The application for WebSockets. docs/protocol.md says what goes over them.

    They do not pass through the framework: what that keeps for a connection takes more memory than a table.
    """

    async def connect(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await _connect(server, scope, receive, send)
        except Exception as error:
            if not isinstance(error, OSError):  # the client has gone
                log.exception("a WebSocket has failed")
            with suppress(Exception):
                await send(_close(BROKEN, ""))

    return connect


async def _connect(server: Server, scope: Any, receive: Receive, send: Send) -> None:
    await receive()
    found = PATH.fullmatch(scope["path"])
    if found is None:
        await send(_close(NO_SUCH_TABLE, "there are no messages at this address"))
        return
    person, after = await _asked(server, scope)
    await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
    try:
        room = await room_for(server, found[1], person)
    except NoSuchTable as error:
        await send(_close(NO_SUCH_TABLE, str(error)))
        return
    await _attend(server, room, person.id if person else None, after, receive, send)


async def _asked(server: Server, scope: Any) -> tuple[Person | None, str]:
    """Who connects, and what they have seen last."""
    asked = ASGIConnection[Any, Any, Any, Any](scope)
    person, after = await who(asked, server), asked.query_params.get("after", "")
    scope["headers"], scope["state"] = [], {}  # nobody asks for them again, and the connection may last
    return person, after


async def _attend(
    server: Server, room: Room, person: str | None, after: str, receive: Receive, send: Send
) -> None:
    async def tell(text: str) -> None:
        await send({"type": "websocket.send", "text": text, "bytes": None})

    hang_up = partial(send, _close(TOO_SLOW, f"{PROGRAM}: messages were not taken"))
    client = Connection(tell, person, room.seat_to_look_from(person), hang_up)
    try:
        await _welcome(server, room, client, after)
        await _follow(server, room, client, receive)
    finally:
        room.leave(client)


def _close(code: int, reason: str) -> Any:
    return {"type": "websocket.close", "code": code, "reason": reason}


async def _welcome(server: Server, room: Room, client: Connection, after: str) -> None:
    async with room.alone():
        number = int(after) if after.isdecimal() and len(after) < 9 else -1
        missed = await _missed(server, room, client, number)
        if missed is None:
            room.enter(client)
            client.tell(encode(room.view(client.viewer)))
            return
        room.enter(client)
        for text in missed:
            client.tell(text)
        client.tell(encode(SeatsMessage(seat_infos(room.game, room.audience.here))))


async def _missed(server: Server, room: Room, client: Connection, number: int) -> list[str] | None:
    """The steps since a number, if they can be told as such."""
    behind = room.game.number - number
    if number < 1 or not 0 <= behind <= MOST_MISSED:
        return None
    if behind == 0:
        return []
    game, since = await server.rooms.before(room, number)
    if not all(isinstance(act, Moved | Drew) for _, act in since):
        return None
    told = []
    for at, act in since:
        game.carry_out(act)
        game.since = at
        until = deadline(room.game) if game.number == room.game.number else None
        told.append(encode(Step(game, until).seen_from(client.seat)))
    return told


async def _follow(server: Server, room: Room, client: Connection, receive: Receive) -> None:
    bucket = Bucket(MESSAGES) if server.limits.active else None
    while (message := await receive())["type"] == "websocket.receive":
        if client.behind:
            await asyncio.sleep(0)  # let answers go out, however fast the questions come
        if client.closed:
            continue  # it is being cut off
        text = message.get("text") or ""
        if bucket is not None and not bucket.take():
            room.audience.refuse(client, TOO_FAST, id_of(text))
            continue
        await hear(room, client, text, server.bots)
