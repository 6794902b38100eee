"""Load: tables at which two clients play random offered moves."""

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

CONCURRENCY = 8  # tables that are set up concurrently


class Offered(msgspec.Struct):
    """The offered moves, of which only the number is decoded."""

    tile: msgspec.Raw
    others: msgspec.Raw

    @property
    def count(self) -> int:
        tiles = bytes(self.tile)
        return (tiles.count(b",") + 1 if len(tiles) > 2 else 0) + bytes(self.others).count(b'"move"')


class GameStatus(msgspec.Struct):
    """Status of the game."""

    phase: str


class Message(msgspec.Struct):
    """The fields of a server message that a client needs."""

    type: str
    n: int = 0
    ack: str | None = None
    now: GameStatus | None = None
    moves: Offered | None = None


_DECODER = msgspec.json.Decoder(Message)


@dataclass(slots=True)
class Latencies:
    """Seconds from sending a move to its broadcast, for the sender and for the other seat."""

    sender: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)


class Seat:
    """A client in a seat of a table."""

    __slots__ = ("_table", "socket")

    def __init__(self, table: Table) -> None:
        self._table = table
        self.socket: WebSocket | None = None

    def hear(self, text: bytes) -> None:
        """Handle a message."""
        message = _DECODER.decode(text)
        if message.type in ("step", "view"):
            self._table.handle(self, message)
        elif message.type == "refused":
            raise RuntimeError(text[:300].decode())


class Table:
    """A table with its two clients and its next move."""

    __slots__ = ("_load", "_offer", "_sent", "game_over", "seats")

    def __init__(self, load: Load) -> None:
        self._load = load
        self._sent: dict[int, float] = {}  # time at which the move for entry n was sent
        self._offer: tuple[Seat, int, int] | None = None
        self.game_over = False
        self.seats = (Seat(self), Seat(self))

    def handle(self, seat: Seat, message: Message) -> None:
        """Handle a message to a seat."""
        load, now = self._load, time.perf_counter()
        if message.ack is not None:
            load.acknowledged += 1
            load.latencies.sender.append(now - self._sent[message.n])
        elif (sent := self._sent.get(message.n)) is not None:
            load.latencies.other.append(now - sent)
        if message.moves is not None:
            self._offer = seat, message.n, message.moves.count
            load.on_offer(self)
        elif message.now is not None and message.now.phase == "over" and not self.game_over:
            self.game_over = True
            load.on_game_over(self)

    def move(self) -> None:
        """Play a random offered move, if there is an offer."""
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
        """Close both clients."""
        for seat in self.seats:
            if seat.socket is not None:
                seat.socket.close()


