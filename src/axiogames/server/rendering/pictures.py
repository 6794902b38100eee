"""Pictures of positions and figures: queued, rendered once per content, and cached."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from ...drawing.scene import Content
from ...games import game, localization
from ...games.illustrations import find_figure
from ...model.record import record_of, replay
from ...players import player
from ...players.match import play_match
from ..domain.bots import Bots
from ..work_pools import BACKGROUND_NICENESS, QueueLimits, WorkPool
from .process import RenderFailed, RenderProcess
from .worker import RenderRequest

FIXED, SVG, PNG = range(3)
"""Priorities: figures and examples of public pages, SVG (10 ms), PNG (200 ms)."""

PICTURE_QUEUE_LIMITS = QueueLimits(24, 8, "too many pictures are being rendered")
MAX_CACHE_BYTES = 8_000_000  # about 30 PNG or 200 SVG pictures
EXAMPLE_BOT = "balanced"
EXAMPLE_MOVES = 14

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class ByteCache:
    """LRU cache of bytes with a bounded total size."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bodies: OrderedDict[Hashable, bytes] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._bodies)

    def get(self, key: Hashable) -> bytes | None:
        """Return the cached bytes of a key, `None` if there are none."""
        if key in self._bodies:
            self._bodies.move_to_end(key)
        return self._bodies.get(key)

    def put(self, key: Hashable, body: bytes) -> None:
        """Cache bytes and evict others if necessary. Bytes larger than the cache are not cached."""
        self.size -= len(self._bodies.pop(key, b""))
        if len(body) > self._max_bytes:
            return
        self._bodies[key] = body
        self.size += len(body)
        while self.size > self._max_bytes:
            self.size -= len(self._bodies.popitem(last=False)[1])


@dataclass(slots=True)
class _Flight(Generic[Result]):
    """A computation in progress and the number of its waiters."""

    task: asyncio.Task[Result]
    waiters: int = 0


class SingleFlight(Generic[Result]):
    """Shares one computation per key among concurrent callers."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[Result]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._flights

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return the result of `make`, or of the computation for the same key that is in progress."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(make()))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if self._flights.get(key) is flight and (flight.task.done() or not flight.waiters):
                del self._flights[key]
                flight.task.cancel()  # without waiters: do not start a queued job


class Pictures:
    """Renders pictures in a separate process. Concurrent requests for the same picture share the result."""

    def __init__(self, bots: Bots) -> None:
        self.process = RenderProcess()
        self.render: Callable[[RenderRequest], bytes] = self.process.render
        self.pool = WorkPool("picture", 1, PICTURE_QUEUE_LIMITS, priorities=3, niceness=BACKGROUND_NICENESS)
        self.cache = ByteCache(MAX_CACHE_BYTES)
        self._bots = bots
        self._fixed: dict[Hashable, bytes] = {}  # figures and examples: a few dozen, never evicted
        self._examples: dict[str, Content] = {}
        self._renders = SingleFlight[bytes]()
        self._example_plays = SingleFlight[Content]()
        self._example_lock = asyncio.Lock()

    def cached(self, key: Hashable) -> bytes | None:
        """Return a cached picture, `None` if it is not cached."""
        return self.cache.get(key)

    def check(self, key: Hashable, requester: str, *, png: bool) -> None:
        """Raise `Busy` if a picture would be refused now."""
        if key not in self._renders:
            self.pool.check(requester, PNG if png else SVG)

    async def picture(self, key: Hashable, request: RenderRequest, requester: str) -> bytes:
        """Return a picture from the cache, or render it.

        Args:
            key: Identifies the content of the picture.
            request: Picture to render.
            requester: Origin of the job; see `WorkPool`.

        Raises:
            Busy: The queue is full.
            RenderFailed: The rendering process failed.
        """
        body = self.cache.get(key)
        if body is None:
            priority = PNG if request.png else SVG
            body = await self._renders.get(key, partial(self._render, request, requester, priority))
            self.cache.put(key, body)
        return body

    async def figure(self, name: str, figure: str, *, dark: bool) -> bytes:
        """Return a figure of a rules page. Raises `UnknownGame` or `UnknownFigure`."""
        find_figure(game(name), figure)  # unknown names must not fill the cache
        return await self._permanent(RenderRequest(name, figure=figure, dark=dark))

    async def example(self, name: str, *, dark: bool) -> bytes:
        """Return a picture of a position from a game between two bots. Raises `UnknownGame`."""
        name = game(name).id
        if name not in self._examples:
            self._examples[name] = await self._example_plays.get(name, partial(self._play_example_once, name))
        return await self._permanent(RenderRequest(name, content=self._examples[name], dark=dark))

    async def _play_example_once(self, name: str) -> Content:
        async with self._example_lock:  # a page requests all games at once, and the bots' queue is short
            return await self._bots.run_in_background(play_example, name)

    async def _permanent(self, request: RenderRequest) -> bytes:
        key = request.game, request.figure, request.dark
        if key not in self._fixed:
            self._fixed[key] = await self._renders.get(key, partial(self._render, request, "", FIXED))
        return self._fixed[key]

    async def _render(self, request: RenderRequest, requester: str, priority: int) -> bytes:
        try:
            return await self.pool.run(self.render, request, requester=requester, priority=priority)
        except RenderFailed as error:
            log.error("failed to render a picture: %s", error.reason)
            raise

    def close(self) -> None:
        """Refuse further pictures and stop the process."""
        self.pool.close()
        self.process.close()


def play_example(name: str) -> Content:
    """Return the board of a game between two bots after some moves."""
    table = play_match(name, [player(EXAMPLE_BOT), player(EXAMPLE_BOT)], "example")
    position = replay(record_of(table), upto=EXAMPLE_MOVES)
    return replace(position.content(), panels=(), last=(), title=localization(name).name)
