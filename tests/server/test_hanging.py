"""Hanging and unwritable databases: requests fail quickly, and no move is lost or applied twice."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import OperationalError

from axiogames.server.domain import automation
from axiogames.server.domain.refusals import Unavailable
from axiogames.server.storage import database as database_module
from axiogames.server.storage.database import Database
from tests.server.faults import HangingDatabase, game_session
from tests.server.in_process import TIMEOUT, App, running_app


def _select(connection: Connection) -> None:
    connection.execute(text("SELECT 1"))


async def until_healthy(app: App) -> None:
    async with asyncio.timeout(TIMEOUT):
        while (await app.request("GET", "/health")).status != 200:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("statements", ["", "COMMIT"])
def test_late_commit_of_hanging_database_is_applied_once(
    tmp_path: Path, statements: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(automation, "RETRY_SECONDS", 0.1)

    async def play() -> None:
        async with game_session(tmp_path, "axio") as session:
            hanging = HangingDatabase(session.app.server.database, statements)
            for _ in range(2):
                socket, command = session.next_command(hold=False)
                with hanging.hang():
                    refused = await socket.request(**command)
                    assert (refused["type"], refused["code"]) == ("refused", "unavailable")
                    for method, path, body in (
                        ("GET", f"/api/tables/{session.table}", None),
                        ("GET", "/api/tables?which=mine", None),
                        ("PATCH", "/api/me", {"name": "Anna"}),
                        ("POST", "/api/tables", {"game": "axio", "seats": [{"kind": "me"}]}),
                        ("POST", "/api/guests", {"name": "Zoe"}),
                    ):
                        answer = await session.app.request(method, path, session.people[0].token, body)
                        assert (answer.status, answer.json["code"]) == (503, "unavailable"), path
                    health = await session.app.request("GET", "/health")
                    assert (health.status, health.json["status"]) == (503, "the database does not answer")
                await until_healthy(session.app)
                done = await socket.request(**command)  # with the same id, as the outcome is unknown
                assert (done["ack"], done["n"]) == (command["id"], command["n"] + 1)
                await session.check()

    asyncio.run(asyncio.wait_for(play(), TIMEOUT))
    assert caplog.text.count("the database is unavailable") <= 2
    assert "the database is available again" in caplog.text


def test_only_first_requests_wait_for_hanging_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later requests are refused at once, without an attempt to reach the database."""

    async def work() -> None:
        async with running_app(tmp_path) as app:
            database = app.server.database
            hanging = HangingDatabase(database)
            async with database.reading() as connection:
                await connection.execute(text("SELECT 1"))
            with hanging.hang():
                with pytest.raises(Unavailable):
                    await database.transact(_select)
                database.timeout = TIMEOUT
                started: list[object] = []
                for _ in range(20):
                    with pytest.raises(Unavailable):
                        await database.transact(started.append)
                assert started == []
            await until_healthy(app)
            await database.transact(started.append)
            assert len(started) == 1

    asyncio.run(work())


def test_blocked_event_loop_is_not_a_database_timeout(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            database = app.server.database
            database.timeout = 1.0
            async with database.reading() as connection:
                time.sleep(1.05)  # blocks the event loop
                await connection.execute(text("SELECT 1"))
                await connection.execute(text("SELECT 1"))

    asyncio.run(work())


def test_cancelled_requests_leak_no_connection(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            database = app.server.database
            hanging = HangingDatabase(database)

            async def read() -> None:
                async with database.reading() as connection:
                    await connection.execute(text("SELECT 1"))

            for _ in range(3):
                with hanging.hang():
                    database.timeout = TIMEOUT
                    tasks = [asyncio.create_task(read()) for _ in range(10)]
                    await asyncio.sleep(0)
                    for task in tasks:
                        task.cancel()
                    await asyncio.wait(tasks)
            await until_healthy(app)
            pool: Any = database.engine.pool
            async with asyncio.timeout(TIMEOUT):
                while pool.checkedout():
                    await asyncio.sleep(0.01)

    asyncio.run(work())


REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("PATCH", "/api/me", {"name": "Anna"}),
    ("POST", "/api/me/phrase", None),
    ("POST", "/api/me/account", {"username": "annanna", "password": "a long password"}),
    ("POST", "/api/me/leave", {"everywhere": True}),
    ("POST", "/api/tables", {"game": "rota", "seats": [{"kind": "me"}]}),
    ("POST", "/api/daily/axio", None),
)


class UnwritableDatabase:
    """Makes all writes to the database fail until `end`, by one of three causes."""

    def __init__(self, database: Database, file: Path, cause: str) -> None:
        assert database._writer is not None
        self._cause, self._other = cause, sqlite3.connect(file)
        self._engines = (database.engine.sync_engine, database._writer._engine)
        self._on = True
        for engine in self._engines:
            event.listen(engine, "checkout", self._check_out)
            event.listen(engine, "before_cursor_execute", self._execute)
        if cause == "locked":
            self._other.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        self._on = False
        self._other.close()

    def _check_out(self, connection: Any, *_: object) -> None:
        if self._cause == "read-only":
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA query_only = {int(self._on)}")
            cursor.close()

    def _execute(self, _: object, cursor: object, statement: str, *__: object) -> None:
        if self._on and self._cause == "full" and not statement.startswith("SELECT"):
            raise OperationalError(statement, {}, sqlite3.OperationalError("database or disk is full"))


@pytest.mark.parametrize("cause", ["locked", "full", "read-only"])
def test_unwritable_database_is_reported_by_every_route(
    tmp_path: Path, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "SQLITE_BUSY_TIMEOUT_MS", 1)

    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            await app.call("PATCH", "/api/me", ann.token, {"name": "Ann"})
            table = (await app.open(ann, "axio", [{"kind": "me"}, {"kind": "me"}]))["id"]
            socket = await app.socket(table, ann.token)
            await socket.request(do="look", id="look", seat=0)
            unwritable = UnwritableDatabase(app.server.database, tmp_path / "axio.sqlite3", cause)
            health = await app.request("GET", "/health")
            assert (health.status, health.json["status"]) == (503, "the database cannot be written")
            for method, path, body in REQUESTS:
                answer = await app.request(method, path, ann.token, body)
                assert (answer.status, answer.json["code"]) == (503, "unavailable"), path
            number = (await app.call("GET", f"/api/tables/{table}", ann.token))["n"]  # reads still succeed
            assert (await socket.request(do="move", id="m", n=number, pick=0))["code"] == "unavailable"
            unwritable.end()
            await until_healthy(app)
            assert (await socket.request(do="move", id="m", n=number, pick=0))["ack"] == "m"

    asyncio.run(asyncio.wait_for(work(), TIMEOUT))
