"""Personal data: export, and deletion without harm to the games of others."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from axiogames.model.record import Record, replay
from axiogames.server.domain.game_state import GameState
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.rooms import Rooms
from axiogames.server.identity import personal_data
from axiogames.server.identity.names import DELETED_NAME
from axiogames.server.identity.people import People
from axiogames.server.identity.personal_data import PersonalData
from axiogames.server.identity.tokens import SIGNED_OUT
from axiogames.server.operations.audit import Actor
from axiogames.server.operations.tables import TableAdmin
from axiogames.server.storage.database import Database
from axiogames.server.storage.journal import Journal
from axiogames.server.storage.schema import audit, entries, metadata
from axiogames.server.storage.tables import TableStore
from axiogames.server.work_pools import SHORT_SWITCH_INTERVAL
from tests.server.driving import Browser, RunningServer, random_chooser
from tests.server.driving import Guest as HttpGuest
from tests.server.in_process import App, Guest, running_app
from tests.server.test_sessions import close_code

ME, OPEN = {"kind": "me"}, {"kind": "open"}
PASSWORD = "correct horse 7"


async def play_to_end(app: App, table: str, *tokens: str) -> GameState:
    """Play a game to its end, always by the first legal move."""
    room = await app.server.rooms.get(table)
    while room.game.status == "playing":
        turn = room.game.turn
        assert turn is not None
        body = {"id": f"m{room.game.number}", "n": room.game.number, "pick": 0}
        await app.call("POST", f"/api/tables/{table}/moves", tokens[turn % len(tokens)], body)
    return room.game


@asynccontextmanager
async def other_process(app: App) -> AsyncIterator[PersonalData]:
    """Yield the components of another process, like `axio admin` beside a server on SQLite."""
    database = Database(app.server.database.url)
    people, store = People(database, ["another process's key " * 2]), TableStore(database)
    journal = Journal(database)
    rooms = Rooms(store, journal, app.server.bots)
    other = PersonalData(database, store, people, rooms)
    try:
        yield other
    finally:
        other.close()
        people.close()
        rooms.close()
        await journal.close()
        await database.close()


async def database_content(app: App) -> str:
    """Return all rows of the database."""
    rows = []
    async with app.server.database.reading() as connection:
        for table in metadata.tables.values():
            rows += [str(tuple(row)) for row in await connection.execute(select(table))]
    return "\n".join(rows)


def test_export_contains_all_data_of_one_person_only(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Export"), await app.guest("Bob Other")
            phrase = (await app.call("POST", "/api/me/phrase", ann.token))["phrase"]
            account = {"username": "ann.export", "password": PASSWORD}
            await app.call("POST", "/api/me/account", ann.token, account)
            opened = await app.open(ann, "rota", [ME, OPEN])
            await app.call(
                "POST", f"/api/tables/{opened['id']}/join", bob.token, {"invite": opened["invite"]}
            )
            game = await play_to_end(app, opened["id"], ann.token, bob.token)
            running = await app.open(bob, "rota", [ME, OPEN], public=True)
            await app.call("POST", f"/api/tables/{running['id']}/join", ann.token, {"name": "Annie"})
            unrelated = await app.open(bob, "rota", [ME])
            await app.server.people.end_session(app.server.people.tokens.read(ann.token))  # type: ignore[arg-type]
            token = app.server.people.token(await app.server.people.find(ann.id))
            row = {
                "at": 5,
                "actor": "root",
                "action": "person-show",
                "subject": ann.id,
                "detail": '{"reason": "Bob"}',
            }
            async with app.server.database.writing() as connection:
                await connection.execute(insert(audit), [row])
            response = await app.request("GET", "/api/me/export", token)
            assert b"attachment" in dict(response.headers)[b"content-disposition"]
            exported: dict[str, Any] = response.json
            assert (exported["id"], exported["name"], exported["username"]) == (
                ann.id,
                "Ann Export",
                "ann.export",
            )
            assert (exported["password"], exported["phrase"], exported["banned"]) == (True, True, None)
            assert len(exported["sessions_ended"]) == 1
            assert exported["host_actions"] == [{"action": "person-show", "at": 5}]
            over, unfinished = exported["tables"]
            assert (over["id"], over["opened"], over["seats"]) == (
                game.config.id,
                True,
                [{"seat": 0, "name": "Ann Export"}],
            )
            assert replay(Record.parse(json.dumps(over["record"]))).over
            assert (unfinished["id"], unfinished["opened"], unfinished["seats"]) == (
                running["id"],
                False,
                [{"seat": 1, "name": "Annie"}],
            )
            assert unfinished["record"] is None
            text = response.body.decode()
            playing = (await app.server.rooms.get(running["id"])).game.config
            rows = await database_content(app)
            hashes = [
                part
                for part in rows.replace("'", " ").replace(",", " ").split()
                if "$argon2" in part or len(part) == 64
            ]
            assert len(hashes) > 2
            public_seed = game.config.seed  # the game is over
            for secret in (
                phrase,
                PASSWORD,
                playing.seed,
                playing.invite,
                unrelated["id"],
                bob.id,
                "argon2",
                "root",
                *hashes,
            ):
                assert secret not in text or secret == public_seed
            del exported["tables"]
            assert "Bob" not in json.dumps(exported)

    asyncio.run(run())


def test_deletion_removes_names_and_keeps_games(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Gone"), await app.guest("Bob")
            phrase = (await app.call("POST", "/api/me/phrase", ann.token))["phrase"]
            finished = await app.open(ann, "rota", [ME, OPEN], public=True)
            await app.call("POST", f"/api/tables/{finished['id']}/join", bob.token, {})
            before = (await play_to_end(app, finished["id"], ann.token, bob.token)).table
            left = await app.open(bob, "rota", [ME, OPEN], public=True)
            body = {"name": "Ann Gone too"}
            await app.call("POST", f"/api/tables/{left['id']}/join", ann.token, body)
            shared = await app.open(
                ann, "rota", [{**ME, "name": "Ann Gone I"}, {**ME, "name": "Ann Gone II"}]
            )
            waiting = await app.open(bob, "axio", [ME, OPEN, OPEN], public=True)
            await app.call("POST", f"/api/tables/{waiting['id']}/join", ann.token, {})
            # Only the entries of this table mention the person.
            await app.call("POST", f"/api/tables/{waiting['id']}/leave", ann.token)
            empty = await app.open(ann, "axio", [OPEN, OPEN], public=True)
            daily = await app.call("POST", "/api/daily/rota", ann.token)
            await play_to_end(app, daily["id"], ann.token)
            picture = f"/api/tables/{finished['id']}/picture.svg"
            assert "Ann Gone" in (await app.request("GET", picture)).body.decode()
            hers, his = await app.socket(left["id"], ann.token), await app.socket(left["id"], bob.token)
            row = {
                "at": 5,
                "actor": "root",
                "action": "person-rename",
                "subject": ann.id,
                "detail": '{"before":"Ann Gone"}',
            }
            async with app.server.database.writing() as connection:
                await connection.execute(insert(audit), [row])
            assert (await app.request("DELETE", "/api/me", ann.token, {})).status == 400
            assert "Ann Gone" in await database_content(app)

            await app.call("DELETE", "/api/me", ann.token, {"confirm": True})

            assert await close_code(hers) == SIGNED_OUT
            assert "Ann Gone" not in await database_content(app)
            message = await his.until(
                lambda message: any(seat["away"] == DELETED_NAME for seat in message.get("seats", ()))
            )
            assert message["seats"][1]["kind"] == "bot"
            for table, status in (
                (finished, "over"),
                (left, "playing"),
                (shared, "closed"),
                (empty, "closed"),
                (waiting, "open"),
            ):
                view = await app.call("GET", f"/api/tables/{table['id']}", bob.token)
                assert view["table"]["status"] == status, table
                assert "Ann Gone" not in json.dumps(view)
            for path in ("record", "replay", "picture.svg"):
                assert (
                    b"Ann Gone"
                    not in (await app.request("GET", f"/api/tables/{finished['id']}/{path}", bob.token)).body
                )
            for path in ("/api/daily", "/api/tables?which=live", "/api/tables?which=mine"):
                assert b"Ann Gone" not in (await app.request("GET", path, bob.token)).body
            app.server.rooms._rooms.clear()  # reload from the database
            reloaded = (await app.server.rooms.get(finished["id"])).game
            assert reloaded.table is not None
            assert before is not None
            assert reloaded.table.events == before.events
            assert [seat.name for seat in reloaded.seats] == [DELETED_NAME, "Bob"]

            requests: list[tuple[str, str, object]] = [
                ("GET", "/api/me", None),
                ("POST", "/api/me/phrase", None),
                ("POST", f"/api/tables/{left['id']}/seats/1/return", None),
                ("DELETE", "/api/me", {"confirm": True}),
            ]
            for method, path, content in requests:
                assert (await app.request(method, path, ann.token, content)).status == 401
            assert (await app.request("POST", "/api/enter", body={"phrase": phrase})).status == 403
            assert (await app.server.people.find(ann.id)).erased
            new_token = app.server.people.tokens.make(ann.id, 1)  # issued during the deletion
            assert (await app.request("GET", "/api/me", new_token)).status == 401

    asyncio.run(run())


def test_deletion_of_an_unstored_guest_invalidates_its_token(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            person = app.server.people.new_guest()
            token = app.server.people.token(person)
            await app.call("DELETE", "/api/me", token, {"confirm": True})
            assert (await app.request("GET", "/api/me", token)).status == 401

    asyncio.run(run())


def test_deletion_by_another_process_is_applied(tmp_path: Path) -> None:
    """The other process sends no notification, like `axio admin` beside a server on SQLite."""

    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Gone"), await app.guest("Bob")
            table = (await app.open(bob, "rota", [ME, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{table}/join", ann.token, {})
            hers = await app.socket(table, ann.token)
            async with other_process(app) as other:
                await other.erase(await other._people.find(ann.id))
            await app.server.personal_data.reconcile()  # runs every few seconds
            assert await close_code(hers) == SIGNED_OUT
            view = await app.call("GET", f"/api/tables/{table}", bob.token)
            assert "Ann Gone" not in json.dumps(view)

    asyncio.run(run())


def test_deletion_requires_the_password(server: RunningServer) -> None:
    browser = Browser(server.url)
    me = browser.get("/api/me")["id"]
    account = {"username": f"del.{me[:8]}", "password": PASSWORD}
    browser.post("/api/me/account", account)
    for body, code in (
        ({"confirm": True}, "password_needed"),
        ({}, "password_needed"),
        ({"password": "wrong horse", "confirm": True}, "wrong_secret"),
    ):
        refused = browser.refused("DELETE", "/api/me", body)
        assert (refused.status, refused.code) == (403, code)
    assert browser.get("/api/me")["id"] == me
    response = browser.request("DELETE", "/api/me", {"password": PASSWORD})
    assert response.json == {"deleted": True}
    assert browser.cookie in ("who=", 'who=""')
    assert browser.refused("POST", "/api/enter", account).code == "wrong_secret"
    Browser(server.url).post("/api/me/account", account)  # the username is available again


def test_game_continues_after_deletion_of_a_player(ann: HttpGuest, bob: HttpGuest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with bob.live(table.id) as his:
        his.recv()
        assert ann.request("DELETE", "/api/me", {"confirm": True}).status == 200
        his.play_to_end(random_chooser())
    assert DELETED_NAME in json.dumps(bob.get(f"/api/tables/{table.id}/record")["players"])


def test_exports_and_deletions_are_rate_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            app.server.limits.active = True
            statuses = [(await app.request("GET", "/api/me/export", ann.token)).status for _ in range(8)]
            assert statuses[0] == 200
            assert statuses[-1] == 429

    asyncio.run(run())


def test_damaged_table_does_not_block_export_and_deletion(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann Gone")
            over, running = [(await app.open(ann, "rota", [ME]))["id"] for _ in range(2)]
            await play_to_end(app, over, ann.token)
            async with app.server.database.writing() as connection:
                await connection.execute(
                    update(entries).where(entries.c.number == 3).values(body='{"a":"sit"')
                )
                await connection.execute(
                    update(entries)
                    .where(entries.c.table_id == running, entries.c.number == 2)
                    .values(body="{}")
                )
            app.server.rooms._rooms.clear()
            exported = await app.call("GET", "/api/me/export", ann.token)
            assert [table["record"] for table in exported["tables"]] == [None, None]
            await app.call("DELETE", "/api/me", ann.token, {"confirm": True})
            assert "Ann Gone" not in await database_content(app)

    asyncio.run(run())


async def rematch(app: App, host: Guest, other: Guest) -> tuple[str, str]:
    """Play a game, open its rematch as the host, and return the ids of both tables."""
    opened = await app.open(host, "rota", [ME, OPEN])
    await app.call("POST", f"/api/tables/{opened['id']}/join", other.token, {"invite": opened["invite"]})
    await play_to_end(app, opened["id"], host.token, other.token)
    successor = await app.call("POST", f"/api/tables/{opened['id']}/rematch", host.token)
    return opened["id"], successor["id"]


def test_rename_reaches_reserved_seats(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Gone"), await app.guest("Bob")
            over, invited = await rematch(app, bob, ann)
            server = app.server
            await server.personal_data.rename(await server.people.find(ann.id), "Anna Gone")
            server.rooms._rooms.clear()
            room = await server.rooms.get(invited)  # rebuilt from its entries
            assert {seat.name for seat in room.game.seats} == {"Anna Gone", "Bob"}
            await app.call("POST", f"/api/tables/{over}/rematch", ann.token)
            assert room.game.status == "playing"
            server.rooms._rooms.clear()
            reloaded = (await server.rooms.get(invited)).game
            assert {seat.name for seat in reloaded.seats} == {"Anna Gone", "Bob"}
            assert "Ann Gone" not in await database_content(app)
            _, invited = await rematch(app, bob, ann)
            await app.call("DELETE", "/api/me", ann.token, {"confirm": True})
            assert "Gone" not in await database_content(app)
            assert "Gone" not in json.dumps(await app.call("GET", f"/api/tables/{invited}", bob.token))

    asyncio.run(run())


def test_deletion_removes_name_from_unreadable_entries(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann Gone")
            table = (await app.open(ann, "rota", [ME, OPEN]))["id"]
            bodies = [
                {"a": "sit", "seat": "first", "person": ann.id, "name": "Ann Gone"},
                {"a": "teleport", "seat": 0, "person": ann.id, "name": "Ann Gone", "to": [1]},
                f'{{"a":"sit","person":"{ann.id}","x":{"[" * 5000}{"]" * 5000}}}',
            ]
            async with app.server.database.writing() as connection:
                for number, body in enumerate(bodies, 2):
                    text = body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
                    entry = {"table_id": table, "number": number, "at": 1, "body": text}
                    await connection.execute(insert(entries), [entry])
            await app.call("DELETE", "/api/me", ann.token, {"confirm": True})
            content = await database_content(app)
            assert "Ann Gone" not in content
            assert '"to":[1]' in content  # everything else is unchanged

    asyncio.run(run())


def test_late_actions_of_erased_person_store_no_name(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Gone"), await app.guest("Bob")
            table = (await app.open(bob, "axio", [ME, OPEN, OPEN], public=True))["id"]
            async with other_process(app) as other:
                await app.call("GET", "/api/me", ann.token)
                await other.erase(await other._people.find(ann.id))
                await app.call("POST", f"/api/tables/{table}/join", ann.token, {})
                assert "Ann Gone" in await database_content(app)
                await app.server.personal_data.reload(ann.id)
            assert "Ann Gone" not in await database_content(app)
            room = await app.server.rooms.get(table)
            assert [seat.name for seat in room.game.seats][:2] == ["Bob", DELETED_NAME]

    asyncio.run(run())


def test_leaving_is_repeated_after_a_concurrent_move(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            table = (await app.open(bob, "rota", [ME, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{table}/join", ann.token, {})
            room = await app.server.rooms.get(table)
            async with other_process(app) as other:
                other_room = await other._rooms.get(table)
                await room.move(SeatCommand(0), 0)  # unknown to the other process
                assert other_room.game.number < room.game.number
                await other.erase(await other._people.find(ann.id))
            await app.server.rooms.refresh(table)
            assert [seat.bot is not None for seat in room.game.seats] == [False, True]

    asyncio.run(run())


def test_rename_by_another_process_is_applied(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann Old"), await app.guest("Bob")
            opened = await app.open(bob, "rota", [ME, OPEN], public=True)
            await app.call("POST", f"/api/tables/{opened['id']}/join", ann.token, {"name": "Annie Old"})
            shared = (await app.open(ann, "rota", [{**ME, "name": "One"}, {**ME, "name": "Two"}]))["id"]
            rooms = app.server.rooms
            async with other_process(app) as other:
                await app.server.personal_data.reload(ann.id)  # notification without a change of the name
                assert [seat.name for seat in (await rooms.get(shared)).game.seats] == ["One", "Two"]
                await other.rename(await other._people.find(ann.id), "Anna New")
                # Entries written before the notification do not restore the old name.
                leave = f"/api/tables/{opened['id']}/leave"
                view = await app.call("POST", leave, ann.token)
                assert "Annie Old" in json.dumps(view)
                seats = await app.server.store.seats([opened["id"]])
                assert [row["name"] for row in seats[opened["id"]]] == ["Bob", "Anna New"]
                await app.server.personal_data.reload(ann.id)
            room = await rooms.get(opened["id"])
            assert [seat.name for seat in room.game.seats] == ["Bob", "Anna New"]
            assert " Old" not in await database_content(app)

    asyncio.run(run())


# ---------------------------------------------------------------- large exports


async def export_chunks(app: App, person: str) -> AsyncIterator[bytes]:
    return await app.server.personal_data.export(await app.server.people.find(person))


def test_export_is_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export of many games keeps one game in memory at a time and does not delay players."""
    monkeypatch.setattr(personal_data, "QUERY_BATCH", 2)
    switch_intervals: list[float] = []
    make_record = personal_data._record

    def counted(*arguments: Any) -> Any:
        record = make_record(*arguments)
        switch_intervals.append(sys.getswitchinterval())
        return record

    monkeypatch.setattr(personal_data, "_record", counted)

    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            games = [(await app.open(ann, "rota", [ME]))["id"] for _ in range(5)]
            for table in games:
                await play_to_end(app, table, ann.token)
            chunks = await export_chunks(app, ann.id)
            received = [await anext(chunks)]
            assert switch_intervals == []
            for number in range(1, 6):
                received.append(await anext(chunks))
                assert len(switch_intervals) == number
            received += [chunk async for chunk in chunks]
            assert sorted(table["id"] for table in json.loads(b"".join(received))["tables"]) == sorted(games)
            assert set(switch_intervals) == {SHORT_SWITCH_INTERVAL}
            response = await app.request("GET", "/api/me/export", ann.token)
            assert response.body == b"".join(received)

    asyncio.run(run())


