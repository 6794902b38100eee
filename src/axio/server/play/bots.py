"""Bots at tables: they think in threads of their own, a few at a time, and see a view like everybody else."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

from ...chance import Generator
from ...games import GAMES, find_variant
from ...games.declaration import MOST_PLAYERS
from ...players import LEVELS as OFFERED
from ...players import PLAYERS, Budget, Choice, player
from ...review.game import Decision, judged
from ...review.hints import Hint, hint
from ...review.judging import Judgement
from ...view import View

LEVELS = tuple(OFFERED)
"""What people are offered, the weakest first."""

BOTS = tuple(PLAYERS)
"""Every name that a bot may be asked for by."""

DEFAULT_LEVEL = LEVELS[len(LEVELS) // 2 - 1]
ANYTHING = "random"
"""A bot that cannot fail."""

# How closely a position is looked at, as long as that takes no longer than a bot's move.
HINT_ROLLOUTS, REVIEW_ROLLOUTS = 3000, 1500
REVIEW_SECONDS = 0.4  # for a move of a game that is over: whoever plays must not wait

Work = TypeVarTuple("Work")
Done = TypeVar("Done")

log = logging.getLogger(__name__)


class Bots:
    """A bounded pool of threads. The compiled rules release Python's lock, so the tables go on meanwhile."""

    def __init__(self, threads: int, seconds: float) -> None:
        self._threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self._pool = ThreadPoolExecutor(self._threads, "bot")
        self._budget = Budget(seconds=seconds)
        self.thinking = 0
        self.review_budget = Budget(min(seconds, REVIEW_SECONDS), REVIEW_ROLLOUTS)

    async def choose(self, level: str, view: View) -> Choice:
        """What a bot of this level does with the view of the seat to move."""
        return await self._in_turn(self._think, level, view)

    async def hint(self, view: View) -> Hint:
        """The best moves for the seat to move, and what speaks for them."""
        budget = Budget(self._budget.seconds, HINT_ROLLOUTS)
        return await self._in_turn(hint, view, budget, Generator(secrets.token_hex(16)).bits() >> 1)

    async def judge(self, decision: Decision, seed: str) -> Judgement:
        """What a move of a game that is over was worth."""
        return await self._in_turn(judged, decision, self.review_budget, seed)

    async def work(self, what: Callable[[*Work], Done], *given: *Work) -> Done:
        """Anything else that takes a while."""
        return await self._in_turn(what, *given)

    async def _in_turn(self, what: Callable[[*Work], Done], *given: *Work) -> Done:
        """Do something when a thread is free: whoever comes first is served first."""
        self.thinking += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, what, *given)
        finally:
            self.thinking -= 1

    def _think(self, level: str, view: View) -> Choice:
        # Nobody can tell how a bot's lots fall: its generator is fresh for every move.
        lots = Generator(secrets.token_hex(16))
        # Where more think than there are threads, all think less: none waits longer than it may think.
        budget = Budget(self._budget.seconds * min(1.0, self._threads / max(self.thinking, 1)))
        try:
            return player(level).choose(view, budget, lots)
        except Exception:
            log.exception("the bot %s failed; any legal move is made for it", level)
            return player(ANYTHING).choose(view, budget, lots)

    async def prepare(self) -> None:
        """Load the compiled rules of all games, so that no table waits for them."""
        loop = asyncio.get_running_loop()
        for loops in (("step", "list_legal", "rate_all", "lay_all"), ("glance_at",), ("roll_out",)):
            for name in GAMES:  # one by one: a bot that has to move comes in between
                await loop.run_in_executor(self._pool, _load, name, loops)

    def close(self) -> None:
        """Let nobody start to think any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _load(name: str, loops: tuple[str, ...]) -> None:
    for players in range(1, MOST_PLAYERS + 1):
        kernels = find_variant(name, players).kernels
        for loop in loops:
            getattr(kernels, loop)
