"""Pictures: rendered in a separate process, once each, with a fair queue."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from axiogames.games import GAMES, figures, find_variant
from axiogames.server.rendering import pictures
from axiogames.server.rendering import process as process_module
from axiogames.server.rendering.pictures import ByteCache
from axiogames.server.rendering.process import RenderFailed, RenderProcess
from axiogames.server.rendering.worker import RenderRequest, render
from tests.games.conformance.positions import Case
from tests.server.in_process import App, Response, _identity, _scope, running_app
from tests.server.rooms import run, until
from tests.server.scenarios import TABLE, install, play_scenario

FIGURE = RenderRequest(GAMES[0], figure=figures(GAMES[0])[0])


# ---------------------------------------------------------------- the process


@pytest.fixture
def process() -> Iterator[RenderProcess]:
    running = RenderProcess()
    yield running
    running.close()
    assert running.pid is None


def ended(pid: int) -> bool:
    """Return whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_process_renders_the_same_bytes(process: RenderProcess) -> None:
    variant = find_variant("rota", 3)
    content = variant.content(variant.opening, ())
    for request in (
        FIGURE,
        RenderRequest("rota", 3, content=content, dark=True),
        RenderRequest("rota", 3, content=content, png=True),
    ):
        assert process.render(request) == render(request)


def test_killed_process_is_replaced(process: RenderProcess) -> None:
    first = process.render(FIGURE)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    killed = process.pid
    assert process.render(FIGURE) == first
    assert process.pid != killed


def test_process_is_replaced_after_a_number_of_pictures(
    process: RenderProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "PICTURES_PER_PROCESS", 2)
    used = []
    for _ in range(5):
        process.render(FIGURE)
        assert process.pid is not None
        used.append(process.pid)
    assert [used.count(pid) for pid in dict.fromkeys(used)] == [2, 2, 1]
    assert all(ended(pid) for pid in used[:4])


def test_render_timeout_fails_one_picture_only(
    process: RenderProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "RENDER_TIMEOUT", 0.0)
    with pytest.raises(RenderFailed) as refused:
        process.render(FIGURE)
    assert "ended twice" in refused.value.reason
    monkeypatch.undo()
    assert process.render(FIGURE).startswith(b"<svg")


def test_failed_picture_does_not_end_the_process(process: RenderProcess) -> None:
    with pytest.raises(RenderFailed) as refused:
        process.render(RenderRequest(GAMES[0], figure="nothing"))
    assert "UnknownFigure" in refused.value.reason
    used = process.pid
    assert process.render(FIGURE).startswith(b"<svg")
    assert process.pid == used


def test_process_ends_with_the_server(process: RenderProcess) -> None:
    process.render(FIGURE)
    running = process._process
    assert running is not None
    assert running.stdin is not None
    running.stdin.close()  # as if the server were killed
    assert running.wait(20) == 0


def test_closed_process_is_not_restarted(process: RenderProcess) -> None:
    process.render(FIGURE)
    pid = process.pid
    assert pid is not None
    process.close()
    assert ended(pid)
    with pytest.raises(RenderFailed):
        process.render(FIGURE)


