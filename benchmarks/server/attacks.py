"""Hostile clients, one kind for each way in which a client could take more than its share.

`benchmarks.server.hostile` starts `python -m benchmarks.server.attacks KIND PORT`. It prepares, prints
`ready`, attacks from each line `go` to the next line `stop`, and answers each `stop` with what it counted, as
JSON. It comes from one loopback address and runs only when its core has nothing else to do, so that its own
work is not what is measured (Linux only).
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

from benchmarks.server.http_client import Answer, Failed, Http
from benchmarks.server.websocket_client import BadHandshake, WebSocket, connect

SOURCE = "127.66.6.6"
PAUSE = 0.02  # seconds after something has failed: connections that are refused cost the client, too
LONGEST_GAME = 400
LONG_LOG = 1_500  # entries
FULL = 500_000  # bytes that a client has sent and the server has not taken

Attack = Callable[["Client"], Coroutine[Any, Any, None]]


class Client:
    """What all attacks need: identities, tables, connections, and a count of what was done."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.done = Counter[str]()
        self.prepared: Any = None
        self._http = Http(port, 4, SOURCE)

    # ------------------------------------------------------------ getting ready

    async def guests(self, number: int) -> list[str]:
        """The tokens of new guests, as many as the server makes."""
        found = []
        for _ in range(number):
            with suppress(Failed):
                found.append(str((await self._http.post("/api/guests", {"name": "Mallory"}))["token"]))
        return found

    async def table(self, token: str, *seats: str, game: str = "axio") -> str:
        """The path of a new table with `me` or bots on its seats."""
        wanted = [{"kind": "me"} if seat == "me" else {"kind": "bot", "level": seat} for seat in seats]
        opened = await self._http.post("/api/tables", {"game": game, "seats": wanted}, token)
        return f"/api/tables/{opened['id']}"

    async def tables(self, token: str, number: int, *seats: str) -> list[str]:
        """The paths of new tables, as many as the server opens."""
        found = []
        for _ in range(number):
            try:
                found.append(await self.table(token, *seats))
            except Failed:
                break
        return found

    async def finished(self, token: str) -> str:
        """The path of a game that was played to its end as fast as it goes."""
        path = await self.table(token, "me", game="trio")
        async with Watcher(self, path, token) as watcher:
            for number in range(LONGEST_GAME):
                told = await watcher.news()
                if told["now"]["phase"] == "over":
                    return path
                watcher.order(do="move", id=f"m{number}", n=told["n"], pick=0)
        raise RuntimeError("the game does not end")

    # ------------------------------------------------------------ attacking

    async def together(self, *works: Coroutine[Any, Any, None]) -> None:
        """Do all this until the attack ends."""
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)

    async def ask(
        self, http: Http, method: str, path: str, body: Any = None, **headers: str
    ) -> Answer | None:
        """Ask once and count what came; `None` if the server hung up."""
        payload = b"" if body is None else msgspec.json.encode(body)
        if payload:
            headers["Content_Type"] = "application/json"
        try:
            answer = await http.ask(method, path, payload, **headers)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            self.done["hung up"] += 1
            await asyncio.sleep(PAUSE)
            return None
        self.done[str(answer.status)] += 1
        return answer

    async def hammer(self, requests: Callable[[], tuple[str, str, Any, dict[str, str]]]) -> None:
        """Ask one thing after another on a connection of its own."""
        http = Http(self.port, 1, SOURCE)
        try:
            while True:
                method, path, body, headers = requests()
                await self.ask(http, method, path, body, **headers)
        finally:
            await http.close()

    async def get(self, paths: list[str], connections: int, token: str = "") -> None:
        """Get these paths in turn, on several connections."""
        turn = itertools.cycle(paths)
        headers = bearer(token)
        await self.together(
            *(self.hammer(lambda: ("GET", next(turn), None, headers)) for _ in range(connections))
        )

    @asynccontextmanager
    async def socket(
        self, path: str, token: str, hear: Callable[[bytes], None], after: int = 0
    ) -> AsyncIterator[WebSocket | None]:
        """A WebSocket to a table, by somebody who knows the first `after` entries; `None` if refused."""
        found = None
        try:
            with suppress(BadHandshake, OSError):
                found = await connect(self.port, f"{path}/live?after={after}", token, hear, SOURCE)
            self.done["sockets" if found else "sockets refused"] += 1
            yield found
        finally:
            if found is not None:
                found.close()


