"""Invalid requests get an error with a code and a message, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.driving import Client, Guest, RunningServer, send_request

ME = {"kind": "me"}
OPEN = {"kind": "open"}
AXIO: dict[str, Any] = {"game": "axio", "seats": [ME, OPEN]}

# Body of POST /api/tables, expected status and code.
TABLES: list[tuple[Any, int, str]] = [
    ({}, 400, "bad_request"),
    ([], 400, "bad_request"),
    ("axio", 400, "bad_request"),
    (None, 400, "bad_request"),
    ({"game": "axio"}, 400, "bad_request"),
    ({"game": 7, "seats": [ME]}, 400, "bad_request"),
    ({"game": "chess", "seats": [ME]}, 404, "unknown_game"),
    ({"game": "", "seats": [ME]}, 404, "unknown_game"),
    ({"game": "AXIO", "seats": [ME]}, 404, "unknown_game"),
    ({"game": "../axio", "seats": [ME]}, 404, "unknown_game"),
    ({"game": "axio\x00", "seats": [ME]}, 404, "unknown_game"),
    ({"game": "axio", "seats": []}, 400, "bad_request"),
    ({"game": "axio", "seats": [ME] * 5}, 400, "bad_request"),
    ({"game": "axio", "seats": "me"}, 400, "bad_request"),
    ({"game": "axio", "seats": [{}]}, 400, "bad_request"),
    ({"game": "axio", "seats": [{"kind": "you"}]}, 400, "bad_request"),
    ({"game": "axio", "seats": [ME, {"kind": "bot", "level": ""}]}, 422, "bad_request"),
    ({"game": "axio", "seats": [ME, {"kind": "bot", "level": "genius"}]}, 422, "bad_request"),
    ({"game": "axio", "seats": [ME, {"kind": "bot", "level": 3}]}, 400, "bad_request"),
    ({"game": "axio", "seats": [{"kind": "bot", "level": "greedy"}] * 2}, 422, "bad_request"),
    ({"game": "axio", "seats": [{"kind": "me", "name": "x" * 25}, OPEN]}, 422, "bad_name"),
    ({**AXIO, "options": {"short": True}}, 422, "bad_request"),
    ({**AXIO, "options": {"short": "perhaps"}}, 400, "bad_request"),
    ({**AXIO, "options": ["short"]}, 400, "bad_request"),
    ({**AXIO, "public": "perhaps"}, 400, "bad_request"),
    ({**AXIO, "move_time": 9}, 400, "bad_request"),
    ({**AXIO, "move_time": 0}, 400, "bad_request"),
    ({**AXIO, "move_time": -5}, 400, "bad_request"),
    ({**AXIO, "move_time": 10**12}, 400, "bad_request"),
    ({**AXIO, "move_time": 10.5}, 400, "bad_request"),
    ({**AXIO, "shuffle": None}, 400, "bad_request"),
]


@pytest.mark.parametrize(("body", "status", "code"), TABLES, ids=[str(row[0])[:60] for row in TABLES])
def test_invalid_table_request_is_refused(server: RunningServer, body: Any, status: int, code: str) -> None:
    guest = server.guest()
    refused = guest.refused("POST", "/api/tables", body)
    assert (refused.status, refused.code) == (status, code), refused
    assert guest.get("/api/tables?which=mine") == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"name": "x"',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'{"name": NaN}',
        b"[" * 7000,
        b"name=x",
    ],
)
@pytest.mark.parametrize(
    "media_type", ["application/json", "text/plain", "application/x-www-form-urlencoded"]
)
def test_body_must_be_json(sqlite_server: RunningServer, body: bytes, media_type: str) -> None:
    refused = send_request(
        sqlite_server.url, "POST", "/api/guests", body, {"Content-Type": media_type}
    ).refusal
    assert 400 <= refused.status < 500, refused


def test_body_size_limit_is_8000_bytes(sqlite_server: RunningServer) -> None:
    big = {"name": "x" * 9000}
    refused = send_request(sqlite_server.url, "POST", "/api/guests", big).refusal
    assert (refused.status, refused.code) == (413, "too_large")
    connection_header = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
    chunk = b"x" * 1000
    body = b"".join(b"3e8\r\n" + chunk + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert (
        send_request(sqlite_server.url, "POST", "/api/guests", body, connection_header).refusal.status == 413
    )


PATHS: list[tuple[str, str, Any, int]] = [
    ("GET", "/api/nothing", None, 404),
    ("GET", "/nothing", None, 404),
    ("GET", "/static/nothing.js", None, 404),
    ("GET", "/static/../server/app.py", None, 404),
    ("GET", "/static/%2e%2e/server/app.py", None, 404),
    ("GET", "/static/..%2fserver%2fapp.py", None, 404),
    ("GET", "/static/%00", None, 404),
    ("GET", "/static//etc/passwd", None, 404),
    ("GET", "/static/" + "x" * 900, None, 404),
    ("GET", "/static/" + "x" * 3000, None, 414),
    ("DELETE", "/api/tables", None, 405),
    ("PUT", "/api/tables", AXIO, 405),
    ("GET", "/api/tables?which=all", None, 400),
    ("GET", "/api/games/chess/rules", None, 404),
    ("GET", "/api/games/chess/picture.svg", None, 404),
    ("GET", "/api/games/axio/figures/nothing.svg", None, 404),
    ("GET", "/api/games/axio/figures/..%2f..%2frules.md", None, 404),
    ("GET", "/api/games?lang=" + "x" * 30, None, 400),
    ("GET", "/api/daily?day=yesterday", None, 400),
    ("GET", "/api/daily?day=2026-02-30", None, 400),
    ("GET", "/api/daily?day=1999-01-01", None, 400),
    ("GET", "/api/daily?day=9999-01-01", None, 400),
    ("GET", "/api/daily?day=%00", None, 400),
    ("POST", "/api/daily/chess", None, 404),
    ("PATCH", "/api/me", {"name": 7}, 400),
    ("PATCH", "/api/me", {}, 400),
    ("POST", "/api/guests", {}, 400),
    ("POST", "/api/enter", {}, 400),
    ("POST", "/api/enter", {"username": "ann"}, 400),
    ("POST", "/api/enter", {"phrase": 7}, 400),
    ("POST", "/api/me/account", {"username": "ann"}, 400),
    ("POST", "/api/me/leave", {"everywhere": "perhaps"}, 400),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"), PATHS, ids=[f"{r[0]} {r[1]}"[:60] for r in PATHS]
)
def test_invalid_requests_are_refused(
    server: RunningServer, method: str, path: str, body: Any, status: int
) -> None:
    assert server.guest().refused(method, path, body).status == status


NAMES = ["nothing", "%00", "x" * 500, "%ff%fe", "%F0%9F%90%99", "'%20OR%201=1--", "%20"]


@pytest.mark.parametrize("name", NAMES, ids=[name[:20] for name in NAMES])
def test_unknown_table_is_not_found(server: RunningServer, name: str) -> None:
    guest = server.guest()
    move = {"id": "1", "n": 1, "pick": 0}
    for method, path, body in [
        ("GET", "", None),
        ("GET", "/record", None),
        ("GET", "/replay", None),
        ("GET", "/picture.svg", None),
        ("GET", "/picture.png", None),
        ("POST", "/join", {}),
        ("POST", "/leave", None),
        ("POST", "/seats/0/bot", {"level": "greedy"}),
        ("POST", "/seats/0/return", None),
        ("POST", "/moves", move),
        ("POST", "/rematch", None),
    ]:
        refused = guest.refused(method, f"/api/tables/{name}{path}", body)
        assert (refused.status, refused.code) == (404, "no_such_table"), (path, refused)


MOVES: list[tuple[Any, int, str]] = [
    ({}, 400, "bad_request"),
    ({"id": "1", "n": 3}, 400, "bad_message"),
    ({"id": "1", "pick": 0}, 400, "bad_request"),
    ({"n": 3, "pick": 0}, 400, "bad_request"),
    ({"id": "x" * 41, "n": 3, "pick": 0}, 400, "bad_request"),
    ({"id": "1", "n": "three", "pick": 0}, 400, "bad_request"),
    ({"id": "1", "n": 3, "pick": -1}, 400, "no_such_offer"),
    ({"id": "1", "n": 3, "pick": 10**6}, 400, "no_such_offer"),
    ({"id": "1", "n": 3, "move": "x" * 61}, 400, "bad_request"),
    ({"id": "1", "n": 3, "move": "castle"}, 422, "bad_request"),
    ({"id": "1", "n": 3, "move": "RR a1-b9"}, 422, "illegal_move"),
    ({"id": "1", "n": 3, "move": "exchange"}, 422, "illegal_move"),
    ({"id": "1", "n": 3, "pick": 0, "seat": 7}, 400, "bad_request"),
    ({"id": "1", "n": 3, "pick": 0, "hold": "perhaps"}, 400, "bad_request"),
]


def test_invalid_move_changes_nothing(server: RunningServer) -> None:
    guest = server.guest()
    table = guest.open("axio", ["me", "greedy"])
    before = guest.view(table.id)
    assert before["n"] == 3
    for body, status, code in MOVES:
        refused = guest.refused("POST", f"/api/tables/{table.id}/moves", body)
        assert (refused.status, refused.code) == (status, code), (body, refused)
    assert guest.view(table.id) == before
    legal = {"id": "1", "n": 3, "pick": 0}
    assert Guest(guest.url).refused("POST", f"/api/tables/{table.id}/moves", legal).code == "not_allowed"


@pytest.mark.parametrize("seat", ["-1", "4", "9999999999999999999999", "x", "1.5"])
def test_seat_out_of_range_is_refused(sqlite_server: RunningServer, seat: str) -> None:
    guest = sqlite_server.guest()
    table = guest.open("axio", ["me", "open"])
    for path, body in (("bot", {"level": "greedy"}), ("return", None), ("remove", None)):
        refused = guest.refused("POST", f"/api/tables/{table.id}/seats/{seat}/{path}", body)
        assert refused.status in (400, 404)


def test_seat_beyond_number_of_players_is_refused(sqlite_server: RunningServer) -> None:
    guest = sqlite_server.guest()
    for seats in (["me", "open"], ["me", "greedy"]):
        table = guest.open("axio", seats)
        for path, body in (("bot", {"level": "greedy"}), ("return", None), ("remove", None)):
            refused = guest.refused("POST", f"/api/tables/{table.id}/seats/3/{path}", body)
            assert (refused.status, refused.code) in ((403, "not_allowed"), (409, "seat_taken"))


def test_unauthenticated_writes_are_refused(sqlite_server: RunningServer) -> None:
    host = sqlite_server.guest()
    table = host.open("axio", ["me", "open"], public=True)
    nobody = Client(sqlite_server.url)
    for method, path, body in [
        ("POST", "/api/tables", AXIO),
        ("POST", f"/api/tables/{table.id}/join", {}),
        ("POST", f"/api/tables/{table.id}/leave", None),
        ("POST", f"/api/tables/{table.id}/seats/1/bot", {"level": "greedy"}),
        ("POST", f"/api/tables/{table.id}/moves", {"id": "1", "n": 1, "pick": 0}),
        ("POST", f"/api/tables/{table.id}/rematch", None),
        ("POST", "/api/daily/axio", None),
        ("PATCH", "/api/me", {"name": "x"}),
        ("POST", "/api/me/phrase", None),
        ("POST", "/api/me/account", {"username": "anna", "password": "long enough"}),
        ("POST", "/api/me/leave", {"everywhere": True}),
    ]:
        refused = nobody.refused(method, path, body)
        assert (refused.status, refused.code) == (401, "unknown_person"), path
    assert host.view(table.id)["n"] == 1