@pytest.mark.skipif(sys.platform != "linux", reason="requires /proc")
def test_process_inherits_no_secrets(process: RenderProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXIO_SERVER", "the password of the database")
    monkeypatch.setenv("AXIO_KEY", "the secret key")
    process.render(FIGURE)
    folder = Path(f"/proc/{process.pid}")
    assert b"AXIO" not in (folder / "environ").read_bytes()
    names = [os.readlink(file) for file in (folder / "fd").iterdir()]
    assert sorted(name.partition(":")[0] for name in names) == ["/dev/null", "/dev/null", "pipe", "pipe"]


# ---------------------------------------------------------------- cache


def test_byte_cache_evicts_least_recently_used() -> None:
    cache = ByteCache(10)
    for key in "abc":
        cache.put(key, b"xxx")
    assert cache.get("a") == b"xxx"  # used, so b is now the least recently used
    cache.put("d", b"yyyy")
    assert [cache.get(key) for key in "abcd"] == [b"xxx", None, b"xxx", b"yyyy"]
    cache.put("d", b"y")
    assert cache.size == 7
    cache.put("large", b"z" * 11)
    assert (cache.get("large"), cache.size, len(cache)) == (None, 7, 3)


# ---------------------------------------------------------------- routes


class BlockedRenderer:
    """Renders only after `go` is set, and records the requests."""

    def __init__(self, app: App) -> None:
        self.go = threading.Event()
        self.requests: list[RenderRequest] = []
        app.server.pictures.render = self.render

    def render(self, request: RenderRequest) -> bytes:
        assert self.go.wait(20)
        self.requests.append(request)
        return b"<svg/>"


async def install_finished_game(app: App) -> None:
    """Install a finished game, which has a picture of each move."""
    await install(app, play_scenario(Case("axio", 2), "people"))


def path(move: int, kind: str = "png") -> str:
    return f"/api/tables/{TABLE}/picture.{kind}?move={move}"


def statuses(responses: list[Response]) -> dict[int, int]:
    """Return the number of responses by status."""
    codes = [response.status for response in responses]
    return {status: codes.count(status) for status in sorted(set(codes))}


def test_picture_queue_is_bounded_and_blocks_nothing_else(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            slow = BlockedRenderer(app)
            requests = [asyncio.create_task(app.request("GET", path(move))) for move in range(30)]
            pool = app.server.pictures.pool
            await until(lambda: sum(task.done() for task in requests) == 21)
            assert (pool.running, pool.waiting) == (1, (0, 0, 8))  # eight queued pictures per address
            refused = next(task.result() for task in requests if task.done())
            assert refused.json["code"] == "busy"
            assert dict(refused.headers)[b"retry-after"]
            # Other requests are answered, and faster pictures are rendered first.
            assert (await app.request("GET", "/health")).status == 200
            quick = asyncio.create_task(app.request("GET", path(3, "svg")))
            fixed = asyncio.create_task(
                app.request("GET", f"/api/games/{GAMES[0]}/figures/{FIGURE.figure}.svg")
            )
            await until(lambda: pool.waiting == (1, 1, 8))
            slow.go.set()
            responses = await asyncio.gather(*requests, quick, fixed)
            assert statuses(list(responses)) == {200: 11, 503: 21}
            assert [(request.png, bool(request.figure)) for request in slow.requests[:4]] == [
                (True, False),
                (False, True),
                (False, False),
                (True, False),
            ]

    run(work)


def test_concurrent_requests_share_one_render(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            slow = BlockedRenderer(app)
            requests = [asyncio.create_task(app.request("GET", path(3))) for _ in range(40)]
            await until(lambda: app.server.pictures.pool.running == 1)
            await app.request("GET", "/health")
            slow.go.set()
            assert statuses(list(await asyncio.gather(*requests))) == {200: 40}
            assert (await app.request("GET", path(3))).status == 200
            assert len(slow.requests) == 1
            # Every move number after the last one names the last position.
            for move in (100, 200, 1000):
                await app.request("GET", path(move))
            assert len(slow.requests) == 2
            for _ in range(3):
                await app.request("GET", f"/api/games/{GAMES[0]}/figures/{FIGURE.figure}.svg")
                await app.request("GET", f"/api/games/{GAMES[0]}/picture.svg")
            assert len(slow.requests) == 4

    run(work)


def test_pictures_depend_on_seat_and_move(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann, bob = await app.guest("Ann"), await app.guest("Bob")
            table = await app.open(ann, "axio", [{"kind": "me"}, {"kind": "open"}])
            await app.call("POST", f"/api/tables/{table['id']}/join", bob.token, {"invite": table["invite"]})
            address = f"/api/tables/{table['id']}/picture.svg"

            async def pictures_of_all() -> list[bytes]:
                return [
                    (await app.request("GET", address, token)).body for token in (ann.token, bob.token, "")
                ]

            before = await pictures_of_all()
            assert len(set(before)) == 3
            assert await pictures_of_all() == before
            move = {"id": "1", "n": 3, "pick": 0}
            await app.call("POST", f"/api/tables/{table['id']}/moves", ann.token, move)
            assert not set(await pictures_of_all()) & set(before)

    run(work)


def test_picture_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            cache = app.server.pictures.cache = ByteCache(100_000)
            for move in range(12):
                assert (await app.request("GET", path(move, "svg"))).status == 200
            assert 1 <= len(cache) < 12
            assert cache.size <= 100_000

    run(work)


def test_pictures_are_rate_limited(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            BlockedRenderer(app).go.set()
            app.server.limits.active = True
            responses = [await app.request("GET", path(move % 9)) for move in range(150)]
            counts = statuses(responses)
            assert counts[429] >= 10
            assert responses[-1].json["code"] == "too_fast"
            # Another address is not affected.
            scope = _scope("http", path(3), []) | {"method": "GET", "client": ("192.0.2.7", 1)}
            assert (await request_status(app, scope)) == 200

    run(work)


async def request_status(
    app: App, scope: dict[str, Any], disconnect: asyncio.Event | None = None
) -> int | None:
    """Return the status of the response, or `None` if `disconnect` is set before there is one."""
    sent: list[dict[str, Any]] = []
    request_sent = False

    async def receive() -> dict[str, Any]:
        nonlocal request_sent
        if not request_sent:
            request_sent = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await (disconnect or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app.asgi(scope, receive, send)
    return next((message["status"] for message in sent if "status" in message), None)


def test_cancelled_request_is_not_rendered(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            slow, disconnect = BlockedRenderer(app), asyncio.Event()
            pool = app.server.pictures.pool
            first = asyncio.create_task(app.request("GET", path(1)))
            await until(lambda: pool.running == 1)
            scopes = [_scope("http", path(move), _identity("")) | {"method": "GET"} for move in (2, 2, 3)]
            leaving = [asyncio.create_task(request_status(app, scope, disconnect)) for scope in scopes]
            stays = asyncio.create_task(app.request("GET", path(3)))
            await until(lambda: pool.waiting == (0, 0, 2))
            disconnect.set()
            await asyncio.gather(*leaving)
            assert pool.waiting == (0, 0, 1)  # the other picture still has a waiter
            slow.go.set()
            assert statuses([await first, await stays]) == {200: 2}
            assert len(slow.requests) == 2

    run(work)


def test_render_failure_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(request: RenderRequest) -> bytes:
        raise RenderFailed("injected failure")

    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install_finished_game(app)
            app.server.pictures.render = fail
            with caplog.at_level(logging.ERROR, logger=pictures.__name__):
                response = await app.request("GET", path(1))
            assert (response.status, response.json["code"]) == (503, "unavailable")
            assert "injected failure" in caplog.text
            assert b"injected" not in response.body
            app.server.pictures.render = render
            assert (await app.request("GET", path(1, "svg"))).body.startswith(b"<svg")

    run(work)


def test_concurrent_requests_for_all_examples(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            requests = [app.request("GET", f"/api/games/{name}/picture.svg") for name in GAMES]
            assert [response.status for response in await asyncio.gather(*requests)] == [200] * len(GAMES)

    run(work)
