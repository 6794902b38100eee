"""Hints and bots on a shared machine: hints delay no game, and bot moves are queued fairly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from axiogames.analysis.review.hints import best_moves as real_best_moves
from axiogames.players import PLAYERS
from axiogames.players.bots.simple import Greedy
from axiogames.server.domain import bots as bots_module
from axiogames.server.transport.rate_limits import HINTS
from axiogames.server.work_pools import QueueLimits
from tests.server.in_process import App, Guest, Socket, running_app
from tests.server.rooms import run, until

GAME = "rota"


class SlowHints:
    """Delays hints until `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.computed = 0
        monkeypatch.setattr(bots_module, "best_moves", self._hint)
        monkeypatch.setattr(bots_module, "HINT_ROLLOUTS", 40)

    def _hint(self, *args: Any) -> Any:
        assert self.go.wait(30)
        self.computed += 1
        return real_best_moves(*args)


class SeatedGuest:
    """A guest at a table with a bot, and their WebSocket. It is their turn."""

    def __init__(self, app: App, guest: Guest, table: str, socket: Socket, n: int) -> None:
        self.app, self.guest, self.table, self.socket, self.n = app, guest, table, socket, n

    @classmethod
    async def sit(cls, app: App, name: str = "Ann") -> SeatedGuest:
        guest = await app.guest(name)
        seats = [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]
        table = (await app.open(guest, GAME, seats))["id"]
        return await cls.join(app, guest, table)

    @classmethod
    async def join(cls, app: App, guest: Guest, table: str) -> SeatedGuest:
        socket = await app.socket(table, guest.token)
        view = await socket.until(lambda message: message["type"] == "view")
        return cls(app, guest, table, socket, view["n"])

    async def reconnect(self) -> SeatedGuest:
        """Open another WebSocket for the same guest."""
        return await self.join(self.app, self.guest, self.table)

    def request(self, message_id: str = "h") -> None:
        self.socket.send(do="hint", id=message_id, n=self.n)

    async def answer(self, message_id: str = "h") -> dict[str, Any]:
        return await self.socket.until(lambda message: message.get("id") == message_id)


def run_app(tmp_path: Path, work: Callable[[App], Coroutine[Any, Any, None]], **settings: Any) -> None:
    async def main() -> None:
        async with running_app(tmp_path, **settings) as app:
            await work(app)

    run(main)


def test_bots_move_while_hints_are_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowHints(monkeypatch)

    async def work(app: App) -> None:
        hostile = [await SeatedGuest.sit(app, f"Mallory {number}") for number in range(4)]
        honest = await SeatedGuest.sit(app)
        for guest in hostile:
            guest.request()
        advice = app.server.bots.advice
        await until(lambda: (advice.running, advice.waiting) == (1, (3,)))
        try:
            honest.socket.send(do="move", id="m", n=honest.n, pick=0)
            await honest.socket.until_entry(honest.n + 2)  # the bot has moved
            assert slow.computed == 0
        finally:
            slow.go.set()
        for guest in hostile:
            assert (await guest.answer())["type"] == "hint"

    run_app(tmp_path, work)


def test_one_hint_at_a_time_per_person_across_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowHints(monkeypatch)

    async def work(app: App) -> None:
        ann = await SeatedGuest.sit(app)
        more = [await ann.reconnect() for _ in range(5)]
        ann.request()
        await until(lambda: app.server.bots.advice.running == 1)
        for other in more:
            other.request()
            refused = await other.answer()
            assert (refused["type"], refused["code"]) == ("refused", "too_fast")
        ann.request("again")  # the room handles messages meanwhile
        assert (await ann.answer("again"))["code"] == "too_fast"
        slow.go.set()
        assert (await ann.answer())["type"] == "hint"
        await until(lambda: len(app.server.hints) == 0)
        more[0].request("later")
        assert (await more[0].answer("later"))["type"] == "hint"

    run_app(tmp_path, work)


def test_disconnecting_cancels_the_queued_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowHints(monkeypatch)

    async def work(app: App) -> None:
        first, gone, stays = [await SeatedGuest.sit(app, name) for name in ("Ann", "Bob", "Cid")]
        advice = app.server.bots.advice
        for guest in (first, gone, stays):
            guest.request()
        await until(lambda: advice.waiting == (2,))
        await gone.socket.close()
        app.sockets.remove(gone.socket)
        await until(lambda: advice.waiting == (1,))
        returned = await gone.reconnect()
        returned.request()
        await until(lambda: advice.waiting == (2,))
        slow.go.set()
        for guest in (first, stays, returned):
            assert (await guest.answer())["type"] == "hint"
        assert slow.computed == 3

    run_app(tmp_path, work)


def test_one_network_fills_only_part_of_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowHints(monkeypatch)

    async def work(app: App) -> None:
        guests = [await SeatedGuest.sit(app, f"Mallory {number}") for number in range(12)]
        ann = await SeatedGuest.sit(app)
        for guest in guests:
            guest.request()
        advice = app.server.bots.advice
        await until(lambda: advice.refused == 5)
        assert (advice.running, advice.waiting) == (1, (6,))
        assert (await guests[-1].answer())["code"] == "busy"
        app.server.bots.requesters.note(ann.guest.id, "elsewhere")
        ann.request()
        await until(lambda: advice.waiting == (7,))
        slow.go.set()
        assert (await ann.answer())["type"] == "hint"
        assert slow.computed <= 4  # the running hint, one of the other network, then Ann's

    run_app(tmp_path, work)


def test_hints_are_rate_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowHints(monkeypatch)
    slow.go.set()

    async def work(app: App) -> None:
        ann = await SeatedGuest.sit(app)
        app.server.limits.active = True
        codes = []
        for number in range(int(HINTS.burst) + 20):
            ann.request(str(number))
            message = await ann.answer(str(number))
            codes.append(message.get("code"))
            if codes[-1] is not None:
                break
            await until(lambda: len(app.server.hints) == 0)
        assert codes[-1] == "too_fast"
        assert len(codes) > HINTS.burst

    run_app(tmp_path, work)


def test_failing_hint_is_refused_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(bots_module, "best_moves", broken)

    async def work(app: App) -> None:
        ann = await SeatedGuest.sit(app)
        ann.request()
        assert (await ann.answer())["code"] == "busy"
        await until(lambda: len(app.server.hints) == 0)

    run_app(tmp_path, work)
    assert "a hint at table" in caplog.text


class BlockedBot:
    """A bot that does not respond until `go` is set."""

    name = "blocked"
    go = threading.Event()

    def choose(self, *args: Any) -> Any:
        assert self.go.wait(30)
        return Greedy().choose(*args)


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Replace one of the offered bots by `BlockedBot`. Setting the event lets it respond."""
    go = threading.Event()
    monkeypatch.setattr(BlockedBot, "go", go)
    monkeypatch.setitem(PLAYERS, "level8", BlockedBot)
    return go


def test_hanging_bot_is_logged_counted_and_replaced(
    tmp_path: Path, blocked: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(app: App) -> None:
        pool = app.server.bots.moves
        pool.job_timeout = 0.0
        try:
            ann = await app.guest("Ann")
            seats = [{"kind": "me"}, {"kind": "bot", "level": "level8"}]
            table = (await app.open(ann, GAME, seats))["id"]
            socket = await app.socket(table, ann.token)
            n = (await socket.until(lambda message: message["type"] == "view"))["n"]
            socket.send(do="move", id="m", n=n, pick=0)
            await socket.until_entry(n + 2)  # a random move was played instead
            assert (pool.timed_out, pool.timeouts) == (1, 1)
            pool.job_timeout = None
            other = await SeatedGuest.sit(app, "Bob")  # served by a spare thread
            other.socket.send(do="move", id="m", n=other.n, pick=0)
            await other.socket.until_entry(other.n + 2)
        finally:
            blocked.set()
        await until(lambda: pool.timed_out == pool.running == 0)

    run_app(tmp_path, work)
    assert "the bot level8 does not respond" in caplog.text


def test_bot_moves_are_queued_fairly_between_people(
    tmp_path: Path, blocked: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds: dict[str, float] = {}

    class TimedBot:
        name = "timed"

        def choose(self, view: Any, budget: Any, rng: Any) -> Any:
            assert blocked.wait(30)
            seconds[f"move {len(seconds)}"] = budget.seconds
            return Greedy().choose(view, budget, rng)

    monkeypatch.setitem(PLAYERS, "level8", TimedBot)

    async def work(app: App) -> None:
        bots, pool = app.server.bots, app.server.bots.moves
        ann = await SeatedGuest.sit(app)
        table = (await app.server.rooms.get(ann.table)).game.table
        assert table is not None
        order: list[str] = []

        async def choose(person: str) -> None:
            await bots.choose("level8", table.view(table.turn), person)
            order.append(person)

        for guest in range(4):
            bots.requesters.note(f"mallory{guest}", "6.6.6.6")
        tasks = [asyncio.create_task(choose(f"mallory{number % 4}")) for number in range(40)]
        await until(lambda: pool.waiting == (39,))
        tasks.append(asyncio.create_task(choose("ann")))
        await until(lambda: pool.waiting == (40,))
        blocked.set()
        await asyncio.gather(*tasks)
        assert order.index("ann") <= 2
        times = list(seconds.values())
        # Two networks share a thread; the one of Mallory has four guests with ten bots each.
        assert times[order.index("ann")] == pytest.approx(0.5)
        assert min(times) <= 1 / 80 + 1e-9

    run_app(tmp_path, work)


def test_bot_waits_for_a_full_queue(
    tmp_path: Path, blocked: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots_module, "MOVE_QUEUE", QueueLimits(1))
    monkeypatch.setattr(bots_module, "RETRY_SECONDS", 0.0)

    async def work(app: App) -> None:
        bots = app.server.bots
        ann = await SeatedGuest.sit(app)
        table = (await app.server.rooms.get(ann.table)).game.table
        assert table is not None
        tasks = [asyncio.create_task(bots.choose("level8", table.view(table.turn), "ann")) for _ in range(4)]
        await until(lambda: bots.moves.refused >= 2)
        blocked.set()
        for choice in await asyncio.gather(*tasks):
            assert choice.move in list(table.legal_moves())

    run_app(tmp_path, work)
