"""Shares of the event loop: heavy users wait, light users do not notice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axiogames.server.transport import fair_share as module
from axiogames.server.transport.fair_share import (
    BURST_SECONDS,
    SHARE,
    LoopShares,
    Metered,
    TooMuchLoad,
    charged,
    long_work,
)
from tests.server.in_process import running_app
from tests.server.rooms import run


class World:
    """A loop whose time passes only when work is done or waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept = 0.0
        self.shares = LoopShares(now=lambda: self.now, meter=lambda: self.now, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds

    async def work(self, seconds: float) -> str:
        self.now += seconds
        return "done"

    async def request(self, network: str, seconds: float, max_delay: float | None = None) -> str:
        return await self.shares.run(network, lambda: self.work(seconds), max_delay)


def test_network_uses_only_its_share_in_the_long_run() -> None:
    async def work() -> None:
        for cost in (0.0002, 0.002, 0.04):
            world = World()
            for _ in range(500):
                assert await world.request("mallory", cost) == "done"
            used = 500 * (cost + module.OVERHEAD)
            assert used <= BURST_SECONDS + SHARE * (world.now + 500 * module.OVERHEAD) + 2 * cost
            assert world.slept == 0 or used >= SHARE * world.now

    run(work)


def test_light_user_never_waits() -> None:
    async def work() -> None:
        world = World()
        for number in range(200):
            await world.request("mallory", 0.02)
            if number % 10 == 0:
                slept = world.slept
                await world.request("ann", 0.001)
                assert world.slept == slept
        assert world.slept > 0
        assert world.shares.delayed > 100

    run(work)


def test_burst_of_requests_is_spread_out() -> None:
    async def work() -> None:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

        world = World()
        world.shares = LoopShares(now=lambda: 0.0, meter=lambda: world.now, sleep=sleep)
        count = int(BURST_SECONDS / module.FIRST_ESTIMATE) + 20
        go = asyncio.Event()
        asked = [asyncio.create_task(world.shares.run("mallory", go.wait)) for _ in range(count)]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*asked)
        assert len(waits) == pytest.approx(20, abs=1)
        gaps = [later - earlier for earlier, later in itertools.pairwise(waits)]
        assert gaps == pytest.approx([module.FIRST_ESTIMATE / SHARE] * len(gaps))

    run(work)


def test_request_delayed_too_long_is_refused_and_not_charged() -> None:
    async def work() -> None:
        world = World()
        for _ in range(40):
            await world.request("mallory", 0.02)
        now, slept = world.now, world.slept
        for _ in range(50):
            with pytest.raises(TooMuchLoad):
                await world.request("mallory", 0.02, max_delay=0.01)
        assert (world.now, world.slept) == (now, slept)
        await world.request("ann", 0.02, max_delay=0.01)
        assert world.slept == slept
        await world.request("mallory", 0.02)  # whoever may wait for any time does
        assert world.slept > slept + 0.01

    run(work)


def test_request_cancelled_while_waiting_is_not_charged() -> None:
    async def work() -> None:
        forever = asyncio.Event()

        async def sleep(_: float) -> None:
            await forever.wait()

        world = World()
        world.shares = LoopShares(now=lambda: world.now, meter=lambda: world.now, sleep=sleep)
        await world.request("mallory", 0.02)
        account = world.shares._accounts["mallory"]
        account.settle(account.reserve()[0], None)
        account.balance = left = -1.0
        waits = [asyncio.create_task(world.request("mallory", 1.0)) for _ in range(5)]
        await asyncio.sleep(0)
        assert account.balance < left
        for one in waits:
            one.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        assert account.balance == pytest.approx(left)

    run(work)


def test_concurrent_requests_of_a_network_are_limited() -> None:
    async def work() -> None:
        world, begun = World(), list[str]()
        go = asyncio.Event()

        async def wait(name: str, until: asyncio.Event | None) -> None:
            begun.append(name)
            if until is not None:
                await until.wait()

        def ask(
            name: str, until: asyncio.Event | None = None, max_delay: float | None = 1e9
        ) -> asyncio.Task[None]:
            return asyncio.create_task(world.shares.run(name, lambda: wait(name, until), max_delay))

        asked = [ask("mallory", go) for _ in range(3 * module.MAX_CONCURRENT)]
        await ask("ann")
        assert begun.count("mallory") == module.MAX_CONCURRENT
        await ask("mallory", max_delay=None)  # messages do not wait for requests
        for one in asked[: module.MAX_CONCURRENT]:  # whoever hangs up makes room, also who has not begun
            one.cancel()
        asked[-1].cancel()
        go.set()
        await asyncio.wait(asked)
        assert begun.count("mallory") == 3 * module.MAX_CONCURRENT
        assert sum(one.cancelled() for one in asked) == module.MAX_CONCURRENT + 1

    run(work)


