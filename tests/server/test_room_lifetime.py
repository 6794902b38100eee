"""Lifetime of rooms: one per table while referenced, and no task or timer outlives its room."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert

from axiogames.server.domain.entries import (
    UNDRAWN,
    BotSeated,
    GameStarted,
    SeatTaken,
    TableEntry,
    encode_entry,
)
from axiogames.server.domain.game_state import GameState, now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.room import Room
from axiogames.server.domain.rooms import RECENT_ROOMS
from axiogames.server.lifespan import Server
from axiogames.server.storage import schema
from axiogames.server.transport import fair_share, websocket
from axiogames.server.transport.client import Client
from axiogames.server.transport.commands import handle
from tests.server.rooms import Listener, run, running, table_config, until

MANY = 1_500
HOUR = 3_600_000  # milliseconds
SEATED: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]


class Player:
    """A person who holds no reference to a room, only a connection, and counts the received steps."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.steps = 0
        self.client: Client | None = None

    async def _receive(self, text: str) -> None:
        self.steps += text.startswith('{"type":"step"')

    async def enter(self, server: Server, table: str) -> None:
        room = await server.rooms.get(table)
        self.client = Client(self._receive, self.person, room.default_seat(self.person))
        room.connect(self.client)

    async def leave(self, server: Server, table: str) -> None:
        assert self.client is not None
        (await server.rooms.get(table)).disconnect(self.client)


async def move(server: Server, table: str, player: Player) -> None:
    """Play a move over the player's connection."""
    room = await server.rooms.get(table)
    assert player.client is not None
    command = {"do": "move", "id": f"m{room.game.number}", "n": room.game.number, "pick": 0}
    await handle(room, player.client, json.dumps(command), server.hints)


async def for_each(tables: list[str], work: Callable[[str], Awaitable[None]], at_once: int = 4) -> None:
    """Run `work` for all tables, `at_once` at a time."""
    for start in range(0, len(tables), at_once):
        await asyncio.gather(*(work(table) for table in tables[start : start + at_once]))


async def open_all(server: Server, tables: list[str]) -> None:
    """Insert tables into the database as if they had been opened."""
    game = GameState.new(table_config(game="trio"))
    applied = [game.apply(entry) for entry in (*SEATED, GameStarted(UNDRAWN))]
    bodies = [encode_entry(entry) for entry in applied]
    row = game.row()
    async with server.database.writing() as connection:
        await connection.execute(insert(schema.tables), [{**row, "id": table} for table in tables])
        seats = [{**seat.row(n), "table_id": table} for table in tables for n, seat in enumerate(game.seats)]
        await connection.execute(insert(schema.seats), seats)
        entries = [
            {"table_id": table, "number": n, "at": game.config.created, "body": body}
            for table in tables
            for n, body in enumerate(bodies, 1)
        ]
        await connection.execute(insert(schema.entries), entries)


def disable_sync(server: Server) -> None:
    """Do not wait for the disk: these tests simulate no power failure."""

    def prepare(connection: Any, _: object) -> None:
        connection.cursor().execute("PRAGMA synchronous=OFF")

    event.listen(server.database.engine.sync_engine, "connect", prepare)
    assert server.database._writer is not None
    event.listen(server.database._writer._engine, "connect", prepare)


def test_messages_reach_players_of_1500_tables_through_eviction_and_restart(tmp_path: Path) -> None:
    tables = [f"table{number}" for number in range(MANY)]

    async def play_one_move(server: Server, mover: str) -> None:
        """Ann connects to all tables, then Bob, while all rooms are in use. The mover moves at each table."""
        people = {table: {name: Player(name) for name in ("ann", "bob")} for table in tables}
        for name in ("ann", "bob"):
            await for_each(tables, lambda table, name=name: people[table][name].enter(server, table))  # type: ignore[misc]
        assert server.rooms.clients == 2 * MANY
        assert len(server.rooms.in_use()) == MANY
        await for_each(tables, lambda table: move(server, table, people[table][mover]), MANY)
        assert {(pair["ann"].steps, pair["bob"].steps) for pair in people.values()} == {(1, 1)}
        await for_each(tables, lambda table: people[table]["ann"].leave(server, table))
        assert server.rooms.clients == MANY
        await for_each(tables, lambda table: people[table]["bob"].leave(server, table))
        assert server.rooms.clients == 0

    async def work() -> None:
        async with running(tmp_path) as server:
            disable_sync(server)
            await open_all(server, tables)
            await play_one_move(server, "ann")
            await until(lambda: not server.rooms._services.tasks)  # all broadcasts are done
            gc.collect()
            assert len(server.rooms) == len(server.rooms._rooms) == RECENT_ROOMS
        async with running(tmp_path) as server:
            disable_sync(server)
            await play_one_move(server, "bob")

    run(work)


