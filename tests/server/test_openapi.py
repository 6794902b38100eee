"""The HTTP interface matches its schema, and the schema matches docs/reference/http_and_websocket.md."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from litestar.openapi.plugins import JsonRenderPlugin

from tests.server.driving import RunningServer
from tests.server.in_process import running_app
from tests.server.openapi import run

EXAMPLES = int(os.environ.get("AXIO_EXAMPLES", "4"))  # per operation; `tests.server.openapi` runs more
PROTOCOL = Path(__file__).parents[2] / "docs" / "reference" / "http_and_websocket.md"
FOR_HOSTS = {"GET /health"}  # in the schema, but not part of the game protocol
PROBLEM = {"$ref": "#/components/schemas/Problem"}


@pytest.fixture
def schema(sqlite_server: RunningServer) -> Any:
    return sqlite_server.guest("Ann").get("/schema/openapi.json")


def operations(schema: Any) -> dict[str, Any]:
    """Return the operations of the schema by request."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def test_responses_match_schema(sqlite_server: RunningServer) -> None:
    result = run(sqlite_server.url, EXAMPLES)
    assert result.returncode == 0, result.stdout + result.stderr
    generated = re.search(r"([\d,]+) generated", result.stdout)
    assert generated is not None, result.stdout
    assert int(generated[1].replace(",", "")) > 200
    assert " failed" not in sqlite_server.log


def test_schema_and_document_list_the_same_requests(schema: Any) -> None:
    in_schema = {anonymize(request) for request in operations(schema)}
    in_document = {anonymize(request) for request in documented_requests()}
    assert in_document <= in_schema
    assert in_schema - in_document == FOR_HOSTS


def documented_requests() -> set[str]:
    """Return the requests in the tables of docs/reference/http_and_websocket.md."""
    text = PROTOCOL.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(GET|POST|PATCH|PUT|DELETE) (/[^ `?]*)(.*)", text, re.M)
    requests = {f"{method} {path}" for method, path, _ in rows}
    png_requests = {
        f"{method} {path.replace('.svg', '.png')}" for method, path, rest in rows if "`.png` too" in rest
    }
    return requests | png_requests


def anonymize(request: str) -> str:
    """Return a request with anonymous parameters."""
    return re.sub(r"\{[^}]*\}", "{}", request)


def test_error_responses_in_schema_match_document(schema: Any) -> None:
    problem = schema["components"]["schemas"]["Problem"]
    assert sorted(problem["required"]) == sorted(problem["properties"]) == ["code", "detail", "status_code"]
    for name, operation in operations(schema).items():
        for status, response in operation["responses"].items():
            if status >= "400" and name not in FOR_HOSTS:
                assert response["content"]["application/json"]["schema"] == PROBLEM, (name, status)
                assert response["description"] != "Additional response"


def test_every_operation_has_a_description(schema: Any) -> None:
    for name, operation in operations(schema).items():
        assert operation["description"].endswith("."), name


def test_websocket_view_matches_schema(sqlite_server: RunningServer, schema: Any) -> None:
    ann = sqlite_server.guest("Ann")
    validator = Draft202012Validator({"$ref": "#/components/schemas/ViewMessage", **schema})
    for game in ("axio", "hex", "rota", "trio"):
        table = ann.open(game, ["me", "greedy"])
        with ann.live(table.id) as live:
            view = live.until("view")
        assert [error.message for error in validator.iter_errors(view)] == []
        assert [error.message for error in validator.iter_errors(ann.view(table.id))] == []


def test_schema_is_rendered_once_and_cacheable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renderings = 0
    render = JsonRenderPlugin.render

    def counted(*args: Any) -> bytes:
        nonlocal renderings
        renderings += 1
        return render(*args)

    monkeypatch.setattr(JsonRenderPlugin, "render", counted)

    async def work() -> None:
        async with running_app(tmp_path / "secret folder") as app:
            first = await app.request("GET", "/schema/openapi.json")
            second = await app.request("GET", "/schema/openapi.json", (await app.guest("Ann")).token)
            assert renderings == 1
            assert second.body == first.body  # independent of the client
            assert b"secret folder" not in first.body  # independent of the server
            headers = dict(first.headers)
            assert headers[b"cache-control"] == b"max-age=3600"
            assert b"set-cookie" not in headers

    asyncio.run(work())
