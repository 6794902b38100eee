"""Clocks stop while no process of the server is running."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from axiogames.server.domain.clock import GRACE_SECONDS, HEARTBEAT_SECONDS, HEARTBEAT_TIMEOUT, Uptime
from axiogames.server.domain.entries import MovePlayed, SeatTaken, TableEntry
from axiogames.server.domain.game_state import deadline, due, now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.refusals import Refused, Unavailable
from axiogames.server.lifespan import Server
from axiogames.server.storage import uptime as store_module
from axiogames.server.storage.schema import entries, server_facts, tables
from axiogames.server.storage.uptime import ALIVE, OUTAGES, UptimeState
from tests.server.in_process import running_app
from tests.server.rooms import Listener, run, running, table_config, until

SEATED: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
MINUTE, HOUR = 60_000, 3_600_000  # milliseconds
TOLERANCE = 20_000  # tolerance for slow machines, in milliseconds
CLOCKS = [600, 3 * 86_400]  # seconds per move: a live game, and a correspondence game


async def age(server: Server, by: int, *, with_facts: bool = True) -> None:
    """Shift the stored times of all tables into the past, and with `with_facts` those of the server."""
    async with server.database.writing() as connection:
        await connection.execute(update(entries).values(at=entries.c.at - by))
        await connection.execute(update(tables).values(due=tables.c.due - by, updated=tables.c.updated - by))
        for name in (ALIVE, OUTAGES) if with_facts else ():
            is_fact = server_facts.c.name == name
            value = (await connection.execute(select(server_facts.c.value).where(is_fact))).scalar()
            if value is not None:
                older = re.sub(r"\d+", lambda number: str(int(number[0]) - by), value)
                await connection.execute(update(server_facts).where(is_fact).values(value=older))


async def suspend(server: Server, by: int) -> None:
    """Simulate that the process and its database were suspended."""
    await age(server, by)
    uptime = server.rooms._services.uptime
    assert uptime.last_heartbeat is not None
    uptime.last_heartbeat -= by
    uptime.earliest_deadline -= by
    uptime.resumed_at -= by
    for room in list(server.rooms._rooms.values()):
        room.game.updated -= by


async def fact(server: Server, name: str) -> str | None:
    async with server.database.reading() as connection:
        value: str | None = (
            await connection.execute(select(server_facts.c.value).where(server_facts.c.name == name))
        ).scalar()
        return value


async def due_of(server: Server, table: str = "table") -> int:
    async with server.database.reading() as connection:
        return int((await connection.execute(select(tables.c.due).where(tables.c.id == table))).scalar_one())


# ---------------------------------------------------------------- a restart


@pytest.mark.parametrize("move_time", CLOCKS)
def test_time_between_two_starts_is_charged_to_no_clock(
    tmp_path: Path, url: str, database: str, move_time: int
) -> None:
    address = url if database == "postgresql" else ""

    async def before() -> None:
        async with running(tmp_path, address) as server:
            await server.rooms.resume()
            await server.rooms.open(table_config(move_time=move_time), SEATED)
            await server.rooms.heartbeat()
            await age(server, MINUTE, with_facts=False)  # Ann has used a minute
            await age(server, HOUR)

    async def after() -> None:
        async with running(tmp_path, address) as server:
            started = now()
            await server.rooms.resume()
            await server.rooms.sweep()
            room = await server.rooms.get("table")
            remaining = 1000 * move_time - MINUTE
            assert room.subscribers.deadline is not None
            assert abs(room.subscribers.deadline - started - remaining) < TOLERANCE
            assert await due_of(server) == room.subscribers.deadline
            # No sweep finds the table earlier.
            assert await server.store.list_due(started + remaining - TOLERANCE, 9) == []
            shown = room.view(Listener(room, "bob").client.viewer).now.deadline
            assert shown == room.subscribers.deadline
            number = room.game.number
            room._automation._on_timer(room, number)
            await until(lambda: room._automation._task is None)
            assert room.game.number == number
            # A move restarts the clock.
            await room.move(SeatCommand(0), 0)
            assert room.subscribers.deadline == deadline(room.game) == room.game.updated + 1000 * move_time

    run(before)
    run(after)
    run(check_deadline_after_move(tmp_path, address, move_time))


def check_deadline_after_move(folder: Path, address: str, move_time: int) -> Callable[[], Any]:
    """Return a coroutine function that restarts the server and checks the deadline of a restarted clock."""

    async def work() -> None:
        async with running(folder, address) as server:
            await server.rooms.resume()
            room = await server.rooms.get("table")
            assert room.subscribers.deadline == max(
                room.game.updated + 1000 * move_time, server.rooms._services.uptime.earliest_deadline
            )

    return work


def test_several_outages_add_up(tmp_path: Path) -> None:
    async def first_start() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            await server.rooms.open(table_config(move_time=600), SEATED)
            await server.rooms.heartbeat()
            await age(server, HOUR)

    async def second_start() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            before = await due_of(server)
            room = await server.rooms.get("table")
            assert room.subscribers.deadline == before
            assert abs(before - now() - 600_000) < TOLERANCE
            room.close()
            await age(server, HOUR)

    async def third_start() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            assert len(server.rooms._services.uptime.outages) == 2
            room = await server.rooms.get("table")
            assert room.subscribers.deadline == await due_of(server)
            assert abs(room.subscribers.deadline - now() - 600_000) < TOLERANCE

    run(first_start)
    run(second_start)
    run(third_start)


def test_expired_clock_gets_only_the_grace_period(tmp_path: Path) -> None:
    async def before() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            await server.rooms.open(table_config(move_time=600), SEATED)
            await server.rooms.heartbeat()
            await age(server, 11 * MINUTE, with_facts=False)
            await age(server, HOUR)

    async def after() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.get("table")
            assert room.subscribers.deadline == server.rooms._services.uptime.earliest_deadline
            assert await server.store.list_due(now(), 9) == ["table"]

    run(before)
    run(after)


def test_first_start_without_a_stored_heartbeat_has_no_outage(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.open(table_config(move_time=600), SEATED)
            await server.rooms.resume()
            assert server.rooms._services.uptime.outages == ()
            assert await fact(server, ALIVE) is not None

    run(work)


# ---------------------------------------------------------------- a suspension


@pytest.mark.parametrize("move_time", CLOCKS)
def test_suspended_process_charges_no_clock(tmp_path: Path, move_time: int) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=move_time), SEATED)
            bob = Listener(room, "bob")
            await server.rooms.heartbeat()
            number = room.game.number
            await suspend(server, 5 * 86_400_000)
            # After the suspension, the timer or the sweep may run before the heartbeat.
            room._automation._on_timer(room, number)
            assert room._automation._task is None
            await server.rooms.sweep()
            assert room._automation._task is None
            await server.rooms.heartbeat()
            assert room.game.number == number
            assert room.subscribers.deadline is not None
            assert abs(room.subscribers.deadline - now() - 1000 * move_time) < TOLERANCE
            assert await due_of(server) == room.subscribers.deadline
            await until(lambda: bool(bob.received))
            assert bob.received[-1]["now"]["deadline"] == room.subscribers.deadline
            assert room._automation._timer is not None or room._automation._reminder is not None

    run(work)


def test_held_draw_survives_a_suspension(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=600), SEATED)
            await room.move(SeatCommand(0), 0, hold=True)
            await server.rooms.heartbeat()
            number = room.game.number
            await suspend(server, HOUR)
            room._automation._on_timer(room, number)
            assert room._automation._task is None
            await server.rooms.heartbeat()
            room._automation._on_timer(room, number)
            await until(lambda: room._automation._task is None)
            assert room.game.number == number

    run(work)


def test_clocks_run_while_another_process_is_running(tmp_path: Path, postgres: Any) -> None:
    address = postgres.create()

    async def work() -> None:
        async with running(tmp_path, address) as here, running(tmp_path, address) as there:
            for server in (here, there):
                await server.rooms.resume()
            room = await here.rooms.open(table_config(move_time=600), SEATED)
            await there.rooms.heartbeat()
            here.rooms._services.uptime.last_heartbeat = now() - HOUR  # suspended, unlike the other process
            room._automation._on_timer(room, room.game.number)
            assert room._automation._task is None
            await here.rooms.heartbeat()
            assert here.rooms._services.uptime.outages == ()
            assert room.subscribers.deadline == deadline(room.game)
            # Both were suspended: the first to run records the outage, and the other adopts it.
            await suspend(here, HOUR)
            there.rooms._services.uptime.last_heartbeat = now() - HOUR
            await asyncio.gather(here.rooms.heartbeat(), there.rooms.heartbeat())
            assert len(here.rooms._services.uptime.outages) == 1
            await there.rooms.heartbeat()
            assert there.rooms._services.uptime.outages == here.rooms._services.uptime.outages
            elsewhere = await there.rooms.get("table")
            assert elsewhere.subscribers.deadline == room.subscribers.deadline

    run(work)


def test_clock_skew_between_processes_is_no_outage(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            await server.rooms.open(table_config(move_time=600), SEATED)
            for _ in range(3):
                await server.rooms.heartbeat()
                await age(server, MINUTE)  # as if another process had written them
            assert server.rooms._services.uptime.outages == ()

    run(work)


def test_clocks_stop_without_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=600), SEATED)
            await server.rooms.heartbeat()

            async def down(_: object) -> None:
                raise Unavailable

            with monkeypatch.context() as patched:
                patched.setattr(server.database, "transact", down)
                with pytest.raises(Unavailable):
                    await server.rooms.heartbeat()
            await suspend(server, HOUR)
            room._automation._on_timer(room, room.game.number)
            assert room._automation._task is None
            await server.rooms.heartbeat()
            assert room.subscribers.deadline is not None
            assert abs(room.subscribers.deadline - now() - 600_000) < TOLERANCE
            assert not server.rooms._services.uptime.database_lost

    run(work)


# ---------------------------------------------------------------- stored facts


def test_no_heartbeat_is_stored_while_no_clock_runs(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=None), SEATED)
            await age(server, HOUR)
            before = await fact(server, ALIVE)
            await server.rooms.heartbeat()
            assert await fact(server, ALIVE) == before
            # A clock that starts now has not run in that hour.
            await server.rooms.open(table_config(move_time=600, id="other"), SEATED)
            await server.rooms.heartbeat()
            assert server.rooms._services.uptime.outages == ()
            assert await fact(server, ALIVE) != before
            room.close()

    run(work)


def test_outages_are_stored_while_a_clock_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_OUTAGES", 3)

    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=86_400), SEATED)
            uptime = server.rooms._services.uptime
            for expected in (1, 2, 3, 3):
                await suspend(server, HOUR)
                await server.rooms.heartbeat()
                assert len(uptime.outages) == expected
            await room.move(SeatCommand(0), 0)
            await suspend(server, MINUTE)
            await server.rooms.heartbeat()
            assert len(uptime.outages) == 1  # the others were before the move

    run(work)


def test_invalid_outages_are_ignored(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            async with server.database.writing() as connection:
                await connection.execute(delete(server_facts))
                await connection.execute(
                    insert(server_facts),
                    [{"name": OUTAGES, "value": "1-2 x 3 9-"}, {"name": ALIVE, "value": "?"}],
                )
            await server.rooms.heartbeat()
            assert server.rooms._services.uptime.outages == ((1, 2),)

    run(work)


# ---------------------------------------------------------------- deadlines


@pytest.mark.parametrize(
    ("outages", "since", "length", "expected"),
    [
        ((), 100, 50, 150),
        (((10, 90),), 100, 50, 150),  # before
        (((110, 210),), 100, 50, 250),
        (((150, 250),), 100, 50, 150),  # after the end
        (((50, 120),), 100, 50, 170),  # only the part after the start counts
        (((110, 120), (155, 255)), 100, 50, 260),
        (((110, 120), (160, 260)), 100, 50, 160),
    ],
)
def test_deadline_is_extended_by_outages(
    outages: tuple[tuple[int, int], ...], since: int, length: int, expected: int
) -> None:
    uptime = Uptime()
    uptime.update(UptimeState(0, outages))
    assert uptime.end(since, length) == expected


def test_process_is_suspended_until_its_next_heartbeat() -> None:
    uptime = Uptime()
    assert not uptime.is_suspended(10**12)
    uptime.last_heartbeat = 10**12
    assert not uptime.is_suspended(10**12 + int(1000 * HEARTBEAT_SECONDS))
    assert uptime.is_suspended(10**12 + int(1000 * HEARTBEAT_TIMEOUT) + 1)


# ---------------------------------------------------------------- other effects of outages


def test_outage_makes_nobody_absent(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.open(table_config(move_time=None), SEATED)
            for times in (room.subscribers._last_seen, room.game.last_active):
                times.clear()
            room.subscribers._opened -= 3600
            await suspend(server, HOUR)
            await server.rooms.open(table_config(move_time=600, id="other"), SEATED)
            await server.rooms.resume()
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(1, "random", "ann")
            server.rooms._services.uptime.resumed_at -= HOUR
            await room.seat_bot(1, "random", "ann")

    run(work)


def test_heartbeat_is_an_essential_background_task(tmp_path: Path) -> None:
    from axiogames.server import lifespan as lifespan_module

    async def work() -> None:
        async with running_app(tmp_path) as app, lifespan_module.lifespan(app.server):
            tasks = {task.name: task for task in app.server.supervisor.tasks}
            assert tasks["uptime"].essential
            assert app.server.rooms._services.uptime.last_heartbeat is not None

    run(work)


def test_due_time_is_extended_like_the_deadline(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=600), SEATED)
            uptime = Uptime()
            uptime.update(UptimeState(0, ((room.game.updated + 5, room.game.updated + 5 + HOUR),)))
            assert due(room.game, uptime) == deadline(room.game, uptime) == room.game.updated + 600_000 + HOUR
            await room.move(SeatCommand(0), 0, hold=True)
            uptime.update(UptimeState(room.game.updated, ()))
            assert due(room.game, uptime) == room.game.updated + int(1000 * GRACE_SECONDS)
            assert isinstance(room.game.last_entry, MovePlayed)

    run(work)
