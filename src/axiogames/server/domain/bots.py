"""Bots at tables. They run in a bounded number of threads and receive redacted views, as people do."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from ...analysis.review import review_loops
from ...analysis.review.hints import Hint, best_moves
from ...games import GAMES, find_variant
from ...games.protocol import MAX_PLAYERS
from ...games.runtime import loops
from ...games.runtime.signatures import Template
from ...model.view import View
from ...players import LEVELS as PLAYER_LEVELS
from ...players import PLAYERS, Budget, Choice, player
from ...players.evaluation import rollout_loops
from ...players.search import search_loops
from ...rng import Generator
from ..metrics import BOT_FAILURES
from ..work_pools import BACKGROUND_NICENESS, Busy, JobTimeout, QueueLimits, Requester, WorkPool

LEVELS = tuple(PLAYER_LEVELS)
"""Levels offered on the page, the weakest first."""

BOTS = tuple(PLAYERS)
"""Names of all bots."""

DEFAULT_LEVEL = LEVELS[len(LEVELS) // 2 - 1]
FALLBACK_BOT = "random"
"""A bot that cannot fail."""

# Rollouts per hint and per reviewed move. The time limit of a bot's move applies as well.
HINT_ROLLOUTS, REVIEW_ROLLOUTS = 3000, 1500
REVIEW_SECONDS = 0.4  # per reviewed move; more would delay people who play

MOVE_QUEUE = QueueLimits(2000, 200, "too many bots are computing moves", 500)
ADVICE_QUEUE = QueueLimits(24, 2, "too many hints and reviews are being computed", 6)
BACKGROUND = Requester("reviews and examples")

JOB_SECONDS = 120.0  # after which a bot counts as hanging; the longest move takes a few seconds
MAX_REQUESTERS = 50_000  # people whose network is in memory
SPARE_THREADS = 2  # to replace hanging threads
RETRY_SECONDS = 1.0  # until a job that a full queue has refused is submitted again

Args = TypeVarTuple("Args")
Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Bots:
    """Thread pools for bot moves, and for hints and reviews.

    The compiled rules release the GIL, so the event loop runs meanwhile. Hints and reviews have their own
    threads with a low priority, so no bot waits for them.
    """

    def __init__(self, threads: int, seconds: float) -> None:
        threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self.moves = WorkPool("bot", threads, MOVE_QUEUE, spare_threads=SPARE_THREADS)
        self.advice = WorkPool(
            "advice",
            max(1, threads // 2),
            ADVICE_QUEUE,
            niceness=BACKGROUND_NICENESS,
            spare_threads=SPARE_THREADS,
            yields_gil=True,
        )
        self.requesters = Requesters()
        self._budget = Budget(seconds=seconds)
        self.review_budget = Budget(min(seconds, REVIEW_SECONDS), REVIEW_ROLLOUTS)

    @property
    def pending_moves(self) -> int:
        """Number of bot moves being computed or queued."""
        return self.moves.running + sum(self.moves.waiting)

    async def choose(self, level: str, view: View, person: str = "") -> Choice:
        """Return the choice of a bot for the seat to move.

        Args:
            level: Name of the bot.
            view: View of the seat to move.
            person: Id of the owner of the table, for fair queueing.
        """
        requester = self.requesters.of(person)
        while True:
            try:
                return await self.moves.run(self._choose, level, view, requester, requester=requester)
            except Busy:
                if self.moves.closed:
                    raise
                await asyncio.sleep(RETRY_SECONDS)  # the table needs the move, however long the queue is
            except JobTimeout:
                log.error("the bot %s does not respond; playing a random move instead", level)
                BOT_FAILURES.inc()
                return await asyncio.to_thread(_random_move, view)  # all threads of the pool may hang

    def check_hint(self, person: str) -> None:
        """Raise `Busy` if no hint for a person can be queued now."""
        self.advice.check(self.requesters.of(person))

    async def hint(self, view: View, person: str = "") -> Hint:
        """Return the best moves for the seat to move, with remarks. Raises `Busy`."""
        budget = Budget(self._budget.seconds, HINT_ROLLOUTS)
        seed = Generator(secrets.token_hex(16)).bits() >> 1
        return await self.advice.run(best_moves, view, budget, seed, requester=self.requesters.of(person))

    async def run_in_background(self, job: Callable[[*Args], Result], *args: *Args) -> Result:
        """Run a job that no game waits for in a thread and return its result. Raises `Busy`.

        All such jobs share one requester, which is queued like a person who requests hints.
        """
        return await self.advice.run(job, *args, requester=BACKGROUND)

    def _choose(self, level: str, view: View, requester: Requester) -> Choice:
        # A new generator for every move, so that nobody can predict a bot's random numbers.
        rng = Generator(secrets.token_hex(16))
        # With more bots than threads, each gets less time, so none waits longer than the limit of one move.
        # Many bots of one person share that person's time and do not shorten that of others.
        budget = Budget(self._budget.seconds * self.moves.share(requester))
        try:
            return player(level).choose(view, budget, rng)
        except Exception:
            log.exception("the bot %s failed; playing a random move instead", level)
            BOT_FAILURES.inc()
            return player(FALLBACK_BOT).choose(view, budget, rng)

    async def prepare(self) -> None:
        """Compile or load the rules of all games, so that no table waits for them."""
        search = (*rollout_loops.LOOPS, *search_loops.LOOPS, *review_loops.LOOPS)
        for templates in (loops.LOOPS, (rollout_loops.one_ply_search_at,), search):
            for name in GAMES:  # one at a time, so that bot moves run in between
                await asyncio.to_thread(_load, name, templates)
        # Set only now: before, a move may wait minutes for the compilation of its rules.
        self.moves.job_timeout = self.advice.job_timeout = JOB_SECONDS

    def close(self) -> None:
        """Accept no more jobs."""
        self.moves.close()
        self.advice.close()


class Requesters:
    """Latest network of each person, for fair queueing."""

    def __init__(self) -> None:
        self._networks: OrderedDict[str, str] = OrderedDict()

    def note(self, person: str, network: str) -> None:
        """Note the current network of a person."""
        self._networks[person] = network
        self._networks.move_to_end(person)
        if len(self._networks) > MAX_REQUESTERS:
            self._networks.popitem(last=False)

    def of(self, person: str) -> Requester:
        """Return the requester for a person's jobs."""
        return Requester(person, self._networks.get(person, ""))


def _random_move(view: View) -> Choice:
    return player(FALLBACK_BOT).choose(view, Budget(), Generator(secrets.token_hex(16)))


def _load(name: str, templates: tuple[Template, ...]) -> None:
    """Compile or load the templates for a game, with every number of players."""
    for players in range(1, MAX_PLAYERS + 1):
        find_variant(name, players).kernels.compile(templates)
