"""Background tasks: restarted after any failure, logged, and visible in `/health` and in the metrics.

    supervisor.every("retention", 3600, retention.run)  # a round each hour
    supervisor.add("listen", listen)  # one that goes on by itself
    supervisor.start()

A task that fails is started again after a pause, which doubles up to `LONGEST_PAUSE`. It counts as failing
from its exception until it has succeeded again: until a round is complete, or until it calls `succeeded`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

from ..errors import AxioError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0  # seconds before a failed task is started again

HURRY_EVERY = 1.0
PATIENCE = 300.0  # seconds for one round of a task

log = logging.getLogger(__name__)

_spawned: set[asyncio.Task[Any]] = set()


class BackgroundTask:
    """State of a background task."""

    def __init__(self, name: str, changed: asyncio.Event, *, essential: bool) -> None:
        self.name = name
        self.essential = essential  # whether the server counts as unhealthy while it fails
        self.restarts = 0
        self.error = ""  # the kind of its last failure, until it succeeds again
        self.finished = False
        self.pause = FIRST_PAUSE
        self._changed = changed

    @property
    def failing(self) -> bool:
        """Whether it has failed and not succeeded since."""
        return bool(self.error)

    def succeeded(self) -> None:
        """Report that the task does its work."""
        if self.error:
            log.warning("background task %s works again", self.name)
        self.error, self.pause = "", FIRST_PAUSE
        self._changed.set()

    def failed(self, error: BaseException) -> None:
        """Log a failure: with its traceback unless it is expected, or the one that was logged last."""
        kind = type(error).__name__
        if kind == self.error:
            log.warning("background task %s failed again: %s", self.name, kind)
        elif isinstance(error, AxioError):  # such as a database that is away
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
        self._hurry, self._changed = asyncio.Event(), asyncio.Event()
        self._hurried = -HURRY_EVERY
        self.tasks: list[BackgroundTask] = []

    @property
    def failing(self) -> list[BackgroundTask]:
        """Essential tasks that have failed and not succeeded since."""
        return [task for task in self.tasks if task.essential and task.failing]

    def add(self, name: str, run: Run, *, essential: bool = True) -> BackgroundTask:
        """Register a task before `start`. It ends when `run` returns.

        `run` gets its state, to report by `succeeded()` that it is at work.
        """
        task = BackgroundTask(name, self._changed, essential=essential)
        self.tasks.append(task)
        self._runs.append(run)
        return task

    def every(
        self, name: str, seconds: float, run: Callable[[], Awaitable[None]], *, essential: bool = True
    ) -> BackgroundTask:
        """Register a task before `start` whose rounds are `seconds` apart. The first begins at once.

        A round that takes longer than `PATIENCE` has failed, too.
        """

        async def repeat(task: BackgroundTask) -> None:
            while True:
                async with asyncio.timeout(PATIENCE):
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
        """Start what has failed at once, and wait up to `seconds` until nothing essential fails.

        Whoever calls this often starts nothing more often than every `HURRY_EVERY` seconds.
        """
        if time.monotonic() >= self._hurried + HURRY_EVERY:
            self._hurried = time.monotonic()
            self._hurry.set()
            self._hurry = asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.failing:
                    self._changed.clear()
                    await self._changed.wait()

    async def stop(self) -> None:
        """Cancel all tasks and wait for their ends."""
        running, self._running = self._running or [], None
        for each in running:
            each.cancel()
        for task, end in zip(
            self.tasks, await asyncio.gather(*running, return_exceptions=True), strict=False
        ):
            if isinstance(end, Exception):
                log.error("background task %s failed while it was stopped", task.name, exc_info=end)

    async def _supervise(self, task: BackgroundTask, run: Run) -> None:
        while True:
            try:
                await run(task)
            except asyncio.CancelledError as error:
                if _is_cancelled():
                    raise
                task.failed(error)  # something that it waited for was cancelled, not the task itself
            except (KeyboardInterrupt, SystemExit, GeneratorExit):
                raise
            except BaseException as error:  # such as a panic of a library in Rust
                task.failed(error)
            else:
                task.succeeded()
                task.finished = True
                return
            pause, task.pause = task.pause, min(2 * task.pause, LONGEST_PAUSE)
            await self._pause(pause)
            task.restarts += 1

    async def _pause(self, seconds: float) -> None:
        """Sleep, or until `recover` is called."""
        waits = {asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._hurry.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()


def _is_cancelled() -> bool:
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def spawn(work: Coroutine[Any, Any, Any], what: str) -> asyncio.Task[Any]:
    """Start a task that nobody waits for. It is kept until its end, and its failure is logged."""

    def ended(task: asyncio.Task[Any]) -> None:
        _spawned.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", what, exc_info=error)

    task = asyncio.create_task(work, name=what)
    _spawned.add(task)
    task.add_done_callback(ended)
    return task
