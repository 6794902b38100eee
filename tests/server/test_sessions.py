"""Sessions: signing out, password changes and bans end tokens and WebSockets at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from sqlalchemy import update

from axiogames.server.domain.room import Room
from axiogames.server.identity.people import CACHE_SECONDS, InvalidCredentials, People
from axiogames.server.identity.tokens import BANNED, SIGNED_OUT, Tokens
from axiogames.server.lifespan import _on_notification
from axiogames.server.settings import Settings, secret_keys
from axiogames.server.storage.database import Database
from axiogames.server.storage.journal import notifications
from axiogames.server.storage.schema import people as people_table
from tests.server.driving import Browser, Guest, RunningServer
from tests.server.in_process import TIMEOUT, App, Socket, running_app

ME, OPEN = {"kind": "me"}, {"kind": "open"}
PASSWORD = "correct horse 7"


async def close_code(socket: Socket) -> int:
    """Return the close code of a WebSocket."""
    async with asyncio.timeout(TIMEOUT):
        while socket.closed is None:
            await asyncio.sleep(0.005)
    return socket.closed


async def error_code(app: App, token: str) -> str:
    """Return the error code for a token, empty if it is accepted."""
    response = await app.request("POST", "/api/me/phrase", token)
    return str(response.json["code"]) if response.status >= 400 else ""


def test_sign_out_everywhere_closes_sockets_of_one_person(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            opened = await app.open(ann, "rota", [ME, OPEN], public=True)
            await app.call("POST", f"/api/tables/{opened['id']}/join", bob.token, {})
            laptop, phone = [await app.socket(opened["id"], ann.token) for _ in range(2)]
            his, spectator = await app.socket(opened["id"], bob.token), await app.socket(opened["id"])
            received = len(await laptop.drain())
            await app.call("POST", "/api/me/leave", ann.token, {"everywhere": True})
            assert [await close_code(laptop), await close_code(phone)] == [SIGNED_OUT, SIGNED_OUT]
            message = await his.until(lambda message: message["type"] == "seats")
            assert [seat["here"] for seat in message["seats"]] == [False, True]
            number = app.server.rooms._rooms[opened["id"]].game.number
            # Messages after the end of the session are ignored.
            laptop.send(do="move", id="late", n=number, pick=0)
            await his.request(do="preview", id="after", n=number, pick=0)
            assert app.server.rooms._rooms[opened["id"]].game.number == number
            assert len(laptop.texts) == received
            assert (his.closed, spectator.closed) == (None, None)
            assert await error_code(app, ann.token) == "unknown_person"

    asyncio.run(run())


def test_queued_message_of_ended_session_is_not_processed(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            opened = await app.open(ann, "rota", [ME])
            socket = await app.socket(opened["id"], ann.token)
            number = (await socket.until(lambda message: message["type"] == "view"))["n"]
            room: Room = await app.server.rooms.get(opened["id"])
            async with room.lock:
                socket.send(do="move", id="waits", n=number, pick=0)
                async with asyncio.timeout(TIMEOUT):
                    while not room.lock._waiters:
                        await asyncio.sleep(0.005)
                await app.call("POST", "/api/me/leave", ann.token, {"everywhere": True})
                assert await close_code(socket) == SIGNED_OUT
            async with room.transaction():  # queued after the message
                assert room.game.number == number
            assert len(await app.server.store.entries(room.id)) == number

    asyncio.run(run())


def test_session_ending_during_room_load_gets_no_socket(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            opened = await app.open(ann, "rota", [ME])
            get, loading, release = app.server.rooms.get, asyncio.Event(), asyncio.Event()

            async def delayed_get(table: str) -> Room:
                loading.set()
                await release.wait()
                return await get(table)

            app.server.rooms.get = delayed_get  # type: ignore[method-assign,assignment]
            socket = await app.socket(opened["id"], ann.token)
            await loading.wait()
            await app.call("POST", "/api/me/leave", ann.token, {"everywhere": True})
            release.set()
            assert await close_code(socket) == SIGNED_OUT
            assert socket.texts == []

    asyncio.run(run())


def test_sign_out_ends_one_session_only(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            person = await app.server.people.find(ann.id)
            other = app.server.people.token(person)
            table = (await app.open(ann, "rota", [ME]))["id"]
            first, second = await app.socket(table, ann.token), await app.socket(table, other)
            for _ in range(2):  # the second time without a session
                await app.call("POST", "/api/me/leave", ann.token, {"everywhere": False})
            assert await close_code(first) == SIGNED_OUT
            assert await error_code(app, ann.token) == "unknown_person"
            await second.drain()
            assert second.closed is None
            assert await error_code(app, other) == ""

    asyncio.run(run())


def test_changes_by_other_processes_are_found_without_notification(tmp_path: Path) -> None:
    """As with `axio admin` beside a server on SQLite, or after a lost notification."""

    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            table = (await app.open(ann, "rota", [ME, OPEN], public=True))["id"]
            await app.call("POST", f"/api/tables/{table}/join", bob.token, {})
            hers, his = await app.socket(table, ann.token), await app.socket(table, bob.token)
            database = Database(app.server.database.url)
            other_process = People(database, secret_keys(tmp_path))
            await other_process.sign_out_everywhere(await other_process.find(ann.id))
            await other_process.ban(await other_process.find(bob.id))
            assert CACHE_SECONDS <= 5.0
            await app.server.personal_data.reconcile()  # runs every `CACHE_SECONDS`
            assert [await close_code(hers), await close_code(his)] == [SIGNED_OUT, BANNED]
            assert [await error_code(app, guest.token) for guest in (ann, bob)] == [
                "unknown_person",
                "banned",
            ]
            other_process.close()
            await database.close()

    asyncio.run(run())


def test_notification_applies_change_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = (await app.open(ann, "rota", [ME]))["id"]
            socket = await app.socket(table, ann.token)
            changed = update(people_table).where(people_table.c.id == ann.id).values(epoch=1)
            async with app.server.database.writing() as connection:
                await connection.execute(changed)
            assert await error_code(app, ann.token) == ""  # the cache is still valid
            await _on_notification(app.server, f"{table}:1 @{ann.id} @nobody @")
            assert await close_code(socket) == SIGNED_OUT
            assert await error_code(app, ann.token) == "unknown_person"

    asyncio.run(run())


def test_ending_sessions_notifies_other_processes(new_database: Callable[[str], str]) -> None:
    settings = Settings(database=new_database("postgresql"))

    async def run() -> None:
        database = Database(settings.url)
        await database.upgrade()
        people = People(database, ["the key of this test " * 2])
        ann = await people.ensure_stored(people.new_guest())
        async with aclosing(notifications(settings.dsn)) as payloads, asyncio.timeout(TIMEOUT):
            assert await anext(payloads) is None
            token = people.tokens.read(people.token(ann))
            assert token is not None
            for change in (
                people.sign_out_everywhere(ann), people.end_session(token),
                people.ban(ann), people.unban(ann),
                people.set_password(ann, "ann", PASSWORD),
                people.set_password(ann, "ann", "another 8", old=PASSWORD),
            ):  # fmt: skip
                await change
                assert await anext(payloads) == f"@{ann.id}"
        people.close()
        await database.close()

    asyncio.run(run())


def test_person_changed_during_read_is_not_cached(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            person, rows = await people.find(ann.id), people._rows
            reading, release = asyncio.Event(), asyncio.Event()

            async def delayed_rows(ids: list[str]) -> object:
                result = await rows(ids)
                reading.set()
                await release.wait()
                return result

            people._cache.clear()
            people._rows = delayed_rows  # type: ignore[method-assign,assignment]
            pending = asyncio.create_task(people.find_by_token(ann.token))
            await reading.wait()
            people._rows = rows  # type: ignore[method-assign]
            await people.sign_out_everywhere(person)
            release.set()
            assert await pending is None
            assert (await people.find(ann.id)).epoch == 1

    asyncio.run(run())


def test_banned_person_is_refused_until_unbanned(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            phrase = (await app.call("POST", "/api/me/phrase", ann.token))["phrase"]
            table = (await app.open(ann, "rota", [ME]))["id"]
            socket = await app.socket(table, ann.token)
            await people.ban(await people.find(ann.id))
            assert await close_code(socket) == BANNED
            again = await app.socket(table, ann.token)
            assert await close_code(again) == BANNED
            for method, target, body in (
                ("GET", "/api/me", None),
                ("GET", "/api/tables", None),
                ("GET", f"/api/tables/{table}", None),
                ("POST", f"/api/tables/{table}/leave", None),
                ("POST", "/api/enter", {"phrase": phrase}),
            ):
                token = "" if target == "/api/enter" else ann.token
                response = await app.request(method, target, token, body)
                assert (response.status, response.json["code"]) == (403, "banned")
            await people.unban(await people.find(ann.id))
            assert (await app.call("GET", "/api/me", ann.token))["id"] == ann.id
            assert (await app.call("POST", "/api/enter", body={"phrase": phrase}))["id"] == ann.id

    asyncio.run(run())


# ------------------------------------------------------------------ passwords


def account(guest: Guest | Browser, password: str, **more: str) -> dict[str, str]:
    name = f"ann.{guest.get('/api/me')['id'][:8]}"
    return {"username": name, "password": password, **more}


def test_password_change_requires_old_password(server: RunningServer) -> None:
    first, second = Browser(server.url), Browser(server.url)
    first.post("/api/me/account", account(first, PASSWORD))
    me = second.post("/api/enter", account(first, PASSWORD))["id"]
    for old, code in ((None, "password_needed"), ("wrong horse", "wrong_secret"), ("", "wrong_secret")):
        for changed in (account(first, "another 8"), {"username": f"new.{me[:8]}", "password": PASSWORD}):
            response = first.refused("POST", "/api/me/account", {**changed, "old_password": old})
            assert (response.status, response.code) == (403, code)
    assert second.get("/api/me")["id"] == me  # unchanged
    before = first.cookie
    assert first.post("/api/me/account", account(first, "another 8", old_password=PASSWORD))["token"] is None
    assert first.cookie != before
    assert first.get("/api/me")["id"] == me
    assert second.refused("POST", "/api/me/phrase").code == "unknown_person"
    first.cookie, renewed = before, first.cookie
    assert first.refused("POST", "/api/me/phrase").code == "unknown_person"
    first.cookie = renewed
    assert second.refused("POST", "/api/enter", account(first, PASSWORD)).code == "wrong_secret"
    assert second.post("/api/enter", account(first, "another 8"))["id"] == me


def test_new_phrase_requires_password_if_set(ann: Guest) -> None:
    ann.post("/api/me/phrase")  # without a password, no body is required
    phrase = ann.post("/api/me/phrase", {})["phrase"]
    ann.post("/api/me/account", account(ann, PASSWORD))
    for body, code in (
        (None, "password_needed"),
        ({}, "password_needed"),
        ({"old_password": None}, "password_needed"),
        ({"old_password": "wrong horse"}, "wrong_secret"),
    ):
        response = ann.refused("POST", "/api/me/phrase", body)
        assert (response.status, response.code) == (403, code)
    assert Browser(ann.url).post("/api/enter", {"phrase": phrase})["id"] == ann.id  # unchanged
    new = ann.post("/api/me/phrase", {"old_password": PASSWORD})["phrase"]
    assert Browser(ann.url).post("/api/enter", {"phrase": new})["id"] == ann.id


def test_password_change_deletes_phrase(ann: Guest) -> None:
    phrase = ann.post("/api/me/phrase")["phrase"]
    ann.post("/api/me/leave", {"everywhere": True})
    browser = Browser(ann.url)
    assert browser.post("/api/enter", {"phrase": phrase})["id"] == ann.id
    browser.post("/api/me/account", account(browser, PASSWORD))
    assert browser.get("/api/me")["phrase"] is True
    browser.post("/api/me/account", account(browser, "another 8", old_password=PASSWORD))
    assert browser.get("/api/me")["phrase"] is False
    assert Browser(ann.url).refused("POST", "/api/enter", {"phrase": phrase}).code == "wrong_secret"


def test_phrase_request_during_password_change_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            person = await people.set_password(await people.find(ann.id), "ann", PASSWORD)
            check = people.check_password

            async def check_then_change(*args: object, **options: object) -> str | None:
                secret = await check(*args, **options)  # type: ignore[arg-type]
                people.check_password = check  # type: ignore[method-assign]
                await people.set_password(person, "ann", "another 8", old=PASSWORD)
                return secret

            people.check_password = check_then_change  # type: ignore[method-assign]
            with pytest.raises(InvalidCredentials, match="the password was changed"):
                await people.issue_phrase(person, old=PASSWORD)
            assert not (await people.find(ann.id)).phrase

    asyncio.run(run())


def test_program_gets_new_token_after_password_change(ann: Guest) -> None:
    old = ann.token
    assert ann.post("/api/me/account", account(ann, PASSWORD))["token"] is None  # no session to end
    ann.token = ann.post("/api/me/account", account(ann, PASSWORD, old_password=PASSWORD))["token"]
    assert ann.get("/api/me")["id"] == ann.id
    ann.token = old
    assert ann.refused("GET", "/api/me").code == "signed_out"


def test_one_of_two_concurrent_password_changes_succeeds(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            person = await people.set_password(await people.find(ann.id), "ann", PASSWORD)
            changes = [people.set_password(person, "ann", f"new one {n}", old=PASSWORD) for n in range(2)]
            results = await asyncio.gather(*changes, return_exceptions=True)
            assert sum(isinstance(result, Exception) for result in results) == 1
            assert (await people.find(ann.id)).epoch == 1

    asyncio.run(run())


# ------------------------------------------------------------------ cookies and tokens


def cookies(app: App, token: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", f"who={token}".encode())]


async def request_me(app: App, token: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return the person of a browser with a cookie, and the cookie of the response."""
    monkeypatch.setattr("tests.server.in_process._identity", lambda token: cookies(app, token))
    response = await app.request("GET", "/api/me", token)
    cookie = dict(response.headers).get(b"set-cookie", b"").decode()
    token = SimpleCookie(cookie)["who"].value if cookie else ""
    return response.json.get("id", response.json.get("code")), token


