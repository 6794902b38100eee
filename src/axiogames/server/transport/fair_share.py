"""Fair sharing of the event loop between networks.

The time that a request or message takes in the event loop is charged to the account of its network. In the
long run a network can use a fixed share of the loop. It can save some unused time for bursts such as loading
the page. Requests beyond that are delayed, and other networks have their turn in between. The number of
concurrent requests of a network is limited as well.
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
BURST_SECONDS = 0.25  # time that a network can save for bursts
MAX_DELAY = 10.0  # seconds; a request that would be delayed for longer is refused
REFUSAL_DELAY = 1.0  # seconds until it is refused
MAX_CONCURRENT = 32  # requests of one network
OVERHEAD = 0.00005  # seconds to read a request or message and to write the response
FIRST_ESTIMATE = 0.001  # estimated seconds of a network's first request
MAX_STEP = 0.05  # maximum seconds charged for one step; longer steps are caused by the machine
SLICE_SECONDS = 0.001  # of long work, after which other tasks run
ROUNDING = 1e-6  # seconds
WEIGHT = 0.2  # of the latest request in the estimate
MAX_ACCOUNTS = 50_000  # in memory

Result = TypeVar("Result")


class TooMuchLoad(Exception):
    """A request would be delayed for too long."""


class _Account:
    """Remaining time of a network, and the estimated time of its requests."""

    __slots__ = ("_at", "_reserved", "_shares", "balance", "estimate", "long_work", "slots")

    def __init__(self, shares: LoopShares) -> None:
        self._shares = shares
        self._at = shares.now()
        self.balance = BURST_SECONDS  # seconds, minus reserved time
        self._reserved = 0.0
        self.estimate = FIRST_ESTIMATE
        self.long_work: asyncio.Lock | None = None  # held during long work
        self.slots = asyncio.Semaphore(MAX_CONCURRENT)  # for requests

    def reserve(self) -> tuple[float, float]:
        """Reserve time for one more request. Return that time, and the seconds until it can start."""
        estimate = self.estimate
        self._accrue()
        self._reserved += estimate
        self.balance -= estimate
        return estimate, max(0.0, -self.balance / SHARE)

    def settle(self, reserved: float, spent: float | None) -> None:
        """Release reserved time and charge the time spent, `None` if the request did not start."""
        self._reserved -= reserved
        self.balance += reserved
        if spent is not None:
            spent += OVERHEAD
            self.balance -= OVERHEAD
            self.estimate += WEIGHT * (spent - self.estimate)

    async def wait_until_settled(self) -> None:
        """Wait until the balance covers the time spent so far."""
        self._accrue()
        while (owed := -self.balance - self._reserved) > ROUNDING:
            await self._shares.sleep(owed / SHARE)
            self._accrue()

    def meter(self, work: Coroutine[Any, Any, Result]) -> Metered[Result]:
        """Return an awaitable that runs a coroutine and charges it to this account."""
        return Metered(work, self, self._shares.meter)

    def _accrue(self) -> None:
        now = self._shares.now()
        self.balance = min(BURST_SECONDS, self.balance + (now - self._at) * SHARE)
        self._at = now


_CURRENT_ACCOUNT: ContextVar[_Account | None] = ContextVar("_CURRENT_ACCOUNT", default=None)


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
            start = self._clock()
            try:
                awaited = step(value)
            except StopIteration as end:
                result: Result = end.value
                return result
            finally:
                spent = min(self._clock() - start, MAX_STEP)
                self.spent += spent
                self._account.balance -= spent
            try:
                value = yield awaited
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
        self,
        network: str,
        work: Callable[[], Coroutine[Any, Any, Result]],
        max_delay: float | None = MAX_DELAY,
    ) -> Result:
        """Run a coroutine in its network's turn and return its result.

        Args:
            network: The network to charge.
            work: Creates the coroutine.
            max_delay: Maximum delay in seconds, `None` for no limit.

        Raises:
            TooMuchLoad: The delay would be longer.
        """
        if not self.active:
            return await work()
        account = self._account(network)
        reserved, delay = account.reserve()
        metered: Metered[Result] | None = None
        _CURRENT_ACCOUNT.set(account)  # a task works for one network, from start to end
        try:
            if delay:
                if max_delay is not None and delay > max_delay:
                    raise TooMuchLoad
                self.delayed += 1
                await self.sleep(delay)
            # Requests that wait for the database or a pool use no time of the loop: slots limit their number.
            async with account.slots if max_delay is not None else nullcontext():
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
    """Delimit work that takes many times as long as a usual request, one at a time for each network.

    It starts once the network's balance covers everything before it. The time of a request is known only
    afterwards: without this, a network could start hundreds of them with the time saved for one burst. Work
    of the server itself starts at once.
    """
    account = _CURRENT_ACCOUNT.get()
    if account is None:
        yield
        return
    if account.long_work is None:
        account.long_work = asyncio.Lock()
    async with account.long_work:
        await account.wait_until_settled()
        yield


async def charged(work: Coroutine[Any, Any, Result]) -> Result:
    """Run work in a task that a request has started, and charge it to the request's network."""
    account = _CURRENT_ACCOUNT.get()
    return await (work if account is None else account.meter(work))


class Pauses:
    """Lets other tasks run during long work, wherever an instance is awaited."""

    def __init__(self) -> None:
        self._resumed = time.monotonic()

    async def __call__(self) -> None:
        if time.monotonic() - self._resumed > SLICE_SECONDS:
            await asyncio.sleep(0)
            self._resumed = time.monotonic()
