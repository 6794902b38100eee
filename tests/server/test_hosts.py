"""Hosts, origins, trusted proxies and cache headers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from axiogames.games import figures
from axiogames.server.settings import InvalidSetting, Settings
from axiogames.server.transport.hosts import (
    Site,
    TrustedProxies,
    network_of,
    parse_host,
    parse_origin,
    parse_page_address,
)
from axiogames.server.transport.origin_guard import client_network, guard
from axiogames.server.transport.rate_limits import Quota, RateLimits
from tests.server.in_process import App, Response, running_app

ERROR_FIELDS = ["code", "detail", "status_code"]
PAGE = "https://play.example"


def serve(
    folder: Path, work: Callable[[App], Coroutine[Any, Any, None]], *, limits: bool = False, **settings: Any
) -> None:
    """Run a coroutine with an application that has these settings."""

    async def run() -> None:
        async with running_app(folder, **settings) as app:
            app.server.limits.active = limits
            await work(app)

    asyncio.run(run())


def error_of(response: Response) -> tuple[int, str]:
    """Return the status and code of an error response."""
    assert sorted(response.json) == ERROR_FIELDS
    return response.status, response.json["code"]


def headers(response: Response) -> dict[str, str]:
    found = {name.decode(): value.decode() for name, value in response.headers}
    assert len(found) == len(response.headers)
    return found


async def post_guest(app: App, **fields: str) -> Response:
    """Send a writing request with these headers."""
    host = fields.pop("host", "localhost").encode("latin-1")
    sent = {name.encode(): value.encode("latin-1") for name, value in fields.items()}
    return await app.request("POST", "/api/guests", body={"name": "Ann"}, headers=sent, host=[host])


# ------------------------------------------------------------------ hosts

LOCAL = ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.9.9.9", "[::1]:8000", "a.localhost"]
LAN_ADDRESSES = ["192.168.1.7:8000", "[fe80::1]:8000", "203.0.113.9"]
FOREIGN_NAMES = [
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "play.example.evil",
]
INVALID_HOSTS = [
    "", "a b", "http://localhost", "localhost:x", "localhost:99999", "[::1", "::1", "256.1.1.1", "1.2.3",
    "x" * 400, "localhost/", "user@localhost", "local\xe9", "localhost,evil.example", "[localhost]", "..",
    "0x7f.1",
]  # fmt: skip


def statuses(folder: Path, hosts: list[str], **settings: Any) -> list[int]:
    """Return the response status for each host."""
    found: list[int] = []

    async def work(app: App) -> None:
        for host in hosts:
            response = await app.request("GET", "/health", host=[host.encode("latin-1")])
            found.append(response.status)
            if response.status != 200:
                assert (
                    error_of(response)
                    == {400: (400, "bad_request"), 421: (421, "unknown_host")}[response.status]
                )
                assert headers(response)["x-content-type-options"] == "nosniff"
            assert (await post_guest(app, host=host)).status == (
                201 if response.status == 200 else response.status
            )

    serve(folder, work, **settings)
    return found


def test_foreign_host_names_are_refused(tmp_path: Path) -> None:
    assert statuses(tmp_path, LOCAL + LAN_ADDRESSES) == [200] * (len(LOCAL) + len(LAN_ADDRESSES))
    assert statuses(tmp_path, FOREIGN_NAMES) == [421] * len(FOREIGN_NAMES)
    assert statuses(tmp_path, INVALID_HOSTS) == [400] * len(INVALID_HOSTS)


def test_configured_host_names_are_accepted(tmp_path: Path) -> None:
    names = ["box.local:8000", "BOX.local.", "club.lan", "xn--mller-kva.example", "evil.example"]
    settings = {"host": "club.lan", "allowed_hosts": ("box.local", "müller.example")}
    assert statuses(tmp_path, names, **settings) == [200, 200, 200, 200, 421]


def test_with_an_origin_only_its_host_and_local_addresses_are_accepted(tmp_path: Path) -> None:
    hosts = ["play.example", "play.example:443", *LOCAL, *LAN_ADDRESSES, *FOREIGN_NAMES]
    expected = [200] * (2 + len(LOCAL)) + [421] * (len(LAN_ADDRESSES) + len(FOREIGN_NAMES))
    assert statuses(tmp_path, hosts, origins=(PAGE,)) == expected


def test_address_of_the_accepting_socket_is_accepted(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        for host, local, status in (
            (b"10.0.0.9:8000", "10.0.0.9", 200),
            (b"10.0.0.9:8000", "::ffff:10.0.0.9", 200),
            (b"10.0.0.9:8000", "10.0.0.8", 421),
            (b"[2001:db8::9]", "2001:db8::9", 200),
        ):
            response = await app.request("GET", "/health", host=[host], server=(local, 8000))
            assert response.status == status

    serve(tmp_path, work, origins=(PAGE,))


def test_request_needs_exactly_one_host(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        for hosts in ([], [b"localhost"] * 2, [b"localhost", b"evil.example"]):
            assert error_of(await app.request("GET", "/health", host=hosts)) == (400, "bad_request")

    serve(tmp_path, work)


# ------------------------------------------------------------------ origins

MALFORMED = [
    "http://[", "http://[::1", "https://", "://", "http:/localhost", "http://localhost:x",
    "http://localhost:99999", "http://localhost:-1", "http://local host", "http://localhost/",
    "http://localhost?", "http://u@localhost", "null", "file://", "http://" + "x" * 30_000, "localhost",
    "//localhost", "\xff", "http://\xff", "http://localhost http://localhost", "ftp://localhost", " ",
    "http://localhost,http://localhost",
]  # fmt: skip


def test_malformed_origin_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work(app: App) -> None:
        guest = await app.guest("Ann")
        table = await app.open(guest, "axio", [{"kind": "me"}, {"kind": "open"}])
        for origin in MALFORMED:
            assert error_of(await post_guest(app, origin=origin)) == (403, "foreign_origin"), origin
            response = await app.request("GET", "/health", headers={b"origin": origin.encode("latin-1")})
            assert response.status == 200
            socket = await app.socket(table["id"], headers={b"origin": origin.encode("latin-1")})
            assert socket.closed == 4403

    serve(tmp_path, work)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


ORIGINS: list[tuple[tuple[str, ...], str, str, str, bool]] = [
    # --origin, Host, Origin, scheme, expected permission
    ((), "localhost:8000", "http://localhost:8000", "http", True),
    ((), "localhost", "http://localhost:80", "http", True),
    ((), "localhost:8000", "https://localhost:8000", "http", False),
    ((), "localhost:8000", "http://localhost:8001", "http", False),
    ((), "localhost:8000", "http://127.0.0.1:8000", "http", False),
    ((), "192.168.1.7:8000", "http://192.168.1.7:8000", "http", True),
    ((), "[::1]:8000", "http://[0:0::1]:8000", "http", True),
    ((), "localhost", "https://localhost", "https", True),
    ((PAGE,), "play.example", PAGE, "http", True),
    ((PAGE + ":443/",), "play.example", PAGE, "http", True),
    ((PAGE,), "127.0.0.1:8000", PAGE, "http", True),
    ((PAGE,), "play.example", "http://play.example", "http", False),
    ((PAGE,), "play.example", "https://play.example:8443", "https", False),
    ((PAGE,), "localhost:8000", "http://localhost:8000", "http", True),
    ((PAGE,), "play.example", "https://evil.example", "https", False),
    ((PAGE, "http://old.example"), "old.example", "http://old.example", "http", True),
]


def test_only_pages_of_allowed_origins_can_write(tmp_path: Path) -> None:
    for number, (origins, host, origin, scheme, allowed) in enumerate(ORIGINS):
        site = Site("127.0.0.1", origins)
        parsed = parse_host(host)
        assert parsed is not None
        assert site.may_write(origin, parsed, scheme) is allowed, number

    async def work(app: App) -> None:
        assert (await post_guest(app, host="play.example", origin=PAGE)).status == 201
        assert error_of(await post_guest(app, host="play.example", origin="http://play.example"))[0] == 403
        assert error_of(await post_guest(app, host="evil.example", origin="http://evil.example"))[0] == 421

    serve(tmp_path, work, origins=(PAGE,))


@pytest.mark.parametrize(
    "text", ["evil", "https://", "https://a b", "https://x/y", "ftp://x", "https://u@x", "https://x:y"]
)
def test_invalid_addresses_in_settings_are_refused(text: str) -> None:
    with pytest.raises(InvalidSetting, match="origin"):
        Settings(origins=(text,)).check()
    with pytest.raises(InvalidSetting, match="host"):
        Settings(allowed_hosts=("a b",)).check()
    for proxy in ("proxy.example", "10.0.0.1/24", "0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", ""):
        with pytest.raises(InvalidSetting, match="proxy"):
            Settings(proxies=(proxy,)).check()
    assert Settings(origins=("https://x.example/",), proxies=("10.0.0.0/8", "::1")).check()


# ------------------------------------------------------------------ proxies


def client_address(proxies: tuple[str, ...], peer: str, forwarded: str) -> str:
    return TrustedProxies(proxies).client(peer, forwarded)


def test_client_is_the_rightmost_untrusted_hop() -> None:
    proxies = ("10.0.0.0/8", "2001:db8::/32", "127.0.0.1")
    assert client_address((), "127.0.0.1", "192.0.2.1") == "127.0.0.1"
    assert client_address(proxies, "192.0.2.9", "192.0.2.1") == "192.0.2.9"
    assert client_address(proxies, "10.0.0.1", "192.0.2.1") == "192.0.2.1"
    assert client_address(proxies, "10.0.0.1", "6.6.6.6, 192.0.2.1, 10.0.0.2") == "192.0.2.1"
    assert client_address(proxies, "10.0.0.1", "6.6.6.6, forged, 10.0.0.2") == "10.0.0.2"
    assert client_address(proxies, "10.0.0.1", "192.0.2.1:4711") == "192.0.2.1"
    assert client_address(proxies, "10.0.0.1", "[2a00::1]:4711") == "2a00::1"
    assert client_address(proxies, "::ffff:10.0.0.1", "192.0.2.1") == "192.0.2.1"
    assert client_address(("::ffff:10.0.0.0/104",), "10.0.0.1", "192.0.2.1") == "192.0.2.1"
    assert client_address(proxies, "10.0.0.1", "10.0.0.3, 10.0.0.2") == "10.0.0.3"
    assert client_address(proxies, "10.0.0.1", "") == "10.0.0.1"
    assert client_address(proxies, "10.0.0.1", "6.6.6.6," * 3_000 + "192.0.2.1") == "192.0.2.1"


def test_limits_are_per_ipv4_address_or_ipv6_64_prefix() -> None:
    assert network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1")
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") != network_of("2001:db8:0:1::1")
    assert network_of("fe80::1%eth0") == network_of("fe80::2")
    assert client_network({"client": None}) == ""


def test_untrusted_proxy_cannot_forge_an_address(tmp_path: Path) -> None:
    async def count_checked(app: App, peer: str) -> int:
        """Send 20 phrases with different forwarded addresses, and return the number of checked ones."""
        found = []
        for number in range(20):
            sent = {b"x-forwarded-for": b"192.0.2.%d" % number}
            response = await app.request(
                "POST", "/api/enter", body={"phrase": "x"}, headers=sent, client=(peer, 1)
            )
            found.append(response.json["code"])
        return found.count("wrong_secret")

    async def work(app: App) -> None:
        assert await count_checked(app, "127.0.0.1") == 8  # an untrusted client
        assert await count_checked(app, "10.0.0.6") == 8
        assert await count_checked(app, "10.0.0.5") == 20  # the trusted proxy

    serve(tmp_path, work, limits=True, proxies=("10.0.0.5",))


def test_sockets_per_person_are_limited(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        ann, bob = await app.guest("Ann"), await app.guest("Bob")
        table = await app.open(ann, "axio", [{"kind": "me"}, {"kind": "open"}])
        app.server.limits.sockets_per_person = Quota(2)
        first, second = [await app.socket(table["id"], ann.token) for _ in range(2)]
        third = await app.socket(table["id"], ann.token)
        assert await third.wait_closed() == 4429
        assert (await app.socket(table["id"], bob.token)).closed is None
        await first.close()
        assert await (await app.socket(table["id"], ann.token)).drain()
        assert second.closed is None

    serve(tmp_path, work)


# ------------------------------------------------------------------ caches, HTTPS, HEAD

PRIVATE = [
    "/api/me",
    "/api/tables?which=mine",
    "/api/daily",
    "/api/tables/{}",
    "/api/nothing",
    "/api/tables/{}/replay",
]


def test_private_responses_are_not_cached(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        ann = await app.guest("Ann")
        table = await app.open(ann, "axio", [{"kind": "me"}, {"kind": "open"}])
        for path in PRIVATE:
            for token in ("", ann.token):
                found = headers(await app.request("GET", path.format(table["id"]), token))
                assert found["cache-control"] == "private, no-store", path
                assert "cookie" in found["vary"]
        for path in ("//api/tables/{}", "///api//tables/{}/", "/%61pi/tables/{}"):  # equivalent paths
            found = headers(await app.request("GET", path.format(table["id"]), ann.token))
            assert found["cache-control"] == "private, no-store", path
        assert "no-store" in headers(await post_guest(app))["cache-control"]
        figure = await app.request("GET", f"/api/games/axio/figures/{figures('axio')[0]}")
        assert headers(figure)["cache-control"] == "max-age=3600"
        visit = await app.request("GET", "/api/me")
        assert headers(visit)["set-cookie"].startswith("who=")

    serve(tmp_path, work)


@pytest.mark.parametrize(
    ("origins", "proxies", "request_headers", "secure"),
    [
        ((), (), {}, False),
        ((), (), {"x-forwarded-proto": "https"}, False),
        ((), ("127.0.0.1",), {"x-forwarded-proto": "https"}, True),
        ((), ("127.0.0.1",), {"x-forwarded-proto": "http"}, False),
        ((), ("127.0.0.1",), {"x-forwarded-proto": "gopher"}, False),
        ((PAGE,), (), {"host": "play.example"}, True),
        ((PAGE,), (), {}, True),
        (("http://play.example",), (), {"host": "play.example"}, False),
        ((PAGE, "http://old.example"), (), {"host": "play.example"}, True),
        ((PAGE, "http://old.example"), (), {"host": "old.example"}, False),
    ],
)
def test_https_sites_send_secure_cookies_and_hsts(
    tmp_path: Path,
    origins: tuple[str, ...],
    proxies: tuple[str, ...],
    request_headers: dict[str, str],
    secure: bool,
) -> None:
    async def work(app: App) -> None:
        sent = {name.encode(): value.encode() for name, value in request_headers.items() if name != "host"}
        host = request_headers.get("host", "localhost").encode()
        found = headers(await app.request("GET", "/api/me", headers=sent, host=[host]))
        assert ("; secure" in found["set-cookie"].lower()) is secure
        assert ("strict-transport-security" in found) is secure

    serve(tmp_path, work, origins=origins, proxies=proxies)


def test_head_is_answered_like_get_without_a_body(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        for path in (
            "/",
            "/health",
            "/api/games",
            "/api/me",
            "/static/icons/icon.svg",
            "/nothing",
            "/schema/openapi.json",
        ):
            full, head = await app.request("GET", path), await app.request("HEAD", path)
            assert (head.status, head.body) == (full.status, b"")
            head_fields = headers(head)
            assert head_fields["content-length"] == headers(full)["content-length"]
            assert head_fields["content-security-policy"]
        assert (await app.request("HEAD", "/api/enter")).status == 405
        assert headers(await app.request("DELETE", "/health"))["allow"] == "GET, HEAD, OPTIONS"
        options = await app.request("OPTIONS", "/api/games")
        assert (options.status, options.body) == (204, b"")
        assert headers(options)["allow"] == "GET, HEAD, OPTIONS"

    serve(tmp_path, work)


def test_internal_error_is_a_regular_error_response(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("injected")

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    guarded: Any = guard(fail, sockets=fail, settings=Settings(), limits=RateLimits())
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "scheme": "http",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(guarded(scope, receive, send))
    assert sent[0]["status"] == 500
    assert dict(sent[0]["headers"])[b"x-content-type-options"] == b"nosniff"
    assert json.loads(sent[1]["body"])["code"] == "broken"
    assert "injected" in caplog.text


def test_origins_are_parsed_or_refused() -> None:
    assert parse_origin("https://play.example") == parse_page_address("HTTPS://Play.Example:443/")
    assert parse_origin("https://play.example/") is None
    assert all(parse_origin(text) is None for text in MALFORMED)
