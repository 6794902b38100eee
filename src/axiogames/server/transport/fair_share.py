"""Fair sharing of the event loop between networks.

The time that a request or message takes in the event loop is charged to its network. A network can use a
share of the loop in the long run, with some saved time for bursts such as loading the page. Requests beyond
that are delayed and spread out, so that others get their turn in between. The number of concurrent requests
of a network is limited as well.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

SHARE = 0.1  # of the loop, for each network
SAVED = 0.25  # seconds of the loop that a network can save for bursts
MAX_DELAY = 10.0  # seconds that a request may be delayed
REFUSED_AFTER = 1.0  # seconds until a request is refused that would be delayed for longer
MAX_CONCURRENT = 32  # requests of one network
OVERHEAD = 0.00005  # seconds to read a request or message and to write the response
FIRST_ESTIMATE = 0.001  # seconds that the first request is expected to take
MAX_STEP = 0.05  # seconds charged at most for one step: longer ones are the fault of the machine
SLICE = 0.001  # seconds of long work until other tasks run
ROUNDING = 1e-6  # seconds
WEIGHT = 0.2  # of the latest request in the estimate
MAX_ACCOUNTS = 50_000  # remembered

Result = TypeVar("Result")


class TooMuchLoad(Exception):
    """A request would be delayed for too long."""


class _Account:
    """Time left of a network's share, and the average time of its requests."""

    __slots__ = ("_at", "_reserved", "_shares", "estimate", "left", "long_work", "slots")

    def __init__(self, shares: LoopShares) -> None:
        self._shares = shares
        self._at = shares.now()
        self.left = SAVED  # without reserved time
        self._reserved = 0.0
        self.estimate = FIRST_ESTIMATE
        self.long_work: asyncio.Lock | None = None  # held during long work
        self.slots = asyncio.Semaphore(MAX_CONCURRENT)  # for requests

    def reserve(self) -> tuple[float, float]:
        """Reserve time for one more request. Return the time, and the seconds until it may start."""
        estimate = self.estimate
        self._earn()
        self._reserved += estimate
        self.left -= estimate
        return estimate, max(0.0, -self.left / SHARE)

    def settle(self, reserved: float, spent: float | None) -> None:
        """Release reserved time and charge the time spent, `None` if the request did not start."""
        self._reserved -= reserved
        self.left += reserved
        if spent is not None:
            spent += OVERHEAD
            self.left -= OVERHEAD
            self.estimate += WEIGHT * (spent - self.estimate)

    async def wait_until_settled(self) -> None:
        """Wait until the time spent so far has been earned."""
        self._earn()
        while (owed := -self.left - self._reserved) > ROUNDING:
            await self._shares.sleep(owed / SHARE)
            self._earn()

    def meter(self, work: Coroutine[Any, Any, Result]) -> Metered[Result]:
        """Return an awaitable that runs a coroutine and charges its time to this account."""
        return Metered(work, self, self._shares.meter)

    def _earn(self) -> None:
        now = self._shares.now()
        self.left = min(SAVED, self.left + (now - self._at) * SHARE)
        self._at = now


_PAYING: ContextVar[_Account | None] = ContextVar("_PAYING", default=None)


class Metered(Generic[Result]):
    """Awaits a coroutine and charges each of its steps in the event loop to an account.

    Steps are charged by wall-clock time: on a busy machine there is less of the loop to share.
    """

    def __init__(
        self, work: Coroutine[Any, Any, Result], account: _Account, clock: Callable[[], float]
    ) -> None:
        self._work = work
        self._account = account
        self._clock = clock
        self.spent = 0.0

    def __await__(self) -> Generator[Any, Any, Result]:
        step: Callable[[Any], Any] = self._work.send
        value: Any = None
        while True:
            begun = self._clock()
            try:
                waits_for = step(value)
            except StopIteration as end:
                result: Result = end.value
                return result
            finally:
                spent = min(self._clock() - begun, MAX_STEP)
                self.spent += spent
                self._account.left -= spent
            try:
                value = yield waits_for
            except BaseException as error:
                step, value = self._work.throw, error
            else:
                step = self._work.send


class LoopShares:
    """Shares of the event loop by network."""

    def __init__(
        self,
        active: bool = True,
        *,
        now: Callable[[], float] = time.monotonic,
        meter: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep,
    ) -> None:
        self.active = active
        self.delayed = 0  # requests and messages
        self.now = now
        self.meter = meter
        self.sleep = sleep
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    async def run(
        self, network: str, work: Callable[[], Coroutine[Any, Any, Result]], longest: float | None = MAX_DELAY
    ) -> Result:
        """Run a coroutine when it is its network's turn and return its result.

        Args:
            network: The network to charge.
            work: Creates the coroutine.
            longest: Longest delay in seconds, `None` for any.

        Raises:
            TooMuchLoad: the delay would be longer.
        """
        if not self.active:
            return await work()
        account = self._account(network)
        reserved, delay = account.reserve()
        metered: Metered[Result] | None = None
        _PAYING.set(account)  # a task works for one network, from start to end
        try:
            if delay:
                if longest is not None and delay > longest:
                    raise TooMuchLoad
                self.delayed += 1
                await self.sleep(delay)
            # Waiting for the database or a pool takes no time of the loop: without slots hundreds would wait.
            async with account.slots if longest is not None else nullcontext():
                metered = account.meter(work())
                return await metered
        finally:
            account.settle(reserved, metered.spent if metered else None)

    def _account(self, network: str) -> _Account:
        account = self._accounts.get(network)
        if account is None:
            account = self._accounts[network] = _Account(self)
            if len(self._accounts) > MAX_ACCOUNTS:
                self._accounts.popitem(last=False)
        else:
            self._accounts.move_to_end(network)
        return account


@asynccontextmanager
async def long_work() -> AsyncIterator[None]:
    """Delimit work that takes many times as long as usual requests: one at a time for each network.

    It starts when the network has earned the time of everything before. The time of a request is known only
    afterwards: without this, a network could start hundreds of them on the time saved for one burst. Work of
    the server itself starts at once.
    """
    account = _PAYING.get()
    if account is None:
        yield
        return
    if account.long_work is None:
        account.long_work = asyncio.Lock()
    async with account.long_work:
        await account.wait_until_settled()
        yield


async def charged(work: Coroutine[Any, Any, Result]) -> Result:
    """Run work that a request has started in a task of its own, charged to the request's network."""
    account = _PAYING.get()
    return await (work if account is None else account.meter(work))


class Pauses:
    """Lets other tasks run in the middle of long work. Await it at suitable places."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    async def __call__(self) -> None:
        if time.monotonic() - self._begun > SLICE:
            await asyncio.sleep(0)
            self._begun = time.monotonic()
