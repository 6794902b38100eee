"""Origins, headers, cookies, limits and keys."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from axiogames.server.settings import InvalidSetting, secret_keys
from axiogames.server.transport.rate_limits import RateLimit, RateLimits, TokenBucket
from axiogames.web.pages import bundle_address, manifest, script_hash
from tests.server.driving import Browser, Client, RunningServer, send_request, start_server

TABLE = {"game": "axio", "seats": [{"kind": "me"}, {"kind": "open"}]}

# ------------------------------------------------------------------ origins

FOREIGN = [
    "https://evil.example",
    "http://127.0.0.1:1",
    "http://localhost",
    "null",
    "https://127.0.0.1.evil.example",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_page_cannot_write(sqlite_server: RunningServer, origin: str) -> None:
    browser = Browser(sqlite_server.url)
    table = browser.open("axio", ["me", "open"])
    evil = Browser(sqlite_server.url, origin=origin)
    evil.cookie = browser.cookie
    for method, path, body in (
        ("POST", "/api/tables", TABLE),
        ("PATCH", "/api/me", {"name": "Owned"}),
        ("POST", "/api/me/phrase", None),
        ("POST", f"/api/tables/{table.id}/leave", None),
        ("POST", "/api/enter", {"phrase": "x"}),
    ):
        refused = evil.refused(method, path, body)
        assert (refused.status, refused.code) == (403, "foreign_origin")
    with pytest.raises(InvalidStatus):
        evil.live(table.id)
    assert browser.get("/api/me")["name"] != "Owned"


def test_own_page_can_write(server: RunningServer) -> None:
    browser = Browser(server.url)
    table = browser.open("rota", ["me"])
    with browser.live(table.id) as live:
        assert live.play_to_end()


@pytest.mark.parametrize(
    ("site", "allowed"), [("same-origin", True), ("none", True), ("same-site", False), ("cross-site", False)]
)
def test_sec_fetch_site_is_checked_without_an_origin(
    sqlite_server: RunningServer, site: str, allowed: bool
) -> None:
    cookie = Browser(sqlite_server.url).cookie
    response = send_request(
        sqlite_server.url, "POST", "/api/tables", TABLE, {"Cookie": cookie, "Sec-Fetch-Site": site}
    )
    assert response.status == (201 if allowed else 403)


def test_program_with_a_token_needs_no_origin(sqlite_server: RunningServer) -> None:
    guest = sqlite_server.guest()
    response = guest.request("POST", "/api/tables", TABLE, {"Origin": "https://evil.example"})
    # A foreign page cannot send an authorization header without CORS permission.
    assert response.status == 201
    with guest.live(response.json["id"]) as live:
        assert live.recv()["yours"] == [0]


def test_foreign_page_gets_no_cors_permission(sqlite_server: RunningServer) -> None:
    for method in ("GET", "OPTIONS"):
        response = send_request(
            sqlite_server.url, method, "/api/me", None, {"Origin": "https://evil.example"}
        )
        assert response.headers["access-control-allow-origin"] is None


# ------------------------------------------------------------------ headers

BUNDLE = bundle_address(manifest().files["home.js"])
PATHS = [
    "/", "/me", "/daily", "/rules", "/t/anything", "/sw.js", "/manifest.webmanifest", "/robots.txt",
    "/static/icons/icon.svg", BUNDLE, "/static/nothing.css", "/static/bundles/nothing.js", "/nothing",
    "/schema", "/schema/openapi.json", "/api/me", "/api/home", "/api/games", "/api/bots", "/api/nothing",
    "/api/tables/nothing", "/api/games/axio/picture.svg", "/health",
]  # fmt: skip


@pytest.mark.parametrize("accept", ["*/*", "text/html"])
@pytest.mark.parametrize("path", PATHS)
def test_responses_have_security_headers(sqlite_server: RunningServer, path: str, accept: str) -> None:
    response = send_request(sqlite_server.url, "GET", path, None, {"Accept": accept})
    assert response.status == (404 if "nothing" in path else 200)
    policy = response.headers["content-security-policy"]
    directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == f"'self' 'wasm-unsafe-eval' {script_hash()}"
    assert directives["frame-ancestors"] == "'none'"
    assert policy.count("unsafe") == 1
    assert "http" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["server"] is None
    assert response.headers["content-type"]


def test_errors_have_security_headers(sqlite_server: RunningServer) -> None:
    for method, path, body in (("POST", "/api/tables", b"{"), ("DELETE", "/api/me", None)):
        response = send_request(sqlite_server.url, method, path, body)
        assert response.status >= 400
        assert "default-src 'none'" in response.headers["content-security-policy"]
    foreign = send_request(sqlite_server.url, "POST", "/api/tables", None, {"Origin": "https://evil.example"})
    assert "default-src 'none'" in foreign.headers["content-security-policy"]


# ------------------------------------------------------------------ behind a proxy


@pytest.fixture(scope="module")
def https_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Server with rate limits for a page served by HTTPS."""
    extra = ["--secure-cookies", "--origin", "https://play.example/"]
    with start_server(tmp_path_factory.mktemp("guarded"), limits=True, extra=extra) as server:
        yield server


