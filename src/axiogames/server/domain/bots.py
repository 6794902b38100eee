"""Bots at tables: they think in threads of their own, a few at a time, and see a view like everybody else."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from ...analysis.review.hints import Hint, best_moves
from ...games import GAMES, find_variant
from ...games.protocol import MOST_PLAYERS
from ...games.runtime import loops
from ...games.runtime.signatures import Template
from ...model.view import View
from ...players import LEVELS as OFFERED
from ...players import PLAYERS, Budget, Choice, player
from ...players.evaluation import rollout_loops
from ...rng import Generator
from ..metrics import BOT_FAILURES
from ..transport.rate_limits import REMEMBERED
from ..work_pools import BACKGROUND_NICENESS, Busy, JobTimeout, QueueLimits, Requester, WorkPool

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

MOST_MOVES = QueueLimits(2000, 200, "too many bots are thinking", 500)
MOST_ADVICE = QueueLimits(24, 2, "too many hints and reviews are being made", 6)
REST = Requester("reviews and examples")

STUCK = 120.0  # seconds after which a bot is taken to be stuck; the longest move takes a few
SPARE_THREADS = 2  # that stand in for stuck ones
RETRY = 1.0  # seconds until a bot asks again for a place in a full queue

Work = TypeVarTuple("Work")
Done = TypeVar("Done")

log = logging.getLogger(__name__)


class Bots:
    """Threads in which bots think. The compiled rules release Python's lock, so the tables go on meanwhile.

    Hints and reviews have threads of their own, which the system runs when nothing more urgent is to be done:
    no bot ever waits for them.
    """

    def __init__(self, threads: int, seconds: float) -> None:
        threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self.moves = WorkPool("bot", threads, MOST_MOVES, spare_threads=SPARE_THREADS)
        self.advice = WorkPool(
            "advice",
            max(1, threads // 2),
            MOST_ADVICE,
            niceness=BACKGROUND_NICENESS,
            spare_threads=SPARE_THREADS,
            yields_gil=True,
        )
        self.askers = Askers()
        self._budget = Budget(seconds=seconds)
        self.review_budget = Budget(min(seconds, REVIEW_SECONDS), REVIEW_ROLLOUTS)

    @property
    def thinking(self) -> int:
        """Number of bots that think or wait for their turn to."""
        return self.moves.running + sum(self.moves.waiting)

    async def choose(self, level: str, view: View, person: str = "") -> Choice:
        """Return what a bot of this level does with the view of the seat to move.

        Args:
            level: The name of the bot.
            view: What its seat knows.
            person: Whose table it is. People take turns, and so do the networks that they come from.
        """
        asker = self.askers.of(person)
        while True:
            try:
                return await self.moves.run(self._think, level, view, asker, requester=asker)
            except Busy:
                if self.moves.closed:
                    raise
                await asyncio.sleep(RETRY)  # a table needs its move, however long the queue is
            except JobTimeout:
                log.error("the bot %s does not answer; any legal move is made for it", level)
                BOT_FAILURES.inc()
                return await asyncio.to_thread(_any_move, view)  # the pool's threads may all be stuck

    def check_hint(self, person: str) -> None:
        """Raise `Busy` if no hint can be given to a person now."""
        self.advice.check(self.askers.of(person))

    async def hint(self, view: View, person: str = "") -> Hint:
        """Return the best moves for the seat to move, and what speaks for them. Raises `Busy`."""
        budget = Budget(self._budget.seconds, HINT_ROLLOUTS)
        seed = Generator(secrets.token_hex(16)).bits() >> 1
        return await self.advice.run(best_moves, view, budget, seed, requester=self.askers.of(person))

    async def work(self, what: Callable[[*Work], Done], *given: *Work) -> Done:
        """Return the result of anything else that takes a while and that no game waits for. Raises `Busy`.

        Together it counts as one asker, whom those who want hints take turns with.
        """
        return await self.advice.run(what, *given, requester=REST)

    def _think(self, level: str, view: View, asker: Requester) -> Choice:
        # Nobody can tell how a bot's lots fall: its generator is fresh for every move.
        rng = Generator(secrets.token_hex(16))
        # Where more think than there are threads, all think less: none waits longer than it may think.
        # A person with many bots shortens the time of those, not of others'.
        budget = Budget(self._budget.seconds * self.moves.share(asker))
        try:
            return player(level).choose(view, budget, rng)
        except Exception:
            log.exception("the bot %s failed; any legal move is made for it", level)
            BOT_FAILURES.inc()
            return player(ANYTHING).choose(view, budget, rng)

    async def prepare(self) -> None:
        """Load the compiled rules of all games, so that no table waits for them."""
        for templates in (loops.LOOPS, (rollout_loops.one_ply_search_at,), (rollout_loops.run_rollouts,)):
            for name in GAMES:  # one by one: a bot that has to move comes in between
                await asyncio.to_thread(_load, name, templates)
        # Before, a move may have to wait until its rules are compiled, which takes minutes.
        self.moves.job_timeout = self.advice.job_timeout = STUCK

    def close(self) -> None:
        """Let nobody start to think any more."""
        self.moves.close()
        self.advice.close()


class Askers:
    """Remembers which network people came from last, so that guests without end have one share."""

    def __init__(self) -> None:
        self._networks: OrderedDict[str, str] = OrderedDict()

    def came(self, person: str, network: str) -> None:
        """Note where somebody comes from now."""
        self._networks[person] = network
        self._networks.move_to_end(person)
        if len(self._networks) > REMEMBERED:
            self._networks.popitem(last=False)

    def of(self, person: str) -> Requester:
        """Return a person as one who asks for work."""
        return Requester(person, self._networks.get(person, ""))


def _any_move(view: View) -> Choice:
    return player(ANYTHING).choose(view, Budget(), Generator(secrets.token_hex(16)))


def _load(name: str, templates: tuple[Template, ...]) -> None:
    for players in range(1, MOST_PLAYERS + 1):
        find_variant(name, players).kernels.compile(templates)
