"""Fair sharing of the server: expensive requests of one client are delayed or refused."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from axiogames.server.transport import fair_share
from tests.games.conformance.positions import Case
from tests.server.in_process import App, Guest, Response, running_app
from tests.server.rooms import run, until
from tests.server.scenarios import TABLE, install, play_scenario


class SlowHasher:
    """Hashes passwords once `go` is set, and records their order."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.order: list[str] = []

    def hash(self, password: str) -> str:
        assert self.go.wait(20)
        self.order.append(password)
        return password

    def verify(self, secret: str, password: str) -> bool:
        assert self.go.wait(20)
        self.order.append(f"login {password}")
        return secret == password


async def account(app: App, guest: Guest, name: str) -> Response:
    body = {"username": name, "password": f"secret of {name}"}
    return await app.request("POST", "/api/me/account", guest.token, body)


def test_login_does_not_wait_behind_guest_accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            slow = SlowHasher()
            monkeypatch.setattr(app.server.people, "_hasher", slow)
            ann = await app.guest("Ann")
            slow.go.set()
            assert (await account(app, ann, "ann")).status == 200
            slow.go.clear()
            hostile = [await app.guest("Mallory") for _ in range(30)]
            tasks = [
                asyncio.create_task(account(app, guest, f"mallory{number}"))
                for number, guest in enumerate(hostile)
            ]
            hashing = app.server.people.hashing
            await until(lambda: hashing.running + sum(hashing.waiting) + hashing.refused == len(hostile))
            login = {"username": "ann", "password": "secret of ann"}
            logging_in = asyncio.create_task(app.request("POST", "/api/enter", body=login))
            await until(lambda: hashing.waiting[0] == 1)
            slow.go.set()
            assert (await logging_in).status == 200
            answers = await asyncio.gather(*tasks)
            # The login comes after Ann's account and the job that was already running.
            assert slow.order.index("login secret of ann") == 2
            statuses = sorted(answer.status for answer in answers)
            # One is running, and an address may have five queued.
            assert statuses == [200] * 6 + [503] * 24
            refused = next(answer for answer in answers if answer.status == 503)
            assert refused.json["code"] == "busy"
            assert dict(refused.headers)[b"retry-after"] == b"5"

    run(work)


def test_replays_are_built_one_at_a_time_without_blocking_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_share, "SLICE_SECONDS", -1.0)  # pause after every entry
    scenario = play_scenario(Case("rota", 2), "people")

    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install(app, scenario)
            path = f"/api/tables/{TABLE}/replay"
            alone = await app.call("GET", path)
            iterations = 0
            tasks = [asyncio.create_task(app.call("GET", path)) for _ in range(5)]
            while not all(task.done() for task in tasks):  # they may start in any order
                iterations += 1
                await asyncio.sleep(0)
            assert await asyncio.gather(*tasks) == [alone] * 5
            # The replays are built one after another, and other tasks run between any two entries.
            assert iterations > 4 * len(scenario.log)

    run(work)


def test_repeated_replay_requests_are_delayed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install(app, play_scenario(Case("rota", 2), "people"))
            app.server.limits.active = True
            # Shares of the event loop would delay the requests, which would then stay below the rate limit.
            app.server.limits.loop.active = False
            replay = f"/api/tables/{TABLE}/replay"
            assert (await app.request("GET", replay)).status == 200
            for _ in range(5_000):  # enough on a slow machine, where the bucket refills meanwhile
                answer = await app.request("GET", replay)
                if answer.status != 200:
                    break
            assert (answer.status, answer.json["code"]) == (429, "too_fast")

    run(work)
