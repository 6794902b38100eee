"""Unreadable tables are quarantined, reported, and affect no other table."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import OperationalError

from axiogames.server.domain import log_replay
from axiogames.server.domain import rooms as rooms_module
from axiogames.server.domain.entries import BotSeated, SeatTaken, TableEntry, decode_entry
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.refusals import Refused, Unavailable, Unreadable
from axiogames.server.domain.room import Room
from axiogames.server.identity.names import DELETED_NAME
from axiogames.server.lifespan import Server
from axiogames.server.operations.audit import Actor, write_audit
from axiogames.server.storage.schema import entries, seats, tables
from tests.server.faults import Faults
from tests.server.in_process import App, Guest, running_app
from tests.server.rooms import Listener, run, running, table_config, until

SEATED: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
WITH_BOT: list[TableEntry] = [BotSeated(0, "random"), SeatTaken(1, "bob", "Bob")]


async def change_entry(server: Server, number: int, change: Callable[[dict[str, Any]], object] | str) -> None:
    """Replace the stored body of an entry of table `table`, or change its fields."""
    where = (entries.c.table_id == "table", entries.c.number == number)
    async with server.database.writing() as connection:
        if not isinstance(change, str):
            entry = json.loads((await connection.execute(select(entries.c.body).where(*where))).scalar_one())
            change(entry)
            change = json.dumps(entry)
        await connection.execute(update(entries).where(*where).values(body=change))


async def change_row(server: Server, **values: Any) -> None:
    """Change columns of the row of table `table`."""
    async with server.database.writing() as connection:
        await connection.execute(update(tables).where(tables.c.id == "table").values(**values))


async def delete_entry(server: Server, number: int) -> None:
    """Delete an entry of table `table`."""
    async with server.database.writing() as connection:
        await connection.execute(
            delete(entries).where(entries.c.table_id == "table", entries.c.number == number)
        )


DAMAGE: dict[str, Callable[[Server], Any]] = {
    "an entry of a newer version": lambda server: change_entry(server, 1, '{"a":"teleport","seat":0}'),
    "a field of another type": lambda server: change_entry(
        server, 1, lambda entry: entry.update(seat="first")
    ),
    "invalid JSON": lambda server: change_entry(server, 2, "{"),
    "nested too deeply": lambda server: change_entry(
        server, 2, '{"a":"sit","x":' + "[" * 5000 + "]" * 5000 + "}"
    ),
    "a seat out of range": lambda server: change_entry(server, 2, lambda entry: entry.update(seat=7)),
    "a negative seat": lambda server: change_entry(server, 2, lambda entry: entry.update(seat=-1)),
    "an illegal move": lambda server: change_entry(server, 4, lambda entry: entry.update(move="RGBO 9,9")),
    "an invalid move": lambda server: change_entry(server, 4, lambda entry: entry.update(move="?")),
    "unknown tiles": lambda server: change_entry(server, 4, lambda entry: entry.update(drawn=["XY"])),
    "missing draws": lambda server: change_entry(server, 5, lambda entry: entry.update(drawn=[])),
    "a missing entry": lambda server: delete_entry(server, 2),
    "a missing last entry": lambda server: delete_entry(server, 5),
    "an unknown game": lambda server: change_row(server, game="chess"),
    "an unknown option": lambda server: change_row(server, options='{"blindfold": true}'),
    "options with invalid JSON": lambda server: change_row(server, options="{"),
    "options of another type": lambda server: change_row(server, options="[1]"),
    "too many players": lambda server: change_row(server, players=9),
}


async def play_two(room: Room) -> None:
    """Play two moves, which are the entries 4 and 5."""
    for _ in range(2):
        assert room.game.turn is not None
        await room.move(SeatCommand(room.game.turn), 0)
    assert room.game.number == 5


def _seat_one_moves(room: Room) -> bool:
    return room.game.turn == 1


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    ours = (record for record in caplog.records if record.name.startswith("axio"))
    return [record.message for record in ours if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("damage", DAMAGE)
def test_unreadable_table_affects_no_other_table(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def before() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(move_time=0), SEATED)
            room.close()
            await play_two(room)
            for number in range(3):
                (await server.rooms.open(table_config(id=f"good{number}"), WITH_BOT)).close()
            await DAMAGE[damage](server)
            await change_row(server, due=0)  # the table is woken first

    async def after() -> None:
        async with running(tmp_path) as server:
            assert (await server.store.list_due(2**62, 9))[0] == "table"
            for _ in range(3):
                await server.rooms.sweep()
            for number in range(3):
                room = await server.rooms.get(f"good{number}")
                await until(partial(_seat_one_moves, room))
            for _ in range(3):
                with pytest.raises(Unreadable):
                    await server.rooms.get("table")
            assert await server.store.count_quarantined() == 1
            assert "table" not in await server.store.list_due(2**62, 9)
            row = await server.store.find("table")
            assert row is not None
            assert row["quarantined"]
            assert row["due"] is not None  # needed after the release

    run(before)
    caplog.clear()
    run(after)
    assert errors(caplog) == ["table table cannot be read and is in quarantine"]


def test_released_table_continues_if_readable(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), WITH_BOT)
            await until(lambda: room.game.turn == 1 and room.idle)
            number = room.game.number
            server.rooms._rooms.clear()
            async with server.database.writing() as connection:
                query = select(entries.c.body).where(entries.c.table_id == "table", entries.c.number == 2)
                original = (await connection.execute(query)).scalar_one()
            await change_entry(server, 2, "{")
            for _ in range(2):
                with pytest.raises(Unreadable):
                    await server.rooms.get("table")
                assert await server.store.release("table")  # the next request quarantines it again
            with pytest.raises(Unreadable):
                await server.rooms.get("table")
            await change_entry(server, 2, original)
            with pytest.raises(Unreadable):
                await server.rooms.get("table")
            assert await server.store.release("table")
            assert not await server.store.release("table")
            assert await server.store.count_quarantined() == 0
            again = await server.rooms.get("table")
            assert again.game.number == number
            await again.move(SeatCommand(1), 0)

    run(work)


@pytest.mark.parametrize("error", [OSError, MemoryError, ImportError, RuntimeError, TimeoutError])
def test_temporary_errors_quarantine_no_table(
    tmp_path: Path, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> TableEntry:
        raise error("not now")

    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.open(table_config(), SEATED)
            server.rooms._recent.clear()
            monkeypatch.setattr(log_replay, "decode_entry", fail)
            with pytest.raises(error):
                await server.rooms.get("table")
            assert await server.store.count_quarantined() == 0
            monkeypatch.setattr(log_replay, "decode_entry", decode_entry)
            assert (await server.rooms.get("table")).game.number == 3

    run(work)


def test_lost_database_quarantines_no_table(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            seats = [{"kind": "me"}, {"kind": "bot", "level": "random"}]
            table = (await app.open(ann, "rota", seats))["id"]
            rooms = app.server.rooms
            rooms._recent.clear()
            faults = Faults(app)
            faults.down = True
            with pytest.raises(OperationalError):
                await rooms.sweep()
            faults.down = False
            assert (await app.request("GET", f"/api/tables/{table}", ann.token)).status == 200
            await rooms.sweep()
            assert await app.server.store.count_quarantined() == 0

    run(work)


def test_tables_that_cannot_be_woken_do_not_hide_later_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Failing tables must not fill the page of due tables that each sweep wakes."""
    monkeypatch.setattr(rooms_module, "PAGE_SIZE", 2)

    async def before() -> None:
        async with running(tmp_path) as server:
            for name in ("bad0", "bad1", "bad2", "bad3", "good"):
                (await server.rooms.open(table_config(id=name), WITH_BOT)).close()

    async def after() -> None:
        async with running(tmp_path) as server:
            original = server.rooms._load

            async def load(table: str) -> Any:
                if table.startswith("bad"):
                    raise RuntimeError("unknown cause")
                return await original(table)

            server.rooms._load = load  # type: ignore[method-assign, assignment]
            for _ in range(3):  # each wakes two tables
                await server.rooms.sweep()
            assert "good" in server.rooms._rooms
            room = await server.rooms.get("good")
            await until(lambda: room.game.turn == 1)
            for _ in range(3):
                await server.rooms.sweep()

    run(before)
    caplog.clear()
    run(after)
    assert sorted(errors(caplog)) == [f"failed to wake table bad{number}" for number in range(4)]