class Watcher:
    """A WebSocket whose messages are read, and which says the latest."""

    def __init__(self, client: Client, path: str, token: str) -> None:
        self._client = client
        self._path, self._token = path, token
        self._told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.socket: WebSocket

    async def __aenter__(self) -> Watcher:
        self.socket = await connect(self._client.port, f"{self._path}/live", self._token, self._hear, SOURCE)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()

    def _hear(self, text: bytes) -> None:
        told = msgspec.json.decode(text)
        self._client.done[told["type"]] += 1
        self._told.put_nowait(told)

    def order(self, **order: object) -> None:
        """Send an order."""
        self.socket.send(msgspec.json.encode(order))

    async def next(self) -> dict[str, Any]:
        """The next message."""
        return await self._told.get()

    async def news(self) -> dict[str, Any]:
        """The next message that tells where the game stands."""
        while (told := await self.next())["type"] not in ("view", "step"):
            if told["type"] == "refused":
                await asyncio.sleep(PAUSE)
                raise Failed(str(told))
        return told


def bearer(token: str) -> dict[str, str]:
    """The header that makes a request somebody's."""
    return {"Authorization": f"Bearer {token}"} if token else {}


def nothing(_: bytes) -> None:
    """Take a message and do nothing with it."""


# ---------------------------------------------------------------- what needs a pool of its own


async def pictures(client: Client) -> None:
    """PNG pictures of many tables, on 20 connections."""
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
    """Hints at all tables of ten guests, ten sockets each."""
    if client.prepared is None:
        tokens = await client.guests(10)
        client.prepared = [(await client.table(token, "me", "greedy"), token) for token in tokens]
        return

    async def ask(path: str, token: str) -> None:
        with suppress(BadHandshake, OSError, Failed):
            async with Watcher(client, path, token) as watcher:
                n = (await watcher.next())["n"]
                for number in itertools.count():
                    watcher.order(do="hint", id=f"h{number}", n=n)
                    await watcher.next()
                    await asyncio.sleep(PAUSE)

    await client.together(*(ask(*table) for table in client.prepared for _ in range(10)))


async def bots(client: Client) -> None:
    """Forty tables against the slowest bot, moving at once whenever it has moved."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.tables(token, 40, "me", "level8")
        return
    token, paths = client.prepared

    async def play(path: str) -> None:
        with suppress(BadHandshake, OSError, Failed):
            async with Watcher(client, path, token) as watcher:
                for number in itertools.count():
                    told = await watcher.news()
                    if told["moves"] is not None:
                        watcher.order(do="move", id=f"{told['n']}/{number}", n=told["n"], pick=0)

    await client.together(*(play(path) for path in paths))


async def reviews(client: Client) -> None:
    """Reviews of finished games by twenty guests."""
    if client.prepared is None:
        tokens = await client.guests(20)
        client.prepared = tokens, [await client.finished(token) for token in tokens]
        return
    tokens, paths = client.prepared
    wanted = itertools.cycle(itertools.product(tokens, paths))

    def request() -> tuple[str, str, Any, dict[str, str]]:
        token, path = next(wanted)
        return "POST", f"{path}/review", None, bearer(token)

    await client.together(
        *(client.hammer(request) for _ in range(5)), client.get([f"{p}/review" for p in paths], 5)
    )


async def replays(client: Client) -> None:
    """Replays of a finished game, on ten connections."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = f"{await client.finished(token)}/replay"
        return
    await client.get([client.prepared], 10)


async def passwords(client: Client) -> None:
    """Passwords tried and set, on twenty connections."""
    if client.prepared is None:
        client.prepared = await client.guests(20)
        return
    number = itertools.count()
    token = itertools.cycle(client.prepared)

    def enter() -> tuple[str, str, Any, dict[str, str]]:
        return "POST", "/api/enter", {"username": f"user{next(number)}", "password": "wrong password"}, {}

    def account() -> tuple[str, str, Any, dict[str, str]]:
        body = {"username": f"user{next(number)}", "password": "good password"}
        return "POST", "/api/me/account", body, bearer(next(token))

    await client.together(*(client.hammer(one) for one in (enter, account) for _ in range(10)))