@pytest.mark.parametrize(("days", "renewed"), [(29, False), (31, True), (400, True)])
def test_cookie_is_renewed_after_a_month(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, renewed: bool
) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            read = app.server.people.tokens.read(ann.token)
            assert read is not None
            with monkeypatch.context() as patched:
                then = read.issued - days * 24 * 3600
                patched.setattr("axiogames.server.identity.tokens._now", lambda: then)
                old = app.server.people.token(await app.server.people.find(ann.id), read.session)
            person, cookie = await request_me(app, old, monkeypatch)
            assert person == ann.id
            assert bool(cookie) is renewed
            if cookie:
                new = app.server.people.tokens.read(cookie)
                assert new is not None
                assert (new.session, new.issued > then) == (read.session, True)
                assert await request_me(app, cookie, monkeypatch) == (ann.id, "")

    asyncio.run(run())


def test_cookie_without_session_is_valid_and_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            old = app.server.people.tokens._signer.sign(f"{ann.id}:0").decode()
            person, cookie = await request_me(app, old, monkeypatch)
            read = app.server.people.tokens.read(cookie)
            assert person == ann.id
            assert read is not None
            assert read.session
            await app.server.people.sign_out_everywhere(await app.server.people.find(ann.id))
            assert await request_me(app, old, monkeypatch) == ("signed_out", "")

    asyncio.run(run())


def test_unreadable_token_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            for token in (
                Tokens(["another key " * 4]).make("ab" * 10, 0),
                Tokens(["another key " * 4])._signer.sign(f"{'ab' * 10}:3").decode(),
            ):
                assert await request_me(app, token, monkeypatch) == ("unreadable_token", "")
            person, cookie = await request_me(app, "something else", monkeypatch)  # never issued by us
            assert app.server.people.tokens.read(cookie)
            assert len(person) == 20

    asyncio.run(run())
