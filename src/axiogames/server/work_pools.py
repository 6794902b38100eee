"""Bounded thread pools for work that must not run in the event loop.

A pool has a few threads, and a queue in the event loop. Three rules keep one client from delaying others:

- Jobs with a lower `priority` number start before queued jobs with a higher one.
- Within a priority, networks take turns, and within a network its requesters. A requester with twenty
  queued jobs delays another requester by one job, and so does a network with twenty requesters.
- The queue is bounded. A job that does not fit is refused at once with the code `busy`.

Cancelling the coroutine of a queued job removes the job from the queue. A running job cannot be stopped; it
occupies its thread until it ends. With a `job_timeout`, a job that takes too long fails with `JobTimeout`,
and a spare thread, if there is one, replaces the thread that it occupies.
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
from .metrics import POOL_WAITS, POOLS

BACKGROUND_NICENESS = 10
"""Niceness of threads for work that players do not wait for."""

STOPPING = "the server is stopping"

SHORT_SWITCH_INTERVAL = 0.0005  # seconds; see `_SwitchInterval`

Result = TypeVar("Result")
Ticket = asyncio.Future[None]

log = logging.getLogger(__name__)


class Busy(Refused):
    """The queue of a pool is full."""

    def __init__(self, cause: str = "the server is overloaded") -> None:
        super().__init__("busy", f"{cause}; try again in a few seconds")


class JobTimeout(Exception):
    """A job exceeded the time limit of its pool. It still runs in its thread."""


@dataclass(frozen=True, slots=True)
class Requester:
    """Origin of a job: a person or address, and the network it comes from if known."""

    name: str = ""
    network: str = ""

    @property
    def group(self) -> str:
        """The network, or a group of its own if the network is unknown."""
        return self.network or f"only {self.name}"


ANONYMOUS = Requester()


class FairQueue:
    """Queue of futures. Networks take turns, and within each network its requesters."""

    def __init__(self) -> None:
        self._groups: OrderedDict[str, OrderedDict[str, deque[Ticket]]] = OrderedDict()
        self._lengths = Counter[str]()  # by group
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def requesters(self) -> int:
        """Number of distinct requesters in the queue."""
        return sum(len(group) for group in self._groups.values())

    def waiting_for(self, requester: Requester) -> int:
        """Number of queued futures of one requester."""
        requesters = self._groups.get(requester.group)
        return len(requesters[requester.name]) if requesters and requester.name in requesters else 0

    def per_network(self, requester: Requester) -> int:
        """Number of queued futures of the requester's network."""
        return self._lengths[requester.group]

    def push(self, requester: Requester, ticket: Ticket) -> None:
        """Append a future to those of its requester."""
        self._groups.setdefault(requester.group, OrderedDict()).setdefault(requester.name, deque()).append(
            ticket
        )
        self._count(requester.group, 1)

    def pop(self) -> Ticket:
        """Remove and return the next future. Raises `KeyError` if the queue is empty."""
        group, requesters = self._groups.popitem(last=False)
        name, tickets = requesters.popitem(last=False)
        ticket = tickets.popleft()
        self._count(group, -1)
        if tickets:
            requesters[name] = tickets  # behind the others of its network
        if requesters:
            self._groups[group] = requesters  # behind the other networks
        return ticket

    def remove(self, requester: Requester, ticket: Ticket) -> None:
        """Remove a queued future. Raises `ValueError` if it is not queued."""
        requesters = self._groups.get(requester.group, OrderedDict())
        tickets = requesters.get(requester.name, deque())
        tickets.remove(ticket)
        self._count(requester.group, -1)
        if not tickets:
            del requesters[requester.name]
        if not requesters:
            del self._groups[requester.group]

    def _count(self, group: str, by: int) -> None:
        self._length += by
        self._lengths[group] += by
        if not self._lengths[group]:
            del self._lengths[group]


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """Maximum queue length of a pool: in total, per requester and per network. `None` means unbounded.

    Only jobs of the same or a more urgent priority count, so less urgent jobs displace no others.
    """

    waiting: int | None = None
    per_requester: int | None = None
    refusal: str = "the server is overloaded"
    per_network: int | None = None


