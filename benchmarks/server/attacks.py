"""Hostile clients, one kind for each resource of which a client could take more than its share.

`benchmarks.server.hostile` starts `python -m benchmarks.server.attacks KIND PORT`. The process prepares the
attack, prints `ready`, attacks from each line `go` to the next line `stop`, and answers each `stop` with
its counters as JSON. It uses a single loopback address, and it has the lowest scheduling priority, so that
its own work does not affect the measurement (Linux only).
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import uvloop

from benchmarks.server.http_client import Failed, Http, Response
from benchmarks.server.websocket_client import BadHandshake, WebSocket, connect

SOURCE = "127.66.6.6"
PAUSE = 0.02  # seconds after a failure, because refused connections cost the client CPU time as well
MAX_GAME_LENGTH = 400  # moves
LONG_LOG = 1_500  # entries
MAX_UNSENT = 500_000  # bytes in the send buffer of a client

Attack = Callable[["Client"], Coroutine[Any, Any, None]]


class Client:
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
            with suppress(Failed):
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
            except Failed:
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

    def __init__(self, client: Client, path: str, token: str) -> None:
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
                raise Failed(str(message))
        return message


def bearer(token: str) -> dict[str, str]:
    """Return the header that authenticates a request."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def ignore(_: bytes) -> None:
    """Ignore a message."""


# ---------------------------------------------------------------- work in separate pools


async def pictures(client: Client) -> None:
    """Request PNG pictures of many tables on 20 connections."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        paths = await client.tables(token, 30, "me", "greedy")
        client.prepared = (
            token,
            [f"{path}/picture.png{dark}" for path in paths for dark in ("", "?dark=true")],
        )
        return
    token, paths = client.prepared
    await client.get(paths, 20, token)


async def hints(client: Client) -> None:
    """Ask for hints at all tables of ten guests, ten sockets each."""
    if client.prepared is None:
        tokens = await client.guests(10)
        client.prepared = [(await client.table(token, "me", "greedy"), token) for token in tokens]
        return

    async def ask(path: str, token: str) -> None:
        with suppress(BadHandshake, OSError, Failed):
            async with Watcher(client, path, token) as watcher:
                n = (await watcher.next())["n"]
                for number in itertools.count():
                    watcher.send(do="hint", id=f"h{number}", n=n)
                    await watcher.next()
                    await asyncio.sleep(PAUSE)

    await client.run_all(*(ask(*table) for table in client.prepared for _ in range(10)))


async def bots(client: Client) -> None:
    """Play at forty tables against the slowest bot and answer each of its moves at once."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.tables(token, 40, "me", "level8")
        return
    token, paths = client.prepared

    async def play(path: str) -> None:
        with suppress(BadHandshake, OSError, Failed):
            async with Watcher(client, path, token) as watcher:
                for number in itertools.count():
                    message = await watcher.next_state()
                    if message["moves"] is not None:
                        watcher.send(do="move", id=f"{message['n']}/{number}", n=message["n"], pick=0)

    await client.run_all(*(play(path) for path in paths))


async def reviews(client: Client) -> None:
    """Ask for reviews of finished games as twenty guests."""
    if client.prepared is None:
        tokens = await client.guests(20)
        client.prepared = tokens, [await client.finished(token) for token in tokens]
        return
    tokens, paths = client.prepared
    pairs = itertools.cycle(itertools.product(tokens, paths))

    def request() -> tuple[str, str, Any, dict[str, str]]:
        token, path = next(pairs)
        return "POST", f"{path}/review", None, bearer(token)

    await client.run_all(
        *(client.hammer(request) for _ in range(5)), client.get([f"{p}/review" for p in paths], 5)
    )


