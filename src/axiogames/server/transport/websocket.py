"""The WebSocket of a table."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

from litestar.connection import ASGIConnection
from litestar.types import ASGIApp, Receive, Scope, Send

from ... import PROGRAM
from .. import metrics
from ..domain.entries import Act, Drew, Moved
from ..domain.game_state import Game, deadline
from ..domain.refusals import NoSuchTable, Refused, Unavailable, Unreadable
from ..domain.room import Room
from ..identity.people import Banned, Person
from ..identity.tokens import BANNED, Token
from ..lifespan import Server
from ..presentation.messages import SeatsMessage
from ..presentation.views import Step, seat_infos
from ..routes.identity import token_of, who
from ..routes.tables import room_for
from .client import NO_SUCH_TABLE, UNREADABLE, Connection, encode
from .commands import hear, id_of
from .origin_guard import address
from .rate_limits import MESSAGES, REFUSALS, Bucket

PATH = re.compile(r"/api/tables/([^/]+)/live/?")
TOO_MANY = 4429
BROKEN = 1011
TRY_AGAIN = 1013  # the database does not answer
MOST_MISSED = 30  # entries that are told one by one to a client that comes back

TOO_FAST = Refused("too_fast", "that was too often; wait a moment and try again")
NO_TEXT = Refused("bad_message", "a message has to be text, not bytes")

Turn: TypeAlias = Any  # runs what makes a coroutine when it is a network's turn; see `LoopShares.run`

log = logging.getLogger(__name__)


def live(server: Server) -> ASGIApp:
    """The application for WebSockets. docs/reference/http_and_websocket.md says what goes over them.

    They do not pass through the framework: what that keeps for a connection takes more memory than a table.
    """

    async def connect(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await _connect(server, scope, receive, send)
        except Unavailable as error:
            metrics.note_refusal(error.code)
            with suppress(Exception):
                await send(_close(TRY_AGAIN, str(error)))
        except Exception as error:
            if not isinstance(error, OSError):  # the client has gone
                log.exception("a WebSocket has failed")
                metrics.note_error(error)
            with suppress(Exception):
                await send(_close(BROKEN, ""))

    return connect


async def _connect(server: Server, scope: Any, receive: Receive, send: Send) -> None:
    await receive()
    found = PATH.fullmatch(scope["path"])
    if found is None:
        await send(_close(NO_SUCH_TABLE, "there are no messages at this address"))
        return
    try:
        person, token, after = await _asked(server, scope)
    except Banned as error:
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        await send(_close(BANNED, str(error)))
        return
    await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
    # Whatever a network asks for, on however many connections, takes its share of the event loop.
    turn: Turn = partial(server.limits.loop.run, address(scope), longest=None)
    name = person.id if person else None
    if name is not None and not server.limits.sockets_each.take(name):
        await send(_close(TOO_MANY, "you have too many connections to tables; close some of them"))
        return
    try:
        room = await turn(partial(room_for, server, found[1], person))
        await _attend(server, room, token, after, receive, send, turn)
    except NoSuchTable as error:
        await send(_close(NO_SUCH_TABLE, str(error)))
    except Unreadable as error:
        await send(_close(UNREADABLE, str(error)))
    finally:
        if name is not None:
            server.limits.sockets_each.release(name)


async def _asked(server: Server, scope: Any) -> tuple[Person | None, Token | None, str]:
    """Who connects, with which token, and what they have seen last. Raises `Banned`."""
    asked = ASGIConnection[Any, Any, Any, Any](scope)
    person, after = await who(asked, server), asked.query_params.get("after", "")
    token = server.people.tokens.read(token_of(asked)[0]) if person is not None else None
    scope["headers"], scope["state"] = [], {}  # nobody asks for them again, and the connection may last
    return person, token, after


async def _attend(
    server: Server,
    room: Room,
    token: Token | None,
    after: str,
    receive: Receive,
    send: Send,
    turn: Turn,
) -> None:
    person = token.person if token is not None else None

    async def tell(text: str) -> None:
        await send({"type": "websocket.send", "text": text, "bytes": None})

    async def hang_up(code: int, reason: str) -> None:
        await send(_close(code, f"{PROGRAM}: {reason}"))

    client = Connection(tell, person, room.seat_to_look_from(person), hang_up)
    try:
        if token is not None:
            await _sign_in(server, room, client, token)
        await turn(partial(_welcome, server, room, client, after))
        await _follow(server, room, client, receive, turn)
    finally:
        if token is not None:
            server.people.sessions.leave(client, token.person)
        server.hints.leave(client)
        room.leave(client)


async def _sign_in(server: Server, room: Room, client: Connection, token: Token) -> None:
    """See to it that a client is closed when its session ends, or has ended while the room was loaded."""

    def end(code: int) -> None:
        client.dismiss(code, "banned" if code == BANNED else "signed out")
        room.leave(client)

    sessions = server.people.sessions
    sessions.enter(client, token, end)
    sessions.check(await server.people.find(token.person))


def _close(code: int, reason: str) -> Any:
    return {"type": "websocket.close", "code": code, "reason": reason}


async def _welcome(server: Server, room: Room, client: Connection, after: str) -> None:
    number = int(after) if after.isdecimal() and len(after) < 9 else -1
    since = await _since(server, room, number)
    async with room.alone():
        missed = _missed(room, client, number, since)
        room.enter(client)
        if missed is None:
            client.tell(encode(room.view(client.viewer)))
            return
        for text in missed:
            client.tell(text)
        client.tell(encode(SeatsMessage(seat_infos(room.game, room.audience.here))))


Since: TypeAlias = tuple[Game, list[tuple[int, Act]]]  # a game as it was, and what has happened since


async def _since(server: Server, room: Room, number: int) -> Since | None:
    """What a client has missed that knows everything up to a number, if it has missed some, but not much.

    The room is not held meanwhile, or somebody who comes back would hold up those who play.
    """
    if number < 1 or not 0 < room.game.number - number <= MOST_MISSED:
        return None
    return await server.rooms.before(room, number)


def _missed(room: Room, client: Connection, number: int, since: Since | None) -> list[str] | None:
    """What a client has missed as single steps, if it can be told as such."""
    if room.audience.deadline != deadline(room.game):
        return None  # it was told another one before the server was away
    if number > 0 and number == room.game.number:
        return []
    if since is None:
        return None
    game, acts = since
    if game.number + len(acts) != room.game.number:
        return None  # it has gone on meanwhile
    if not all(isinstance(act, Moved | Drew) for _, act in acts):
        return None
    told = []
    for at, act in acts:
        game.carry_out(act)
        game.since = at
        until = deadline(room.game) if game.number == room.game.number else None
        told.append(encode(Step(game, until).seen_from(client.seat)))
    return told


async def _follow(server: Server, room: Room, client: Connection, receive: Receive, turn: Turn) -> None:
    active = server.limits.active
    paces = (Bucket(MESSAGES), Bucket(REFUSALS)) if active else None
    while (message := await receive())["type"] == "websocket.receive":
        if client.behind:
            await asyncio.sleep(0)  # let answers go out, however fast the questions come
        if client.closed:
            continue  # it is being cut off
        await turn(partial(_take, server, room, client, message.get("text"), paces))


async def _take(
    server: Server, room: Room, client: Connection, text: str | None, paces: tuple[Bucket, Bucket] | None
) -> None:
    """Take one message of a client, at the paces for messages and for refusals."""
    if client.closed:
        return  # it was cut off or signed out while the message waited for its turn
    if paces is not None and not paces[0].take():
        if paces[1].take():
            room.audience.refuse(client, TOO_FAST, id_of(text or ""))
        else:
            client.dismiss(TOO_MANY, "too many messages")
    elif text is None:
        room.audience.refuse(client, NO_TEXT, None)
    else:
        with metrics.Timed(metrics.MESSAGES):
            await hear(room, client, text, server.hints)
