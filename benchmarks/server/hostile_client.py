"""The client of all attacks: its identities, tables, connections and counters."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from benchmarks.server.http_client import Http, RequestFailed, Response
from benchmarks.server.websocket_client import BadHandshake, WebSocket, connect

SOURCE = "127.66.6.6"
PAUSE = 0.02  # seconds after a failure, because refused connections cost the client CPU time as well
MAX_GAME_LENGTH = 400  # moves


class HostileClient:
    """Identities, tables, connections and counters, shared by all attacks."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.counters = Counter[str]()
        self.prepared: Any = None
        self._http = Http(port, 4, SOURCE)

    # ------------------------------------------------------------ preparation

    async def guests(self, number: int) -> list[str]:
        """Create guests, as far as the server allows, and return their tokens."""
        tokens = []
        for _ in range(number):
            with suppress(RequestFailed):
                tokens.append(str((await self._http.post("/api/guests", {"name": "Mallory"}))["token"]))
        return tokens

    async def table(self, token: str, *seats: str, game: str = "axio") -> str:
        """Open a table with `me` or bots in its seats and return its path."""
        plan = [{"kind": "me"} if seat == "me" else {"kind": "bot", "level": seat} for seat in seats]
        opened = await self._http.post("/api/tables", {"game": game, "seats": plan}, token)
        return f"/api/tables/{opened['id']}"

    async def tables(self, token: str, number: int, *seats: str) -> list[str]:
        """Open tables until the server refuses, and return their paths."""
        paths = []
        for _ in range(number):
            try:
                paths.append(await self.table(token, *seats))
            except RequestFailed:
                break
        return paths

    async def finished(self, token: str) -> str:
        """Play a game to its end and return the path of its table."""
        path = await self.table(token, "me", game="trio")
        async with Watcher(self, path, token) as watcher:
            for number in range(MAX_GAME_LENGTH):
                message = await watcher.next_state()
                if message["now"]["phase"] == "over":
                    return path
                watcher.send(do="move", id=f"m{number}", n=message["n"], pick=0)
        raise RuntimeError("the game does not end")

    # ------------------------------------------------------------ attack

    async def run_all(self, *coroutines: Coroutine[Any, Any, None]) -> None:
        """Run all coroutines until the attack ends."""
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)

    async def request(
        self, http: Http, method: str, path: str, body: Any = None, **headers: str
    ) -> Response | None:
        """Send a request and count the response. Return `None` if the server closed the connection."""
        payload = b"" if body is None else msgspec.json.encode(body)
        if payload:
            headers["Content_Type"] = "application/json"
        try:
            response = await http.request(method, path, payload, **headers)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            self.counters["connections closed"] += 1
            await asyncio.sleep(PAUSE)
            return None
        self.counters[str(response.status)] += 1
        return response

    async def hammer(self, requests: Callable[[], tuple[str, str, Any, dict[str, str]]]) -> None:
        """Send requests one after another on a separate connection."""
        http = Http(self.port, 1, SOURCE)
        try:
            while True:
                method, path, body, headers = requests()
                await self.request(http, method, path, body, **headers)
        finally:
            await http.close()

    async def get(self, paths: list[str], connections: int, token: str = "") -> None:
        """Request the paths in turn, on several connections."""
        path = itertools.cycle(paths)
        headers = bearer(token)
        await self.run_all(
            *(self.hammer(lambda: ("GET", next(path), None, headers)) for _ in range(connections))
        )

    @asynccontextmanager
    async def socket(
        self, path: str, token: str, on_text: Callable[[bytes], None], after: int = 0
    ) -> AsyncIterator[WebSocket | None]:
        """Open a WebSocket that receives the entries after `after`; yield `None` if it is refused."""
        found = None
        try:
            with suppress(BadHandshake, OSError):
                found = await connect(self.port, f"{path}/live?after={after}", token, on_text, SOURCE)
            self.counters["sockets" if found else "sockets refused"] += 1
            yield found
        finally:
            if found is not None:
                found.close()


class Watcher:
    """A WebSocket whose messages are read in the background."""

    def __init__(self, client: HostileClient, path: str, token: str) -> None:
        self._client = client
        self._path, self._token = path, token
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.socket: WebSocket

    async def __aenter__(self) -> Watcher:
        self.socket = await connect(
            self._client.port, f"{self._path}/live", self._token, self._on_text, SOURCE
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()

    def _on_text(self, text: bytes) -> None:
        message = msgspec.json.decode(text)
        self._client.counters[message["type"]] += 1
        self._messages.put_nowait(message)

    def send(self, **command: object) -> None:
        """Send a command."""
        self.socket.send(msgspec.json.encode(command))

    async def next(self) -> dict[str, Any]:
        """Return the next message."""
        return await self._messages.get()

    async def next_state(self) -> dict[str, Any]:
        """Return the next message that contains the state of the game."""
        while (message := await self.next())["type"] not in ("view", "step"):
            if message["type"] == "refused":
                await asyncio.sleep(PAUSE)
                raise RequestFailed(str(message))
        return message


def bearer(token: str) -> dict[str, str]:
    """Return the header that authenticates a request."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def ignore(_: bytes) -> None:
    """Ignore a message."""