def test_referenced_room_stays_the_same_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.rooms.RECENT_ROOMS", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            held = await server.rooms.open(table_config(id="held"), SEATED)
            player = Player("ann")
            await server.rooms.open(table_config(id="visited"), SEATED)
            await player.enter(server, "visited")
            visited = id(await server.rooms.get("visited"))
            gone = weakref.ref(await server.rooms.open(table_config(id="gone"), SEATED))
            for number in range(3):
                await server.rooms.open(table_config(id=f"other{number}"), SEATED)
            assert gone() is None  # before any garbage collection
            assert await server.rooms.get("held") is held
            assert id(await server.rooms.get("visited")) == visited
            assert (await server.rooms.get("gone")).game.number == 3

    run(work)


def test_table_requested_while_opening_has_one_room(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            opened, requested = asyncio.Event(), asyncio.Event()
            original = server.store.open

            async def slow(*rows: Any) -> None:
                await original(*rows)
                opened.set()
                await requested.wait()

            server.store.open = slow  # type: ignore[method-assign, assignment]
            opening = asyncio.create_task(server.rooms.open(table_config(), SEATED))
            await opened.wait()
            early = await server.rooms.get("table")
            requested.set()
            assert await opening is early

    run(work)


def test_entries_written_during_loading_are_not_missed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(table_config(), SEATED)
            read, resume = asyncio.Event(), asyncio.Event()
            original = there.rooms._load

            async def slow(table: str) -> Any:
                game = await original(table)
                read.set()
                await resume.wait()
                return game

            there.rooms._load = slow  # type: ignore[method-assign, assignment]
            getting = asyncio.create_task(there.rooms.get("table"))
            await read.wait()
            number = await room.move(SeatCommand(0), 0)
            await there.rooms.on_notification(f"table:{number}")
            resume.set()
            assert (await getting).game.number == number

    run(work)


def test_loading_continues_after_the_first_requester_has_gone(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.open(table_config(), SEATED)
            server.rooms._recent.clear()
            first = asyncio.create_task(server.rooms.get("table"))
            second = asyncio.create_task(server.rooms.get("table"))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).game.number == 3
            assert not server.rooms._loading

    run(work)


async def long_log(server: Server) -> Room:
    """Return the room of a table at which a placement was made and taken back 50 times."""
    room = await server.rooms.open(table_config(), SEATED)
    for _ in range(50):
        await room.move(SeatCommand(0), 0, hold=True)
        await room.take_back(SeatCommand(0))
    return room


def test_other_tasks_run_while_a_table_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "SLICE_SECONDS", -1.0)  # pause after every entry

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await long_log(server)
            number, iterations = room.game.number, 0
            stored = await server.store.read("table")

            async def read(_: str) -> Any:
                return stored

            server.store.read = read  # type: ignore[method-assign, assignment]
            loading = asyncio.create_task(server.rooms._load("table"))
            while not loading.done():
                await asyncio.sleep(0)
                iterations += 1
            assert loading.result().number == number
            assert iterations >= number

    run(work)


def test_loading_is_charged_to_the_requesting_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_share, "SLICE_SECONDS", -1.0)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await long_log(server)
            number = room.game.number
            clock = itertools.count()
            loop = fair_share.LoopShares(now=lambda: 0.0, meter=lambda: next(clock) / 1000)

            async def spent(work: Callable[[], Coroutine[Any, Any, Any]]) -> float:
                account = loop._account("mallory")
                account.balance = fair_share.BURST_SECONDS
                await loop.run("mallory", work)
                return fair_share.BURST_SECONDS - account.balance

            before = partial(server.rooms.state_at, room, number - 1)
            assert await spent(lambda: server.rooms.get("table")) < number / 1000  # the room is in memory
            assert await spent(before) > number / 1000
            del room, before
            server.rooms._recent.clear()
            assert await spent(lambda: server.rooms.get("table")) > number / 1000

    run(work)


