"""Bots at tables. They run in a bounded number of threads and receive redacted views, as people do."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from ...analysis.review.hints import Hint, best_moves
from ...model.view import View
from ...players import LEVELS as PLAYER_LEVELS
from ...players import PLAYERS, Budget, Choice, player
from ...rng import Generator
from ..metrics import BOT_FAILURES
from ..rule_loader import RuleLoader, RulesNotReady, RulesUnavailable
from ..work_pools import BACKGROUND_NICENESS, Busy, JobTimeout, QueueLimits, Requester, WorkPool

LEVELS = tuple(PLAYER_LEVELS)
"""Levels offered on the page, the weakest first."""

BOTS = tuple(PLAYERS)
"""Names of all bots."""

DEFAULT_LEVEL = LEVELS[len(LEVELS) // 2 - 1]

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

    def __init__(self, threads: int, seconds: float, rules: RuleLoader) -> None:
        threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self._rules = rules
        self.moves = WorkPool(
            "bot", threads, MOVE_QUEUE, spare_threads=SPARE_THREADS, job_timeout=JOB_SECONDS
        )
        self.advice = WorkPool(
            "advice",
            max(1, threads // 2),
            ADVICE_QUEUE,
            niceness=BACKGROUND_NICENESS,
            spare_threads=SPARE_THREADS,
            job_timeout=JOB_SECONDS,
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
                return await self._rules.when_ready(
                    lambda: self.moves.run(self._choose, level, view, requester, requester=requester)
                )
            except Busy:
                if self.moves.closed:
                    raise
                await asyncio.sleep(RETRY_SECONDS)  # the table needs the move, however long the queue is
            except RulesUnavailable:
                log.error("the rules for the bot %s are unavailable; playing a random move instead", level)
                BOT_FAILURES.inc()
                return await asyncio.to_thread(_random_move, view)
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
        requester = self.requesters.of(person)
        return await self._rules.when_ready(
            lambda: self.advice.run(best_moves, view, budget, seed, requester=requester)
        )

    async def run_in_background(self, job: Callable[[*Args], Result], *args: *Args) -> Result:
        """Run a job that no game waits for in a thread and return its result. Raises `Busy`.

        All such jobs share one requester, which is queued like a person who requests hints.
        """
        return await self._rules.when_ready(lambda: self.advice.run(job, *args, requester=BACKGROUND))

    def _choose(self, level: str, view: View, requester: Requester) -> Choice:
        # A new generator for every move, so that nobody can predict a bot's random numbers.
        rng = Generator(secrets.token_hex(16))
        # With more bots than threads, each gets less time, so none waits longer than the limit of one move.
        # Many bots of one person share that person's time and do not shorten that of others.
        budget = Budget(self._budget.seconds * self.moves.share(requester))
        try:
            return player(level).choose(view, budget, rng)
        except RulesNotReady:
            raise
        except Exception:
            log.exception("the bot %s failed; playing a random move instead", level)
            BOT_FAILURES.inc()
            return _random_move(view)

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
    """Return any legal move. Unlike the bot `random`, it needs no compiled rules, so it cannot fail."""
    legal = view.legal_moves()
    chosen = secrets.randbelow(len(legal))
    return Choice(legal[chosen], (), int(legal.actions[chosen]))
