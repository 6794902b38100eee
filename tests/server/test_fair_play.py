"""Nobody loses a seat or time unfairly by a short absence or an outage of the server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from axiogames.server import lifespan as lifespan_module
from axiogames.server.domain import clock as clock_module
from axiogames.server.domain.bots import DEFAULT_LEVEL
from axiogames.server.domain.clock import GRACE_SECONDS
from axiogames.server.domain.entries import (
    BotSeated,
    BotSubstituted,
    MovePlayed,
    SeatTaken,
    TableEntry,
    TilesDrawn,
)
from axiogames.server.domain.game_state import deadline, now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.refusals import Refused, Unavailable
from axiogames.server.domain.room import Room
from axiogames.server.domain.subscribers import ABSENT_SECONDS
from axiogames.server.lifespan import Server
from axiogames.server.storage.schema import entries, seats, tables
from axiogames.server.transport.websocket import _send_state
from tests.server.in_process import running_app
from tests.server.rooms import Listener, run, running, table_config, until

SEATED: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
HOUR = 3_600_000  # milliseconds
LONG = 2 * ABSENT_SECONDS


def pass_time(room: Room) -> None:
    """Shift all recorded presence into the past, which makes everybody count as absent."""
    subscribers = room.subscribers
    subscribers._opened -= LONG
    for times in (subscribers._last_seen, subscribers._announced):
        for person in times:
            times[person] -= LONG
    room.game.last_active = {seat: at - int(1000 * LONG) for seat, at in room.game.last_active.items()}


async def never_choose(*_: object) -> Any:
    await asyncio.Event().wait()


# ---------------------------------------------------------------- bots for absent people


def test_no_bot_is_seated_for_a_player_with_a_clock(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=3 * 86_400), SEATED)
            pass_time(room)
            for seat in (0, 1):
                with pytest.raises(Refused, match="the clock moves"):
                    await room.seat_bot(seat, "random", "ann")
            assert all(seat.bot is None for seat in room.game.seats)

    run(work)


@pytest.mark.parametrize("level", ["random", "level8", "greedy", DEFAULT_LEVEL, None])
def test_absent_person_gets_a_bot_of_the_default_level(tmp_path: Path, level: str | None) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = [await app.guest(name) for name in ("Ann", "Bob")]
            opened = await app.open(ann, "rota", [{"kind": "me"}, {"kind": "open"}])
            path = f"/api/tables/{opened['id']}"
            await app.call("POST", f"{path}/join", bob.token, {"invite": opened["invite"]})
            room = await app.server.rooms.get(opened["id"])
            app.server.bots.choose = never_choose  # type: ignore[method-assign, assignment]
            pass_time(room)
            body = {} if level is None else {"level": level}
            view = await app.call("POST", f"{path}/seats/1/bot", ann.token, body)
            assert (view["seats"][1]["level"], view["seats"][1]["away"]) == (DEFAULT_LEVEL, "Bob")
            unknown = await app.request("POST", f"{path}/seats/1/bot", ann.token, {"level": "nobody"})
            assert unknown.status == 422

    run(work)


@pytest.mark.parametrize("action", ["look", "move", "refused move", "picture", "socket", "return"])
def test_recently_seen_person_is_not_absent(tmp_path: Path, action: str) -> None:
    """Requests over HTTP count as presence, as WebSockets do."""

    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = [await app.guest(name) for name in ("Ann", "Bob")]
            opened = await app.open(bob, "rota", [{"kind": "me"}, {"kind": "open"}])
            path = f"/api/tables/{opened['id']}"
            await app.call("POST", f"{path}/join", ann.token, {"invite": opened["invite"]})
            room = await app.server.rooms.get(opened["id"])
            app.server.bots.choose = never_choose  # type: ignore[method-assign, assignment]
            if action == "return":
                await room.leave_table(bob.id)
            pass_time(room)
            if action == "look":
                await app.call("GET", path, bob.token)
            elif action == "move":
                command = {"id": "m", "n": room.game.number, "pick": 0}
                await app.call("POST", f"{path}/moves", bob.token, command)
            elif action == "refused move":
                refused = await app.request(
                    "POST", f"{path}/moves", bob.token, {"id": "m", "n": 1, "pick": 0}
                )
                assert refused.status == 409
            elif action == "picture":
                assert (await app.request("GET", f"{path}/picture.svg", bob.token)).status == 200
            elif action == "socket":
                await (await app.socket(opened["id"], bob.token)).close()
                app.sockets.clear()
            else:
                await app.call("POST", f"{path}/seats/0/return", bob.token)
            response = await app.request("POST", f"{path}/seats/0/bot", ann.token, {"level": "random"})
            assert (response.status, response.json["code"]) == (403, "not_allowed")
            assert "two minutes" in response.json["detail"]
            pass_time(room)
            await app.call("POST", f"{path}/seats/0/bot", ann.token, {"level": "random"})
            assert isinstance(room.game.last_entry, BotSubstituted)

    run(work)


def test_move_before_a_restart_counts_as_presence_after_it(tmp_path: Path) -> None:
    async def before() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            await room.move(SeatCommand(0), 0)

    async def after() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.get("table")
            assert room.game.last_active.keys() == {0, 1}
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(1, "random", "ann")  # the server has just started
            room.subscribers._opened -= LONG
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(0, "random", "bob")  # Ann has just moved
            pass_time(room)
            await room.seat_bot(0, "random", "bob")

    run(before)
    run(after)


@pytest.mark.parametrize("action", ["move", "look"])
def test_person_seen_by_another_process_is_not_absent(tmp_path: Path, action: str) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            for server in (here, there):
                server.store.shared = True
            room = await here.rooms.open(
                table_config(), [SeatTaken(0, "bob", "Bob"), SeatTaken(1, "ann", "Ann")]
            )
            elsewhere = await there.rooms.get("table")
            pass_time(room)
            if action == "move":
                number = await elsewhere.move(SeatCommand(0), 0)
                await here.rooms.on_notification(f"table:{number}")
            else:
                there.rooms.note_seen(elsewhere, "bob")
                there.rooms.note_seen(elsewhere, "eve")  # has no seat
                await until(lambda: not there.rooms._services.tasks)
                assert await here.store.present_people(["table"], now()) == {"table": set()}
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(0, "random", "ann")
            pass_time(room)
            async with here.database.writing() as connection:
                await connection.execute(update(seats).values(here_until=now() - int(1000 * LONG)))
            await room.seat_bot(0, "random", "ann")

    run(work)


def test_http_request_does_not_shorten_the_presence_of_a_connection(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.open(table_config(), SEATED)
            connected_until = now() + 20_000
            await server.store.set_present([("table", "bob")], connected_until)
            await server.store.record_presence("table", "bob", now())
            await server.store.record_presence("table", "ann", 5)
            assert await server.store.last_present("table", "bob") == connected_until
            assert await server.store.last_present("table", "ann") == 5
            assert await server.store.last_present("table", "eve") is None

    run(work)


# ---------------------------------------------------------------- outages of the server


async def age(server: Server, by: int) -> None:
    """Shift the stored times of all tables into the past."""
    async with server.database.writing() as connection:
        await connection.execute(update(entries).values(at=entries.c.at - by))
        await connection.execute(update(tables).values(due=tables.c.due - by))


def leave_overdue_table(folder: Path, *, hold: bool = False, move_time: int | None = 60) -> None:
    """Create a table that has been overdue for an hour."""

    async def work() -> None:
        async with running(folder) as server:
            room = await server.rooms.open(table_config(move_time=move_time), SEATED)
            if hold:
                await room.move(SeatCommand(0), 0, hold=True)
            await age(server, HOUR)

    run(work)


@pytest.mark.parametrize("hold", [False, True])
def test_restart_gives_everybody_time_to_return(tmp_path: Path, hold: bool) -> None:
    leave_overdue_table(tmp_path, hold=hold)

    async def work() -> None:
        async with running(tmp_path) as server:
            started = now()
            await server.rooms.resume()
            await server.rooms.sweep()
            room = await server.rooms.get("table")
            number = room.game.number
            bob = Listener(room, "bob")
            shown = room.view(bob.client.viewer).now.deadline
            assert shown == room.subscribers.deadline
            assert shown is not None
            assert shown >= started + 1000 * GRACE_SECONDS
            assert room._automation._timer is not None
            assert room._automation._timer.when() - asyncio.get_running_loop().time() > GRACE_SECONDS / 2
            room._automation._on_timer(room, number)  # a timer from before
            await until(lambda: room._automation._task is None)
            await server.rooms.sweep()
            assert room.game.number == number

    run(work)


@pytest.mark.parametrize("hold", [False, True])
def test_clock_continues_after_the_grace_period(
    tmp_path: Path, hold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock_module, "GRACE_SECONDS", 0.05)
    leave_overdue_table(tmp_path, hold=hold, move_time=None if hold else 60)

    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.get("table")
            number = room.game.number
            await until(lambda: room.game.number > number)
            assert isinstance(room.game.last_entry, TilesDrawn if hold else MovePlayed)

    run(work)


def test_unloaded_table_gets_no_extra_time(tmp_path: Path) -> None:
    leave_overdue_table(tmp_path)

    async def work() -> None:
        async with running(tmp_path) as server:
            server.rooms._note_resumption(now() - 2 * HOUR)  # the server has been running for two hours
            room = await server.rooms.get("table")
            assert room.subscribers.deadline == deadline(room.game)
            await until(
                lambda: isinstance(room.game.last_entry, MovePlayed) and room.game.last_entry.by == "clock"
            )

    run(work)


def test_bots_do_not_wait_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "GRACE_SECONDS", 3600.0)  # longer than `until` waits

    async def before() -> None:
        async with running(tmp_path) as server:
            (
                await server.rooms.open(
                    table_config(move_time=60), [BotSeated(0, "random"), SeatTaken(1, "bob", "Bob")]
                )
            ).close()

    async def after() -> None:
        async with running(tmp_path) as server:
            await server.rooms.resume()
            room = await server.rooms.get("table")
            await until(lambda: room.game.turn == 1)

    run(before)
    run(after)


@pytest.mark.parametrize("trigger", ["notification", "heartbeat"])
def test_processes_agree_on_a_deadline_and_broadcast_it(tmp_path: Path, trigger: str) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(table_config(move_time=10), SEATED)
            bob, early = Listener(room, "bob"), room.subscribers.deadline
            await there.rooms.resume()
            resumed = (await there.rooms._uptime_store.read()).resumed
            if trigger == "notification":
                await here.rooms.on_notification(f"*:{resumed}")
            else:
                await here.rooms.heartbeat()
            elsewhere = await there.rooms.get("table")
            late = room.subscribers.deadline
            assert late == elsewhere.subscribers.deadline
            assert early is not None
            assert late is not None
            assert late > early
            await until(lambda: bool(bob.received))
            assert bob.received[-1]["now"]["deadline"] == late
            # A client that reconnects after entry `number` receives it as well.
            ann = Listener(room, "ann", connect=False)
            await _send_state(here, room, ann.client, str(room.game.number))
            await until(lambda: bool(ann.received))
            assert ann.received[0]["now"]["deadline"] == late
            # A table that is loaded again has the same deadline.
            here.rooms._rooms.clear()
            assert (await here.rooms.get("table")).subscribers.deadline == late

    run(work)


def test_no_clock_runs_out_without_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=3_000), SEATED)
            number, transact = room.game.number, server.database.transact

            async def down(_: object) -> None:
                raise Unavailable

            with monkeypatch.context() as patched:
                patched.setattr(server.database, "transact", down)
                with pytest.raises(Unavailable):
                    await server.rooms.heartbeat()
            room.game.updated -= 2 * HOUR  # the outage was long
            room._automation._on_timer(room, number)
            assert room._automation._task is None
            assert server.database.transact == transact
            recovered = now()
            await server.rooms.heartbeat()
            assert room.subscribers.deadline is not None
            assert room.subscribers.deadline >= recovered + 1000 * GRACE_SECONDS
            assert room.game.number == number

    run(work)


def test_server_stores_its_start_before_accepting_clients(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            started = now()
            async with lifespan_module.lifespan(app.server):
                assert app.server.rooms._services.uptime.earliest_deadline >= started + 1000 * GRACE_SECONDS
                assert (await app.server.rooms._uptime_store.read()).resumed >= started

    run(work)