def test_number_of_remembered_networks_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ACCOUNTS", 3)

    async def work() -> None:
        world = World()
        for number in range(10):
            await world.request(f"network {number}", 0.001)
        assert list(world.shares._accounts) == ["network 7", "network 8", "network 9"]

    run(work)


def metered(make: Callable[[list[float]], Any]) -> tuple[Any, float]:
    clock = [0.0]

    async def main() -> tuple[Any, float]:
        shares = LoopShares(meter=lambda: clock[0])
        meter: Metered[Any] = shares._account("ann").meter(make(clock))
        try:
            return await meter, meter.spent
        except ValueError as error:
            return error, meter.spent

    return asyncio.run(main())


def test_only_time_in_the_event_loop_is_charged() -> None:
    async def work(clock: list[float]) -> str:
        clock[0] += 0.01

        async def other() -> None:
            clock[0] += 100

        await asyncio.create_task(other())
        clock[0] += 0.02
        await asyncio.sleep(0)
        clock[0] += 0.04
        return "done"

    done, spent = metered(work)
    assert done == "done"
    assert spent == pytest.approx(0.07)


def test_long_work_is_paid_for_before_the_next_starts() -> None:
    async def work() -> None:
        worked, slept, begun = [0.0], [0.0], list[float]()

        async def sleep(seconds: float) -> None:
            slept[0] += seconds
            await asyncio.sleep(0)

        shares = LoopShares(now=lambda: worked[0] + slept[0], meter=lambda: worked[0], sleep=sleep)

        async def load() -> str:
            begun.append(slept[0])
            await asyncio.sleep(0)
            worked[0] += 0.04
            return "loaded"

        async def request() -> None:
            async with long_work():
                # In a task of its own, for others may wait for the same.
                assert await asyncio.create_task(charged(load())) == "loaded"

        # All are begun before the first has shown what it takes.
        await asyncio.gather(*(asyncio.create_task(shares.run("mallory", request)) for _ in range(20)))
        assert len(begun) == 20
        assert begun[-1] >= (19 * 0.04 - BURST_SECONDS) / SHARE - 1
        before = slept[0]
        await shares.run("ann", request)
        assert slept[0] == before

    run(work)


def test_reserved_time_does_not_delay_long_work() -> None:
    async def work() -> None:
        world = World()
        account = world.shares._account("ann")

        async def request() -> None:
            others = [account.reserve()[0] for _ in range(1_000)]  # come while this one is under way
            async with long_work():
                world.now += 0.001
            for one in others:
                account.settle(one, None)

        await world.shares.run("ann", request)
        assert world.slept == 0

    run(work)


def test_work_of_the_server_itself_is_not_charged() -> None:
    async def work() -> None:
        async with long_work():
            assert await charged(World().work(0.1)) == "done"

    run(work)


def test_stalled_machine_is_not_charged() -> None:
    async def work() -> None:
        world = World()
        await world.request("ann", 60.0)
        await world.request("ann", 0.001)
        assert world.slept == 0

    run(work)


def test_errors_and_cancellation_pass_through() -> None:
    async def fails(clock: list[float]) -> None:
        await asyncio.sleep(0)
        clock[0] += 0.01
        raise ValueError("no")

    error, spent = metered(fails)
    assert isinstance(error, ValueError)
    assert spent == pytest.approx(0.01)

    async def times_out(clock: list[float]) -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(3600)
        except TimeoutError:
            clock[0] += 0.03
        return "in time"

    done, spent = metered(times_out)
    assert done == "in time"
    assert spent == pytest.approx(0.03)


def test_without_limits_nothing_is_measured() -> None:
    async def work() -> None:
        world = World()
        world.shares.active = False
        for _ in range(100):
            await world.request("mallory", 1.0)
        assert world.slept == 0
        assert not world.shares._accounts

    run(work)


def test_requests_and_messages_use_the_share_of_their_network(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            loop, waits = app.server.limits.loop, list[float]()

            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            loop.sleep, loop.active = sleep, True
            ann = await app.guest("Ann")
            table = (await app.open(ann, "rota", [{"kind": "me"}]))["id"]
            socket = await app.socket(table, ann.token)
            await socket.drain()
            (account,) = loop._accounts.values()
            waits.clear()
            account.balance, account.estimate = -0.5, 0.001
            assert (await app.request("GET", "/api/bots")).status == 200
            assert len(waits) == 1
            await socket.drain()
            assert len(waits) == 2
            account.balance = -100.0  # whatever the last ones took
            refused = await app.request("GET", "/api/bots")
            assert (refused.status, refused.json["code"]) == (429, "too_fast")
            assert waits[2:] == [module.REFUSAL_DELAY]  # or it could be asked for without a pause
            await socket.drain()  # a connection that is there waits instead
            assert len(waits) == 4

    run(work)
