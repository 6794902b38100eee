"""Fault injection for the database, and games to inject faults into."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection

from axiogames.server.domain.game_state import GameState
from axiogames.server.domain.room import Room
from axiogames.server.storage import database as database_module
from axiogames.server.storage.database import Database
from tests.server.in_process import TIMEOUT, App, Json, Socket, running_app

FAILURES: dict[str, Callable[[], Exception]] = {
    "the database": lambda: OperationalError("statement", {}, Exception("injected")),
    "the network": lambda: ConnectionResetError("injected"),
    "something else": lambda: RuntimeError("injected"),
}


class Faults:
    """Makes transactions fail or wait.

    Attributes:
        next: Point at which the next transaction fails: `before` it begins, `during` it, `after` its commit,
            or empty for none.
        down: All transactions and reads fail.
        hold: Writes wait for this event before they commit.
        failure: Function that returns the exception to raise.
    """

    def __init__(self, app: App) -> None:
        self.next = ""
        self.down = False
        self.hold: asyncio.Event | None = None
        self.failure: Callable[[], Exception] = FAILURES["the database"]
        self._writing = app.server.database.writing
        self._reading = app.server.database.reading
        self._transact = app.server.database.transact
        app.server.database.transact = self.transact  # type: ignore[method-assign]
        app.server.database.writing = self.writing  # type: ignore[method-assign]
        app.server.database.reading = self.reading  # type: ignore[method-assign]

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        when, self.next = self.next, ""
        if when == "before" or self.down:
            raise self.failure()
        async with self._writing() as connection:
            yield connection
            if self.hold is not None:
                await self.hold.wait()
            if when == "during":
                raise self.failure()
        if when == "after":
            raise self.failure()

    async def transact(self, work: Callable[[Connection], None]) -> None:
        when, self.next = self.next, ""
        if when == "before" or self.down:
            raise self.failure()

        def wrapped(connection: Connection) -> None:
            work(connection)
            if when == "during":
                raise self.failure()

        if self.hold is not None:
            await self.hold.wait()
        await self._transact(wrapped)
        if when == "after":
            raise self.failure()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        if self.down:
            raise self.failure()
        async with self._reading() as connection:
            yield connection


class HangingDatabase:
    """Makes SQLite hang in its threads, uninterruptibly, before statements with a certain prefix."""

    def __init__(self, database: Database, statements: str = "") -> None:
        self._database = database
        self._statements = statements
        self._free = threading.Event()
        self._free.set()
        assert database._writer is not None
        for engine in (database.engine.sync_engine, database._writer._engine):
            event.listen(engine, "checkout", self._watch)

    def _watch(self, connection: Any, *_: object) -> None:
        driver = getattr(connection, "driver_connection", connection)
        getattr(driver, "_conn", driver).set_trace_callback(self._wait)

    def _wait(self, statement: str) -> None:
        if statement.startswith(self._statements):
            self._free.wait(TIMEOUT)

    @contextmanager
    def hang(self) -> Iterator[None]:
        """Let statements hang, with a short transaction timeout of the server."""
        timeout = self._database.timeout
        self._free.clear()
        self._database.timeout = 0.2
        try:
            with (
                patch.object(database_module, "PROBE_TIMEOUT", 0.05),
                patch.object(database_module, "PROBE_INTERVAL", 0.01),
            ):
                yield
        finally:
            self._database.timeout = timeout
            self._free.set()


class GameSession:
    """A game of two people with a spectator, and faults of its database."""

    def __init__(self, app: App, seed: str) -> None:
        self.app = app
        self.faults = Faults(app)
        self.rng = random.Random(seed)
        self.messages = 0

    async def start(self, game: str, **more: object) -> None:
        """Open a table for both people, connect everybody, and wait for the first view of each player."""
        self.people = [await self.app.guest(name) for name in ("Ann", "Bob")]
        ann, bob = self.people
        opened = await self.app.open(ann, game, [{"kind": "me"}, {"kind": "open"}], **more)
        self.table: str = opened["id"]
        await self.app.call("POST", f"/api/tables/{self.table}/join", bob.token, {"invite": opened["invite"]})
        self.sockets = [await self.app.socket(self.table, person.token) for person in self.people]
        self.spectator = await self.app.socket(self.table)
        self.views = [
            await socket.until(lambda message: message["type"] == "view") for socket in self.sockets
        ]

    @property
    def all_sockets(self) -> list[Socket]:
        return [*self.sockets, self.spectator]

    @property
    def room(self) -> Room:
        return self.app.server.rooms._rooms[self.table]

    @property
    def game(self) -> GameState:
        return self.room.game

    def next_command(self, **more: object) -> tuple[Socket, Json]:
        """Return the socket of the seat to move and a legal command for it."""
        self.messages += 1
        game = self.game
        assert game.table is not None
        seat = game.turn
        assert seat is not None
        command: Json = {"id": f"m{self.messages}", "n": game.number}
        if game.pending_draw is not None:
            return self.sockets[seat], {**command, "do": "draw"}
        pick = self.rng.randrange(len(game.table.legal_moves()))
        hold = self.rng.random() < 0.2
        return self.sockets[seat], {**command, "do": "move", "pick": pick, "hold": hold, **more}

    async def drain(self) -> list[list[str]]:
        """Return all texts received by each socket, without pongs."""
        return [
            [text for text in await socket.drain() if "pong" not in text[:20]] for socket in self.all_sockets
        ]

    async def check(self) -> None:
        """Check that memory and database agree."""
        stored = await self.app.server.rooms._load(self.table)
        game = self.game
        assert (stored.number, stored.status, stored.turn, stored.pending_draw) == (
            game.number,
            game.status,
            game.turn,
            game.pending_draw,
        )
        assert stored.table is not None
        assert game.table is not None
        assert stored.table.events == game.table.events
        assert stored.table.state.tobytes() == game.table.state.tobytes()


@asynccontextmanager
async def game_session(folder: Path, game: str, seed: str = "", **more: object) -> AsyncIterator[GameSession]:
    """Yield a started game on an application in this process."""
    async with running_app(folder) as app:
        session = GameSession(app, seed)
        await session.start(game, **more)
        yield session
