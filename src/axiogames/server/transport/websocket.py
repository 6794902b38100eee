"""WebSocket of a table: connects a client to its room and receives its commands."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from litestar.connection import ASGIConnection
from litestar.types import ASGIApp, Receive, Scope, Send

from ... import PROGRAM
from .. import metrics
from ..domain.entries import MovePlayed, TableEntry, TilesDrawn
from ..domain.game_state import GameState, deadline
from ..domain.refusals import NoSuchTable, Refused, Unavailable, Unreadable
from ..domain.room import Room
from ..identity.people import Banned, Person
from ..identity.tokens import BANNED, Token
from ..lifespan import Server
from ..presentation.messages import SeatsMessage
from ..presentation.views import StepMessages, seat_infos
from ..routes.identity import authenticate, read_token
from ..routes.tables import room_for
from .client import NO_SUCH_TABLE, UNREADABLE, Client, encode
from .commands import handle, id_of
from .origin_guard import client_network
from .rate_limits import MESSAGES, REFUSALS, TokenBucket

PATH = re.compile(r"/api/tables/([^/]+)/live/?")
TOO_MANY = 4429
INTERNAL_ERROR = 1011
TRY_AGAIN = 1013  # the database does not respond
MAX_MISSED = 30  # entries sent one by one to a client that reconnects; after more it receives a view

TOO_FAST = Refused("too_fast", "too many messages; wait a moment and try again")
NO_TEXT = Refused("bad_message", "a message has to be text, not bytes")

RunInTurn: TypeAlias = Any  # `LoopShares.run` for one network
Missed: TypeAlias = tuple[GameState, list[tuple[int, TableEntry]]]  # an earlier state and the later entries

log = logging.getLogger(__name__)


class _Visitor(NamedTuple):
    """The person who connects, if any, their token, and the last entry that they have seen."""

    person: Person | None
    token: Token | None
    after: str


class _Channel(NamedTuple):
    """Functions of ASGI for one connection, and the one that runs work in its network's turn."""

    receive: Receive
    send: Send
    run_in_turn: RunInTurn


