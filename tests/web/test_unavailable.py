"""Responses of an unavailable server, and of a proxy in front of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from axiogames.server.domain.refusals import Unavailable
from axiogames.server.routes.errors import STATUS
from axiogames.server.work_pools import Busy
from axiogames.web.pages import WEB
from tests.demanded import need
from tests.web.conftest import Visit
from tests.web.test_errors import expect_sentence
from tests.web.test_files import texts_of

ERRORS = [Unavailable(), Busy()]

SCRIPT = """
globalThis.addEventListener = () => {};
const { get, onConnectionChange } = await import("./js/shared/api.js");
const responses = JSON.parse(process.argv[2]);
const states = [];
onConnectionChange((connected) => states.push(connected));
const results = [];
for (const { status, body } of responses) {
  globalThis.fetch = async () => {
    if (status === 0) throw new TypeError("connection refused");
    return new Response(body, { status });
  };
  const code = await get("/api/look?" + results.length).then(() => "", (error) => error.code);
  results.push([code, states.at(-1) ?? true]);
}
console.log(JSON.stringify(results));
"""


def error_codes(folder: Path, *responses: tuple[int, str]) -> list[list[Any]]:
    """Return the error code of each response, and whether the page considers itself connected."""
    node = need("node", shutil.which("node"))
    shutil.copytree(WEB / "js", folder / "js")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "requests.js").write_text(SCRIPT)
    argument = json.dumps([{"status": status, "body": body} for status, body in responses])
    done = subprocess.run(
        [node, "requests.js", argument], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    results: list[list[Any]] = json.loads(done.stdout)
    return results


def test_server_error_codes_are_not_treated_as_offline(tmp_path: Path) -> None:
    problems = [
        json.dumps({"status_code": 503, "code": error.code, "detail": str(error)}) for error in ERRORS
    ]
    found = error_codes(
        tmp_path,
        (0, ""),
        *((503, problem) for problem in problems),
        (503, "<h1>Service Unavailable</h1>"),
        (200, "{}"),
        (502, ""),
        (503, '{"status":"the database does not answer"}'),
        (504, "null"),
        (503, problems[0]),
    )
    assert found == [
        ["offline", False],
        ["unavailable", True],
        ["busy", True],
        ["offline", False],
        ["", True],
        ["offline", False],
        ["offline", False],
        ["offline", False],
        ["unavailable", True],
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_server_error_codes_have_texts(language: str) -> None:
    for refusal in ERRORS:
        assert STATUS[refusal.code] == 503
        assert texts_of(language)[f"error.{refusal.code}"] != texts_of(language)["error.offline"]


@pytest.mark.parametrize(("code", "text"), [("unavailable", "reach its memory"), ("busy", "a lot to do")])
def test_unavailable_server_is_not_shown_as_offline(visit: Visit, code: str, text: str) -> None:
    visitor = visit(service_worker=False)
    visitor.allow("503")
    visitor.goto("/")
    visitor.find("[data-play=rota]").wait_for()
    problem = json.dumps({"status_code": 503, "code": code, "detail": "Not now."})
    visitor.page.route(
        "**/api/tables**",
        lambda route: route.fulfill(status=503, content_type="application/json", body=problem),
    )
    visitor.page.evaluate("dispatchEvent(new Event('pageshow'))")  # makes the page request the lists again
    expect_sentence(visitor.find(".toast-error p"), text)
    expect(visitor.find("#offline")).to_be_hidden()
    visitor.click(".toast-error .toast-close")
    visitor.click("[data-play=rota]")
    expect_sentence(visitor.find(".toast-error p"), text)
    expect(visitor.find("#offline")).to_be_hidden()
