"""Tables at which two clients play any of the moves they are offered."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchmarks.server.http_client import Http
from benchmarks.server.websocket_client import WebSocket, connect

AT_ONCE = 8  # tables that are set up at the same time


class Offered(msgspec.Struct):
    """Of the offered moves only how many there are: their columns are not read."""

    tile: msgspec.Raw
    others: msgspec.Raw

    @property
    def count(self) -> int:
        tiles = bytes(self.tile)
        return (tiles.count(b",") + 1 if len(tiles) > 2 else 0) + bytes(self.others).count(b'"move"')


class Now(msgspec.Struct):
    """Whether the game goes on."""

    phase: str


class Told(msgspec.Struct):
    """What a client has to know of a message."""

    type: str
    n: int = 0
    ack: str | None = None
    now: Now | None = None
    moves: Offered | None = None


_DECODER = msgspec.json.Decoder(Told)


@dataclass(slots=True)
class Latencies:
    """Seconds from sending a move to hearing of it, for its sender and for the other seat."""

    sender: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)


class Seat:
    """A client that sits at a table."""

    __slots__ = ("_table", "socket")

    def __init__(self, table: Table) -> None:
        self._table = table
        self.socket: WebSocket | None = None

    def hear(self, text: bytes) -> None:
        """Take a message."""
        told = _DECODER.decode(text)
        if told.type in ("step", "view"):
            self._table.heard(self, told)
        elif told.type == "refused":
            raise RuntimeError(text[:300].decode())


class Table:
    """A table with its two clients, and the move that waits to be made there."""

    __slots__ = ("_load", "_offer", "_sent", "game_over", "seats")

    def __init__(self, load: Load) -> None:
        self._load = load
        self._sent: dict[int, float] = {}  # when the move was sent that makes entry n
        self._offer: tuple[Seat, int, int] | None = None
        self.game_over = False
        self.seats = (Seat(self), Seat(self))

    def heard(self, seat: Seat, told: Told) -> None:
        """A seat has been told something."""
        load, now = self._load, time.perf_counter()
        if told.ack is not None:
            load.acknowledged += 1
            load.latencies.sender.append(now - self._sent[told.n])
        elif (sent := self._sent.get(told.n)) is not None:
            load.latencies.other.append(now - sent)
        if told.moves is not None:
            self._offer = seat, told.n, told.moves.count
            load.offered(self)
        elif told.now is not None and told.now.phase == "over" and not self.game_over:
            self.game_over = True
            load.ended(self)

    def move(self) -> None:
        """Make the move that is due, if one is."""
        if self._offer is None:
            return
        seat, n, count = self._offer
        self._offer = None
        self._load.sent += 1
        assert seat.socket is not None
        text = b'{"do":"move","id":"%d","n":%d,"pick":%d}' % (n, n, int(random.random() * count))
        self._sent[n + 1] = time.perf_counter()
        seat.socket.send(text)

    def close(self) -> None:
        """Both clients leave."""
        for seat in self.seats:
            if seat.socket is not None:
                seat.socket.close()


class Load:
    """Busy tables, spare ones to go on at when a game has ended, and what was counted.

    Args:
        port: Where the server is.
        game: What is played.
        apart: Whether everybody has a loopback address of their own, so that limits by address let them in.
    """

    def __init__(self, port: int, game: str, *, apart: bool = False) -> None:
        self.http = Http(port, AT_ONCE)
        self._apart = apart
        self._people = 0
        self._port = port
        self._game = game
        self.tables: list[Table] = []
        self._spare: list[Table] = []
        self._finished: list[Table] = []
        self._on_offer: Callable[[Table], None] | None = None
        self._pace: float | None = None
        self.latencies = Latencies()
        self.sent = 0
        self.acknowledged = 0
        self.short = 0  # games that ended when there was no spare table

    # ------------------------------------------------------------ setting up

    async def grow(self, tables: int, spare: int = 0) -> None:
        """Have so many tables in use, and so many spare ones."""
        waiting = asyncio.Semaphore(AT_ONCE)

        async def one(into: list[Table]) -> None:
            async with waiting:
                into.append(await self._open())

        wanted = [self.tables] * (tables - len(self.tables)) + [self._spare] * (spare - len(self._spare))
        await asyncio.gather(*(one(into) for into in wanted))

    async def _open(self) -> Table:
        sources = [self._source(), self._source()]
        # Without addresses of their own all share a few connections.
        https = [Http(self._port, 1, source) if source else self.http for source in sources]
        names = ("Ada", "Ben")
        guests = [
            await http.post("/api/guests", {"name": name}) for http, name in zip(https, names, strict=True)
        ]
        host, guest = (str(made["token"]) for made in guests)
        body: dict[str, Any] = {"game": self._game, "seats": [{"kind": "me"}, {"kind": "open"}]}
        opened = await https[0].post("/api/tables", body, host)
        path = f"/api/tables/{opened['id']}"
        await https[1].post(f"{path}/join", {"invite": opened["invite"]}, guest)
        table = Table(self)
        for seat, token, source in zip(table.seats, (host, guest), sources, strict=True):
            seat.socket = await connect(self._port, f"{path}/live", token, seat.hear, source)
        if self._apart:
            for http in https:
                await http.close()
        return table

    def _source(self) -> str | None:
        if not self._apart:
            return None
        self._people += 1
        return f"127.1.{self._people // 250}.{self._people % 250 + 1}"

    def tidy(self) -> None:
        """Leave the tables whose games are over."""
        for table in self._finished:
            table.close()
        self._finished.clear()

    async def close(self) -> None:
        """Leave everything."""
        self.tidy()
        for table in (*self.tables, *self._spare):
            table.close()
        await self.http.close()
        await asyncio.sleep(0.1)

    # ------------------------------------------------------------ playing

    def offered(self, table: Table) -> None:
        """A table's seat to move has its offer."""
        if self._on_offer is not None:
            self._on_offer(table)

    def ended(self, table: Table) -> None:
        """A game is over: its clients go on at another table."""
        self._finished.append(table)
        at = self.tables.index(table)
        if not self._spare:
            self.short += 1
            return
        self.tables[at] = other = self._spare.pop()
        if self._pace is not None:
            self._schedule(other, self._pace * random.random())
        else:
            self.offered(other)

    async def busy(self, seconds: float) -> float:
        """Let every seat move as soon as it can; acknowledged moves a second."""
        begun, before = self._begin()
        self._on_offer = Table.move
        for table in self.tables:
            table.move()
        await asyncio.sleep(seconds)
        rate = (self.acknowledged - before) / (time.perf_counter() - begun)
        await self._pause()
        return rate

    async def paced(self, seconds: float, pace: float) -> float:
        """Let every table make a move each `pace` seconds, not all at once; acknowledged moves a second."""
        begun, before = self._begin()
        self._pace = pace
        for table in self.tables:
            self._schedule(table, pace * random.random())
        await asyncio.sleep(seconds)
        rate = (self.acknowledged - before) / (time.perf_counter() - begun)
        self._pace = None
        await self._pause()
        return rate

    def _begin(self) -> tuple[float, int]:
        self.latencies = Latencies()
        return time.perf_counter(), self.acknowledged

    def _schedule(self, table: Table, delay: float) -> None:
        loop = asyncio.get_running_loop()
        loop.call_at(loop.time() + delay, self._tick, table, loop.time() + delay)

    def _tick(self, table: Table, due: float) -> None:
        if self._pace is None or table.game_over:
            return
        table.move()
        # From when it should have been: lateness must not slow the load down.
        asyncio.get_running_loop().call_at(due + self._pace, self._tick, table, due + self._pace)

    async def _pause(self) -> None:
        """Stop moving and wait for the answers to what was sent."""
        self._on_offer = None
        for _ in range(1000):
            if self.acknowledged == self.sent:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.02)
        if self.acknowledged != self.sent:
            raise RuntimeError(f"{self.sent - self.acknowledged} moves were not acknowledged")