def live(server: Server) -> ASGIApp:
    """Return the ASGI application for WebSockets, described in docs/reference/http_and_websocket.md.

    It bypasses the framework, whose state for a connection takes more memory than a table.
    """

    async def connect(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await _connect(server, scope, receive, send)
        except Unavailable as error:
            metrics.count_refusal(error.code)
            with suppress(Exception):
                await send(_close(TRY_AGAIN, str(error)))
        except Exception as error:
            if not isinstance(error, OSError):  # the client has gone
                log.exception("a WebSocket failed")
                metrics.count_error(error)
            with suppress(Exception):
                await send(_close(INTERNAL_ERROR, ""))

    return connect


async def _connect(server: Server, scope: Any, receive: Receive, send: Send) -> None:
    await receive()
    found = PATH.fullmatch(scope["path"])
    if found is None:
        await send(_close(NO_SUCH_TABLE, "there are no messages at this address"))
        return
    try:
        visitor = await _identify(server, scope)
    except Banned as error:
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        await send(_close(BANNED, str(error)))
        return
    await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
    # All commands of a network, on all its connections, use its share of the event loop.
    run_in_turn: RunInTurn = partial(server.limits.loop.run, client_network(scope), max_delay=None)
    name = visitor.person.id if visitor.person else None
    if name is not None and not server.limits.sockets_per_person.take(name):
        await send(_close(TOO_MANY, "you have too many connections to tables; close some of them"))
        return
    try:
        room = await run_in_turn(partial(room_for, server, found[1], visitor.person))
        await _serve(server, room, visitor, _Channel(receive, send, run_in_turn))
    except NoSuchTable as error:
        await send(_close(NO_SUCH_TABLE, str(error)))
    except Unreadable as error:
        await send(_close(UNREADABLE, str(error)))
    finally:
        if name is not None:
            server.limits.sockets_per_person.release(name)


async def _identify(server: Server, scope: Any) -> _Visitor:
    """Return the visitor who connects. Raises `Banned`."""
    connection = ASGIConnection[Any, Any, Any, Any](scope)
    person, after = await authenticate(connection, server), connection.query_params.get("after", "")
    token = server.people.tokens.read(read_token(connection)[0]) if person is not None else None
    scope["headers"], scope["state"] = [], {}  # free their memory: a connection may last for hours
    return _Visitor(person, token, after)


async def _serve(server: Server, room: Room, visitor: _Visitor, channel: _Channel) -> None:
    """Exchange messages with a client until it disconnects."""
    token, send = visitor.token, channel.send
    person = token.person if token is not None else None

    async def send_text(text: str) -> None:
        await send({"type": "websocket.send", "text": text, "bytes": None})

    async def close(code: int, reason: str) -> None:
        await send(_close(code, f"{PROGRAM}: {reason}"))

    client = Client(send_text, person, room.default_seat(person), close)
    try:
        if token is not None:
            await _sign_in(server, room, client, token)
        await channel.run_in_turn(partial(_send_state, server, room, client, visitor.after))
        await _receive(server, room, client, channel)
    finally:
        if token is not None:
            server.people.sessions.remove(client, token.person)
        server.hints.cancel(client)
        room.disconnect(client)


async def _sign_in(server: Server, room: Room, client: Client, token: Token) -> None:
    """Close a client when its session ends, or at once if the session ended while the room was loaded."""

    def end_session(code: int) -> None:
        client.close(code, "banned" if code == BANNED else "signed out")
        room.disconnect(client)

    sessions = server.people.sessions
    sessions.add(client, token, end_session)
    sessions.close_ended(await server.people.find(token.person))


def _close(code: int, reason: str) -> Any:
    return {"type": "websocket.close", "code": code, "reason": reason}


async def _send_state(server: Server, room: Room, client: Client, after: str) -> None:
    """Connect a client and send it the steps that it has missed since entry `after`, or a complete view."""
    number = int(after) if after.isdecimal() and len(after) < 9 else -1
    missed = await _load_missed(server, room, number)
    async with room.transaction():
        steps = _encode_missed(room, client, number, missed)
        room.connect(client)
        if steps is None:
            client.send(encode(room.view(client.viewer)))
            return
        for text in steps:
            client.send(text)
        client.send(encode(SeatsMessage(seat_infos(room.game, room.subscribers.present))))


async def _load_missed(server: Server, room: Room, number: int) -> Missed | None:
    """Return the state at an entry and the later entries, `None` if there are none or too many.

    This runs outside a transaction: a client that reconnects must not delay the players.
    """
    if number < 1 or not 0 < room.game.number - number <= MAX_MISSED:
        return None
    return await server.rooms.state_at(room, number)


def _encode_missed(room: Room, client: Client, number: int, missed: Missed | None) -> list[str] | None:
    """Return the messages for the steps that a client has missed, `None` if it needs a complete view."""
    if room.subscribers.deadline != deadline(room.game):
        return None  # the deadline has changed after an outage
    if number > 0 and number == room.game.number:
        return []
    if missed is None:
        return None
    game, entries = missed
    if game.number + len(entries) != room.game.number:
        return None  # there are new entries meanwhile
    if not all(isinstance(entry, MovePlayed | TilesDrawn) for _, entry in entries):
        return None
    texts = []
    for at, entry in entries:
        game.apply(entry, at)
        until = deadline(room.game) if game.number == room.game.number else None
        texts.append(encode(StepMessages(game, until).for_seat(client.seat)))
    return texts


async def _receive(server: Server, room: Room, client: Client, channel: _Channel) -> None:
    receive, run_in_turn = channel.receive, channel.run_in_turn
    buckets = (TokenBucket(MESSAGES), TokenBucket(REFUSALS)) if server.limits.active else None
    while (message := await receive())["type"] == "websocket.receive":
        if client.behind:
            await asyncio.sleep(0)  # let queued messages out, however fast commands arrive
        if client.closed:
            continue  # the connection is being closed
        await run_in_turn(partial(_handle, server, room, client, message.get("text"), buckets))


async def _handle(
    server: Server,
    room: Room,
    client: Client,
    text: str | None,
    buckets: tuple[TokenBucket, TokenBucket] | None,
) -> None:
    """Handle one message of a client, within the rates for messages and for refusals."""
    if client.closed:
        return  # the client was closed or signed out while the message waited for its turn
    if buckets is not None and not buckets[0].take():
        if buckets[1].take():
            room.subscribers.send_refusal(client, TOO_FAST, id_of(text or ""))
        else:
            client.close(TOO_MANY, "too many messages")
    elif text is None:
        room.subscribers.send_refusal(client, NO_TEXT, None)
    else:
        with metrics.Timer(metrics.MESSAGES):
            await handle(room, client, text, server.hints)
