"""What is kept of a person: exported for them, and deleted without harm to the games of others."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from axio.record import Record, replay
from axio.server.identity.names import DELETED
from axio.server.identity.people import People
from axio.server.identity.personal_data import PersonalData
from axio.server.identity.sessions import SIGNED_OUT
from axio.server.play.game import Game
from axio.server.play.rooms import Rooms
from axio.server.storage.database import Database
from axio.server.storage.schema import audit, entries, metadata

from .driving import Browser, Guest, RunningServer, at_random
from .inside import Inside, inside
from .test_sessions import closed

ME, OPEN = {"kind": "me"}, {"kind": "open"}
PASSWORD = "correct horse 7"


async def play_out(made: Inside, table: str, *tokens: str) -> Game:
    """Play a game to its end, by the first move each time."""
    room = await made.server.rooms.get(table)
    while room.game.status == "playing":
        turn = room.game.turn
        assert turn is not None
        body = {"id": f"m{room.game.number}", "n": room.game.number, "pick": 0}
        await made.good("POST", f"/api/tables/{table}/moves", tokens[turn % len(tokens)], body)
    return room.game


async def everything_kept(made: Inside) -> str:
    """All rows of the database."""
    said = []
    async with made.server.database.reading() as connection:
        for table in metadata.tables.values():
            said += [str(tuple(row)) for row in await connection.execute(select(table))]
    return "\n".join(said)


def test_an_export_has_everything_of_a_person_and_nothing_of_others(tmp_path: Path) -> None:
    async def run() -> None:
        async with inside(tmp_path) as made:
            ann, bob = await made.guest("Ann Export"), await made.guest("Bob Other")
            phrase = (await made.good("POST", "/api/me/phrase", ann.token))["phrase"]
            account = {"username": "ann.export", "password": PASSWORD}
            await made.good("POST", "/api/me/account", ann.token, account)
            opened = await made.open(ann, "rota", [ME, OPEN])
            await made.good(
                "POST", f"/api/tables/{opened['id']}/join", bob.token, {"invite": opened["invite"]}
            )
            game = await play_out(made, opened["id"], ann.token, bob.token)
            running = await made.open(bob, "rota", [ME, OPEN], public=True)
            await made.good("POST", f"/api/tables/{running['id']}/join", ann.token, {"name": "Annie"})
            his_own = await made.open(bob, "rota", [ME])
            await made.server.people.end_session(made.server.people.tokens.read(ann.token))  # type: ignore[arg-type]
            token = made.server.people.token(await made.server.people.find(ann.id))
            row = {
                "at": 5,
                "actor": "root",
                "action": "person-show",
                "subject": ann.id,
                "detail": '{"reason": "Bob"}',
            }
            async with made.server.database.writing() as connection:
                await connection.execute(insert(audit), [row])
            answer = await made.ask("GET", "/api/me/export", token)
            assert b"attachment" in dict(answer.headers)[b"content-disposition"]
            said: dict[str, Any] = answer.json
            assert (said["id"], said["name"], said["username"]) == (ann.id, "Ann Export", "ann.export")
            assert (said["password"], said["phrase"], said["banned"]) == (True, True, None)
            assert len(said["sessions_ended"]) == 1
            assert said["host_actions"] == [{"action": "person-show", "at": 5}]
            over, going = said["tables"]
            assert (over["id"], over["opened"], over["seats"]) == (
                game.terms.id,
                True,
                [{"seat": 0, "name": "Ann Export"}],
            )
            assert replay(Record.parse(json.dumps(over["record"]))).over
            assert (going["id"], going["opened"], going["seats"]) == (
                running["id"],
                False,
                [{"seat": 1, "name": "Annie"}],
            )
            assert going["record"] is None
            text = answer.body.decode()
            playing = (await made.server.rooms.get(running["id"])).game.terms
            rows = await everything_kept(made)
            hashes = [
                part
                for part in rows.replace("'", " ").replace(",", " ").split()
                if "$argon2" in part or len(part) == 64
            ]
            assert len(hashes) > 2
            shown = game.terms.seed  # of a game that is over
            for secret in (
                phrase,
                PASSWORD,
                playing.seed,
                playing.invite,
                his_own["id"],
                bob.id,
                "argon2",
                "root",
                *hashes,
            ):
                assert secret not in text or secret == shown
            del said["tables"]
            assert "Bob" not in json.dumps(said)

    asyncio.run(run())


def test_a_deletion_leaves_nothing_of_a_name_and_all_games(tmp_path: Path) -> None:
    async def run() -> None:
        async with inside(tmp_path) as made:
            ann, bob = await made.guest("Ann Gone"), await made.guest("Bob")
            phrase = (await made.good("POST", "/api/me/phrase", ann.token))["phrase"]
            finished = await made.open(ann, "rota", [ME, OPEN], public=True)
            await made.good("POST", f"/api/tables/{finished['id']}/join", bob.token, {})
            before = (await play_out(made, finished["id"], ann.token, bob.token)).table
            left = await made.open(bob, "rota", [ME, OPEN], public=True)
            body = {"name": "Ann Gone too"}
            await made.good("POST", f"/api/tables/{left['id']}/join", ann.token, body)
            shared = await made.open(
                ann, "rota", [{**ME, "name": "Ann Gone I"}, {**ME, "name": "Ann Gone II"}]
            )
            waiting = await made.open(bob, "axio", [ME, OPEN, OPEN], public=True)
            await made.good("POST", f"/api/tables/{waiting['id']}/join", ann.token, {})
            await made.good("POST", f"/api/tables/{waiting['id']}/leave", ann.token)  # only the log knows
            empty = await made.open(ann, "axio", [OPEN, OPEN], public=True)
            daily = await made.good("POST", "/api/daily/rota", ann.token)
            await play_out(made, daily["id"], ann.token)
            picture = f"/api/tables/{finished['id']}/picture.svg"
            assert "Ann Gone" in (await made.ask("GET", picture)).body.decode()
            hers, his = await made.socket(left["id"], ann.token), await made.socket(left["id"], bob.token)
            row = {
                "at": 5,
                "actor": "root",
                "action": "person-rename",
                "subject": ann.id,
                "detail": '{"before":"Ann Gone"}',
            }
            async with made.server.database.writing() as connection:
                await connection.execute(insert(audit), [row])
            assert (await made.ask("DELETE", "/api/me", ann.token, {})).status == 400
            assert "Ann Gone" in await everything_kept(made)

            await made.good("DELETE", "/api/me", ann.token, {"confirm": True})

            assert await closed(hers) == SIGNED_OUT
            assert "Ann Gone" not in await everything_kept(made)
            told = await his.until(
                lambda message: any(one["away"] == DELETED for one in message.get("seats", ()))
            )
            assert told["seats"][1]["kind"] == "bot"
            for table, status in (
                (finished, "over"),
                (left, "playing"),
                (shared, "closed"),
                (empty, "closed"),
                (waiting, "open"),
            ):
                view = await made.good("GET", f"/api/tables/{table['id']}", bob.token)
                assert view["table"]["status"] == status, table
                assert "Ann Gone" not in json.dumps(view)
            for path in ("record", "replay", "picture.svg"):
                assert (
                    b"Ann Gone"
                    not in (await made.ask("GET", f"/api/tables/{finished['id']}/{path}", bob.token)).body
                )
            for path in ("/api/daily", "/api/tables?which=live", "/api/tables?which=mine"):
                assert b"Ann Gone" not in (await made.ask("GET", path, bob.token)).body
            made.server.rooms._rooms.clear()  # from the database, too
            again_game = (await made.server.rooms.get(finished["id"])).game
            assert again_game.table is not None
            assert before is not None
            assert again_game.table.events == before.events
            assert [seat.name for seat in again_game.seats] == [DELETED, "Bob"]

            asked: list[tuple[str, str, object]] = [
                ("GET", "/api/me", None),
                ("POST", "/api/me/phrase", None),
                ("POST", f"/api/tables/{left['id']}/seats/1/return", None),
                ("DELETE", "/api/me", {"confirm": True}),
            ]
            for method, path, sent in asked:
                assert (await made.ask(method, path, ann.token, sent)).status == 401
            assert (await made.ask("POST", "/api/enter", body={"phrase": phrase})).status == 403
            assert (await made.server.people.find(ann.id)).erased
            fresh = made.server.people.tokens.make(ann.id, 1)  # as if it had been made in the same moment
            assert (await made.ask("GET", "/api/me", fresh)).status == 401

    asyncio.run(run())


def test_a_guest_who_has_done_nothing_can_be_deleted(tmp_path: Path) -> None:
    async def run() -> None:
        async with inside(tmp_path) as made:
            person = made.server.people.arrive()
            token = made.server.people.token(person)
            await made.good("DELETE", "/api/me", token, {"confirm": True})
            assert (await made.ask("GET", "/api/me", token)).status == 401

    asyncio.run(run())


def test_a_deletion_by_another_process_is_followed(tmp_path: Path) -> None:
    """As by `axio admin` beside a server on SQLite."""

    async def run() -> None:
        async with inside(tmp_path) as made:
            ann, bob = await made.guest("Ann Gone"), await made.guest("Bob")
            table = (await made.open(bob, "rota", [ME, OPEN], public=True))["id"]
            await made.good("POST", f"/api/tables/{table}/join", ann.token, {})
            hers = await made.socket(table, ann.token)
            database = Database(made.server.database.url)
            server, people = made.server, People(database, ["another process's key " * 2])
            elsewhere = PersonalData(
                database,
                type(server.store)(database),
                people,
                Rooms(server.store, server.journal, server.bots),
            )
            await elsewhere.erase(await people.find(ann.id))
            await server.personal_data.compare()  # what runs every few seconds
            assert await closed(hers) == SIGNED_OUT
            view = await made.good("GET", f"/api/tables/{table}", bob.token)
            assert "Ann Gone" not in json.dumps(view)
            elsewhere.close()
            people.close()
            await database.close()

    asyncio.run(run())


def test_with_a_password_only_it_deletes(server: RunningServer) -> None:
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
    answer = browser.ask("DELETE", "/api/me", {"password": PASSWORD})
    assert answer.json == {"deleted": True}
    assert browser.cookie in ("who=", 'who=""')
    assert browser.refused("POST", "/api/enter", account).code == "wrong_secret"
    Browser(server.url).post("/api/me/account", account)  # the username is free again


def test_a_game_goes_on_when_somebody_deletes_their_data(ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with bob.live(table.id) as his:
        his.recv()
        assert ann.ask("DELETE", "/api/me", {"confirm": True}).status == 200
        his.play_to_the_end(at_random())
    assert DELETED in json.dumps(bob.get(f"/api/tables/{table.id}/record")["players"])


def test_exports_and_deletions_have_a_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with inside(tmp_path) as made:
            ann = await made.guest("Ann")
            made.server.limits.active = True
            statuses = [(await made.ask("GET", "/api/me/export", ann.token)).status for _ in range(8)]
            assert statuses[0] == 200
            assert statuses[-1] == 429

    asyncio.run(run())


def test_a_damaged_table_keeps_nobody_from_their_data(tmp_path: Path) -> None:
    async def run() -> None:
        async with inside(tmp_path) as made:
            ann = await made.guest("Ann Gone")
            over, running = [(await made.open(ann, "rota", [ME]))["id"] for _ in range(2)]
            await play_out(made, over, ann.token)
            async with made.server.database.writing() as connection:
                await connection.execute(
                    update(entries).where(entries.c.number == 3).values(body='{"a":"sit"')
                )
                await connection.execute(
                    update(entries)
                    .where(entries.c.table_id == running, entries.c.number == 2)
                    .values(body="{}")
                )
            made.server.rooms._rooms.clear()
            said = await made.good("GET", "/api/me/export", ann.token)
            assert [one["record"] for one in said["tables"]] == [None, None]
            await made.good("DELETE", "/api/me", ann.token, {"confirm": True})
            assert "Ann Gone" not in await everything_kept(made)

    asyncio.run(run())
