"""`axio admin tables` beside a running server: output, changes, and notification of clients."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from axiogames.server.domain.bots import DEFAULT_LEVEL
from axiogames.server.domain.entries import BotSeated, GameStarted, SeatTaken
from axiogames.server.domain.refusals import Refused
from axiogames.server.operations.audit import Actor, AuditLog, operator
from axiogames.server.operations.tables import InvalidOperation, TableAdmin, UnknownTable
from axiogames.server.settings import DATABASE_FILE, Settings
from axiogames.server.storage import schema
from axiogames.server.storage.database import Database
from tests.cli.test_cli import CommandResult, assert_refused, run
from tests.server.abandoned import ANN, BOB, BOT, NOW, put_table, statuses
from tests.server.driving import Guest, RunningServer
from tests.server.rooms import Listener, entries, running
from tests.server.rooms import run as run_async

HOST = Actor("host", "spam")


def admin(server: RunningServer, *arguments: str) -> CommandResult:
    """Run `axio admin` on the database of a running server."""
    location = ("--database", server.database) if server.database else ("--data", str(server.data))
    return run("admin", *arguments, *location)


def admin_json(server: RunningServer, *arguments: str) -> Any:
    """Return the JSON output of a command."""
    result = admin(server, *arguments, "--json")
    assert (result.code, result.err) == (0, ""), result
    return json.loads(result.out)


# ------------------------------------------------------------------ beside a running server


def test_find_and_show_table_without_secrets(server: RunningServer, ann: Guest) -> None:
    table = ann.open("rota", ["me", "open"], public=True)
    (listed,) = admin_json(server, "tables", "list", "--person", ann.id, "--status", "open")
    assert (listed["id"], listed["status"], listed["owner"]) == (table.id, "open", ann.id)
    assert [(seat["name"], seat["person"]) for seat in listed["seats"]] == [("Ann", ann.id), ("", None)]
    shown = admin_json(server, "tables", "show", table.id)
    assert shown["owner"] == {"id": ann.id, "name": "Ann"}
    assert (shown["number"], shown["entries"], shown["quarantined"]) == (1, 1, None)
    for text in (json.dumps(shown), json.dumps(listed), admin(server, "tables", "show", table.id).out):
        assert table.invite not in text
        assert "seed" not in text
    assert admin_json(server, "tables", "list", "--person", ann.id, "--status", "over") == []
    assert admin_json(server, "tables", "list", "--person", ann.id, "--older", "1") == []
    assert table.id in admin(server, "tables", "list", "--person", ann.id).out
    assert admin(server, "tables", "list", "--person", "nobody").out == "No table matches.\n"


def test_close_notifies_all_clients(server: RunningServer, ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live:
        live.recv()
        result = admin(server, "tables", "close", table.id, "--reason", "a test")
        assert result.out == f"{table.id} is closed\n"
        assert live.until("view")["table"]["status"] == "closed"
    assert bob.view(table.id)["table"]["status"] == "closed"
    assert_refused(admin(server, "tables", "close", table.id), table.id, "already closed")


def test_deleted_table_is_gone_for_all_clients(server: RunningServer, ann: Guest) -> None:
    table = ann.open("rota", ["me", "random"])
    other = ann.open("rota", ["me", "random"])
    with ann.live(table.id) as live:
        live.recv()
        assert_refused(admin(server, "tables", "delete", table.id), "Permanently delete 1 table", "--yes")
        assert admin(server, "tables", "delete", table.id, "--dry-run").out == "1 table would be deleted\n"
        assert ann.view(table.id)["table"]["status"] == "playing"
        result = admin(server, "tables", "delete", table.id, "--yes", "--reason", "a test")
        assert result.out == "1 table deleted\n"
        assert live.close_code() == 4404
    assert ann.refused("GET", f"/api/tables/{table.id}").code == "no_such_table"
    assert [row["id"] for row in ann.get("/api/tables?which=mine")] == [other.id]
    (line,) = admin_json(server, "log", "--subject", table.id)
    assert (line["action"], line["detail"]["reason"]) == ("table-delete", "a test")
    assert line["actor"] == operator().name


def test_kicked_player_is_replaced_permanently(server: RunningServer, ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live:
        live.recv()
        result = admin(server, "tables", "kick", table.id, "--seat", "1", "--yes")
        assert result.out == f"Bob is removed from seat 1 of table {table.id}\n"
        view = live.until("view")
    assert (view["seats"][1]["kind"], view["seats"][1]["level"]) == ("bot", DEFAULT_LEVEL)
    assert bob.refused("POST", f"/api/tables/{table.id}/seats/1/return").code == "not_allowed"
    assert bob.view(table.id)["yours"] == []
    assert admin(server, "tables", "kick", table.id, "--seat", "0", "--yes").code == 0
    shown = admin_json(server, "tables", "show", table.id)
    assert shown["status"] == "closed"  # no person was left


def test_owner_removes_player_before_start(ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open", "open"], public=True)
    bob.join(table)
    seats = f"/api/tables/{table.id}/seats"
    assert bob.refused("POST", f"{seats}/0/remove").code == "not_allowed"
    assert ann.refused("POST", f"{seats}/0/remove").code == "not_allowed"
    assert ann.refused("POST", f"{seats}/2/remove").code == "not_allowed"
    view = ann.post(f"{seats}/1/remove")
    assert [seat["kind"] for seat in view["seats"]] == ["person", "open", "open"]
    refused = bob.refused("POST", f"/api/tables/{table.id}/join", {"invite": table.invite})
    assert (refused.status, refused.code) == (403, "not_allowed")
    carl = Guest(ann.url, "Carl")
    carl.join(table)
    ann.post(f"{seats}/2/bot", {"level": "random"})
    assert ann.refused("POST", f"{seats}/1/remove").code == "not_allowed"  # the game has started
    assert [seat["name"] for seat in carl.view(table.id)["seats"]] == ["Ann", "Carl", "random"]


def test_invalid_commands_are_refused_in_one_line(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    table = ann.open("rota", ["me", "open"])
    for command in (["show"], ["close"], ["release"], ["delete", "--yes"], ["kick", "--seat", "0", "--yes"]):
        for wrong in ("nowhere", "-123456789-abcde", "a\0b", "tab\nle"):
            assert_refused(
                admin(sqlite_server, "tables", command[0], wrong, *command[1:]), "no table has the id"
            )
        assert_refused(admin(sqlite_server, "tables", command[0], "\udcff", *command[1:]), "UTF-8")
    for option in (["tables", "list", "--person"], ["log", "--subject"], ["log", "--action"]):
        assert_refused(admin(sqlite_server, *option, "\udcff"), "UTF-8")
    assert_refused(admin(sqlite_server, "tables", "release", table.id), "not quarantined")
    assert_refused(admin(sqlite_server, "tables", "kick", table.id, "--seat", "1", "--yes"), "has no player")
    assert_refused(admin(sqlite_server, "tables", "kick", table.id, "--seat", "2", "--yes"), "seats 0 to 1")
    assert_refused(admin(sqlite_server, "tables", "delete", "--yes"), "select them by")
    assert_refused(
        admin(sqlite_server, "tables", "delete", table.id, "--status", "over", "--yes"), "select them by"
    )
    assert_refused(
        admin(sqlite_server, "tables", "close", "--reason", "-123456789-abcde", "nowhere"), "'nowhere'"
    )
    assert_refused(admin(sqlite_server, "tables", "close", table.id, "--reason", "\udcff"), "UTF-8")
    assert ann.view(table.id)["table"]["status"] == "open"


def test_missing_or_outdated_database_is_refused(tmp_path: Path) -> None:
    assert_refused(run("admin", "tables", "list", "--data", str(tmp_path)), "no database at")
    assert list(tmp_path.iterdir()) == []  # nothing was created
    unreachable = "postgresql://nobody@127.0.0.1:1/none"
    assert_refused(run("admin", "log", "--database", unreachable), "cannot use the database")

    async def make(version: str) -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path / DATABASE_FILE}")
        await database.upgrade()
        async with database.writing() as connection:
            await connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{version}'")
        await database.close()

    asyncio.run(make("9999"))
    assert_refused(run("admin", "log", "--data", str(tmp_path)), "later version", "9999")
    (tmp_path / DATABASE_FILE).unlink()
    asyncio.run(make("0001"))
    assert_refused(run("admin", "log", "--data", str(tmp_path)), "older schema", "0001")
    (tmp_path / DATABASE_FILE).write_text("not a database, but some text that is long enough to be one" * 99)
    assert_refused(run("admin", "log", "--data", str(tmp_path)), "cannot use the database")


# ------------------------------------------------------------------ on the database


def test_delete_tables_by_filter(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await put_table(server, "old", [ANN, BOB], 40, status="over")
            await put_table(server, "new", [ANN, BOB], 10, status="over")
            await put_table(server, "broken", [ANN, BOB], 40, quarantined="BadText")
            await put_table(server, "open", [BOB], 40)

    run_async(work)
    location = ("--database", url)
    for options, deleted in (
        (["--status", "over", "--older", "20"], {"old"}),
        (["--quarantined"], {"broken"}),
        (["--person", "bob", "--status", "open"], {"open"}),
    ):
        result = run("admin", "tables", "delete", *options, *location, "--yes")
        assert (result.code, result.out) == (0, f"{len(deleted)} table deleted\n"), result
        assert not deleted & set(asyncio.run(statuses_at(url)))
    assert asyncio.run(statuses_at(url)) == {"new": "over"}
    actions = [line["action"] for line in json.loads(run("admin", "log", "--json", *location).out)]
    assert actions == ["table-delete"] * 3
    again = run("admin", "tables", "delete", "--quarantined", *location, "--yes")
    assert again.out == "No table matches.\n"


async def statuses_at(url: str) -> dict[str, str]:
    database = Database(Settings(database=url).url)
    try:
        return await statuses(database)
    finally:
        await database.close()


def test_release_from_quarantine(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            host = TableAdmin(server.database, HOST)
            await put_table(server, "table", [ANN, BOT], 3, quarantined="BadText", due=None)
            await host.release("table")
            row = await host.row("table")
            room = await server.rooms.get("table")
            assert row["quarantined"] is None
            assert (row["due"] is None) == (room.game.bot_to_move is None)
            async with server.database.writing() as connection:
                await connection.execute(update(schema.tables).values(quarantined="BadText"))
                await connection.execute(update(schema.entries).values(body='{"a": "telepathy"}'))
            with pytest.raises(InvalidOperation, match="cannot be read"):
                await host.release("table")
            with pytest.raises(InvalidOperation, match="cannot be read"):
                await host.close("table")
            assert await host.delete(["table"]) == ["table"]
            with pytest.raises(UnknownTable):
                await host.row("table")

    run_async(work)


def test_change_is_repeated_after_a_concurrent_move(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await server.audit_follower.start()
            await put_table(server, "table", [ANN], 0)
            room = await server.rooms.get("table")
            listener = Listener(room, "ann")
            host = TableAdmin(server.database, HOST)
            load = host._load

            async def load_after_change(table: str) -> Any:
                game = await load(table)
                if room.game.number == 1:
                    await room.take_seat("bob", "Bob")
                return game

            host._load = load_after_change  # type: ignore[method-assign, assignment]
            assert await host.kick("table", 0) == "Ann"
            await server.audit_follower.poll()
            room.close()
            log = await entries(server, room)
            assert [type(entry) for entry in log[:4]] == [SeatTaken, SeatTaken, GameStarted, BotSeated]
            assert room.game.seats[0].bot == DEFAULT_LEVEL
            seats = [message["seats"] for message in listener.received if message["type"] == "view"]
            assert seats[-1][0]["kind"] == "bot"

    run_async(work)


def test_removed_player_cannot_rejoin(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.audit_follower.start()
            await put_table(server, "table", [ANN], 0)
            room = await server.rooms.get("table")
            await TableAdmin(server.database, HOST).kick("table", 0)
            await server.audit_follower.poll()
            with pytest.raises(Refused, match="removed"):
                await room.take_seat("ann", "Ann")
            server.rooms.drop("table")  # also after the room was dropped
            with pytest.raises(Refused, match="removed"):
                await (await server.rooms.get("table")).take_seat("ann", "Ann")

    run_async(work)


def test_change_and_audit_record_share_a_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await put_table(server, "table", [ANN], 0)
            host = TableAdmin(server.database, HOST)

            def fail(*_: object, **__: object) -> None:
                raise RuntimeError("disk full")

            with monkeypatch.context() as broken:
                broken.setattr("axiogames.server.operations.tables.write_audit", fail)
                for change in (host.close("table"), host.kick("table", 0), host.delete(["table"])):
                    with pytest.raises(RuntimeError, match="disk full"):
                        await change
            assert await statuses(server.database) == {"table": "open"}
            assert await AuditLog(server.database).newest() == 0
            await host.close("table")
            (record,) = await AuditLog(server.database).latest(9)
            assert (record.actor, record.action, record.subject) == ("host", "table-close", "table")
            assert record.detail == {"reason": "spam"}
            assert record.at >= NOW

    run_async(work)


def test_audit_actor_includes_sudo_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    monkeypatch.setenv("SUDO_USER", "mary")
    assert operator(" too\n many \x00").name == "mary as root"

    def unknown_user() -> str:
        raise KeyError("uid not found")

    monkeypatch.setenv("SUDO_USER", "m\udcffry")
    assert operator().name == "m?ry as root"
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.setattr("getpass.getuser", unknown_user)
    assert operator().name.startswith(("uid ", "unknown"))
    assert len(operator("x" * 9999).reason) == 500


def test_audit_log_is_followed_without_gaps(url: str, tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            for number in range(3):
                await put_table(server, f"table{number}", [ANN], 0)
            host, log = TableAdmin(server.database, HOST), AuditLog(server.database)
            await asyncio.gather(*(host.close(f"table{number}") for number in range(3)))
            read = [record.id for record in await log.after(0, 2)]
            read += [record.id for record in await log.after(read[-1], 2)]
            async with server.database.reading() as connection:
                query = select(schema.audit.c.id).order_by(schema.audit.c.id)
                assert read == [row[0] for row in await connection.execute(query)]
            assert len(read) == 3

    run_async(work)