def test_https_sites_send_secure_cookies(https_server: RunningServer) -> None:
    cookie = SimpleCookie(Client(https_server.url).request("GET", "/api/me").headers["set-cookie"])["who"]
    assert cookie["secure"]
    assert cookie["httponly"]


def test_page_behind_a_proxy_has_the_configured_origin(https_server: RunningServer) -> None:
    page = Browser(https_server.url, origin="https://play.example")
    table = page.open("axio", ["me", "open"])
    with page.live(table.id) as live:
        assert live.recv()["yours"] == [0]
    evil = Browser(https_server.url, origin="https://play.example.evil")
    assert evil.refused("POST", "/api/tables", TABLE).status == 403


# ------------------------------------------------------------------ limits


def test_writes_are_rate_limited(https_server: RunningServer) -> None:
    guest, other = https_server.guest("Hasty"), https_server.guest("Calm")
    refused = None
    for number in range(60):
        response = guest.request("PATCH", "/api/me", {"name": f"Hasty {number}"})
        if response.status != 200:
            refused = response
            break
    assert refused is not None
    assert (refused.refusal.status, refused.refusal.code) == (429, "too_fast")
    assert int(refused.headers["retry-after"]) > 0
    other.patch("/api/me", {"name": "Still calm"})
    guest.get("/api/me")  # reads are not limited


def test_phrase_attempts_are_rate_limited(https_server: RunningServer) -> None:
    browser = Browser(https_server.url)
    codes = [browser.refused("POST", "/api/enter", {"phrase": f"bado {n}"}).code for n in range(12)]
    assert codes[0] == "wrong_secret"
    assert codes[-1] == "too_fast"
    assert codes == sorted(codes, reverse=True)
    login = {"username": "somebody", "password": "something"}
    # Attempts with a password have a limit of their own.
    assert browser.refused("POST", "/api/enter", login).code == "wrong_secret"


def test_messages_are_rate_limited(https_server: RunningServer) -> None:
    guest = https_server.guest()
    with guest.live(guest.open("axio", ["me", "open"]).id) as live:
        live.recv()
        for _ in range(900):
            live.send({"do": "ping"})
        refused = live.until("refused")
        assert refused["code"] == "too_fast"
        assert refused["detail"]


def test_new_guests_are_rate_limited(https_server: RunningServer) -> None:
    codes = {send_request(https_server.url, "POST", "/api/guests", {"name": "x"}).status for _ in range(40)}
    assert codes == {201, 429}


def test_unfinished_tables_per_person_are_limited_to_40(sqlite_server: RunningServer) -> None:
    guest = sqlite_server.guest()
    tables = [guest.open("axio", ["me", "open"]) for _ in range(40)]
    refused = guest.refused("POST", "/api/tables", TABLE)
    assert (refused.status, refused.code) == (429, "too_many_tables")
    guest.post(f"/api/tables/{tables[0].id}/leave")
    guest.open("axio", ["me", "open"])
    sqlite_server.guest().open("axio", ["me", "open"])  # other people are not affected


def test_token_bucket_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("axiogames.server.transport.rate_limits.time.monotonic", lambda: clock[0])
    bucket = TokenBucket(RateLimit(2, 0.5))
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    clock[0] += 2.0
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock[0] += 1e6
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_number_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.transport.rate_limits.MAX_BUCKETS", 3)
    limits, limit = RateLimits(), RateLimit(1, 0.0)
    assert [limits.allow(limit, name) for name in "abcab"] == [True, True, True, False, False]
    limits.allow(limit, "d")  # evicts the least recently used bucket
    assert limits.allow(limit, "a") is False
    assert limits.allow(limit, "c") is True
    assert RateLimits(active=False).allow(RateLimit(0, 0), "a") is True


# ------------------------------------------------------------------ the key


def test_key_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    (key,) = secret_keys(folder)
    assert len(key) >= 32
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert secret_keys(folder) == (key,)
    assert secret_keys(tmp_path / "other") != (key,)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_key_readable_by_others_is_refused(tmp_path: Path, mode: int) -> None:
    secret_keys(tmp_path)
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InvalidSetting, match="0600"):
        secret_keys(tmp_path)


def test_short_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").touch(0o600)
    with pytest.raises(InvalidSetting, match="32 characters"):
        secret_keys(tmp_path)
    monkeypatch.setenv("AXIO_KEY", "too short")
    with pytest.raises(InvalidSetting, match="AXIO_KEY"):
        secret_keys(tmp_path)
    monkeypatch.setenv("AXIO_KEY", "k" * 32)
    assert secret_keys(tmp_path) == ("k" * 32,)
