"""Bots at tables: they think in threads of their own, a few at a time, and see a view like everybody else."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from concurrent.futures import ThreadPoolExecutor

from ...chance import Generator
from ...games import GAMES, find_variant
from ...games.declaration import MOST_PLAYERS
from ...players import PLAYERS, Budget, Choice, player
from ...view import View

LEVELS = tuple(PLAYERS)
DEFAULT_LEVEL = LEVELS[-1]

log = logging.getLogger(__name__)


class Bots:
    """A bounded pool of threads. The compiled rules release Python's lock, so the tables go on meanwhile."""

    def __init__(self, threads: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads or max(1, (os.cpu_count() or 2) - 1), "bot")
        self._budget = Budget(seconds=seconds)
        self.thinking = 0

    async def choose(self, level: str, view: View) -> Choice:
        """What a bot of this level does with the view of the seat to move."""
        self.thinking += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._think, level, view)
        finally:
            self.thinking -= 1

    def _think(self, level: str, view: View) -> Choice:
        # Nobody can tell how a bot's lots fall: its generator is fresh for every move.
        lots = Generator(secrets.token_hex(16))
        try:
            return player(level).choose(view, self._budget, lots)
        except Exception:
            log.exception("the bot %s failed; any legal move is made for it", level)
            return player(LEVELS[0]).choose(view, self._budget, lots)

    async def prepare(self) -> None:
        """Load the compiled rules of all games, so that no table waits for them."""
        loop = asyncio.get_running_loop()
        for name in GAMES:
            await loop.run_in_executor(self._pool, _load, name)

    def close(self) -> None:
        """Let nobody start to think any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _load(name: str) -> None:
    for players in range(1, MOST_PLAYERS + 1):
        kernels = find_variant(name, players).kernels
        for loop in ("step", "list_legal", "rate_all", "lay_all"):
            getattr(kernels, loop)
