"""Fuzzing of HTTP requests and WebSocket messages: no internal errors, and regular error responses.

The routes come from the OpenAPI schema. Valid requests are mutated in their structure, bytes or headers. The
seed is fixed; `make slow` sends more requests.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest

from tests.server.in_process import App, running_app

REQUESTS_PER_ROUTE = 12
MESSAGES = 400  # messages to a table
SLOW_FACTOR = 25  # factor for `make slow`

UNUSUAL_VALUES: list[Any] = [
    None, True, 0, -1, 3, 2**31, 2**63, 2**64, -(10**30), 1.5, 1e300, "", "x", "x" * 3000, "\x00",
    "\ud800", "é", "\u202e",
    "🐙" * 30, "'; drop table people; --", "../..", "%00", [], [[]], [None] * 50, {}, {"x": {}}, {"": None},
]  # fmt: skip
RAW_BYTES = [
    b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"[" * 900, b'{"x":' * 900, b"NaN", b"Infinity",
    b"1e999",
    b"9" * 6000, b'"\\ud800"', b'"\\u0000"', b"\\", b'"', b"}", b",", b"/**/", b"{", b"'",
]  # fmt: skip
SEGMENTS = [
    "%ff", "%ff%fe", "%00", "%ed%a0%80", "%", "%zz", "%2e%2e", "%2f", "9" * 5000, "-1", "1e3",
    "%F0%9F%90%99", "x" * 900,
]  # fmt: skip
QUERIES = [
    "%ff=%ff", "lang=%ff%fe", "lang=%", "which=%00", "move=%ff", "move=" + "9" * 5000, "move=1e999&dark=2",
    "dark=%ff",
    "day=2026-11-1%ff", "day=0000-00-00", "day=%F0%9F%90%99", "which=mine&which=open", "&&&===",
    "a[]=1&a[b]=2", "lang=" + "x" * 900,
    "after=%ff", "after=9" * 3,
]  # fmt: skip
HEADERS: list[dict[bytes, bytes]] = [
    {b"content-type": b"text/plain"}, {b"content-type": b"\xff"}, {b"content-type": b""},
    {b"content-type": b"application/json; charset=utf-16"},
    {b"content-type": b"application/json; charset=no"},
    {b"content-type": b"multipart/form-data"}, {b"content-type": b"multipart/form-data; boundary=x"},
    {b"content-type": b"application/x-www-form-urlencoded"}, {b"content-type": b"application/msgpack"},
    {b"content-encoding": b"gzip"}, {b"content-length": b"no"}, {b"cookie": b"who=\xff"},
    {b"cookie": b";;=\x00;\xff"}, {b"cookie": b"who=" + b"a:" * 5000}, {b"authorization": b"Bearer \xff"},
    {b"authorization": b"Bearer " + b"1:2.3:" * 400}, {b"accept": b"\xff"}, {b"accept": b"text/html"},
    {b"accept-language": b"\xff,;q=\xff"}, {b"accept-encoding": b"\xff;q=\xff"}, {b"if-none-match": b"\xff"},
    {b"origin": b"http://["}, {b"sec-fetch-site": b"\xff"}, {b"x-forwarded-for": b"\xff, ,"},
]  # fmt: skip


class Fuzzer:
    """Generates requests from the schema, each with a mutation."""

    def __init__(self, seed: int, schema: Any, names: dict[str, list[str]]) -> None:
        self._rng = random.Random(seed)
        self._schema = schema
        self._names = names

    def path(self, template: str) -> str:
        """Return a URL with existing or malformed names, and sometimes a malformed query."""
        parts = [self._segment(part) for part in template.split("/")]
        query = "?" + self._rng.choice(QUERIES) if self._rng.random() < 0.5 else ""
        return "/".join(parts) + query

    def _segment(self, part: str) -> str:
        if not part.startswith("{"):
            return part
        name, _, rest = part[1:].partition("}")
        known = self._names.get(name, ["x"])
        return self._rng.choice(known if self._rng.random() < 0.7 else SEGMENTS) + rest

    def body(self, operation: Any) -> bytes:
        """Return a valid body with one mutated value, name or byte sequence."""
        content = operation.get("requestBody", {}).get("content", {})
        schema = next(iter(content.values()))["schema"] if content else {}
        body = self._mutated(self._example(schema))
        try:
            text = json.dumps(body, ensure_ascii=self._rng.random() < 0.5).encode()
        except UnicodeEncodeError:
            text = json.dumps(body).encode()
        if self._rng.random() < 0.4:
            at = self._rng.randrange(len(text) + 1)
            text = text[:at] + self._rng.choice(RAW_BYTES) + text[at + self._rng.choice([0, 1, 5]) :]
        return text

    def _example(self, schema: Any) -> Any:
        if "$ref" in schema:
            return self._example(self._schema["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        for choices in ("oneOf", "anyOf"):
            if choices in schema:
                return self._example(self._rng.choice(schema[choices]))
        if "enum" in schema:
            return self._rng.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return {name: self._example(part) for name, part in schema.get("properties", {}).items()}
            case "array":
                return [self._example(schema.get("items", {})) for _ in range(self._rng.randrange(1, 4))]
            case "integer" | "number":
                return self._rng.choice([0, 1, 3])
            case "boolean":
                return self._rng.random() < 0.5
            case "null":
                return None
        return self._rng.choice(["axio", "me", "open", "greedy", "Ann", "1"])

    def _mutated(self, value: Any) -> Any:
        """Return the value with one mutation."""
        rng = self._rng
        if isinstance(value, dict) and value and rng.random() < 0.8:
            name = rng.choice(list(value))
            changed = {**value, name: self._mutated(value[name])}
            if rng.random() < 0.1:
                changed[rng.choice(["", "\x00", "x" * 500, "type"])] = changed.pop(name)
            return changed
        if isinstance(value, list) and value and rng.random() < 0.6:
            at = rng.randrange(len(value))
            return [*value[:at], self._mutated(value[at]), *value[at + 1 :]]
        return rng.choice(UNUSUAL_VALUES)

    def headers(self) -> dict[bytes, bytes]:
        return dict(self._rng.choice(HEADERS)) if self._rng.random() < 0.4 else {}

    def message(self) -> str:
        """Return a message to a table."""
        command: dict[str, Any] = {
            "do": self._rng.choice(["move", "draw", "back", "look", "preview", "ping"])
        }
        command |= {"id": "a", "n": self._rng.choice([1, 3, 4]), "pick": 0, "hold": False, "seat": 0}
        text = json.dumps(self._mutated(command) if self._rng.random() < 0.8 else command)
        if self._rng.random() < 0.4:
            at = self._rng.randrange(len(text) + 1)
            text = text[:at] + self._rng.choice(RAW_BYTES).decode("utf-8", "replace") + text[at:]
        return text


async def _send_requests(app: App, seed: int, per_route: int) -> dict[int, int]:
    """Send mutated requests to every route, and return the number of responses by status."""
    ann, bob = await app.guest("Ann"), await app.guest("Bob")
    tables = [
        (await app.open(ann, "axio", [{"kind": "me"}, {"kind": "open"}]))["id"],
        (await app.open(ann, "trio", [{"kind": "me"}]))["id"],
    ]
    names = {
        "table_id": [*tables, "nothing"],
        "name": ["axio", "chess"],
        "game": ["axio"],
        "seat": ["0", "1"],
    }
    schema = await app.call("GET", "/schema/openapi.json")
    fuzzer, found = Fuzzer(seed, schema, names), dict[int, int]()
    for template, operations in schema["paths"].items():
        for method, operation in operations.items():
            if template.endswith(".png"):
                continue  # like .svg, but slower
            for number in range(per_route):
                token = (ann, bob)[number % 2].token if template != "/api/me/leave" else ""
                path, headers = fuzzer.path(template), fuzzer.headers()
                body = fuzzer.body(operation) if method != "get" else None
                answer = await app.request(
                    method.upper(),
                    path,
                    "" if headers.keys() & {b"authorization", b"cookie"} else token,
                    body,
                    headers=headers,
                )
                found[answer.status] = found.get(answer.status, 0) + 1
                context = (method, path[:200], headers, (body or b"")[:200], answer.body[:200])
                assert answer.status < 500 or answer.json["code"] == "busy", context
                if answer.status >= 400 and b"html" not in dict(answer.headers)[b"content-type"]:
                    assert sorted(answer.json) == ["code", "detail", "status_code"], context
    return found


MALFORMED: list[dict[str, Any]] = [
    {"data": b"\xff"}, {"data": b'{"do":"ping"}'}, {"text": ""}, {"text": "x" * 3000}, {"text": "\x00"},
    {"text": '{"do":"ping","x":' + "[" * 1_900}, {"text": '{"do":"ping","x":' * 110},
    {"text": '{"do":"fly"}'},
    {"text": "[" * 1_990 }, {"text": '{"do":"ping","id":"\\ud800"}'}, {"text": '{"do":"ping","n":1e999}'},
    {"text": '{"do":"ping","n":NaN}'}, {"text": '{"do":"move","id":"a","n":3}'}, {"text": "null"},
]  # fmt: skip


async def _send_messages(app: App, seed: int, messages: int) -> None:
    """Send malformed messages, which are refused, then mutated ones, and check that the socket stays open."""
    ann = await app.guest("Ann")
    table = await app.open(ann, "axio", [{"kind": "me"}, {"kind": "open"}])
    socket, fuzzer = await app.socket(table["id"], ann.token), Fuzzer(seed, {}, {})
    for number, message in enumerate(MALFORMED):
        before = len(socket.texts)
        socket.send_raw(**message)
        await socket.request(do="look", id=f"look-{number}")
        replies = [json.loads(text) for text in socket.texts[before:]]
        assert [reply["code"] for reply in replies if reply["type"] == "refused"] == ["bad_message"], message
    for _ in range(messages):
        socket.send_raw(fuzzer.message())
    await socket.request(do="look", id="last")
    assert socket.closed is None


def _fuzz(folder: Path, seed: int, times: int, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with running_app(folder, bot_seconds=0.01) as app:
            app.server.people._verify = lambda *_: False  # type: ignore[method-assign]
            found = await _send_requests(app, seed, REQUESTS_PER_ROUTE * times)
            assert {200, 400, 404} <= found.keys()
            await _send_messages(app, seed, MESSAGES * times)

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_fuzzed_requests_cause_no_internal_errors(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _fuzz(tmp_path, 16, 1, caplog)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_fuzzed_requests_cause_no_internal_errors_long_run(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    _fuzz(tmp_path, seed, SLOW_FACTOR, caplog)
