"""Bounded pools for work that must not run in the event loop.

A pool has a few threads, and a queue in the event loop. Three rules keep one client from delaying others:

- A job of a lower `kind` number starts before every waiting job of a higher one.
- Within a kind, networks take turns, and within a network its askers. An asker who has queued twenty jobs
  delays another one by one job, and so does a network with twenty askers.
- The queue has a longest length. What does not fit is refused at once, with the code `busy`.

A job whose asker is gone (its coroutine is cancelled) leaves the queue. A job that runs cannot be stopped: it
keeps its thread until it is done. With `patience`, a job that does not end in time fails with `Overdue`, and
another thread takes over from the one that it still occupies, as long as there are spare ones.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from .domain.refusals import Refused
from .metrics import POOLS, WAITS

BACKGROUND = 10
"""Niceness of threads that players do not wait for."""

STOPPING = "the server is stopping"

SWITCH = 0.0005  # seconds; see `_HandOver`

Done = TypeVar("Done")
Turn = asyncio.Future[None]

log = logging.getLogger(__name__)


class Busy(Refused):
    """The queue of a pool is full."""

    def __init__(self, what: str = "the server has too much to do") -> None:
        super().__init__("busy", f"{what}; try again in a few seconds")


class Overdue(Exception):
    """A job has not ended in time. Its thread goes on with it."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose work a job is: a person or address, and the network that they come from, if it is known."""

    name: str = ""
    network: str = ""

    @property
    def group(self) -> str:
        """The network; for somebody of whom none is known, a group of their own."""
        return self.network or f"only {self.name}"


NOBODY = Asker()