# ---------------------------------------------------------------- what is kept or collected


async def languages(client: Client) -> None:
    """What is said in a language, in ever new ones, on twenty connections."""
    number = itertools.count()

    def request() -> tuple[str, str, Any, dict[str, str]]:
        at = next(number)
        path = ("/api/games", "/api/games/axio/rules", "/api/review/words", "/api/daily")[at % 4]
        return "GET", f"{path}?lang=x{at}", None, {}

    await client.together(*(client.hammer(request) for _ in range(20)))


async def guests(client: Client) -> None:
    """Guests without end, each of whom opens tables."""
    number = itertools.count()

    async def come() -> None:
        http = Http(client.port, 1, SOURCE)
        try:
            while True:
                answer = await client.ask(http, "GET", "/api/me")
                cookie = (answer.headers.get("set-cookie", "") if answer else "").partition(";")[0]
                body = {
                    "game": "rota",
                    "seats": [{"kind": "me"}, {"kind": "open"}],
                    "public": next(number) % 2 == 0,
                }
                for _ in range(3):
                    await client.ask(http, "POST", "/api/tables", body, Cookie=cookie)
        finally:
            await http.close()

    await client.together(*(come() for _ in range(10)))


async def requests(client: Client) -> None:
    """Lists, views and pages as fast as they come, on twenty connections."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = await client.tables(token, 5, "me", "greedy")
        return
    await client.get(["/api/tables", "/api/tables?which=live", "/", *client.prepared], 20)


# ---------------------------------------------------------------- connections


async def heads(client: Client) -> None:
    """Request heads without end, on eight connections."""

    async def send(start: bytes, line: bytes) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", client.port, local_addr=(SOURCE, 0))
            except OSError:
                client.done["refused"] += 1
                await asyncio.sleep(PAUSE)
                continue
            client.done["connections"] += 1
            try:
                writer.write(start)
                while True:
                    writer.write(line * 100)
                    async with asyncio.timeout(5):
                        await writer.drain()
                    await asyncio.sleep(0)
                    client.done["kilobytes"] += len(line) // 10
            except (OSError, TimeoutError):
                client.done["hung up"] += 1
                await asyncio.sleep(PAUSE)
            finally:
                writer.transport.abort()

    lines = (b"GET / HTTP/1.1\r\n", b"x-filler: " + b"x" * 640 + b"\r\n"), (b"GET /", b"x" * 1000)
    await client.together(*(send(*lines[number % 2]) for number in range(8)))


async def idle(client: Client) -> None:
    """A thousand connections that say nothing, or half of a request, opened again when they are closed."""

    async def wait(said: bytes) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", client.port, local_addr=(SOURCE, 0)
                )
            except OSError:
                client.done["refused"] += 1
                await asyncio.sleep(10 * PAUSE)
                continue
            client.done["connections"] += 1
            try:
                writer.write(said)
                await reader.read()
            except OSError:
                pass
            finally:
                client.done["hung up"] += 1
                writer.transport.abort()
            await asyncio.sleep(10 * PAUSE)

    said = (
        b"",
        b"GET / HTTP/1.1\r\nHost: x",
        b"POST /api/guests HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    )
    await client.together(*(wait(said[number % 3]) for number in range(1000)))


async def pings(client: Client) -> None:
    """WebSocket pings, whose answers are not read, on four sockets."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.table(token, "me", "greedy")
        return
    token, path = client.prepared

    async def ping() -> None:
        while True:
            async with client.socket(path, token, nothing) as socket:
                if socket is not None:
                    socket.stop_reading()
                    while not socket.closed:
                        if socket.unsent < FULL:
                            socket.ping(*[b"x" * 125] * 100)
                            client.done["pings"] += 100
                        await asyncio.sleep(0 if socket.unsent < FULL else PAUSE)
            await asyncio.sleep(PAUSE)

    await client.together(*(ping() for _ in range(4)))