class Load:
    """Tables in play, spare tables that replace finished ones, and counters.

    Args:
        port: port of the server.
        game: game to play.
        separate_addresses: whether each client has a different loopback address, so that limits per address
            do not apply.
    """

    def __init__(self, port: int, game: str, *, separate_addresses: bool = False) -> None:
        self.http = Http(port, CONCURRENCY)
        self._separate_addresses = separate_addresses
        self._addresses = 0
        self._port = port
        self._game = game
        self.tables: list[Table] = []
        self._spare: list[Table] = []
        self._finished: list[Table] = []
        self._reaction: Callable[[Table], None] | None = None
        self._pace: float | None = None
        self.latencies = Latencies()
        self.sent = 0
        self.acknowledged = 0
        self.missing_spares = 0  # games that ended when there was no spare table

    # ------------------------------------------------------------ setting up

    async def grow(self, tables: int, spare: int = 0) -> None:
        """Open tables until there are `tables` in play and `spare` in reserve."""
        semaphore = asyncio.Semaphore(CONCURRENCY)

        async def add_to(group: list[Table]) -> None:
            async with semaphore:
                group.append(await self._open())

        missing = [self.tables] * (tables - len(self.tables)) + [self._spare] * (spare - len(self._spare))
        await asyncio.gather(*(add_to(group) for group in missing))

    async def _open(self) -> Table:
        sources = [self._source(), self._source()]
        # Clients without separate addresses share a few connections.
        https = [Http(self._port, 1, source) if source else self.http for source in sources]
        names = ("Ada", "Ben")
        guests = [
            await http.post("/api/guests", {"name": name}) for http, name in zip(https, names, strict=True)
        ]
        host, guest = (str(created["token"]) for created in guests)
        body: dict[str, Any] = {"game": self._game, "seats": [{"kind": "me"}, {"kind": "open"}]}
        opened = await https[0].post("/api/tables", body, host)
        path = f"/api/tables/{opened['id']}"
        await https[1].post(f"{path}/join", {"invite": opened["invite"]}, guest)
        table = Table(self)
        for seat, token, source in zip(table.seats, (host, guest), sources, strict=True):
            seat.socket = await connect(self._port, f"{path}/live", token, seat.hear, source)
        if self._separate_addresses:
            for http in https:
                await http.close()
        return table

    def _source(self) -> str | None:
        if not self._separate_addresses:
            return None
        self._addresses += 1
        return f"127.1.{self._addresses // 250}.{self._addresses % 250 + 1}"

    def tidy(self) -> None:
        """Close the tables whose games are over."""
        for table in self._finished:
            table.close()
        self._finished.clear()

    async def close(self) -> None:
        """Close all tables."""
        self.tidy()
        for table in (*self.tables, *self._spare):
            table.close()
        await self.http.close()
        await asyncio.sleep(0.1)

    # ------------------------------------------------------------ playing

    def on_offer(self, table: Table) -> None:
        """React to the offer of the seat to move at a table."""
        if self._reaction is not None:
            self._reaction(table)

    def on_game_over(self, table: Table) -> None:
        """Replace a table whose game is over by a spare one."""
        self._finished.append(table)
        index = self.tables.index(table)
        if not self._spare:
            self.missing_spares += 1
            return
        self.tables[index] = spare = self._spare.pop()
        if self._pace is not None:
            self._schedule(spare, self._pace * random.random())
        else:
            self.on_offer(spare)

    async def busy(self, seconds: float) -> float:
        """Move at every table as soon as possible; return acknowledged moves per second."""
        start, before = self._start()
        self._reaction = Table.move
        for table in self.tables:
            table.move()
        await asyncio.sleep(seconds)
        rate = (self.acknowledged - before) / (time.perf_counter() - start)
        await self._pause()
        return rate

    async def paced(self, seconds: float, pace: float) -> float:
        """Move at every table every `pace` seconds, staggered; return acknowledged moves per second."""
        start, before = self._start()
        self._pace = pace
        for table in self.tables:
            self._schedule(table, pace * random.random())
        await asyncio.sleep(seconds)
        rate = (self.acknowledged - before) / (time.perf_counter() - start)
        self._pace = None
        await self._pause()
        return rate

    def _start(self) -> tuple[float, int]:
        self.latencies = Latencies()
        return time.perf_counter(), self.acknowledged

    def _schedule(self, table: Table, delay: float) -> None:
        loop = asyncio.get_running_loop()
        loop.call_at(loop.time() + delay, self._tick, table, loop.time() + delay)

    def _tick(self, table: Table, due: float) -> None:
        if self._pace is None or table.game_over:
            return
        table.move()
        # Relative to the scheduled time, so that delays do not reduce the load.
        asyncio.get_running_loop().call_at(due + self._pace, self._tick, table, due + self._pace)

    async def _pause(self) -> None:
        """Stop moving and wait for outstanding answers."""
        self._reaction = None
        for _ in range(1000):
            if self.acknowledged == self.sent:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.02)
        if self.acknowledged != self.sent:
            raise RuntimeError(f"{self.sent - self.acknowledged} moves were not acknowledged")