class FairQueue:
    """Futures that wait for their turn. Networks take turns, and within each its askers."""

    def __init__(self) -> None:
        self._groups: OrderedDict[str, OrderedDict[str, deque[Turn]]] = OrderedDict()
        self._lengths = Counter[str]()  # by group
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def askers(self) -> int:
        """Number of different askers that wait."""
        return sum(len(group) for group in self._groups.values())

    def waiting_for(self, asker: Asker) -> int:
        """Number of futures of one asker."""
        askers = self._groups.get(asker.group)
        return len(askers[asker.name]) if askers and asker.name in askers else 0

    def waiting_near(self, asker: Asker) -> int:
        """Number of futures of all askers of the same network."""
        return self._lengths[asker.group]

    def push(self, asker: Asker, turn: Turn) -> None:
        """Append a future to those of its asker."""
        self._groups.setdefault(asker.group, OrderedDict()).setdefault(asker.name, deque()).append(turn)
        self._count(asker.group, 1)

    def pop(self) -> Turn:
        """Remove and return the next future. Raises `KeyError` if none waits."""
        group, askers = self._groups.popitem(last=False)
        name, turns = askers.popitem(last=False)
        turn = turns.popleft()
        self._count(group, -1)
        if turns:
            askers[name] = turns  # behind the others of its network
        if askers:
            self._groups[group] = askers  # behind everybody else
        return turn

    def remove(self, asker: Asker, turn: Turn) -> None:
        """Remove a future that is still waiting. Raises `ValueError` if it is not."""
        askers = self._groups.get(asker.group, OrderedDict())
        turns = askers.get(asker.name, deque())
        turns.remove(turn)
        self._count(asker.group, -1)
        if not turns:
            del askers[asker.name]
        if not askers:
            del self._groups[asker.group]

    def _count(self, group: str, by: int) -> None:
        self._length += by
        self._lengths[group] += by
        if not self._lengths[group]:
            del self._lengths[group]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Longest queue of a pool: in total, for one asker, and for one network. `None` means unbounded here.

    Jobs count that go before the one that comes: who is less urgent takes no place from who is more so.
    """

    waiting: int | None = None
    waiting_each: int | None = None
    refusal: str = "the server has too much to do"
    waiting_near: int | None = None


class _HandOver:
    """How soon a thread gives Python's lock to one that waits for it: usually after 5 ms.

    While a hint or a review is made, whoever is at a table would wait that long for each message. Handing it
    over sooner costs the thread that writes moves 3 % of the server's speed, so it is only done meanwhile.
    """

    def __init__(self) -> None:
        self._usual = sys.getswitchinterval()
        self._jobs = 0

    def count(self, change: int) -> None:
        """Note that jobs have begun or ended."""
        self._jobs += change
        sys.setswitchinterval(SWITCH if self._jobs else self._usual)


_HAND_OVER = _HandOver()


@dataclass(eq=False, slots=True)
class _Job:
    """A job that runs: what its asker waits for, and what makes it overdue."""

    name: str
    result: asyncio.Future[Any]
    timer: asyncio.TimerHandle | None = None
    overdue: bool = False
    replaced: bool = False  # whether another thread has its place


class WorkPool:
    """A few threads and a fair, bounded queue before them. Belongs to one event loop."""

    def __init__(
        self,
        name: str,
        threads: int,
        bounds: Bounds | None = None,
        *,
        kinds: int = 1,
        niceness: int = 0,
        patience: float | None = None,
        spare: int = 0,
        yields: bool = False,
    ) -> None:
        self.name = name
        self.threads = threads
        self.patience = patience  # seconds for one job
        self.running = 0  # jobs in threads, without those that another thread stands in for
        self.refused = 0  # jobs that did not fit into the queue
        self.overdue = 0  # jobs that run longer than they may, now
        self.ever_overdue = 0
        self._spare = spare
        self._yields = yields  # whether its jobs must not keep Python's lock for long
        self.closed = False
        self._bounds = bounds or Bounds()
        self._queues = tuple(FairQueue() for _ in range(kinds))
        self._futures: dict[asyncio.Future[Any], _Job] = {}
        self._load: dict[str, Counter[str]] = {}  # unfinished jobs, by network and asker
        self._waits = WAITS.labels(name)
        POOLS.add(self)
        self._executor = ThreadPoolExecutor(threads + spare, name, _lower_priority, (niceness,))

    @property
    def waiting(self) -> tuple[int, ...]:
        """Number of jobs in the queue, by kind."""
        return tuple(len(queue) for queue in self._queues)

    def askers(self, kind: int = 0) -> int:
        """Number of different askers with waiting jobs of a kind."""
        return self._queues[kind].askers

    def share(self, asker: Asker) -> float:
        """Return the share of one thread, at most 1, that each unfinished job of an asker can have.

        Networks have equal shares, and so have the askers of a network and the jobs of an asker.
        """
        group = self._load.get(asker.group, Counter())
        competing = max(len(self._load), 1) * max(len(group), 1) * max(group[asker.name], 1)
        return min(1.0, self.threads / competing)

    def check(self, asker: Asker | str = NOBODY, kind: int = 0) -> None:
        """Raise `Busy` if a job would not be taken now."""
        asker = Asker(asker) if isinstance(asker, str) else asker
        bounds, queue = self._bounds, self._queues[kind]
        if self.closed:
            raise Busy(STOPPING)
        if self.running < self.threads:
            return
        if (
            _reached(sum(self.waiting[: kind + 1]), bounds.waiting)
            or _reached(queue.waiting_for(asker), bounds.waiting_each)
            or _reached(queue.waiting_near(asker), bounds.waiting_near)
        ):
            self.refused += 1
            raise Busy(bounds.refusal)

    async def run(
        self, function: Callable[..., Done], *args: object, asker: Asker | str = NOBODY, kind: int = 0
    ) -> Done:
        """Return what a function returns that runs in one of the threads.

        Args:
            function: Runs outside the event loop. What it raises is raised here.
            args: Its arguments.
            asker: Whose work it is. Networks and their askers take turns.
            kind: Jobs of a lower kind go first.

        Raises:
            Busy: The queue is full.
            Overdue: The function takes longer than the pool's patience.
        """
        asker = Asker(asker) if isinstance(asker, str) else asker
        self.check(asker, kind)
        self._load.setdefault(asker.group, Counter())[asker.name] += 1
        try:
            asked = time.perf_counter()
            if self.running < self.threads:
                self.running += 1
            else:
                await self._turn(asker, kind)
            self._waits.observe(time.perf_counter() - asked)
            result = self._start(function, args)
        except BaseException:
            self._unload(asker)
            raise
        result.add_done_callback(lambda _: self._unload(asker))
        # Shielded: the place stays taken until the thread is free, even if nobody waits for the result.
        return cast(Done, await asyncio.shield(result))

    async def _turn(self, asker: Asker, kind: int) -> None:
        """Wait for a place; afterwards it is the caller's."""
        turn: Turn = asyncio.get_running_loop().create_future()
        queue = self._queues[kind]
        queue.push(asker, turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # it was given a place in the same moment
            else:
                with suppress(ValueError):  # `_release` has removed it
                    queue.remove(asker, turn)
            raise

    def _start(self, function: Callable[..., Any], args: tuple[object, ...]) -> asyncio.Future[Any]:
        """Start a job in a place that the caller owns; `_done` gives the place to the next."""
        loop = asyncio.get_running_loop()
        if self._yields:
            _HAND_OVER.count(1)
        try:
            future = loop.run_in_executor(self._executor, partial(function, *args))
        except BaseException:
            if self._yields:
                _HAND_OVER.count(-1)
            self._release()
            raise
        name = getattr(function, "__qualname__", repr(function))
        job = self._futures[future] = _Job(name, loop.create_future())
        if self.patience is not None:
            job.timer = loop.call_later(self.patience, self._late, job)
        future.add_done_callback(self._done)
        return job.result

    def _late(self, job: _Job) -> None:
        """Give up waiting for a job, and let another thread take over from its own."""
        self.overdue += 1
        self.ever_overdue += 1
        job.overdue = True
        log.error(
            "%s has been running for more than %g s; %d such jobs occupy threads of the pool %r",
            job.name, self.patience, self.overdue, self.name,
        )  # fmt: skip
        if not job.result.done():
            job.result.set_exception(Overdue(f"{job.name} does not end"))
            job.result.exception()  # perhaps nobody waits
        if self._spare > 0:
            self._spare -= 1
            job.replaced = True
            self._release()

    def _done(self, future: asyncio.Future[Any]) -> None:
        job = self._futures.pop(future)
        if self._yields:
            _HAND_OVER.count(-1)
        if job.timer is not None:
            job.timer.cancel()
        if job.overdue:
            self.overdue -= 1
        if not job.result.done():
            if future.cancelled():
                job.result.cancel()
            elif (error := future.exception()) is not None:
                job.result.set_exception(error)
                job.result.exception()  # perhaps nobody waits
            else:
                job.result.set_result(future.result())
        elif not future.cancelled():
            future.exception()  # nobody waits for it any more
        if job.replaced:
            self._spare += 1
        else:
            self._release()

    def _unload(self, asker: Asker) -> None:
        group = self._load[asker.group]
        group[asker.name] -= 1
        if not group[asker.name]:
            del group[asker.name]
            if not group:
                del self._load[asker.group]

    def _release(self) -> None:
        """Give a place to whoever is next."""
        for queue in self._queues:
            while len(queue):
                turn = queue.pop()
                if not turn.done():  # it is when its asker was cancelled a moment ago
                    turn.set_result(None)
                    return
        self.running -= 1

    def close(self) -> None:
        """Start nothing any more, and refuse what waits."""
        self.closed = True
        for queue in self._queues:
            while len(queue):
                turn = queue.pop()
                if not turn.done():
                    turn.set_exception(Busy(STOPPING))
        for future, job in tuple(self._futures.items()):
            if job.timer is not None:
                job.timer.cancel()
            future.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)


def _reached(number: int, most: int | None) -> bool:
    return most is not None and number >= most


def _lower_priority(niceness: int) -> None:
    """Let other threads go first when processors are scarce. On Linux, niceness belongs to a thread."""
    if niceness and sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
