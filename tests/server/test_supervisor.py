"""Supervisor: background tasks restart after pauses, and repeated failures are logged without a traceback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from axiogames.server.supervisor import MAX_PAUSE, BackgroundTask, Supervisor, spawn
from tests.server.in_process import TIMEOUT


class Pauses:
    """Sleeps that end on command of the test."""

    def __init__(self) -> None:
        self.requested: list[float] = []
        self._ended = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.requested.append(seconds)
        await self._ended.wait()
        self._ended.clear()

    async def end_current(self) -> None:
        """End the current sleep and wait for the next one."""
        before = len(self.requested)
        self._ended.set()
        await until(lambda: len(self.requested) > before)


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not done():
            await asyncio.sleep(0)


def errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_failed_task_restarts_after_growing_pauses(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        pauses = Pauses()
        supervisor = Supervisor(pauses.sleep)
        failures: list[Exception | None] = [ValueError("one"), ValueError("two"), KeyError("three"), None]

        async def round_() -> None:
            error = failures[min(len(pauses.requested), len(failures) - 1)]
            if error is not None:
                raise error

        task = supervisor.every("a round", 60.0, round_)
        supervisor.start()
        await until(lambda: bool(pauses.requested))
        assert (task.failing, supervisor.failing) == (True, [task])
        for _ in range(3):
            await pauses.end_current()
        assert (task.failing, supervisor.failing, task.restarts) == (False, [], 3)
        assert pauses.requested == [0.5, 1.0, 2.0, 60.0]
        await supervisor.stop()

    asyncio.run(work())
    logged = errors(caplog)
    # The second `ValueError` repeats the first failure and is logged without a traceback.
    assert [str(record.exc_info[1]) for record in logged if record.exc_info] == ["one", "'three'"]
    assert "ValueError" in caplog.text.partition("failed again")[2]


def test_pauses_are_bounded_and_reset_by_success() -> None:
    async def work() -> None:
        pauses = Pauses()
        supervisor, works = Supervisor(pauses.sleep), False

        async def run(task: BackgroundTask) -> None:
            if works:
                task.succeeded()
            raise OSError

        supervisor.add("a task", run)
        supervisor.start()
        for _ in range(8):
            await pauses.end_current()
        assert max(pauses.requested) == pauses.requested[-1] == MAX_PAUSE
        works = True
        await pauses.end_current()
        assert pauses.requested[-1] == 0.5
        await supervisor.stop()

    asyncio.run(work())


def test_round_that_takes_too_long_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.supervisor.ROUND_TIMEOUT", 0.01)

    async def work() -> None:
        supervisor, rounds, stuck = Supervisor(lambda _: asyncio.sleep(0)), 0, asyncio.Event()

        async def round_() -> None:
            nonlocal rounds
            rounds += 1
            if rounds == 1:
                await stuck.wait()

        task = supervisor.every("a round", 60.0, round_)
        supervisor.start()
        await until(lambda: rounds > 1 and not task.failing)
        assert task.restarts == 1
        await supervisor.stop()

    asyncio.run(work())


def test_recover_is_rate_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.supervisor.RECOVER_INTERVAL", 1e9)

    async def work() -> None:
        pauses = Pauses()
        supervisor, attempts = Supervisor(pauses.sleep), 0

        async def run(_: BackgroundTask) -> None:
            nonlocal attempts
            attempts += 1
            raise OSError

        supervisor.add("a task", run)
        supervisor.start()
        await until(lambda: bool(pauses.requested))
        for _ in range(50):
            await supervisor.recover(0.001)
        assert attempts == 2
        await supervisor.stop()

    asyncio.run(work())


def test_recover_ends_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.supervisor.RECOVER_INTERVAL", 0.0)

    async def work() -> None:
        pauses = Pauses()
        supervisor, broken = Supervisor(pauses.sleep), True

        async def round_() -> None:
            if broken:
                raise OSError

        supervisor.every("a round", 60.0, round_)
        supervisor.start()
        await until(lambda: bool(supervisor.failing))
        await supervisor.recover(0.01)
        assert supervisor.failing
        broken = False
        await supervisor.recover(TIMEOUT)
        assert not supervisor.failing
        await supervisor.stop()

    asyncio.run(work())


def test_task_that_cancels_itself_restarts_until_stop() -> None:
    async def work() -> None:
        pauses = Pauses()
        supervisor = Supervisor(pauses.sleep)

        async def run(_: BackgroundTask) -> None:
            raise asyncio.CancelledError

        task = supervisor.add("a task", run)
        supervisor.start()
        await pauses.end_current()
        assert task.failing
        await asyncio.wait_for(supervisor.stop(), TIMEOUT)

    asyncio.run(work())


def test_task_restarts_after_base_exception(caplog: pytest.LogCaptureFixture) -> None:
    class Panic(BaseException):
        """As raised by Rust libraries."""

    async def work() -> None:
        pauses = Pauses()
        supervisor, attempts = Supervisor(pauses.sleep), 0

        async def run() -> None:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                raise Panic

        task = supervisor.every("a task", 60, run)
        supervisor.start()
        await pauses.end_current()
        await until(lambda: attempts == 2 and not task.failing)
        await asyncio.wait_for(supervisor.stop(), TIMEOUT)

    asyncio.run(work())
    assert "a task failed" in caplog.text


def test_finished_task_is_not_failing() -> None:
    async def work() -> None:
        supervisor, attempts = Supervisor(lambda _: asyncio.sleep(0)), 0

        async def run(_: BackgroundTask) -> None:
            nonlocal attempts
            attempts += 1
            if attempts < 3:
                raise RuntimeError

        task = supervisor.add("load", run)
        supervisor.start()
        await until(lambda: task.finished)
        assert (attempts, task.restarts, supervisor.failing) == (3, 2, [])
        await supervisor.stop()

    asyncio.run(work())


def test_failure_of_spawned_task_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ValueError("not awaited")

    async def work() -> None:
        task = spawn(fail(), "something small")
        await asyncio.wait([task])
        await asyncio.sleep(0)

    asyncio.run(work())
    (record,) = errors(caplog)
    assert record.getMessage() == "something small failed"
    assert "not awaited" in caplog.text