async def replays(client: Client) -> None:
    """Request replays of a finished game on ten connections."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = f"{await client.finished(token)}/replay"
        return
    await client.get([client.prepared], 10)


async def passwords(client: Client) -> None:
    """Guess passwords and create accounts on twenty connections."""
    if client.prepared is None:
        client.prepared = await client.guests(20)
        return
    number = itertools.count()
    token = itertools.cycle(client.prepared)

    def log_in() -> tuple[str, str, Any, dict[str, str]]:
        return "POST", "/api/enter", {"username": f"user{next(number)}", "password": "wrong password"}, {}

    def account() -> tuple[str, str, Any, dict[str, str]]:
        body = {"username": f"user{next(number)}", "password": "good password"}
        return "POST", "/api/me/account", body, bearer(next(token))

    await client.run_all(*(client.hammer(request) for request in (log_in, account) for _ in range(10)))


# ---------------------------------------------------------------- caches and stored data


async def languages(client: Client) -> None:
    """Request texts in a new language each time, on twenty connections."""
    number = itertools.count()

    def request() -> tuple[str, str, Any, dict[str, str]]:
        n = next(number)
        path = ("/api/games", "/api/games/axio/rules", "/api/review/words", "/api/daily")[n % 4]
        return "GET", f"{path}?lang=x{n}", None, {}

    await client.run_all(*(client.hammer(request) for _ in range(20)))


async def guests(client: Client) -> None:
    """Create guests endlessly, each of which opens tables."""
    number = itertools.count()

    async def open_tables() -> None:
        http = Http(client.port, 1, SOURCE)
        try:
            while True:
                response = await client.request(http, "GET", "/api/me")
                cookie = (response.headers.get("set-cookie", "") if response else "").partition(";")[0]
                body = {
                    "game": "rota",
                    "seats": [{"kind": "me"}, {"kind": "open"}],
                    "public": next(number) % 2 == 0,
                }
                for _ in range(3):
                    await client.request(http, "POST", "/api/tables", body, Cookie=cookie)
        finally:
            await http.close()

    await client.run_all(*(open_tables() for _ in range(10)))


async def requests(client: Client) -> None:
    """Request lists, views and pages on twenty connections."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = await client.tables(token, 5, "me", "greedy")
        return
    await client.get(["/api/tables", "/api/tables?which=live", "/", *client.prepared], 20)


# ---------------------------------------------------------------- connections


async def heads(client: Client) -> None:
    """Send endless request heads on eight connections."""

    async def send(start: bytes, line: bytes) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", client.port, local_addr=(SOURCE, 0))
            except OSError:
                client.counters["refused"] += 1
                await asyncio.sleep(PAUSE)
                continue
            client.counters["connections"] += 1
            try:
                writer.write(start)
                while True:
                    writer.write(line * 100)
                    async with asyncio.timeout(5):
                        await writer.drain()
                    await asyncio.sleep(0)
                    client.counters["kilobytes"] += len(line) // 10
            except (OSError, TimeoutError):
                client.counters["connections closed"] += 1
                await asyncio.sleep(PAUSE)
            finally:
                writer.transport.abort()

    lines = (b"GET / HTTP/1.1\r\n", b"x-filler: " + b"x" * 640 + b"\r\n"), (b"GET /", b"x" * 1000)
    await client.run_all(*(send(*lines[number % 2]) for number in range(8)))


