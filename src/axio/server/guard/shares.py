"""Shares of the event loop: what one network can make the server do without delaying others.

The time that a request or message takes in the event loop is charged to the network that it comes from. A
network may use a share of the loop in the long run, and has some time saved up for bursts such as loading the
page. Whatever it asks for beyond that is delayed and spread out, so that others get their turn in between.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

SHARE = 0.1  # of the loop, for each network
SAVED = 0.25  # seconds of the loop that a network has for bursts
LONGEST = 10.0  # seconds that a request may be delayed
FIRST_GUESS = 0.001  # seconds that a request is likely to take, before there were any
LONGEST_STEP = 0.05  # seconds that are charged for one step: what takes longer is the fault of the machine
WEIGHT = 0.2  # of the latest request in that guess
REMEMBERED = 50_000  # networks

Done = TypeVar("Done")


class TooMuch(Exception):
    """A request would be delayed for too long."""


class _Account:
    """What is left of a network's share, and how long its requests take on average."""

    __slots__ = ("at", "guess", "left")

    def __init__(self, now: float) -> None:
        self.left = SAVED
        self.guess = FIRST_GUESS
        self.at = now

    def reserve(self, now: float) -> tuple[float, float]:
        """Set time aside for one more request: how much, and the seconds until it may begin."""
        self.left = min(SAVED, self.left + (now - self.at) * SHARE)
        self.at = now
        self.left -= self.guess
        return self.guess, max(0.0, -self.left / SHARE)

    def settle(self, reserved: float, spent: float | None) -> None:
        """Charge what a request has taken in place of what was set aside; `None` if it did not begin."""
        self.left += reserved
        if spent is not None:
            self.left -= spent
            self.guess += WEIGHT * (spent - self.guess)


class Metered(Generic[Done]):
    """Awaits a coroutine, and adds up the time of its steps in the event loop.

    That is time by the clock: where a machine is busy otherwise, there is less of the loop to share out.
    """

    def __init__(self, work: Coroutine[Any, Any, Done], clock: Callable[[], float]) -> None:
        self._work = work
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
                self.spent += min(self._clock() - begun, LONGEST_STEP)
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
        self._now = now
        self._meter = meter
        self._sleep = sleep
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
        reserved, delay = account.reserve(self._now())
        metered: Metered[Done] | None = None
        try:
            if delay:
                if longest is not None and delay > longest:
                    raise TooMuch
                self.delayed += 1
                await self._sleep(delay)
            metered = Metered(work(), self._meter)
            return await metered
        finally:
            account.settle(reserved, metered.spent if metered else None)

    def _account(self, network: str) -> _Account:
        account = self._accounts.get(network)
        if account is None:
            account = self._accounts[network] = _Account(self._now())
            if len(self._accounts) > REMEMBERED:
                self._accounts.popitem(last=False)
        else:
            self._accounts.move_to_end(network)
        return account