def test_reconnecting_client_does_not_delay_players(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            number = await room.move(SeatCommand(0), 0)
            read, resume, original = asyncio.Event(), asyncio.Event(), server.store.entries

            async def slow(*args: Any, **kwargs: Any) -> Any:
                rows = await original(*args, **kwargs)
                read.set()
                await resume.wait()
                return rows

            server.store.entries = slow  # type: ignore[method-assign]
            bob = Listener(room, "bob", connect=False)
            connecting = asyncio.create_task(websocket._send_state(server, room, bob.client, str(number - 1)))
            await read.wait()
            seat = room.game.turn
            assert seat is not None
            last = await room.move(SeatCommand(seat), 0)
            resume.set()
            await connecting
            await until(lambda: bool(bob.received))
            assert bob.received[0]["type"] == "view"  # there are new entries since it was read
            assert bob.received[0]["n"] == last

            again = Listener(room, "bob", connect=False)
            await websocket._send_state(server, room, again.client, str(last - 1))
            await until(lambda: len(again.received) == 2)
            assert [message["type"] for message in again.received] == ["step", "seats"]

    run(work)


# ---------------------------------------------------------------- tasks of a room


class SlowBots:
    """Bots that choose a move when the test lets them. Counts those that run concurrently."""

    def __init__(self, server: Server) -> None:
        self._allowed = asyncio.Semaphore(0)
        self.started = 0
        self.running = 0
        self.max_running = 0
        self._choose = server.bots.choose
        server.bots.choose = self.choose  # type: ignore[method-assign]

    def release_one(self) -> None:
        """Let one bot finish."""
        self._allowed.release()

    async def choose(self, level: str, *more: Any, **options: Any) -> Any:
        self.started += 1
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        try:
            await self._allowed.acquire()
            return await self._choose(level, *more, **options)
        finally:
            self.running -= 1


def test_one_bot_task_runs_after_a_move_of_the_clock(tmp_path: Path) -> None:
    """When the task of the clock ends, it must not clear the handle of the bot's task."""

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = SlowBots(server)
            room = await server.rooms.open(
                table_config(move_time=0), [SeatTaken(0, "ann", "Ann"), BotSeated(1, "random")]
            )
            await until(lambda: slow.started == 1)  # the clock chooses a move
            slow.release_one()
            await until(lambda: slow.started == 2)
            assert room.game.turn == 1
            for _ in range(5):
                room.wake()
                await asyncio.sleep(0)
            assert not room.idle
            assert (slow.running, slow.max_running) == (1, 1)
            room.close()
            await until(lambda: not server.rooms._services.tasks)
            assert slow.running == 0

    run(work)


def test_one_bot_task_runs_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.automation.RETRY_SECONDS", 0.0)

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = SlowBots(server)
            original, failures = slow._choose, 0

            async def fail_once(*args: Any) -> Any:
                nonlocal failures
                failures += 1
                if failures == 1:
                    raise RuntimeError("it broke")
                return await original(*args)

            slow._choose = fail_once  # type: ignore[assignment]
            slow.release_one()
            room = await server.rooms.open(
                table_config(), [BotSeated(0, "random"), SeatTaken(1, "bob", "Bob")]
            )
            await until(lambda: slow.started == 2 and slow.running == 1)
            for _ in range(5):
                room.wake()
                await asyncio.sleep(0)
            assert not room.idle
            assert slow.max_running == 1
            slow.release_one()
            await until(lambda: room.game.turn == 1)
            await until(lambda: room.idle)

    run(work)


def test_room_with_a_running_bot_is_not_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.rooms.RECENT_ROOMS", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = SlowBots(server)
            before = id(
                await server.rooms.open(table_config(), [BotSeated(0, "random"), SeatTaken(1, "bob", "Bob")])
            )
            for number in range(3):
                await server.rooms.open(table_config(id=f"other{number}"), SEATED)
            gc.collect()
            room = await server.rooms.get("table")
            assert id(room) == before
            slow.release_one()
            await until(lambda: room.game.turn == 1)
            assert slow.started == 1

    run(work)


def test_only_a_near_deadline_keeps_a_room_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.rooms.RECENT_ROOMS", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            far = weakref.ref(await server.rooms.open(table_config(id="far", move_time=86_400), SEATED))
            near = weakref.ref(await server.rooms.open(table_config(id="near", move_time=600), SEATED))
            await server.rooms.open(table_config(id="other"), SEATED)
            assert far() is None
            assert near() is not None
            assert await server.store.list_due(2**62, 10) == ["near", "far"]  # the sweep finds both

    run(work)


def test_closed_room_starts_no_tasks(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            slow = SlowBots(server)
            room = await server.rooms.open(
                table_config(), [BotSeated(0, "random"), SeatTaken(1, "bob", "Bob")]
            )
            ann = Listener(room, "ann")
            bob = Listener(room, "bob")
            room.disconnect(bob.client)  # starts a task that broadcasts the change
            assert len(server.rooms._services.tasks) == 2
            server.rooms.close()
            await until(lambda: not server.rooms._services.tasks)
            room.wake()
            room._automation._retry_later(room)
            room.connect(bob.client)
            room.disconnect(bob.client)
            assert room.idle or room.subscribers.connections == {ann.client}
            assert not server.rooms._services.tasks
            assert slow.running == 0

    run(work)


def test_quick_presence_changes_are_broadcast_together(tmp_path: Path) -> None:
    """All changes before a broadcast cause one task and one message."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            ann, bob = Listener(room, "ann"), Listener(room, "bob")
            ann.received.clear()
            async with room.lock:
                for _ in range(10):
                    room.disconnect(bob.client)
                    room.subscribers.connections.add(bob.client)
                room.disconnect(bob.client)
                assert len(server.rooms._services.tasks) == 1
            await until(lambda: bool(ann.received))
            await until(lambda: not server.rooms._services.tasks)
            assert [message["type"] for message in ann.received] == ["seats"]
            assert ann.received[0]["seats"][1]["here"] is False

    run(work)


def test_no_presence_is_kept_for_spectators(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            ann = Listener(room, "ann")
            for number in range(200):
                room.disconnect(Listener(room, f"guest{number}").client)
            room.update_remote_presence({f"guest{number}" for number in range(200)} | {"bob"})
            assert room.subscribers.present == {"ann", "bob"}
            room.update_remote_presence({f"guest{number}" for number in range(200)})
            room.disconnect(ann.client)
            sizes = [len(getattr(room.subscribers, name)) for name in ("_last_seen", "_departed", "_remote")]
            assert sizes == [2, 1, 0]
            assert room.subscribers.take_departed() == {"ann"}

    run(work)


def test_presence_of_people_without_seats_is_dropped(tmp_path: Path) -> None:
    """The presence of people who play over HTTP, without a WebSocket, is dropped as well."""

    async def work() -> None:
        async with running(tmp_path) as server:
            server.store.shared = True
            room = await server.rooms.open(table_config(3), [SeatTaken(0, "ann", "Ann")])
            for number in range(50):
                await room.take_seat(f"guest{number}", "Guest")
                server.rooms.note_seen(room, f"guest{number}")
                await room.leave_table(f"guest{number}")
                await room.take_seat(f"other{number}", "Other")
                room.update_remote_presence({f"other{number}"})
                room.update_remote_presence(set())
                await room.leave_table(f"other{number}")
            server.rooms.note_seen(room, "ann")
            assert [len(getattr(room.subscribers, name)) for name in ("_last_seen", "_announced")] == [1, 1]
            await until(lambda: not server.rooms._services.tasks)

    run(work)


@pytest.mark.parametrize("room_state", ["closed", "open"])
def test_extended_deadline_is_broadcast_by_one_task(tmp_path: Path, room_state: str) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=600), SEATED)
            ann = Listener(room, "ann")
            tasks = server.rooms._services.tasks
            async with room.lock:
                for at in range(5):
                    server.rooms._note_resumption(now() + HOUR + at)
                await asyncio.sleep(0)
                assert len(tasks) == 1
                assert not room.idle
                if room_state == "closed":
                    room.close()
                    await until(lambda: not tasks)
            await until(lambda: not tasks)
            assert room._views_task is None
            assert len(ann.received) == (room_state == "open")
            if room_state == "open":
                assert ann.received[0]["now"]["deadline"] == room.subscribers.deadline
                server.rooms._note_resumption(now() + 2 * HOUR)  # a later outage starts another task
                await until(lambda: len(ann.received) == 2)

    run(work)


def test_failure_to_broadcast_a_deadline_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=600), SEATED)
            Listener(room, "ann")

            def fail() -> None:
                raise RuntimeError("it broke")

            monkeypatch.setattr(room.subscribers, "broadcast_views", fail)
            server.rooms._note_resumption(now() + HOUR)
            await until(lambda: room._views_task is None)

    run(work)
    assert "it broke" in caplog.text