def test_running_export_waits_for_full_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new export is refused then, but an export whose response has begun cannot be refused any more."""
    monkeypatch.setattr(personal_data, "EXPORT_RETRY_SECONDS", 0.01)

    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            await play_to_end(app, (await app.open(ann, "rota", [ME]))["id"], ann.token)
            chunks = await export_chunks(app, ann.id)
            release = threading.Event()
            pool = app.server.personal_data._export_pool
            jobs = [
                asyncio.create_task(pool.run(release.wait, requester=str(number)))
                for number in range(1 + (personal_data.EXPORT_QUEUE_LIMITS.waiting or 0))
            ]
            await asyncio.sleep(0)
            refused = await app.request("GET", "/api/me/export", ann.token)
            assert (refused.status, refused.json["code"]) == (503, "busy")
            await anext(chunks)
            pending = asyncio.ensure_future(anext(chunks))
            await asyncio.sleep(0.05)
            assert not pending.done()
            release.set()
            assert b'"record": {' in await pending
            await asyncio.gather(*jobs)
            assert [chunk async for chunk in chunks] == [b"]\n}\n"]

    asyncio.run(run())


def test_export_contains_former_tables(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob Other")
            left = (await app.open(bob, "axio", [ME, OPEN, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{left}/join", ann.token, {"name": "Annie"})
            await app.call("POST", f"/api/tables/{left}/leave", ann.token)
            moved = (await app.open(bob, "axio", [ME, OPEN, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{moved}/join", ann.token, {"name": "Annie", "seat": 1})
            await app.call("POST", f"/api/tables/{moved}/leave", ann.token)
            await app.call("POST", f"/api/tables/{moved}/join", ann.token, {"seat": 2})
            replaced = (await app.open(bob, "rota", [ME, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{replaced}/join", ann.token, {"name": "Annie"})
            await app.call("POST", f"/api/tables/{replaced}/leave", ann.token)
            room = await app.server.rooms.get(replaced)
            assert room.game.status == "playing"  # a bot has taken over
            kicked = (await app.open(bob, "rota", [ME, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{kicked}/join", ann.token, {})
            await TableAdmin(app.server.database, Actor("host")).kick(kicked, 1)
            await app.server.rooms.refresh(kicked)
            while (await app.server.rooms.get(kicked)).game.status == "playing":
                room = await app.server.rooms.get(kicked)
                if room.game.turn == 0:
                    await room.move(SeatCommand(0), 0)
                await asyncio.sleep(0.01)
            unrelated = (await app.open(bob, "axio", [ME, OPEN, OPEN], public=True))["id"]
            export = await app.call("GET", "/api/me/export", ann.token)
            exported = {table["id"]: table for table in export["tables"]}
            assert set(exported) == {left, moved, replaced, kicked}
            assert unrelated not in exported
            annie = [{"seat": 1, "name": "Annie"}]
            assert (exported[left]["seats"], exported[left]["left"], exported[left]["opened"]) == (
                [],
                annie,
                False,
            )
            assert exported[left]["record"] is None
            assert (exported[moved]["seats"], exported[moved]["left"]) == (
                [{"seat": 2, "name": "Ann"}],
                annie,
            )
            assert (exported[replaced]["seats"], exported[replaced]["left"]) == (annie, [])
            assert (exported[kicked]["seats"], exported[kicked]["left"]) == ([], [{"seat": 1, "name": "Ann"}])
            assert exported[kicked]["record"] is not None  # the person has played

    asyncio.run(run())
