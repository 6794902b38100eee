"""Background tasks of a server: failures appear in /health and do not affect other tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from axiogames.server import lifespan as lifespan_module
from axiogames.server.domain.entries import UNDRAWN, MovePlayed, SeatTaken
from axiogames.server.domain.rooms import Rooms
from axiogames.server.lifespan import Server, lifespan
from axiogames.server.rule_loader import RuleLoader
from axiogames.server.storage.journal import ConnectionLost
from axiogames.server.supervisor import Supervisor
from tests.server.faults import Faults
from tests.server.in_process import TIMEOUT, App, running_app
from tests.server.rooms import table_config
from tests.server.test_supervisor import errors, until


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip loading the rules, and run rounds without pauses."""

    async def nothing(*_: object) -> None: ...

    monkeypatch.setattr(RuleLoader, "start", lambda _: None)
    monkeypatch.setattr(RuleLoader, "run", nothing)
    monkeypatch.setattr(lifespan_module, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr("axiogames.server.routes.health.RECOVERY_SECONDS", 0.01)


async def health(app: App) -> tuple[int, Any]:
    answer = await app.request("GET", "/health")
    return answer.status, answer.json


async def until_health(app: App, status: int) -> Any:
    async with asyncio.timeout(TIMEOUT):
        while (found := await health(app))[0] != status:
            await asyncio.sleep(0.01)
    return found[1]


@pytest.mark.usefixtures("quick")
def test_failure_to_load_rules_is_reported_and_blocks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = True

    async def load(*_: object) -> None:
        if broken:
            raise RuntimeError("no compiler")

    monkeypatch.setattr(RuleLoader, "run", load)

    async def work() -> None:
        nonlocal broken
        async with running_app(tmp_path) as app, lifespan(app.server):
            server = app.server
            while "failing" not in (failure := await until_health(app, 200)):
                await asyncio.sleep(0.01)
            assert failure["failing"] == ["rules"]
            assert not failure["rules_ready"]
            sweeps: list[int] = []
            due = server.store.list_due

            async def counted(before: int, limit: int) -> list[str]:
                sweeps.append(before)
                return await due(before, limit)

            monkeypatch.setattr(server.store, "list_due", counted)
            await until(lambda: len(sweeps) > 1)
            broken = False
            while "failing" in await until_health(app, 200):
                await asyncio.sleep(0.01)

    asyncio.run(work())
    assert "no compiler" in caplog.text
    assert len(errors(caplog)) == 1


@pytest.mark.usefixtures("quick")
def test_failing_sweep_is_reported_and_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app, lifespan(app.server):
            with monkeypatch.context() as patched:
                patched.setattr(app.server.store, "list_due", _fail)
                assert "sweep" in (await until_health(app, 503))["failing"]
            await until_health(app, 200)

    asyncio.run(work())
    assert "it broke" in caplog.text


async def _fail(*_: object, **__: object) -> Any:
    raise ValueError("it broke")


def test_failing_table_does_not_block_others_in_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rooms, woken = app.server.rooms, []

            class FakeRoom:
                def __init__(self, name: str) -> None:
                    self.wake = lambda: woken.append(name)

            async def due(before: int, limit: int) -> list[str]:
                return ["one", "two", "three"]

            async def get(table_id: str) -> Any:
                if table_id == "two":
                    raise ValueError("unreadable")
                return FakeRoom(table_id)

            monkeypatch.setattr(app.server.store, "list_due", due)
            monkeypatch.setattr(rooms, "get", get)
            await rooms.sweep()
            assert woken == ["one", "three"]

    asyncio.run(work())


def test_invalid_notifications_do_not_block_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`on_notification` raises nothing, whatever the payload and the state of the database."""

    async def work() -> None:
        async with running_app(tmp_path) as app:
            rooms: Rooms = app.server.rooms
            seated = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            one, two = [await rooms.open(table_config(id=name), seated) for name in ("one", "two")]
            entries = app.server.store.entries
            requested: list[str] = []

            async def read(table_id: str, after: int = 0) -> Any:
                requested.append(table_id)
                if table_id == one.id:
                    raise ConnectionResetError
                return await entries(table_id, after)

            monkeypatch.setattr(app.server.store, "entries", read)
            for invalid in ("", ":", "one", "one:", "one:x", "one:-1", "one:٣", "nobody:9", "\0:1"):
                await rooms.on_notification(invalid)
            await rooms.on_notification(f"{one.id}:99 {two.id}:99")
            assert requested[-2:] == [one.id, two.id]

    asyncio.run(work())
    assert "failed to read the new entries" in caplog.text


def test_failing_notification_does_not_end_listening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def notifications(_: str) -> AsyncGenerator[str | None, None]:
        for notice in (None, "one", "two", "three"):
            yield notice
        raise ConnectionLost

    processed: list[str] = []

    async def process(_: Server, notice: str) -> None:
        processed.append(notice)
        if notice != "three":
            raise ValueError(notice)

    async def work() -> None:
        async with running_app(tmp_path) as app:
            monkeypatch.setattr(lifespan_module, "notifications", notifications)
            monkeypatch.setattr(lifespan_module, "_on_notification", process)
            monkeypatch.setattr(type(app.server.settings), "dsn", "")
            task = Supervisor().add("listen", lambda _: asyncio.sleep(0))
            task.failed(OSError())
            with pytest.raises(ConnectionLost):
                await lifespan_module._listen(app.server, task)
            assert not task.failing  # the initial `None` reports that listening has begun

    asyncio.run(work())
    assert processed == ["one", "two", "three"]
    assert caplog.text.count("failed to process a notification") == 2


def test_process_catches_up_after_reconnecting(tmp_path: Path) -> None:
    """Tables without clients in this process catch up as well, so that the next client sees all entries."""

    async def work() -> None:
        async with running_app(tmp_path) as app:
            server = app.server
            seated = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            room = await server.rooms.open(table_config(), seated)
            elsewhere: Any = await server.rooms._load(room.id)
            move = str(elsewhere.table.legal_moves()[0])
            entry = elsewhere.apply(MovePlayed(elsewhere.turn, move, UNDRAWN))
            await server.journal.append(elsewhere.journal_entry(entry))  # as another process would
            await server.rooms.reconcile()
            assert room.game.number == elsewhere.number - 1
            await server.rooms.reconcile(everything=True)
            assert room.game.number == elsewhere.number

    asyncio.run(work())


@pytest.mark.usefixtures("quick")
def test_process_started_during_outage_recovers(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            faults = Faults(app)
            faults.down = True
            async with lifespan(app.server):
                failure = await until_health(app, 503)
                assert failure["status"] == "the database does not answer"
                assert "prepare_database" in failure["failing"]
                assert (await app.request("GET", "/api/tables")).status == 503
                faults.down = False
                await until_health(app, 200)
                assert (await app.request("GET", "/api/tables")).status == 200

    asyncio.run(work())


@pytest.mark.usefixtures("quick")
def test_all_components_are_closed_despite_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[str] = []

    async def work() -> None:
        async with running_app(tmp_path) as app:
            server = app.server
            parts = lifespan_module._close_actions(server)

            def failing(name: str, close: Callable[[], Any]) -> Callable[[], Any]:
                async def close_and_fail() -> None:
                    closed.append(name)
                    done = close()
                    if done is not None:
                        await done
                    raise RuntimeError(f"the {name} cannot be closed")

                return close_and_fail

            broken = [(name, failing(name, close)) for name, close in parts]
            with monkeypatch.context() as patched:
                patched.setattr(lifespan_module, "_close_actions", lambda _: broken)
                async with lifespan(server):
                    pass
            assert closed == [name for name, _ in reversed(parts)]
            assert {"background tasks", "journal", "database"} <= set(closed)
            assert len(errors(caplog)) == len(parts)

    asyncio.run(work())


def test_failed_start_closes_opened_components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            closed = asyncio.Event()
            close = app.server.database.close

            async def closing() -> None:
                await close()
                closed.set()

            with monkeypatch.context() as patched:
                patched.setattr(type(app.server.database), "upgrade", _fail)
                patched.setattr(type(app.server.database), "close", staticmethod(closing))
                with pytest.raises(ValueError, match="it broke"):
                    async with lifespan(app.server):
                        pass
            assert closed.is_set()

    asyncio.run(work())