# ---------------------------------------------------------------- tables in use


async def open_two_tables(here: Server, there: Server) -> tuple[Room, Listener, Room]:
    """Open two tables in `there`, and return their rooms in `here` and a client of the first."""
    await there.rooms.open(table_config(), SEATED)
    await there.rooms.open(table_config(id="good"), SEATED)
    room, good = await here.rooms.get("table"), await here.rooms.get("good")
    return room, Listener(room, "bob"), good


@pytest.mark.parametrize("trigger", ["notification", "sweep"])
def test_invalid_entry_affects_no_other_table(
    tmp_path: Path, trigger: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room, bob, good = await open_two_tables(here, there)
            Listener(good, "bob")
            writers = [await there.rooms.get(name) for name in ("table", "good")]
            number = await writers[0].move(SeatCommand(0), 0)
            assert number == await writers[1].move(SeatCommand(0), 0)
            async with here.database.writing() as connection:
                query = select(entries.c.body).where(entries.c.number == number)
                original = (await connection.execute(query.where(entries.c.table_id == "table"))).scalar_one()
            await change_entry(here, number, '{"a":"teleport"}')

            async def catch_up() -> None:
                if trigger == "notification":
                    await here.rooms.on_notification(f"nonsense table:x table:{number} good:{number}")
                else:
                    await here.rooms.reconcile()

            await catch_up()
            assert good.game.number == number
            assert room.game.number == number - 1
            assert await here.store.count_quarantined() == 1
            assert errors(caplog) == ["table table cannot be read and is in quarantine"]
            await catch_up()
            for attempt in (
                room.move(SeatCommand(1), 0),
                room.take_seat("eve", "Eve"),
                room.leave_table("ann"),
            ):
                with pytest.raises(Unreadable):
                    await attempt
            room.wake()
            room._automation._on_timer(room, room.game.number)
            await until(lambda: room._automation._task is None)
            assert room._automation._timer is None  # the server does not retry
            assert errors(caplog) == ["table table cannot be read and is in quarantine"]

            await change_entry(here, number, original)
            await here.store.release("table")
            await here.rooms.reconcile()
            assert room.game.number == number
            await until(lambda: any(message.get("n") == number for message in bob.received))
            await room.move(SeatCommand(1), 0)

    run(work)


def test_unreadable_history_is_refused(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            await play_two(room)
            await change_entry(server, 4, "{")
            for number in (0, 4):
                with pytest.raises(Unreadable):
                    await server.rooms.state_at(room, number)
            assert await server.store.count_quarantined() == 1

    run(work)


def test_history_contains_only_announced_entries(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(table_config(), SEATED)
            number = await (await there.rooms.get("table")).move(SeatCommand(0), 0)
            await change_entry(here, number, '{"a":"teleport"}')
            game, since = await here.rooms.state_at(room, number - 1)
            assert (game.number, since) == (number - 1, [])

    run(work)


# ---------------------------------------------------------------- errors that people receive


async def open_tables_and_damage_one(app: App) -> tuple[str, str, str]:
    """Return the ids of a table with a damaged log and of another one, and the token of their owner."""
    ann = await app.guest("Ann")
    seats = [{"kind": "me"}, {"kind": "open"}]
    bad, good = [(await app.open(ann, "rota", seats, public=True))["id"] for _ in range(2)]
    async with app.server.database.writing() as connection:
        await connection.execute(update(entries).where(entries.c.table_id == bad).values(body="{"))
    app.server.rooms._recent.clear()
    return bad, good, ann.token


ROUTES = [
    ("GET", "", None),
    ("GET", "/record", None),
    ("GET", "/replay", None),
    ("GET", "/review", None),
    ("POST", "/review", None),
    ("GET", "/picture.svg", None),
    ("GET", "/picture.png", None),
    ("POST", "/join", {}),
    ("POST", "/leave", None),
    ("POST", "/rematch", None),
    ("POST", "/moves", {"id": "m", "n": 1, "pick": 0}),
    ("POST", "/seats/0/bot", {"level": "greedy"}),
    ("POST", "/seats/0/return", None),
]


def test_requests_for_an_unreadable_table_are_refused(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            bad, good, token = await open_tables_and_damage_one(app)
            for method, path, content in ROUTES:
                answer = await app.request(method, f"/api/tables/{bad}{path}", token, content)
                assert (answer.status, answer.json["code"]) == (409, "unreadable"), path
            socket = await app.socket(bad, token)
            assert await socket.wait_closed() == 4409
            assert (await app.request("GET", f"/api/tables/{good}", token)).status == 200
            assert [table["id"] for table in await app.call("GET", "/api/tables?which=open", token)] == [good]
            mine = {table["id"] for table in await app.call("GET", "/api/tables?which=mine", token)}
            assert mine == {bad, good}
            assert await app.server.store.count_unfinished() == 1

    run(work)


@pytest.mark.parametrize("values", [{"game": "chess"}, {"options": "{"}, {"options": '{"x": 3}'}])
def test_lists_omit_tables_they_cannot_describe(tmp_path: Path, values: dict[str, Any]) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            bad, good, token = await open_tables_and_damage_one(app)
            async with app.server.database.writing() as connection:
                await connection.execute(update(tables).where(tables.c.id == bad).values(**values))
            for which in ("open", "mine"):
                listed = await app.call("GET", f"/api/tables?which={which}", token)
                assert [table["id"] for table in listed] == [good]

    run(work)


def test_socket_with_an_unreadable_history_is_closed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = (await app.open(ann, "rota", [{"kind": "me"}, {"kind": "me"}]))["id"]
            socket = await app.socket(table, ann.token)
            await socket.drain()
            room = await app.server.rooms.get(table)
            await room.move(SeatCommand(0), 0)
            async with app.server.database.writing() as connection:
                await connection.execute(update(entries).where(entries.c.table_id == table).values(body="{"))
            again = await app.socket(table, ann.token, room.game.number - 1)
            assert await again.wait_closed() == 4409
            assert isinstance(Unreadable(), Refused)

    run(work)


# ---------------------------------------------------------------- people at unreadable tables


async def open_bad_and_good_table(app: App, ann: Guest, bob: Guest) -> tuple[Room, Room]:
    """Return the rooms of two games of the same people. The log of the first has become unreadable."""
    rooms = []
    for _ in range(2):
        opened = await app.open(ann, "rota", [{"kind": "me"}, {"kind": "open"}])
        invite = {"invite": opened["invite"]}
        await app.call("POST", f"/api/tables/{opened['id']}/join", bob.token, invite)
        rooms.append(await app.server.rooms.get(opened["id"]))
    bad, good = rooms
    newer = {"table_id": bad.id, "number": bad.game.number + 1, "at": 1, "body": '{"a":"teleport"}'}
    async with app.server.database.writing() as connection:
        await connection.execute(insert(entries), [newer])
        new_number = update(tables).where(tables.c.id == bad.id).values(number=newer["number"])
        await connection.execute(new_number)
    await app.server.rooms.refresh(bad.id)
    assert bad.unreadable
    return bad, good


def names(room: Room) -> list[str]:
    return [seat.name for seat in room.game.seats]


def test_unreadable_table_does_not_block_renaming_or_deletion(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            bad, good = await open_bad_and_good_table(app, ann, bob)
            server = app.server
            await server.personal_data.rename(await server.people.find(ann.id), "Anna")
            assert names(good) == ["Anna", "Bob"]
            assert (await app.request("DELETE", "/api/me", ann.token, {"confirm": True})).status == 200
            assert names(good) == [DELETED_NAME, "Bob"]
            for _ in range(2):
                await server.personal_data.reconcile()  # an essential task of the server
            async with app.server.database.writing() as connection:
                newest = entries.c.body == '{"a":"teleport"}'
                await connection.execute(delete(entries).where(newest))
                old_number = update(tables).where(tables.c.id == bad.id).values(number=tables.c.number - 1)
                await connection.execute(old_number)
            await server.store.release(bad.id)
            await server.rooms.reconcile(everything=True)
            assert not bad.unreadable
            assert names(bad) == [DELETED_NAME, "Bob"]  # as in the database

    run(work)


def test_audit_log_is_followed_past_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            server = app.server
            _, good = await open_bad_and_good_table(app, ann, bob)
            original = server.rooms.refresh

            async def refresh(table: str) -> None:
                if table == "odd":
                    raise RuntimeError("unknown cause")
                await original(table)

            monkeypatch.setattr(server.rooms, "refresh", refresh)
            await server.audit_follower.start()
            caplog.clear()
            async with server.database.writing() as connection:
                host = Actor("host")
                await connection.run_sync(write_audit, host, "person-rename", ann.id)
                await connection.run_sync(write_audit, host, "table-close", "odd")
                await connection.run_sync(write_audit, host, "table-delete", good.id)
                for table in (entries, seats):
                    await connection.execute(delete(table).where(table.c.table_id == good.id))
                await connection.execute(delete(tables).where(tables.c.id == good.id))
            await server.audit_follower.poll()
            assert good.id not in server.rooms._rooms
            (error,) = errors(caplog)
            assert "table-close" in error
            assert "odd" in error

            async def unavailable(_: str) -> None:
                raise Unavailable

            async with server.database.writing() as connection:
                await connection.run_sync(write_audit, host, "table-close", "later")
            position = server.audit_follower._last_id
            monkeypatch.setattr(server.rooms, "refresh", unavailable)
            with pytest.raises(Unavailable):
                await server.audit_follower.poll()
            # The entry is followed once the database responds.
            assert server.audit_follower._last_id == position
            assert len(errors(caplog)) == 1

    run(work)


def test_failing_table_of_a_person_affects_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            bad = await server.rooms.open(table_config(id="bad"), SEATED)
            good = await server.rooms.open(table_config(id="good"), SEATED)
            followed, original = [], server.rooms.refresh

            async def fail(*_: object) -> None:
                raise RuntimeError("unknown cause")

            async def refresh(table: str) -> None:
                if table == "bad":
                    await fail()
                await original(table)
                followed.append(table)

            monkeypatch.setattr(bad, "rename", fail)
            monkeypatch.setattr(server.rooms, "refresh", refresh)
            await server.rooms.refresh_tables_of("ann")
            await server.rooms.rename("ann", "Anna")
            assert followed == ["good"]
            assert names(good) == ["Anna", "Bob"]
            assert len(errors(caplog)) == 2

    run(work)
