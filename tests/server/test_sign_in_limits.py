"""Rate limits of password and phrase attempts, which never lock out the owner of an account."""

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
    """Run a coroutine with an application that applies rate limits."""

    async def run() -> None:
        async with running_app(folder) as app:
            app.server.limits.active = True
            await work(app)

    asyncio.run(run())


class Clock:
    """Replacement for the module `time` in rate limits."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


RIGHT = "the right one"


async def sign_in(app: App, network: str, password: str, name: str = "anna") -> tuple[int, str]:
    """Try to sign in, and return the status and error code of the response."""
    body = {"username": name, "password": password}
    response = await app.request("POST", "/api/enter", body=body, client=(network, 1))
    return response.status, response.json.get("code", "")


async def create_account(app: App) -> Guest:
    """Create the account `anna`. The password check is a stub that accepts only `RIGHT`."""
    app.server.people._verify = lambda _, password: password == RIGHT  # type: ignore[method-assign, assignment]
    anna = await app.guest("Anna")
    await app.call("POST", "/api/me/account", anna.token, {"username": "anna", "password": RIGHT})
    return anna


WRONG, TOO_FAST = (403, "wrong_secret"), (429, "too_fast")


def test_owner_is_not_locked_out_by_attempts_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(limits_module, "time", clock)

    async def work(app: App) -> None:
        await create_account(app)
        for number in range(100):  # from many networks in sequence
            name = " Anna " if number % 2 else "anna"
            assert await sign_in(app, f"192.0.2.{number}", "x", name) == WRONG
        assert (await sign_in(app, "198.51.100.1", RIGHT))[0] == 200  # from another network
        for _ in range(30):  # successful attempts are not charged
            assert (await sign_in(app, "198.51.100.1", RIGHT))[0] == 200
        # Beyond the shared limit, a network has one wrong attempt per minute.
        assert await sign_in(app, "198.51.100.1", "wrong") == WRONG
        assert await sign_in(app, "198.51.100.1", RIGHT) == TOO_FAST
        assert (await sign_in(app, "198.51.100.2", RIGHT))[0] == 200
        clock.now += 61
        codes = [await sign_in(app, "192.0.2.1", "x") for _ in range(3)]
        assert codes == [WRONG, WRONG, TOO_FAST]  # one attempt of the shared limit, one of its own
        assert (await sign_in(app, "198.51.100.1", RIGHT))[0] == 200
        clock.now += 2000  # the limits have recovered
        for _ in range(7):
            assert await sign_in(app, "198.51.100.1", "wrong") == WRONG
        assert (await sign_in(app, "198.51.100.1", RIGHT))[0] == 200

    serve(tmp_path, work)


def test_wrong_passwords_are_charged_to_network_and_account(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        await create_account(app)
        for _ in range(8):
            assert await sign_in(app, "192.0.2.1", "x") == WRONG
        assert await sign_in(app, "192.0.2.1", RIGHT) == TOO_FAST
        assert (await sign_in(app, "192.0.2.2", RIGHT))[0] == 200
        # Other accounts can be used from the same network, up to the limit of the network.
        codes = [await sign_in(app, "192.0.2.1", "x", f"name{number}") for number in range(14)]
        assert codes == [WRONG] * 12 + [TOO_FAST] * 2

    serve(tmp_path, work)


def test_concurrent_attempts_are_charged_before_they_fail(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        await create_account(app)
        checked: list[str] = []

        def verify(_: str, password: str) -> bool:
            checked.append(password)
            return False

        app.server.people._verify = verify  # type: ignore[method-assign, assignment]
        responses = await asyncio.gather(*(sign_in(app, "192.0.2.1", "x") for _ in range(30)))
        busy = responses.count((503, "busy"))
        assert len(checked) == responses.count(WRONG) <= 8
        assert responses.count(WRONG) + busy + responses.count(TOO_FAST) == 30
        remaining = 8 - len(checked)
        codes = [await sign_in(app, "192.0.2.1", "x") for _ in range(remaining + 1)]
        # Attempts that were not checked are not charged.
        assert codes == [WRONG] * remaining + [TOO_FAST]

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
    # Exports and deletions have another rate limit.
    monkeypatch.setattr(people_routes, "PERSONAL_DATA", RateLimit(1000, 1000.0))

    async def work(app: App) -> None:
        anna = await create_account(app)
        codes = []
        for _ in range(10):
            response = await app.request(method, path, anna.token, body, client=("192.0.2.1", 1))
            codes.append(response.json["code"])
        assert codes == ["wrong_secret"] * 8 + ["too_fast"] * 2
        assert await sign_in(app, "192.0.2.1", RIGHT) == TOO_FAST  # the same limit
        response = await app.request("POST", "/api/me/phrase", anna.token, {"old_password": RIGHT})
        assert response.status == 200

    serve(tmp_path, work)


def test_wrong_phrases_do_not_lock_out_other_networks(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        anna = await app.guest("Anna")
        phrase = (await app.call("POST", "/api/me/phrase", anna.token))["phrase"]
        for number in range(300):
            client = (f"192.{number // 250}.{number % 250}.1", 1)
            response = await app.request("POST", "/api/enter", body={"phrase": "x"}, client=client)
            assert response.json["code"] == "wrong_secret"
        for _ in range(12):
            response = await app.request(
                "POST", "/api/enter", body={"phrase": phrase}, client=("192.0.2.1", 1)
            )
            assert response.status == 200

    serve(tmp_path, work)
