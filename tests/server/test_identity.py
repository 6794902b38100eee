"""Identity: cookies, tokens, names, phrases and accounts."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from axiogames.server.identity import people as identity
from axiogames.server.identity.tokens import Person
from tests.server.driving import Browser, Client, Guest, RunningServer
from tests.server.in_process import App, running_app

PASSWORD = "correct horse 7"


def test_cookie_is_http_only_and_same_site(sqlite_server: RunningServer) -> None:
    response = Client(sqlite_server.url).request("GET", "/api/me")
    cookie = SimpleCookie(response.headers["set-cookie"])["who"]
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "lax"
    assert cookie["path"] == "/"
    assert int(cookie["max-age"]) > 300 * 24 * 3600
    assert not cookie["secure"]
    assert response.json["id"] in cookie.value
    assert response.json["username"] is None
    assert response.json["phrase"] is False


def test_browser_keeps_its_guest(server: RunningServer) -> None:
    browser = Browser(server.url)
    cookie, me = browser.cookie, browser.get("/api/me")
    assert browser.get("/api/me") == me
    assert browser.cookie == cookie
    assert Browser(server.url).get("/api/me")["id"] != me["id"]


@pytest.mark.parametrize("damage", ["id", "epoch", "signature", "empty", "rubbish"])
def test_damaged_cookie_is_rejected(sqlite_server: RunningServer, damage: str) -> None:
    browser = Browser(sqlite_server.url)
    me = browser.get("/api/me")
    name, _, value = browser.cookie.partition("=")
    signed, _, signature = value.rpartition(".")
    person, _, rest = signed.partition(":")
    _, _, rest = rest.partition(":")
    browser.cookie = {
        "id": f"{name}={'x' * len(person)}:0:{rest}.{signature}",
        "epoch": f"{name}={person}:1:{rest}.{signature}",
        "signature": f"{name}={signed}.{signature[:-4]}AAAA",
        "empty": f"{name}=",
        "rubbish": f"{name}=%F0%9F%90%99:.:.\\\\",
    }[damage]
    assert browser.refused("POST", "/api/me/phrase").code == "unknown_person"
    if damage in ("epoch", "signature"):  # possibly signed with an unknown key
        assert browser.refused("GET", "/api/me").code == "unreadable_token"
        browser.post("/api/me/leave", {"everywhere": False})
    assert browser.get("/api/me")["id"] != me["id"]  # a new guest with its own cookie
    browser.post("/api/me/phrase")


@pytest.mark.parametrize("token", ["", "x", "a:0.b", "ä:0.ß".encode().decode("latin-1"), "0" * 4000])
def test_foreign_token_is_rejected(sqlite_server: RunningServer, token: str) -> None:
    guest = sqlite_server.guest()
    guest.token = token or " "
    assert guest.refused("POST", "/api/me/phrase").status == 401


def test_token_authenticates_like_a_cookie(ann: Guest) -> None:
    me = ann.get("/api/me")
    assert me == {"id": ann.id, "name": "Ann", "username": None, "phrase": False}
    assert ann.request("GET", "/api/me").headers["set-cookie"] is None


def test_token_takes_precedence_over_cookie(sqlite_server: RunningServer) -> None:
    browser, guest = Browser(sqlite_server.url), sqlite_server.guest("Token")
    response = browser.request("GET", "/api/me", headers=guest.headers)
    assert response.json["id"] == guest.id


def test_changed_name_is_cleaned_and_used_at_new_tables(ann: Guest) -> None:
    assert ann.patch("/api/me", {"name": "  Änne \t 🐙  "})["name"] == "Änne 🐙"
    assert ann.get("/api/me")["name"] == "Änne 🐙"
    table = ann.open("axio", ["me", "open"])
    assert ann.view(table.id)["seats"][0]["name"] == "Änne 🐙"


@pytest.mark.parametrize("name", ["", "   ", "\u200b\u202e", "x" * 25, "\x00\x07", "\u2066\u2069"])
def test_name_has_1_to_24_visible_characters(ann: Guest, name: str) -> None:
    assert ann.refused("PATCH", "/api/me", {"name": name}).status == 422
    assert ann.refused("POST", "/api/guests", {"name": name}).code == "bad_name"
    assert not name or ann.refused("POST", "/api/tables", table_request(name)).code == "bad_name"
    assert ann.get("/api/me")["name"] == "Ann"


def table_request(name: str) -> dict[str, object]:
    return {"game": "axio", "seats": [{"kind": "me", "name": name}, {"kind": "open"}]}


def test_name_contains_no_markup_or_direction_marks(server: RunningServer) -> None:
    guest = server.guest("<b>x</b>'\";--\u202eevil")
    assert guest.name == "<b>x</b>'\";--evil"
    table = guest.open("axio", ["me", "greedy"])
    picture = guest.request("GET", f"/api/tables/{table.id}/picture.svg").text
    assert "<b>" not in picture
    assert "&lt;b&gt;x&lt;/b&gt;" in picture


def test_name_of_maximum_length_is_stored_completely(ann: Guest) -> None:
    for letter in ("W", "é", "字", "🐙"):
        assert ann.patch("/api/me", {"name": letter * 24})["name"] == letter * 24


def test_sign_in_by_phrase(server: RunningServer) -> None:
    first, second = Browser(server.url), Browser(server.url)
    first.patch("/api/me", {"name": "Mover"})
    phrase = first.post("/api/me/phrase")["phrase"]
    assert first.get("/api/me")["phrase"] is True
    assert second.get("/api/me")["phrase"] is False
    person = second.post("/api/enter", {"phrase": f"  {phrase.upper().replace('-', '  ')} "})
    assert person == second.get("/api/me") == first.get("/api/me")
    assert person["name"] == "Mover"


def test_new_phrase_invalidates_the_old_one(ann: Guest, server: RunningServer) -> None:
    old, new = (ann.post("/api/me/phrase")["phrase"] for _ in range(2))
    other = Browser(server.url)
    assert other.refused("POST", "/api/enter", {"phrase": old}).code == "wrong_secret"
    assert other.post("/api/enter", {"phrase": new})["id"] == ann.id


@pytest.mark.parametrize("phrase", ["", "-", "bado kemi", "ba" * 3000, "\x00", "ﬀ🐙"])
def test_wrong_phrase_is_refused(server: RunningServer, phrase: str) -> None:
    browser = Browser(server.url)
    before = browser.cookie
    refused = browser.refused("POST", "/api/enter", {"phrase": phrase})
    assert (refused.status, refused.code) == (403, "wrong_secret")
    assert browser.cookie == before


def test_sign_in_by_password(ann: Guest, server: RunningServer) -> None:
    name = f"ann.{ann.id[:8]}"
    account = ann.post("/api/me/account", {"username": f" {name.upper()} ", "password": PASSWORD})
    assert account["username"] == name
    other = Browser(server.url)
    assert other.post("/api/enter", {"username": name.title(), "password": PASSWORD})["id"] == ann.id
    assert other.get("/api/me")["username"] == name


@pytest.mark.parametrize("wrong", ["password", "username", "case", "empty", "zero"])
def test_wrong_password_and_unknown_username_look_the_same(
    ann: Guest, server: RunningServer, wrong: str
) -> None:
    name = f"ann.{ann.id[:8]}"
    ann.post("/api/me/account", {"username": name, "password": PASSWORD})
    credentials = {
        "password": {"username": name, "password": PASSWORD + "x"},
        "username": {"username": name + "x", "password": PASSWORD},
        "case": {"username": name, "password": PASSWORD.upper()},
        "empty": {"username": name, "password": ""},
        "zero": {"username": "\x00", "password": "\x00"},
    }[wrong]
    refused = Browser(server.url).refused("POST", "/api/enter", credentials)
    assert (refused.status, refused.code) == (403, "wrong_secret")
    assert refused.detail == "the username or the password is wrong"


def test_username_is_unique(ann: Guest, bob: Guest) -> None:
    name = f"only.{ann.id[:8]}"
    ann.post("/api/me/account", {"username": name, "password": PASSWORD})
    refused = bob.refused("POST", "/api/me/account", {"username": name.upper(), "password": PASSWORD})
    assert refused.code == "name_taken"
    assert "taken" in refused.detail
    new_password = {"username": name, "password": PASSWORD + "2", "old_password": PASSWORD}
    ann.post("/api/me/account", new_password)  # a person may keep the username
    assert bob.get("/api/me")["username"] is None


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("x", PASSWORD),
        (".ann", PASSWORD),
        ("ann ann", PASSWORD),
        ("änn", PASSWORD),
        ("a" * 25, PASSWORD),
        ("ann\x00", PASSWORD),
        ("anna", "short 7"),
        ("anna", "x" * 129),
    ],
)
def test_usernames_and_passwords_have_limits(
    sqlite_server: RunningServer, username: str, password: str
) -> None:
    account = {"username": username, "password": password}
    assert sqlite_server.guest().refused("POST", "/api/me/account", account).status == 422


def test_signing_out_one_device_keeps_the_others(server: RunningServer) -> None:
    first, second = Browser(server.url), Browser(server.url)
    second.post("/api/enter", {"phrase": first.post("/api/me/phrase")["phrase"]})
    me = second.get("/api/me")
    first.post("/api/me/leave", {"everywhere": False})
    assert first.cookie in ("who=", 'who=""')
    assert first.get("/api/me")["id"] != me["id"]
    assert second.get("/api/me") == me


def test_signing_out_everywhere_invalidates_all_tokens(ann: Guest, server: RunningServer) -> None:
    phrase = ann.post("/api/me/phrase")["phrase"]
    browser = Browser(server.url)
    browser.post("/api/enter", {"phrase": phrase})
    old = browser.cookie
    ann.post("/api/me/leave", {"everywhere": True})
    assert ann.refused("POST", "/api/me/phrase").code == "unknown_person"
    browser.cookie = old
    assert browser.refused("POST", "/api/me/phrase").code == "unknown_person"
    assert browser.post("/api/enter", {"phrase": phrase})["id"] == ann.id  # the identity is unchanged
    assert browser.cookie != old
    assert browser.get("/api/me")["id"] == ann.id


async def new_token(app: App, person: str) -> str:
    """Return a token of a new session."""
    return app.server.people.token(await app.server.people.find(person))


def test_number_of_stored_revoked_sessions_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "MAX_REVOKED_SESSIONS", 3)

    async def run() -> None:
        async with running_app(tmp_path) as app:
            people = app.server.people
            for person in ((await app.guest("Ann")).id, people.new_guest().id):
                ended = [await new_token(app, person) for _ in range(10)]
                for number, token in enumerate(ended):
                    await app.call("POST", "/api/me/leave", token, {})
                    assert [await people.find_by_token(old) for old in ended[: number + 1]] == [None] * (
                        number + 1
                    )
                    assert len((await people.reload(person)).revoked) <= 3
                assert await people.find_by_token(await new_token(app, person))

    asyncio.run(run())


def test_session_revoked_during_sign_out_everywhere_stays_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            reload, ended = people.reload, list[str]()

            async def reload_after_sign_out(person: str) -> Person:
                if not ended:  # a concurrent sign-in and sign-out
                    await reload(person)
                    ended.append(await new_token(app, person))
                    await app.call("POST", "/api/me/leave", ended[0], {})
                return await reload(person)

            monkeypatch.setattr(people, "reload", reload_after_sign_out)
            await people.sign_out_everywhere(await people.find(ann.id))
            assert await people.find_by_token(ended[0]) is None
            assert await people.find_by_token(ann.token) is None
            assert await people.find_by_token(await new_token(app, ann.id))

    asyncio.run(run())


@pytest.mark.parametrize("method", ["password", "phrase"])
def test_sign_in_during_password_change_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            people, ann = app.server.people, await app.guest("Ann")
            await people.set_password(await people.find(ann.id), "ann", PASSWORD)
            phrase = await people.issue_phrase(await people.find(ann.id), old=PASSWORD)
            entry = {"phrase": phrase} if method == "phrase" else {"username": "ann", "password": PASSWORD}
            reload, new = people.reload, "another horse 8"

            async def change_first(person: str) -> Person:
                monkeypatch.setattr(people, "reload", reload)  # the credentials were valid until now
                await people.set_password(await people.find(ann.id), "ann", new, old=PASSWORD)
                return await reload(person)

            monkeypatch.setattr(people, "reload", change_first)
            response = await app.request("POST", "/api/enter", body=entry)
            assert (response.status, response.json["code"]) == (403, "wrong_secret")
            assert b"set-cookie" not in dict(response.headers)
            assert (await app.request("POST", "/api/enter", body={**entry, "password": new})).status == (
                403 if method == "phrase" else 200
            )

    asyncio.run(run())
