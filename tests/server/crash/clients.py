"""Clients of the crash test: they play over WebSockets and HTTP and reconnect after every crash.

A message with an unknown outcome is sent again with the same id until the server acknowledges or refuses it.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from tests.server.crash.checker import Inconsistency
from tests.server.crash.ledger import Json, Ledger, Sent

CUT = (OSError, EOFError, ConnectionClosed, InvalidHandshake, InvalidMessage)  # errors while the server dies
TIMEOUT = 60.0  # seconds for a response of a running server


@dataclass(frozen=True, slots=True)
class Person:
    """A guest."""

    id: str
    token: str


@dataclass(slots=True)
class Connection:
    """Connection to the server: sends HTTP requests and counts all messages."""

    port: int
    rng: random.Random
    on_send: Callable[[], None] = lambda: None
    on_receive: Callable[[], None] = lambda: None

    async def request(self, method: str, path: str, token: str = "", body: object = None) -> tuple[int, Any]:
        """Send one request and return status and body. Raises one of `CUT` if the response is incomplete."""
        payload = b"" if body is None else json.dumps(body).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(
                f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
                f"authorization: Bearer {token}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(payload)}\r\n\r\n".encode()
                + payload
            )
            self.on_send()
            response = await asyncio.wait_for(reader.read(), TIMEOUT)
        finally:
            writer.close()
        head, _, content = response.partition(b"\r\n\r\n")
        length = next(
            (line[15:] for line in head.lower().splitlines() if line.startswith(b"content-length")), b""
        )
        if not length or len(content) != int(length):
            raise EOFError("the response is incomplete")
        self.on_receive()
        return int(head.split()[1]), json.loads(content)

    async def retry(self, method: str, path: str, token: str = "", body: object = None) -> Any:
        """Send a request until it is answered. Raises `Inconsistency` if the response is an error."""
        while True:
            try:
                status, answer = await self.request(method, path, token, body)
            except CUT:
                continue
            if status >= 400:
                raise Inconsistency(f"{method} {path} was answered by {status} {answer}")
            return answer


@dataclass(slots=True)
class Match:
    """A table, its players, and how long they stay."""

    ledger: Ledger
    people: list[Person]
    stay: int  # entries after which they leave
    done: set[str] = field(default_factory=set)  # people who received the end of the game
    status: str = "open"

    @property
    def id(self) -> str:
        return self.ledger.table_id

    @property
    def over(self) -> bool:
        return len(self.done) == len(self.people)


class Player:
    """One person at one table, with one or several seats."""

    def __init__(self, connection: Connection, match: Match, person: Person) -> None:
        self._connection = connection
        self._match = match
        self._person = person
        self._rng = connection.rng
        self._pending: Sent | None = None
        self._last: Json = {}
        self._yours: list[int] = []
        self._looked_at = 0
        self._number = 0
        self._messages = 0
        self._leaving = False

    async def play(self) -> None:
        """Play until the game ends or all players have left."""
        first = True
        while self._person.id not in self._match.done:
            after = f"?after={self._number}" if self._number else ""
            address = f"ws://127.0.0.1:{self._connection.port}/api/tables/{self._match.id}/live{after}"
            try:
                async with connect(
                    address,
                    additional_headers={"Authorization": f"Bearer {self._person.token}"},
                    compression=None,
                    max_size=None,
                    ping_interval=None,
                    open_timeout=TIMEOUT,
                    close_timeout=1.0,
                    proxy=None,
                ) as socket:
                    await self._communicate(socket, again=not first)
            except CUT:
                pass
            first = False

    async def _communicate(self, socket: ClientConnection, again: bool) -> None:
        if len(self._yours) > 1:
            self._last["you"] = None  # a new connection has no selected seat
            self._looked_at = 0
        elif again and self._pending is not None and self._rng.random() < 0.5:
            await self._send(socket, self._pending.message)
            again = False
        while self._person.id not in self._match.done:
            text = await asyncio.wait_for(socket.recv(), TIMEOUT)
            self._connection.on_receive()
            self._receive(json.loads(text))
            if self._pending is None:
                again = False
                await self._answer(socket)
            elif again:
                again = await self._send_again(socket, self._pending)

    async def _send_again(self, socket: ClientConnection, pending: Sent) -> bool:
        """Resend the interrupted message; return whether a `look` must come first."""
        if len(self._yours) > 1 and self._last.get("you") is None and self._number == pending.n:
            await self._look(socket, pending.seat)
            return True
        await self._send(socket, pending.message)
        return False

    # ------------------------------------------------------------ messages from the server

    def _receive(self, message: Json) -> None:
        kind = message["type"]
        if kind == "refused":
            self._refused(message)
            message = message["view"] or {}
            kind = message.get("type")
        if kind not in ("view", "step"):
            return
        if message["n"] < self._number:
            raise Inconsistency(f"{self._match.id} was at {self._number}, now it is at {message['n']}")
        self._number = message["n"]
        self._last = message
        self._yours = message.get("yours", self._yours)
        self._match.ledger.add(message)
        if message["ack"] is not None:
            self._acknowledged(message["ack"], message["n"], exactly=kind == "step")
        self._match.status = message["now"]["phase"]
        if message["now"]["phase"] in ("over", "closed"):
            self._match.done.add(self._person.id)

    def _acknowledged(self, message: str, number: int, *, exactly: bool) -> None:
        if self._pending is None or self._pending.id != message:
            raise Inconsistency(f"{message} was acknowledged, but {self._pending} is pending")
        self._pending.acknowledged = number
        self._pending.exactly = exactly
        self._pending = None

    def _refused(self, message: Json) -> None:
        sent = self._pending
        if sent is None or message["id"] != sent.id:
            raise Inconsistency(f"{message} was received, but {sent} is pending")
        # The command was legal when it was sent: another entry came first, or the table was closed.
        if message["code"] not in ("stale", "game_over", "not_started"):
            raise Inconsistency(f"{sent} was refused: {message}")
        sent.refused = message["code"]
        self._pending = None

    # ------------------------------------------------------------ responses

    async def _answer(self, socket: ClientConnection) -> None:
        now, seat = self._last.get("now", {}), self._last.get("you")
        if self._number >= self._match.stay and not self._leaving:
            self._leaving = True
            await self._leave()
        if self._leaving or not now:
            return
        if len(self._yours) > 1 and seat is None and now["turn"] in self._yours:
            await self._look(socket, now["turn"])
            return
        sent = None if seat is None else self._next_command(now, self._last["moves"], seat)
        if sent is None:
            return
        self._looked_at = 0
        self._pending = sent
        self._match.ledger.sent[sent.seat, sent.id] = sent
        if sent.do == "move" and self._rng.random() < 0.1:
            await self._send_by_http(sent)
        else:
            await self._send(socket, sent.message)

    async def _look(self, socket: ClientConnection, seat: int) -> None:
        if self._looked_at != self._number:
            self._looked_at = self._number
            await self._send(socket, {"do": "look", "seat": seat})

    def _next_command(self, now: Json, moves: Json | None, seat: int) -> Sent | None:
        self._messages += 1
        message_id = f"{seat}-{self._messages}"
        if now["held"]:
            return Sent(message_id, seat, self._number, "draw" if self._rng.random() < 0.7 else "back")
        if now["back"] and self._rng.random() < 0.2:
            return Sent(message_id, seat, self._number, "back")
        if moves is None:
            return None
        pick = self._rng.randrange(len(moves["tile"]) + len(moves["others"]))
        return Sent(message_id, seat, self._number, "move", pick, self._rng.random() < 0.15)

    async def _send(self, socket: ClientConnection, message: Json) -> None:
        await socket.send(json.dumps(message))
        self._connection.on_send()

    async def _send_by_http(self, sent: Sent) -> None:
        body = {name: value for name, value in sent.message.items() if name != "do"}
        path = f"/api/tables/{self._match.id}/moves"
        status, answer = await self._connection.request("POST", path, self._person.token, body)
        if status == 201:
            self._acknowledged(sent.id, answer["n"], exactly=True)
            self._last = {}  # the change is broadcast to all listeners
            self._match.ledger.highest = max(self._match.ledger.highest, answer["n"])
        else:
            self._refused({"id": sent.id, "code": answer["code"], "view": None})

    async def _leave(self) -> None:
        await self._connection.retry("POST", f"/api/tables/{self._match.id}/leave", self._person.token)
        self._match.ledger.left.add(self._person.id)
