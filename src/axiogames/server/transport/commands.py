"""Commands that clients send over WebSockets: parsing, checks and execution in the client's room."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from ...errors import AxioError
from ..domain.hints import Hints
from ..domain.journaled_game import SeatCommand
from ..domain.refusals import Refused, check_current, check_not_substituted, code_of
from ..domain.room import Room
from ..presentation.messages import ClientCommand, PongMessage, PreviewMessage
from ..presentation.views import may_have_hints
from .client import Client, encode

MAX_COMMAND_LENGTH = 2_000  # characters
MAX_ID_LENGTH = 40
PONG = encode(PongMessage())

_DECODER = msgspec.json.Decoder(ClientCommand)


async def handle(room: Room, client: Client, text: str, hints: Hints) -> None:
    """Execute a command of a client, or send it a refusal. Hints are sent later."""
    message_id: str | None = None
    try:
        command = _parse(text)
        message_id = command.id
        await _execute(room, client, command, hints)
    except AxioError as error:
        await _refuse(room, client, error, message_id)


async def _refuse(room: Room, client: Client, error: AxioError, message_id: str | None) -> None:
    if code_of(error) == "stale":
        with suppress(Refused):
            async with room.transaction():  # not while a change awaits its commit
                room.subscribers.send_refusal(client, error, message_id)
                return
    room.subscribers.send_refusal(client, error, message_id, committed=False)


def _parse(text: str) -> ClientCommand:
    if len(text) > MAX_COMMAND_LENGTH:
        raise Refused("bad_message", f"a message has at most {MAX_COMMAND_LENGTH} characters")
    try:
        command = _DECODER.decode(text)
    except (msgspec.DecodeError, ValueError) as error:
        raise Refused("bad_message", f"invalid message: {error}") from None
    except RecursionError:
        raise Refused("bad_message", "invalid message: nested too deeply") from None
    if command.id is not None and len(command.id) > MAX_ID_LENGTH:
        raise Refused("bad_message", f"an id has at most {MAX_ID_LENGTH} characters")
    return command


def id_of(text: str) -> str | None:
    """Return the id of a message that is not executed, if it has one."""
    try:
        return _parse(text).id
    except AxioError:
        return None


async def _execute(room: Room, client: Client, command: ClientCommand, hints: Hints) -> None:
    match command.do:
        case "ping":
            client.send(PONG)
        case "look":
            await _look(room, client, command)
        case "preview":
            client.send(encode(await _preview(room, client, command)))
        case "hint":
            await _hint(room, client, command, hints)
        case "move" | "draw" | "back" if await _is_repetition(room, client, command):
            pass
        case "move":
            move = command.pick if command.move is None else command.move
            if move is None:
                raise Refused(
                    "bad_message",
                    "send a move as text in `move`, or its index among the legal moves in `pick`",
                )
            await room.move(_seat_command(room, client, command), move, hold=command.hold)
        case "draw":
            await room.draw(_seat_command(room, client, command))
        case "back":
            await room.take_back(_seat_command(room, client, command))


async def _is_repetition(room: Room, client: Client, command: ClientCommand) -> bool:
    """Acknowledge a command that a shared screen sends again after a reconnect, before it has a seat.

    Returns:
        Whether the command was executed before.
    """
    if client.seat is not None or not command.id:
        return False
    return await room.acknowledge(client.person, command.id, client) is not None


def _seat_command(room: Room, client: Client, command: ClientCommand) -> SeatCommand:
    seat = _own_seat(room, client)
    if command.n is None:
        raise Refused("bad_message", "`n` is missing: the number of the last entry that you have seen")
    return SeatCommand(seat, command.n, command.id or "", client)


def _own_seat(room: Room, client: Client) -> int:
    """Return the seat for which a client acts."""
    if client.seat is None or client.seat not in room.game.seats_of(client.person):
        if not room.game.seats_of(client.person):
            raise Refused("not_allowed", "you are watching; only players can move")
        raise Refused("not_allowed", "you have several seats: choose one with `look` first")
    check_not_substituted(room.game, client.seat)
    return client.seat


async def _look(room: Room, client: Client, command: ClientCommand) -> None:
    async with room.transaction() as game:
        own = game.seats_of(client.person)
        if command.seat is not None and command.seat not in own:
            raise Refused("not_allowed", f"seat {command.seat} is not yours")
        if len(own) > 1 and command.seat is not None and command.seat != game.turn:
            raise Refused("not_your_turn", "at a shared screen only the seat to move can look")
        client.seat = command.seat if command.seat is not None else room.default_seat(client.person)
        client.send(encode(room.view(client.viewer, command.id)))


async def _preview(room: Room, client: Client, command: ClientCommand) -> PreviewMessage:
    async with room.transaction() as game:
        seat = _own_seat(room, client)
        check_current(game, command.n)
        if game.table is None or game.turn != seat:
            raise Refused("not_your_turn", "only the seat to move can preview a move")
        view = game.table.view(seat)
        offered = view.legal_moves()
        if command.pick is None or not 0 <= command.pick < len(offered):
            raise Refused(
                "no_such_offer", f"pick {command.pick} is out of range: {len(offered)} moves are offered"
            )
        preview = view.preview(offered[command.pick])
        return PreviewMessage(command.id, preview.pyramids, preview.ends_game)


async def _hint(room: Room, client: Client, command: ClientCommand, hints: Hints) -> None:
    async with room.transaction() as game:
        seat = _own_seat(room, client)
        check_current(game, command.n)
        if not may_have_hints(game, client.person):
            raise Refused(
                "not_allowed", "hints are available only without human opponents, and not in daily deals"
            )
        if game.table is None or game.turn != seat or game.pending_draw is not None:
            raise Refused("not_your_turn", "hints are available only when it is your turn")
        hints.start(room, client, game.table.view(seat), command.id)
