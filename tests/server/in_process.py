"""The whole application in this process, without a network. Tests have access to its internals.

Requests and messages pass through the guard and the routes as bytes. Background tasks (overdue
tables, loading of rules) do not run, so the state changes only by the actions of the test.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

from litestar import Litestar
from sqlalchemy import event

from axiogames.server import app as application
from axiogames.server.lifespan import Server, build_server
from axiogames.server.rendering.worker import render
from axiogames.server.settings import Settings
from axiogames.server.transport.origin_guard import guard

TIMEOUT = 240.0  # seconds; the rendering process starts slowly on a busy machine
HOST = b"localhost"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """A response of the application."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def raw(self) -> bytes:
        """The complete response: status, headers and body."""
        lines = [b"%d" % self.status, *(name + b": " + value for name, value in self.headers)]
        return b"\n".join((*lines, b"", self.body))


@dataclass(frozen=True, slots=True)
class Guest:
    """A person with a token."""

    id: str
    name: str
    token: str


class Socket:
    """A WebSocket to the application. Records every received text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.closed: int | None = None  # close code
        self._to_app: asyncio.Queue[Json] = asyncio.Queue()
        self._changed = asyncio.Event()  # set when the application sends something
        self._read = 0
        self._task: asyncio.Task[None] | None = None

    async def open(self, app: Any, target: str, headers: list[tuple[bytes, bytes]]) -> None:
        """Connect, and wait until the application accepts or refuses the connection."""
        scope = _scope("websocket", target, headers) | {"subprotocols": []}
        self._to_app.put_nowait({"type": "websocket.connect"})
        self._task = asyncio.create_task(app(scope, self._to_app.get, self._take))
        await self._changed.wait()

    async def _take(self, message: Json) -> None:
        if message["type"] == "websocket.send":
            self.texts.append(message["text"])
        elif message["type"] == "websocket.close":
            self.closed = message["code"]
        self._changed.set()

    def send(self, **command: object) -> None:
        """Send a command."""
        self.send_raw(text=json.dumps(command))

    def send_raw(self, text: str | None = None, data: bytes | None = None) -> None:
        """Send a text or binary message unchanged."""
        self._to_app.put_nowait({"type": "websocket.receive", "text": text, "bytes": data})

    async def until(self, matches: Callable[[Json], bool]) -> Json:
        """Return the next message that matches."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                while self._read < len(self.texts):
                    message: Json = json.loads(self.texts[self._read])
                    self._read += 1
                    if matches(message):
                        return message
                self._changed.clear()
                await self._changed.wait()

    async def until_entry(self, number: int) -> Json:
        """Return the message about an entry."""
        return await self.until(lambda message: message.get("n") == number)

    async def request(self, **command: object) -> Json:
        """Send a command and return its acknowledgement, answer or refusal."""
        self.send(**command)
        message_id = command.get("id")
        return await self.until(lambda message: message_id in (message.get("ack"), message.get("id")))

    async def drain(self) -> list[str]:
        """Return all received texts once everything sent so far has been processed."""
        self.send(do="ping")
        await self.until(lambda message: message["type"] == "pong")
        return self.texts

    async def wait_closed(self) -> int | None:
        """Wait until the application closes the connection, and return the close code."""
        assert self._task is not None
        await asyncio.wait_for(asyncio.shield(self._task), TIMEOUT)
        return self.closed

    async def close(self) -> None:
        """Disconnect, and wait until the application has finished."""
        self._to_app.put_nowait({"type": "websocket.disconnect", "code": 1000})
        assert self._task is not None
        await asyncio.wait_for(self._task, TIMEOUT)


@dataclass(slots=True)
class App:
    """The application and its components."""

    server: Server
    asgi: Any
    litestar: Litestar
    sockets: list[Socket] = field(default_factory=list)

    async def request(
        self,
        method: str,
        target: str,
        token: str = "",
        body: object = None,
        *,
        headers: Mapping[bytes, bytes] | None = None,
        host: Sequence[bytes] = (HOST,),
        **more: object,
    ) -> Response:
        """Send a request. A body other than bytes is sent as JSON; `more` is added to the ASGI scope."""
        payload = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        defaults = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(payload))]
        fields = {**dict(defaults if body is not None else []), **(headers or {})}
        scope = _scope("http", target, [*_identity(token), *fields.items()], host) | more
        sent: list[Json] = []

        incoming = iter([{"type": "http.request", "body": payload, "more_body": False}])
        answered = asyncio.Event()

        async def receive() -> Json:
            if (request := next(incoming, None)) is not None:
                return request
            await answered.wait()
            return {"type": "http.disconnect"}

        async def send(message: Json) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        await asyncio.wait_for(self.asgi(scope | {"method": method}, receive, send), TIMEOUT)
        start = sent[0]
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return Response(start["status"], tuple((k, v) for k, v in start["headers"]), content)

    async def call(self, method: str, target: str, token: str = "", body: object = None) -> Any:
        """Send a request that must succeed, and return the decoded body."""
        response = await self.request(method, target, token, body)
        assert response.status < 400, response.body
        return response.json

    async def guest(self, name: str) -> Guest:
        """Create a guest."""
        return Guest(**await self.call("POST", "/api/guests", body={"name": name}))

    async def socket(
        self,
        table: str,
        token: str = "",
        after: int | None = None,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Socket:
        """Open a WebSocket to a table."""
        socket = Socket()
        query = "" if after is None else f"?after={after}"
        await socket.open(
            self.asgi, f"/api/tables/{table}/live{query}", [*_identity(token), *(headers or {}).items()]
        )
        self.sockets.append(socket)
        return socket

    async def open(self, host: Guest, game: str, seats: list[Json], **more: object) -> Json:
        """Open a table, and return its id and invite key."""
        body = {"game": game, "seats": seats, **more}
        opened: Json = await self.call("POST", "/api/tables", host.token, body)
        return opened


def _identity(token: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {token}".encode())] if token else []


def _scope(
    kind: str, target: str, headers: list[tuple[bytes, bytes]], host: Sequence[bytes] = (HOST,)
) -> Json:
    parts = urlsplit(target)
    return {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [*((b"host", name) for name in host), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("in-process", 80),
        "state": {},
    }


def _disable_sync(connection: Any, _: object) -> None:
    """Do not wait for the disk: these tests simulate no power failure."""
    connection.cursor().execute("PRAGMA synchronous=OFF")


@asynccontextmanager
async def running_app(folder: Path, **settings: Any) -> AsyncIterator[App]:
    """Run the application in this process, with an SQLite database in `folder`."""
    configured = Settings(
        data=str(folder), rate_limits=False, bot_threads=1, max_tables_per_person=10_000, **settings
    )
    server = build_server(configured)
    server.pictures.render = render  # render in this process, not in a child process
    inner: list[Litestar] = []

    def capture(app: Litestar, **options: Any) -> Any:
        inner.append(app)
        return guard(app, **options)

    with (
        patch.object(application, "build_server", lambda _: server),
        patch.object(application, "guard", capture),
    ):
        app = application.make_app(configured)
    event.listen(server.database.engine.sync_engine, "connect", _disable_sync)
    await server.database.upgrade()
    running = App(server, app, inner[0])
    try:
        yield running
    finally:
        for socket in running.sockets:
            await socket.close()
        server.rooms.close()
        await server.journal.close()
        server.bots.close()
        server.people.close()
        server.pictures.close()
        await server.database.close()
