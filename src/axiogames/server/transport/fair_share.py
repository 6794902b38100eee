"""Shares of the event loop: what one network can make the server do without delaying others.

The time that a request or message takes in the event loop is charged to the network that it comes from. A
network may use a share of the loop in the long run, and has some time saved up for bursts such as loading the
page. Whatever it asks for beyond that is delayed and spread out, so that others get their turn in between.
Only so many of its requests wait for the database and other things at the same time.
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
SAVED = 0.25  # seconds of the loop that a network has for bursts
LONGEST = 10.0  # seconds that a request may be delayed
REFUSED_AFTER = 1.0  # seconds until a request is answered that would be delayed for longer
AT_ONCE = 32  # requests of one network that have begun and are not answered
AROUND = 0.00005  # seconds for reading a request or message and writing the answer, before and after its work
FIRST_GUESS = 0.001  # seconds that a request is likely to take, before there were any
LONGEST_STEP = 0.05  # seconds that are charged for one step: what takes longer is the fault of the machine
PIECE = 0.001  # seconds of long work until others get a turn
ROUNDING = 1e-6  # seconds
WEIGHT = 0.2  # of the latest request in that guess
REMEMBERED = 50_000  # networks

Done = TypeVar("Done")


class TooMuch(Exception):
    """A request would be delayed for too long."""


class _Account:
    """What is left of a network's share, and how long its requests take on average."""

    __slots__ = ("_aside", "_at", "_shares", "guess", "left", "long_work", "places")

    def __init__(self, shares: LoopShares) -> None:
        self._shares = shares
        self._at = shares.now()
        self.left = SAVED  # less what is set aside
        self._aside = 0.0
        self.guess = FIRST_GUESS
        self.long_work: asyncio.Lock | None = None  # held while some is done
        self.places = asyncio.Semaphore(AT_ONCE)  # for requests

    def reserve(self) -> tuple[float, float]:
        """Set time aside for one more request: how much, and the seconds until it may begin."""
        guess = self.guess
        self._earn()
        self._aside += guess
        self.left -= guess
        return guess, max(0.0, -self.left / SHARE)

    def settle(self, reserved: float, spent: float | None) -> None:
        """Give back what was set aside for a request, which took this long; `None` if it did not begin."""
        self._aside -= reserved
        self.left += reserved
        if spent is not None:
            spent += AROUND
            self.left -= AROUND
            self.guess += WEIGHT * (spent - self.guess)

    async def break_even(self) -> None:
        """Wait until everything that was done is paid for."""
        self._earn()
        while (owed := -self.left - self._aside) > ROUNDING:
            await self._shares.sleep(owed / SHARE)
            self._earn()

    def meter(self, work: Coroutine[Any, Any, Done]) -> Metered[Done]:
        """Return an awaitable that does the work and charges its time here."""
        return Metered(work, self, self._shares.meter)

    def _earn(self) -> None:
        now = self._shares.now()
        self.left = min(SAVED, self.left + (now - self._at) * SHARE)
        self._at = now


_PAYING: ContextVar[_Account | None] = ContextVar("_PAYING", default=None)


class Metered(Generic[Done]):
    """Awaits a coroutine, and charges each of its steps in the event loop to an account.

    That is time by the clock: where a machine is busy otherwise, there is less of the loop to share out.
    """

    def __init__(
        self, work: Coroutine[Any, Any, Done], account: _Account, clock: Callable[[], float]
    ) -> None:
        self._work = work
        self._account = account
        self._clock = clock
        self.spent = 0.0

    def __await__(self) -> Generator[Any, Any, Done]:
        step: Callable[[Any], Any] = self._work.send
        given: Any = None
        while True:
            begun = self._clock()
            try:
                waits_for = step(given)
            except StopIteration as end:
                done: Done = end.value
                return done
            finally:
                spent = min(self._clock() - begun, LONGEST_STEP)
                self.spent += spent
                self._account.left -= spent
            try:
                given = yield waits_for
            except BaseException as error:
                step, given = self._work.throw, error
            else:
                step = self._work.send


class LoopShares:
    """The share of the event loop that each network has used."""

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
        self, network: str, work: Callable[[], Coroutine[Any, Any, Done]], longest: float | None = LONGEST
    ) -> Done:
        """Return what `work` returns, begun when it is the network's turn.

        Args:
            network: Whom to charge the time to.
            work: Makes the coroutine.
            longest: Seconds that it may be delayed; `None` for any time.

        Raises:
            TooMuch: It would be delayed for longer.
        """
        if not self.active:
            return await work()
        account = self._account(network)
        reserved, delay = account.reserve()
        metered: Metered[Done] | None = None
        _PAYING.set(account)  # a task of the event loop works for one network, from its beginning to its end
        try:
            if delay:
                if longest is not None and delay > longest:
                    raise TooMuch
                self.delayed += 1
                await self.sleep(delay)
            # What waits for the database or a pool takes no time of the loop: without places hundreds would.
            async with account.places if longest is not None else nullcontext():
                metered = account.meter(work())
                return await metered
        finally:
            account.settle(reserved, metered.spent if metered else None)

    def _account(self, network: str) -> _Account:
        account = self._accounts.get(network)
        if account is None:
            account = self._accounts[network] = _Account(self)
            if len(self._accounts) > REMEMBERED:
                self._accounts.popitem(last=False)
        else:
            self._accounts.move_to_end(network)
        return account


@asynccontextmanager
async def long_work() -> AsyncIterator[None]:
    """Work that may take many times what requests usually do: one at a time for each network.

    It begins when its network has paid for all that came before. What requests take is known only when they
    are done: without this a network could begin hundreds of them on what it has saved for one burst. What the
    server does by itself begins at once.
    """
    account = _PAYING.get()
    if account is None:
        yield
        return
    if account.long_work is None:
        account.long_work = asyncio.Lock()
    async with account.long_work:
        await account.break_even()
        yield


async def charged(work: Coroutine[Any, Any, Done]) -> Done:
    """Do what a request has begun in a task of its own, and charge it to that request's network."""
    account = _PAYING.get()
    return await (work if account is None else account.meter(work))


class Pauses:
    """Lets others have their turn in the middle of long work: await it wherever that may be."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    async def __call__(self) -> None:
        if time.monotonic() - self._begun > PIECE:
            await asyncio.sleep(0)
            self._begun = time.monotonic()
