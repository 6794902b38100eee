"""Passwords and phrases cannot be guessed, and nobody is locked out by the tries of others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from axiogames.server.routes import identity as people_routes
from axiogames.server.transport import rate_limits as limits_module
from axiogames.server.transport.rate_limits import RateLimit
from tests.server.in_process import App, Guest, running_app


def serve(folder: Path, work: Callable[[App], Coroutine[Any, Any, None]]) -> None:
    """Let a coroutine ask a server with limits."""

    async def run() -> None:
        async with running_app(folder) as app:
            app.server.limits.active = True
            await work(app)

    asyncio.run(run())


class Clock:
    """Stands in for `time` where buckets look at it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


RIGHT = "the right one"


async def log_in(app: App, network: str, password: str, name: str = "anna") -> tuple[int, str]:
    """The status and the code of what is answered to a login."""
    body = {"username": name, "password": password}
    answer = await app.request("POST", "/api/enter", body=body, client=(network, 1))
    return answer.status, answer.json.get("code", "")


async def with_account(app: App) -> Guest:
    """Somebody called anna whose password is `RIGHT`; nobody else's password is ever right."""
    app.server.people._verify = lambda _, password: password == RIGHT  # type: ignore[method-assign, assignment]
    anna = await app.guest("Anna")
    await app.call("POST", "/api/me/account", anna.token, {"username": "anna", "password": RIGHT})
    return anna


WRONG, TOO_FAST = (403, "wrong_secret"), (429, "too_fast")


def test_nobody_is_locked_out_by_tries_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(limits_module, "time", clock)

    async def work(app: App) -> None:
        await with_account(app)
        for number in range(100):  # many networks, one after the other
            name = " Anna " if number % 2 else "anna"
            assert await log_in(app, f"192.0.2.{number}", "x", name) == WRONG
        assert (await log_in(app, "198.51.100.1", RIGHT))[0] == 200  # at home
        for _ in range(30):  # what succeeds costs nothing
            assert (await log_in(app, "198.51.100.1", RIGHT))[0] == 200
        # While others try, a network has one wrong try a minute, and not eight at once.
        assert await log_in(app, "198.51.100.1", "a slip") == WRONG
        assert await log_in(app, "198.51.100.1", RIGHT) == TOO_FAST
        assert (await log_in(app, "198.51.100.2", RIGHT))[0] == 200
        clock.now += 61
        codes = [await log_in(app, "192.0.2.1", "x") for _ in range(3)]
        assert codes == [WRONG, WRONG, TOO_FAST]  # one of everybody's tries, and its own
        assert (await log_in(app, "198.51.100.1", RIGHT))[0] == 200
        clock.now += 2000  # they have given up
        for _ in range(7):
            assert await log_in(app, "198.51.100.1", "a slip") == WRONG
        assert (await log_in(app, "198.51.100.1", RIGHT))[0] == 200

    serve(tmp_path, work)


def test_wrong_passwords_are_charged_to_network_and_account(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        await with_account(app)
        for _ in range(8):
            assert await log_in(app, "192.0.2.1", "x") == WRONG
        assert await log_in(app, "192.0.2.1", RIGHT) == TOO_FAST
        assert (await log_in(app, "192.0.2.2", RIGHT))[0] == 200
        # Who shares the network is not locked out of other accounts, within the bound of the network.
        codes = [await log_in(app, "192.0.2.1", "x", f"name{number}") for number in range(14)]
        assert codes == [WRONG] * 12 + [TOO_FAST] * 2

    serve(tmp_path, work)


def test_concurrent_tries_are_charged_before_they_fail(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        await with_account(app)
        tried: list[str] = []

        def verify(_: str, password: str) -> bool:
            tried.append(password)
            return False

        app.server.people._verify = verify  # type: ignore[method-assign, assignment]
        answers = await asyncio.gather(*(log_in(app, "192.0.2.1", "x") for _ in range(30)))
        busy = answers.count((503, "busy"))
        assert len(tried) == answers.count(WRONG) <= 8
        assert answers.count(WRONG) + busy + answers.count(TOO_FAST) == 30
        left = 8 - len(tried)
        codes = [await log_in(app, "192.0.2.1", "x") for _ in range(left + 1)]
        # What was not looked at has cost nothing.
        assert codes == [WRONG] * left + [TOO_FAST]

    serve(tmp_path, work)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/me/phrase", {"old_password": "x"}),
        ("POST", "/api/me/account", {"username": "anna", "password": "another one", "old_password": "x"}),
        ("DELETE", "/api/me", {"password": "x"}),
    ],
)
def test_stolen_session_does_not_help_guessing_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: dict[str, str]
) -> None:
    # Exports and deletions have a pace of their own.
    monkeypatch.setattr(people_routes, "PERSONAL_DATA", RateLimit(1000, 1000.0))

    async def work(app: App) -> None:
        anna = await with_account(app)
        codes = []
        for _ in range(10):
            answer = await app.request(method, path, anna.token, body, client=("192.0.2.1", 1))
            codes.append(answer.json["code"])
        assert codes == ["wrong_secret"] * 8 + ["too_fast"] * 2
        assert await log_in(app, "192.0.2.1", RIGHT) == TOO_FAST  # the same tries
        answer = await app.request("POST", "/api/me/phrase", anna.token, {"old_password": RIGHT})
        assert answer.status == 200

    serve(tmp_path, work)


def test_wrong_phrases_lock_out_no_other_network(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        anna = await app.guest("Anna")
        phrase = (await app.call("POST", "/api/me/phrase", anna.token))["phrase"]
        for number in range(300):
            client = (f"192.{number // 250}.{number % 250}.1", 1)
            answer = await app.request("POST", "/api/enter", body={"phrase": "x"}, client=client)
            assert answer.json["code"] == "wrong_secret"
        for _ in range(12):
            answer = await app.request("POST", "/api/enter", body={"phrase": phrase}, client=("192.0.2.1", 1))
            assert answer.status == 200

    serve(tmp_path, work)