async def idle(client: Client) -> None:
    """Hold 1,000 connections that send nothing or half a request, and reopen those that are closed."""

    async def wait(request: bytes) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", client.port, local_addr=(SOURCE, 0)
                )
            except OSError:
                client.counters["refused"] += 1
                await asyncio.sleep(10 * PAUSE)
                continue
            client.counters["connections"] += 1
            try:
                writer.write(request)
                await reader.read()
            except OSError:
                pass
            finally:
                client.counters["connections closed"] += 1
                writer.transport.abort()
            await asyncio.sleep(10 * PAUSE)

    partial_requests = (
        b"",
        b"GET / HTTP/1.1\r\nHost: x",
        b"POST /api/guests HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    )
    await client.run_all(*(wait(partial_requests[number % 3]) for number in range(1000)))


async def pings(client: Client) -> None:
    """Send WebSocket pings on four sockets without reading the answers."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.table(token, "me", "greedy")
        return
    token, path = client.prepared

    async def ping() -> None:
        while True:
            async with client.socket(path, token, ignore) as socket:
                if socket is not None:
                    socket.stop_reading()
                    while not socket.closed:
                        if socket.unsent < MAX_UNSENT:
                            socket.ping(*[b"x" * 125] * 100)
                            client.counters["pings"] += 100
                        await asyncio.sleep(0 if socket.unsent < MAX_UNSENT else PAUSE)
            await asyncio.sleep(PAUSE)

    await client.run_all(*(ping() for _ in range(4)))


async def flood(client: Client) -> None:
    """Send messages of all kinds on fifty sockets and read the answers."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.table(token, "me", "greedy")
        return
    token, path = client.prepared
    texts = (
        b'{"do":"ping"}',
        b'{"do":"move","id":"x","n":1,"pick":0}',
        b'{"do":"look","seat":0}',
        b"[[[[[[[[[[",
    )

    async def send() -> None:
        while True:
            async with client.socket(path, token, ignore) as socket:
                while socket is not None and not socket.closed:
                    if socket.unsent < MAX_UNSENT:
                        socket.send(*texts)
                        client.counters["messages"] += len(texts)
                    await asyncio.sleep(0 if socket.unsent < MAX_UNSENT else PAUSE)
            await asyncio.sleep(PAUSE)

    await client.run_all(*(send() for _ in range(50)))


async def reconnects(client: Client) -> None:
    """Reconnect ten sockets repeatedly to a table with a long log, each time with missed entries."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        path = await client.table(token, "me", "greedy")
        entries = 0
        while entries < LONG_LOG:
            entries = await _back_and_forth(client, path, token, 100)
        client.prepared = path, entries
        return
    path, entries = client.prepared

    async def reconnect() -> None:
        while True:
            messages = asyncio.Queue[bytes]()
            async with client.socket(path, "", messages.put_nowait, entries - 20) as socket:
                if socket is not None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(5):
                            await messages.get()
            await asyncio.sleep(PAUSE)

    await client.run_all(*(reconnect() for _ in range(10)))


async def _back_and_forth(client: Client, path: str, token: str, times: int | None = None) -> int:
    """Place and take back as fast as possible, and return the number of the last entry."""
    last = 0
    with suppress(BadHandshake, OSError, Failed):
        async with Watcher(client, path, token) as watcher:
            last = (await watcher.next_state())["n"]
            for number in itertools.count() if times is None else range(times):
                watcher.send(do="move", id=f"m{last}/{number}", n=last, pick=0, hold=True)
                last = (await watcher.next_state())["n"]
                watcher.send(do="back", id=f"b{last}/{number}", n=last)
                last = (await watcher.next_state())["n"]
    client.counters["ended"] += 1
    return int(last)


async def watchers(client: Client) -> None:
    """Place and take back endlessly, in front of 180 spectators."""
    await _audience(client, 180, read=True)


async def slow_readers(client: Client) -> None:
    """Place and take back endlessly, in front of 60 spectators that do not read."""
    await _audience(client, 60, read=False)


async def _audience(client: Client, number: int, *, read: bool) -> None:
    if client.prepared is None:
        tokens = await client.guests(5)
        client.prepared = [(await client.table(token, "me", "greedy"), token) for token in tokens]
        return
    path, token = client.prepared.pop()  # a new table each time, since the last one may be waiting for a draw

    async def watch() -> None:
        while True:
            async with client.socket(path, "", ignore) as socket:
                if socket is not None and not read:
                    socket.stop_reading()
                while socket is not None and not socket.closed:
                    await asyncio.sleep(0.5)
            await asyncio.sleep(0.5)

    async def play() -> None:
        while True:
            await _back_and_forth(client, path, token)
            await asyncio.sleep(0.5)

    await client.run_all(play(), *(watch() for _ in range(number)))


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        pictures, hints, bots, reviews, replays, passwords, languages, guests, requests, heads, idle, pings,
        flood, watchers, slow_readers, reconnects,
    )
}  # fmt: skip
UNPREPARED = {"languages", "guests", "heads", "idle"}


async def _serve_commands(kind: str, port: int) -> None:
    """Prepare the attack, then start and stop it on command."""
    client, attack = Client(port), ATTACKS[kind]
    if kind not in UNPREPARED:
        await attack(client)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    _print("ready")
    while (await lines.readline()).strip() == b"go":
        client.counters.clear()
        task = asyncio.create_task(attack(client))
        await lines.readline()
        broken = task.done()
        task.cancel()
        result = (await asyncio.gather(task, return_exceptions=True))[0]
        if broken:
            sys.stderr.write(f"the attack ended early: {result!r}\n")
        _print(msgspec.json.encode(dict(client.counters) | ({"broken": 1} if broken else {})).decode())


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run a hostile client."""
    # On recent Linux, a lower `nice` priority does not cause immediate preemption: honest clients on the same
    # core would wait for the end of this process's time slice. SCHED_IDLE does.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_commands(sys.argv[1], int(sys.argv[2])))


if __name__ == "__main__":
    main()
