"""Pictures of positions: drawn once, one at a time, and kept as long as there is room."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from ...drawing.scene import Content
from ...games import game, words
from ...games.illustrations import find
from ...model.record import record_of, replay
from ...players import player
from ...players.match import play_match
from ..domain.bots import Bots
from ..work_pools import BACKGROUND, Bounds, WorkPool
from .process import CannotDraw, DrawingProcess
from .worker import Drawing

FIXED, SVG, PNG = range(3)
"""What is drawn first: what every page shows, then what takes 10 ms, then what takes 200 ms."""

MOST_WAITING = Bounds(24, 8, "too many pictures are being drawn")
MOST_BYTES = 8_000_000  # of pictures that are kept: about thirty as PNG, two hundred as SVG
EXAMPLE = "balanced"  # the bot that plays the example
EXAMPLE_MOVES = 14

Made = TypeVar("Made")

log = logging.getLogger(__name__)


class ByteCache:
    """Bytes by key. What was not used for the longest time goes first; the sum of all sizes is bounded."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> bytes | None:
        """Return what is kept under a key, if anything is."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Hashable, body: bytes) -> None:
        """Keep bytes under a key, in place of others if there is no room, unless they are too many alone."""
        self.size -= len(self._kept.pop(key, b""))
        if len(body) > self._most:
            return
        self._kept[key] = body
        self.size += len(body)
        while self.size > self._most:
            self.size -= len(self._kept.popitem(last=False)[1])


@dataclass(slots=True)
class _Shared(Generic[Made]):
    """Something that is being made, and how many wait for it."""

    task: asyncio.Task[Made]
    waiting: int = 0


class Once(Generic[Made]):
    """Makes a thing once for all who ask for it while it is being made."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Shared[Made]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._under_way

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
        """Return what `make` returns; it is called if nobody else waits for the same key."""
        shared = self._under_way.get(key)
        if shared is None:
            shared = self._under_way[key] = _Shared(asyncio.create_task(make()))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if self._under_way.get(key) is shared and (shared.task.done() or not shared.waiting):
                del self._under_way[key]
                shared.task.cancel()  # nobody waits any more: what has not begun is not begun


class Pictures:
    """Draws pictures in a process of its own. Whoever asks for the same one gets the same."""

    def __init__(self, bots: Bots) -> None:
        self.process = DrawingProcess()
        self.draw: Callable[[Drawing], bytes] = self.process.draw
        self.pool = WorkPool("picture", 1, MOST_WAITING, kinds=3, niceness=BACKGROUND)
        self.cache = ByteCache(MOST_BYTES)
        self._bots = bots
        self._fixed: dict[Hashable, bytes] = {}  # figures and examples: a few dozen, whatever is asked for
        self._examples: dict[str, Content] = {}
        self._drawing = Once[bytes]()
        self._playing = Once[Content]()
        self._alone = asyncio.Lock()

    def kept(self, key: Hashable) -> bytes | None:
        """Return a picture that is kept, if it is."""
        return self.cache.get(key)

    def check(self, key: Hashable, asker: str, *, png: bool) -> None:
        """Raise `Busy` if a picture would not be drawn now."""
        if key not in self._drawing:
            self.pool.check(asker, PNG if png else SVG)

    async def picture(self, key: Hashable, wanted: Drawing, asker: str) -> bytes:
        """Return a picture, drawn now or before.

        Args:
            key: Everything that the picture depends on, in short.
            wanted: What to draw.
            asker: Whose turn it is; see `WorkPool`.

        Raises:
            Busy: Too many pictures are waited for.
            CannotDraw: The process has failed.
        """
        body = self.cache.get(key)
        if body is None:
            kind = PNG if wanted.png else SVG
            body = await self._drawing.get(key, partial(self._drawn, wanted, asker, kind))
            self.cache.put(key, body)
        return body

    async def figure(self, name: str, shown: str, *, dark: bool) -> bytes:
        """Return a figure of a rules page. Raises `UnknownGame` or `UnknownFigure`."""
        find(game(name), shown)  # only what there is can be kept
        return await self._kept_for_good(Drawing(name, figure=shown, dark=dark))

    async def example(self, name: str, *, dark: bool) -> bytes:
        """Return what a game looks like in the middle of a game between two bots. Raises `UnknownGame`."""
        name = game(name).id
        if name not in self._examples:
            self._examples[name] = await self._playing.get(name, partial(self._played, name))
        return await self._kept_for_good(Drawing(name, content=self._examples[name], dark=dark))

    async def _played(self, name: str) -> Content:
        async with self._alone:  # a page shows all games at once, and the bots' queue is short
            return await self._bots.work(_example, name)

    async def _kept_for_good(self, wanted: Drawing) -> bytes:
        key = wanted.game, wanted.figure, wanted.dark
        if key not in self._fixed:
            self._fixed[key] = await self._drawing.get(key, partial(self._drawn, wanted, "", FIXED))
        return self._fixed[key]

    async def _drawn(self, wanted: Drawing, asker: str, kind: int) -> bytes:
        try:
            return await self.pool.run(self.draw, wanted, asker=asker, kind=kind)
        except CannotDraw as error:
            log.error("a picture could not be drawn: %s", error.why)
            raise

    def close(self) -> None:
        """Draw nothing any more."""
        self.pool.close()
        self.process.close()


def _example(name: str) -> Content:
    table = play_match(name, [player(EXAMPLE), player(EXAMPLE)], "example")
    position = replay(record_of(table), upto=EXAMPLE_MOVES)
    return replace(position.content(), panels=(), last=(), title=words(name).name)