async def flood(client: Client) -> None:
    """Messages of all kinds as fast as they go, on fifty sockets whose answers are read."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        client.prepared = token, await client.table(token, "me", "greedy")
        return
    token, path = client.prepared
    said = (
        b'{"do":"ping"}',
        b'{"do":"move","id":"x","n":1,"pick":0}',
        b'{"do":"look","seat":0}',
        b"[[[[[[[[[[",
    )

    async def send() -> None:
        while True:
            async with client.socket(path, token, nothing) as socket:
                while socket is not None and not socket.closed:
                    if socket.unsent < FULL:
                        socket.send(*said)
                        client.done["messages"] += len(said)
                    await asyncio.sleep(0 if socket.unsent < FULL else PAUSE)
            await asyncio.sleep(PAUSE)

    await client.together(*(send() for _ in range(50)))


async def reconnects(client: Client) -> None:
    """Ten sockets that come back again and again to a table with a long log, of which they missed the end."""
    if client.prepared is None:
        (token,) = await client.guests(1)
        path = await client.table(token, "me", "greedy")
        number = 0
        while number < LONG_LOG:
            number = await _back_and_forth(client, path, token, 100)
        client.prepared = path, number
        return
    path, number = client.prepared

    async def come_back() -> None:
        while True:
            told = asyncio.Queue[bytes]()
            async with client.socket(path, "", told.put_nowait, number - 20) as socket:
                if socket is not None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(5):
                            await told.get()
            await asyncio.sleep(PAUSE)

    await client.together(*(come_back() for _ in range(10)))


async def _back_and_forth(client: Client, path: str, token: str, times: int | None = None) -> int:
    """Move and take back, as fast as it goes; the number of the last entry."""
    last = 0
    with suppress(BadHandshake, OSError, Failed):
        async with Watcher(client, path, token) as watcher:
            last = (await watcher.news())["n"]
            for number in itertools.count() if times is None else range(times):
                watcher.order(do="move", id=f"m{last}/{number}", n=last, pick=0, hold=True)
                last = (await watcher.news())["n"]
                watcher.order(do="back", id=f"b{last}/{number}", n=last)
                last = (await watcher.news())["n"]
    client.done["ended"] += 1
    return int(last)


async def watchers(client: Client) -> None:
    """A placement made and taken back without end, before 180 watchers."""
    await _audience(client, 180, read=True)


async def slow_readers(client: Client) -> None:
    """The same before 60 watchers who read nothing."""
    await _audience(client, 60, read=False)


async def _audience(client: Client, number: int, *, read: bool) -> None:
    if client.prepared is None:
        tokens = await client.guests(5)
        client.prepared = [(await client.table(token, "me", "greedy"), token) for token in tokens]
        return
    path, token = client.prepared.pop()  # a fresh table each time: the last one may be waiting for its draw

    async def watch() -> None:
        while True:
            async with client.socket(path, "", nothing) as socket:
                if socket is not None and not read:
                    socket.stop_reading()
                while socket is not None and not socket.closed:
                    await asyncio.sleep(0.5)
            await asyncio.sleep(0.5)

    async def play() -> None:
        while True:
            await _back_and_forth(client, path, token)
            await asyncio.sleep(0.5)

    await client.together(play(), *(watch() for _ in range(number)))


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        pictures, hints, bots, reviews, replays, passwords, languages, guests, requests, heads, idle, pings,
        flood, watchers, slow_readers, reconnects,
    )
}  # fmt: skip
UNPREPARED = {"languages", "guests", "heads", "idle"}


async def _obey(kind: str, port: int) -> None:
    """Prepare, then attack when told to."""
    client, attack = Client(port), ATTACKS[kind]
    if kind not in UNPREPARED:
        await attack(client)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    _say("ready")
    while (await lines.readline()).strip() == b"go":
        client.done.clear()
        under_way = asyncio.create_task(attack(client))
        await lines.readline()
        broken = under_way.done()
        under_way.cancel()
        end = (await asyncio.gather(under_way, return_exceptions=True))[0]
        if broken:
            sys.stderr.write(f"the attack has ended: {end!r}\n")
        _say(msgspec.json.encode(dict(client.done) | ({"broken": 1} if broken else {})).decode())


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """The hostile client of a kind."""
    # Merely nicer processes are not interrupted at once on recent Linux: honest clients on the same core
    # would wait for this one's time slice before they see what the server has sent.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_obey(sys.argv[1], int(sys.argv[2])))


if __name__ == "__main__":
    main()