class _SwitchInterval:
    """Shortens the GIL switch interval (5 ms by default) while long jobs run.

    During a hint or a review, the event loop would wait up to 5 ms for the GIL at each message. A shorter
    interval costs 3 % of the server's throughput, so it applies only while such jobs run.
    """

    def __init__(self) -> None:
        self._usual = sys.getswitchinterval()
        self._jobs = 0

    def count(self, change: int) -> None:
        """Add `change` to the number of running jobs."""
        self._jobs += change
        sys.setswitchinterval(SHORT_SWITCH_INTERVAL if self._jobs else self._usual)


_SWITCH_INTERVAL = _SwitchInterval()


@dataclass(eq=False, slots=True)
class _Job:
    """A running job: the future its caller awaits, and its timer."""

    name: str
    result: asyncio.Future[Any]
    timer: asyncio.TimerHandle | None = None
    timed_out: bool = False
    replaced: bool = False  # a spare thread has replaced its thread


class WorkPool:
    """A few threads with a fair, bounded queue. Belongs to one event loop."""

    def __init__(
        self,
        name: str,
        threads: int,
        bounds: QueueLimits | None = None,
        *,
        priorities: int = 1,
        niceness: int = 0,
        job_timeout: float | None = None,
        spare_threads: int = 0,
        yields_gil: bool = False,
    ) -> None:
        self.name = name
        self.threads = threads
        self.job_timeout = job_timeout  # seconds per job
        self.running = 0  # jobs in threads, except those whose thread was replaced
        self.refused = 0  # jobs refused because the queue was full
        self.timed_out = 0  # running jobs that have exceeded their time limit
        self.timeouts = 0  # jobs that have ever exceeded it
        self._spare_threads = spare_threads
        self._yields_gil = yields_gil  # shorten the switch interval while its jobs run
        self.closed = False
        self._bounds = bounds or QueueLimits()
        self._queues = tuple(FairQueue() for _ in range(priorities))
        self._futures: dict[asyncio.Future[Any], _Job] = {}
        self._load: dict[str, Counter[str]] = {}  # unfinished jobs, by network and requester
        self._waits = POOL_WAITS.labels(name)
        POOLS.add(self)
        self._executor = ThreadPoolExecutor(threads + spare_threads, name, _lower_priority, (niceness,))

    @property
    def waiting(self) -> tuple[int, ...]:
        """Number of queued jobs by priority."""
        return tuple(len(queue) for queue in self._queues)

    def requesters(self, priority: int = 0) -> int:
        """Number of distinct requesters with queued jobs of a priority."""
        return self._queues[priority].requesters

    def share(self, requester: Requester) -> float:
        """Return the share of one thread, at most 1, for each unfinished job of a requester.

        Networks have equal shares, as have the requesters of a network and the jobs of a requester.
        """
        group = self._load.get(requester.group, Counter())
        competing = max(len(self._load), 1) * max(len(group), 1) * max(group[requester.name], 1)
        return min(1.0, self.threads / competing)

    def check(self, requester: Requester | str = ANONYMOUS, priority: int = 0) -> None:
        """Raise `Busy` if a job would be refused now."""
        requester = Requester(requester) if isinstance(requester, str) else requester
        bounds, queue = self._bounds, self._queues[priority]
        if self.closed:
            raise Busy(STOPPING)
        if self.running < self.threads:
            return
        if (
            _at_limit(sum(self.waiting[: priority + 1]), bounds.waiting)
            or _at_limit(queue.waiting_for(requester), bounds.per_requester)
            or _at_limit(queue.per_network(requester), bounds.per_network)
        ):
            self.refused += 1
            raise Busy(bounds.refusal)

    async def run(
        self,
        function: Callable[..., Result],
        *args: object,
        requester: Requester | str = ANONYMOUS,
        priority: int = 0,
    ) -> Result:
        """Run a function in one of the threads and return its result.

        Args:
            function: Function to run. Its exceptions propagate.
            args: Positional arguments of the function.
            requester: Origin of the job, for fair queueing.
            priority: Jobs with a lower number start first.

        Raises:
            Busy: The queue is full.
            JobTimeout: The function exceeded the pool's time limit.
        """
        requester = Requester(requester) if isinstance(requester, str) else requester
        self.check(requester, priority)
        self._load.setdefault(requester.group, Counter())[requester.name] += 1
        try:
            queued = time.perf_counter()
            if self.running < self.threads:
                self.running += 1
            else:
                await self._wait_for_thread(requester, priority)
            self._waits.observe(time.perf_counter() - queued)
            result = self._start(function, args)
        except BaseException:
            self._forget_load(requester)
            raise
        result.add_done_callback(lambda _: self._forget_load(requester))
        # Shielded: the thread stays occupied until the job ends, even if the caller is cancelled.
        return cast(Result, await asyncio.shield(result))

    async def _wait_for_thread(self, requester: Requester, priority: int) -> None:
        """Wait for a free thread, which the caller then owns."""
        ticket: Ticket = asyncio.get_running_loop().create_future()
        queue = self._queues[priority]
        queue.push(requester, ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self._release()  # a thread was assigned at the same moment
            else:
                with suppress(ValueError):  # `_release` has removed it
                    queue.remove(requester, ticket)
            raise

    def _start(self, function: Callable[..., Any], args: tuple[object, ...]) -> asyncio.Future[Any]:
        """Start a job in the thread that the caller owns. `_on_done` passes the thread to the next job."""
        loop = asyncio.get_running_loop()
        if self._yields_gil:
            _SWITCH_INTERVAL.count(1)
        try:
            future = loop.run_in_executor(self._executor, partial(function, *args))
        except BaseException:
            if self._yields_gil:
                _SWITCH_INTERVAL.count(-1)
            self._release()
            raise
        name = getattr(function, "__qualname__", repr(function))
        job = self._futures[future] = _Job(name, loop.create_future())
        if self.job_timeout is not None:
            job.timer = loop.call_later(self.job_timeout, self._on_timeout, job)
        future.add_done_callback(self._on_done)
        return job.result

    def _on_timeout(self, job: _Job) -> None:
        """Fail a job that exceeded its time limit, and replace its thread by a spare one."""
        self.timed_out += 1
        self.timeouts += 1
        job.timed_out = True
        log.error(
            "%s has been running for more than %g s; %d such jobs occupy threads of the pool %r",
            job.name, self.job_timeout, self.timed_out, self.name,
        )  # fmt: skip
        if not job.result.done():
            job.result.set_exception(JobTimeout(f"{job.name} exceeded {self.job_timeout:g} s"))
            job.result.exception()  # mark as retrieved: the caller may be cancelled
        if self._spare_threads > 0:
            self._spare_threads -= 1
            job.replaced = True
            self._release()

    def _on_done(self, future: asyncio.Future[Any]) -> None:
        job = self._futures.pop(future)
        if self._yields_gil:
            _SWITCH_INTERVAL.count(-1)
        if job.timer is not None:
            job.timer.cancel()
        if job.timed_out:
            self.timed_out -= 1
        if not job.result.done():
            if future.cancelled():
                job.result.cancel()
            elif (error := future.exception()) is not None:
                job.result.set_exception(error)
                job.result.exception()  # mark as retrieved: the caller may be cancelled
            else:
                job.result.set_result(future.result())
        elif not future.cancelled():
            future.exception()  # mark as retrieved
        if job.replaced:
            self._spare_threads += 1
        else:
            self._release()

    def _forget_load(self, requester: Requester) -> None:
        group = self._load[requester.group]
        group[requester.name] -= 1
        if not group[requester.name]:
            del group[requester.name]
            if not group:
                del self._load[requester.group]

    def _release(self) -> None:
        """Pass a free thread to the next job."""
        for queue in self._queues:
            while len(queue):
                ticket = queue.pop()
                if not ticket.done():  # done if its caller was cancelled a moment ago
                    ticket.set_result(None)
                    return
        self.running -= 1

    def close(self) -> None:
        """Refuse all queued and future jobs."""
        self.closed = True
        for queue in self._queues:
            while len(queue):
                ticket = queue.pop()
                if not ticket.done():
                    ticket.set_exception(Busy(STOPPING))
        for future, job in tuple(self._futures.items()):
            if job.timer is not None:
                job.timer.cancel()
            future.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)


def _at_limit(number: int, limit: int | None) -> bool:
    return limit is not None and number >= limit


def _lower_priority(niceness: int) -> None:
    """Set the niceness of the current thread, which only Linux supports."""
    if niceness and sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
