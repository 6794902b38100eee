"""What clients ask for over their WebSockets."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from ...errors import AxioError
from ..domain.hints import Hints
from ..domain.refusals import Refused, code_of
from ..domain.room import Room
from ..presentation.messages import Order, PongMessage, PreviewMessage
from ..presentation.views import may_have_hints
from .client import Connection, encode

LONGEST = 2_000
LONGEST_ID = 40
PONG = encode(PongMessage())

_DECODER = msgspec.json.Decoder(Order)


async def hear(room: Room, client: Connection, text: str, hints: Hints) -> None:
    """Carry out what a client asks for, or tell it why not. A hint is told later."""
    message: str | None = None
    try:
        order = _read(text)
        message = order.id
        await _carry_out(room, client, order, hints)
    except AxioError as error:
        await _refuse(room, client, error, message)


async def _refuse(room: Room, client: Connection, error: AxioError, message: str | None) -> None:
    if code_of(error) == "stale":
        with suppress(Refused):
            async with room.alone():  # not while a change waits for its commit
                room.audience.refuse(client, error, message)
                return
    room.audience.refuse(client, error, message, settled=False)


def _read(text: str) -> Order:
    if len(text) > LONGEST:
        raise Refused("bad_message", f"a message has at most {LONGEST} characters")
    try:
        order = _DECODER.decode(text)
    except (msgspec.DecodeError, ValueError) as error:
        raise Refused("bad_message", f"this is no message of docs/protocol.md: {error}") from None
    except RecursionError:
        raise Refused("bad_message", "a message may not be nested that deeply") from None
    if order.id is not None and len(order.id) > LONGEST_ID:
        raise Refused("bad_message", f"an id has at most {LONGEST_ID} characters")
    return order


def id_of(text: str) -> str | None:
    """The id of a message that is not carried out, if it has one."""
    try:
        return _read(text).id
    except AxioError:
        return None


async def _carry_out(room: Room, client: Connection, order: Order, hints: Hints) -> None:
    match order.do:
        case "ping":
            client.tell(PONG)
        case "look":
            await _look(room, client, order)
        case "preview":
            client.tell(encode(await _preview(room, client, order)))
        case "hint":
            await _hint(room, client, order, hints)
        case "move" | "draw" | "back" if await _done_before(room, client, order):
            pass
        case "move":
            wanted = order.pick if order.move is None else order.move
            if wanted is None:
                raise Refused(
                    "bad_message", "send a move as text, or pick one of those offered by its number"
                )
            await room.move(
                _seat(room, client),
                wanted,
                based_on=_number(order),
                message=order.id or "",
                hold=order.hold,
                sender=client,
            )
        case "draw":
            await room.draw(_seat(room, client), _number(order), order.id or "", client)
        case "back":
            await room.take_back(_seat(room, client), _number(order), order.id or "", client)


async def _done_before(room: Room, client: Connection, order: Order) -> bool:
    """Whether a message is sent again by a shared screen that has come back, from which nobody looks yet."""
    if client.seat is not None or not order.id:
        return False
    return await room.acknowledge(client.person, order.id, client) is not None


def _seat(room: Room, client: Connection) -> int:
    """The seat that a client acts for."""
    if client.seat is None or client.seat not in room.game.seats_of(client.person):
        yours = room.game.seats_of(client.person)
        if not yours:
            raise Refused("not_allowed", "you are watching; only those who play can move")
        raise Refused("not_allowed", "say first which of you is looking")
    room.check_present(client.seat)
    return client.seat


def _number(order: Order) -> int:
    if order.n is None:
        raise Refused("bad_message", "say in n which number you have seen last")
    return order.n


async def _look(room: Room, client: Connection, order: Order) -> None:
    async with room.alone():
        yours = room.game.seats_of(client.person)
        if order.seat is not None and order.seat not in yours:
            raise Refused("not_allowed", f"seat {order.seat} is not yours")
        if len(yours) > 1 and order.seat is not None and order.seat != room.game.turn:
            raise Refused("not_your_turn", "at a shared screen only the one whose turn it is looks")
        client.seat = order.seat if order.seat is not None else room.seat_to_look_from(client.person)
        client.tell(encode(room.view(client.viewer, order.id)))


async def _preview(room: Room, client: Connection, order: Order) -> PreviewMessage:
    async with room.alone():
        seat = _seat(room, client)
        room.check_current(order.n)
        if room.game.table is None or room.game.turn != seat:
            raise Refused("not_your_turn", "only the seat to move can try a move")
        view = room.game.table.view(seat)
        offered = view.legal_moves()
        if order.pick is None or not 0 <= order.pick < len(offered):
            raise Refused("no_such_offer", f"there are {len(offered)} moves, counted from 0")
        seen = view.preview(offered[order.pick])
        return PreviewMessage(order.id, seen.pyramids, seen.ends_game)


async def _hint(room: Room, client: Connection, order: Order, hints: Hints) -> None:
    async with room.alone():
        seat = _seat(room, client)
        room.check_current(order.n)
        if not may_have_hints(room.game, client.person):
            raise Refused(
                "not_allowed", "hints are given only where no other person plays, and not in daily deals"
            )
        if room.game.table is None or room.game.turn != seat or room.game.held is not None:
            raise Refused("not_your_turn", "wait until it is your turn")
        hints.start(room, client, room.game.table.view(seat), order.id)
