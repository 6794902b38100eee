"""The WebSocket of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from litestar import WebSocket, websocket

from ..guard.limits import MESSAGES, Bucket
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
from .person import Here, TableId, who
from .tables import room_for

NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
MOST_MISSED = 30  # entries that are told one by one to a client that comes back

TOO_FAST = Refused("too_fast", "that was too often; wait a moment and try again")


@websocket("/api/tables/{table_id:str}/live")
async def live(socket: WebSocket, server: Here, table_id: TableId) -> None:
    """Follow a table and play at it: docs/protocol.md says how."""
    person = await who(socket, server)
    await socket.accept()
    try:
        room = await room_for(server, table_id, person)
    except NoSuchTable as error:
        await socket.close(NO_SUCH_TABLE, str(error))
        return
    person_id = person.id if person else None
    hang_up = partial(socket.close, TOO_SLOW, f"{PROGRAM}: messages were not taken")
    client = Connection(_sender(socket), person_id, room.seat_to_look_from(person_id), hang_up)
    try:
        await _welcome(server, room, client, socket.query_params.get("after", ""))
        await _follow(server, room, client, socket)
    finally:
        room.leave(client)


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


async def _follow(server: Server, room: Room, client: Connection, socket: WebSocket) -> None:
    bucket = Bucket(MESSAGES) if server.limits.active else None
    # What the framework would put around every message takes longer than reading it.
    while (message := await socket.receive())["type"] == "websocket.receive":
        if client.behind:
            await asyncio.sleep(0)  # let answers go out, however fast the questions come
        if client.closed:
            await socket.close(TOO_SLOW, f"{PROGRAM}: messages were not taken")
            return
        text = message.get("text") or ""
        if bucket is not None and not bucket.take():
            room.audience.refuse(client, TOO_FAST, id_of(text))
            continue
        await hear(room, client, text, server.bots)


def _sender(socket: WebSocket) -> Callable[[str], Coroutine[Any, Any, None]]:
    """What sends a text to a client."""

    async def send(text: str) -> None:
        await socket.send({"type": "websocket.send", "text": text, "bytes": None})

    return send
