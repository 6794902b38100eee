"""Background tasks: restarted after failures, logged, and reported by `/health` and the metrics.

    supervisor.every("retention", 3600, retention.run)  # periodic: one round per hour
    supervisor.add("listen", listen)  # long-running
    supervisor.start()

A failed task is restarted after a pause, which doubles up to `MAX_PAUSE`. A task counts as failing from its
exception until a round completes or it calls `succeeded`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

from ..errors import AxioError

MIN_PAUSE, MAX_PAUSE = 0.5, 5.0  # seconds before a failed task is restarted
RECOVER_INTERVAL = 1.0  # minimum seconds between early restarts by `Supervisor.recover`
ROUND_TIMEOUT = 300.0  # seconds for one round of a periodic task

log = logging.getLogger(__name__)

_spawned: set[asyncio.Task[Any]] = set()


class BackgroundTask:
    """State of a background task."""

    def __init__(self, name: str, changed: asyncio.Event, *, essential: bool) -> None:
        self.name = name
        self.essential = essential  # the server is unhealthy while an essential task fails
        self.restarts = 0
        self.error = ""  # class name of the last failure, empty after a success
        self.finished = False
        self.pause = MIN_PAUSE
        self._changed = changed

    @property
    def failing(self) -> bool:
        """Whether the task has failed and not succeeded since."""
        return bool(self.error)

    def succeeded(self) -> None:
        """Report that the task works."""
        if self.error:
            log.warning("background task %s recovered", self.name)
        self.error, self.pause = "", MIN_PAUSE
        self._changed.set()

    def failed(self, error: BaseException) -> None:
        """Log a failure. Expected errors and repeated ones are logged without a traceback."""
        kind = type(error).__name__
        if kind == self.error:
            log.warning("background task %s failed again: %s", self.name, kind)
        elif isinstance(error, AxioError):  # such as a database outage
            log.error("background task %s failed: %s", self.name, error)
        else:
            log.error("background task %s failed", self.name, exc_info=error)
        self.error = kind


Run: TypeAlias = Callable[[BackgroundTask], Awaitable[None]]
Sleep: TypeAlias = Callable[[float], Coroutine[Any, Any, None]]


class Supervisor:
    """Runs the background tasks of a server."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._running: list[asyncio.Task[None]] | None = None
        self._runs: list[Run] = []
        self._wake, self._changed = asyncio.Event(), asyncio.Event()
        self._last_recovery = -RECOVER_INTERVAL
        self.tasks: list[BackgroundTask] = []

    @property
    def failing(self) -> list[BackgroundTask]:
        """Essential tasks that have failed and not succeeded since."""
        return [task for task in self.tasks if task.essential and task.failing]

    def add(self, name: str, run: Run, *, essential: bool = True) -> BackgroundTask:
        """Register a long-running task. Call before `start`.

        Args:
            name: Name in logs, `/health` and metrics.
            run: The task. Its argument is the task's state; call `succeeded()` on it once the task works.
                The task ends when `run` returns.
            essential: Whether the server is unhealthy while the task fails.
        """
        task = BackgroundTask(name, self._changed, essential=essential)
        self.tasks.append(task)
        self._runs.append(run)
        return task

    def every(
        self, name: str, seconds: float, run: Callable[[], Awaitable[None]], *, essential: bool = True
    ) -> BackgroundTask:
        """Register a periodic task with `seconds` between rounds. The first round starts at once.

        Call before `start`. A round that takes longer than `ROUND_TIMEOUT` counts as failed.
        """

        async def repeat(task: BackgroundTask) -> None:
            while True:
                async with asyncio.timeout(ROUND_TIMEOUT):
                    await run()
                task.succeeded()
                await self._sleep(seconds)

        return self.add(name, repeat, essential=essential)

    def start(self) -> None:
        """Start all tasks."""
        assert self._running is None, "started already"
        self._running = [
            asyncio.create_task(self._supervise(task, run), name=task.name)
            for task, run in zip(self.tasks, self._runs, strict=True)
        ]

    async def recover(self, seconds: float) -> None:
        """Restart failed tasks now, and wait up to `seconds` until no essential task fails.

        Frequent calls restart tasks at most once per `RECOVER_INTERVAL`.
        """
        if time.monotonic() >= self._last_recovery + RECOVER_INTERVAL:
            self._last_recovery = time.monotonic()
            self._wake.set()
            self._wake = asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.failing:
                    self._changed.clear()
                    await self._changed.wait()

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        running, self._running = self._running or [], None
        for running_task in running:
            running_task.cancel()
        results = await asyncio.gather(*running, return_exceptions=True)
        for task, result in zip(self.tasks, results, strict=False):
            if isinstance(result, Exception):
                log.error("background task %s failed while it was stopped", task.name, exc_info=result)

    async def _supervise(self, task: BackgroundTask, run: Run) -> None:
        while True:
            try:
                await run(task)
            except asyncio.CancelledError as error:
                if _is_cancelled():
                    raise
                task.failed(error)  # an awaited future was cancelled, not the task itself
            except (KeyboardInterrupt, SystemExit, GeneratorExit):
                raise
            except BaseException as error:  # such as a panic in a Rust library
                task.failed(error)
            else:
                task.succeeded()
                task.finished = True
                return
            pause, task.pause = task.pause, min(2 * task.pause, MAX_PAUSE)
            await self._pause(pause)
            task.restarts += 1

    async def _pause(self, seconds: float) -> None:
        """Sleep until the time is over or `recover` is called."""
        waits = {asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._wake.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _is_cancelled() -> bool:
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def spawn(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Start a task that is not awaited. A reference is kept until it ends, and a failure is logged."""

    def on_done(task: asyncio.Task[Any]) -> None:
        _spawned.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", name, exc_info=error)

    task = asyncio.create_task(work, name=name)
    _spawned.add(task)
    task.add_done_callback(on_done)
    return task
