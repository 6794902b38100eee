"""Shares of the event loop: requests of heavy users are delayed, those of light users are not."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axiogames.server.transport import fair_share
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


class SimulatedLoop:
    """An event loop whose clock advances only by work and by sleeping."""

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
            loop = SimulatedLoop()
            for _ in range(500):
                assert await loop.request("mallory", cost) == "done"
            used = 500 * (cost + fair_share.OVERHEAD)
            assert used <= BURST_SECONDS + SHARE * (loop.now + 500 * fair_share.OVERHEAD) + 2 * cost
            assert loop.slept == 0 or used >= SHARE * loop.now

    run(work)


def test_light_user_never_waits() -> None:
    async def work() -> None:
        loop = SimulatedLoop()
        for number in range(200):
            await loop.request("mallory", 0.02)
            if number % 10 == 0:
                slept = loop.slept
                await loop.request("ann", 0.001)
                assert loop.slept == slept
        assert loop.slept > 0
        assert loop.shares.delayed > 100

    run(work)


def test_burst_of_requests_is_spread_out() -> None:
    async def work() -> None:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

        loop = SimulatedLoop()
        loop.shares = LoopShares(now=lambda: 0.0, meter=lambda: loop.now, sleep=sleep)
        count = int(BURST_SECONDS / fair_share.FIRST_ESTIMATE) + 20
        go = asyncio.Event()
        tasks = [asyncio.create_task(loop.shares.run("mallory", go.wait)) for _ in range(count)]
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks)
        assert len(waits) == pytest.approx(20, abs=1)
        gaps = [later - earlier for earlier, later in itertools.pairwise(waits)]
        assert gaps == pytest.approx([fair_share.FIRST_ESTIMATE / SHARE] * len(gaps))

    run(work)


def test_request_delayed_too_long_is_refused_and_not_charged() -> None:
    async def work() -> None:
        loop = SimulatedLoop()
        for _ in range(40):
            await loop.request("mallory", 0.02)
        now, slept = loop.now, loop.slept
        for _ in range(50):
            with pytest.raises(TooMuchLoad):
                await loop.request("mallory", 0.02, max_delay=0.01)
        assert (loop.now, loop.slept) == (now, slept)
        await loop.request("ann", 0.02, max_delay=0.01)
        assert loop.slept == slept
        await loop.request("mallory", 0.02)  # without a maximum delay it waits
        assert loop.slept > slept + 0.01

    run(work)


def test_request_cancelled_while_waiting_is_not_charged() -> None:
    async def work() -> None:
        forever = asyncio.Event()

        async def sleep(_: float) -> None:
            await forever.wait()

        loop = SimulatedLoop()
        loop.shares = LoopShares(now=lambda: loop.now, meter=lambda: loop.now, sleep=sleep)
        await loop.request("mallory", 0.02)
        account = loop.shares._accounts["mallory"]
        account.settle(account.reserve()[0], None)
        account.balance = balance = -1.0
        waits = [asyncio.create_task(loop.request("mallory", 1.0)) for _ in range(5)]
        await asyncio.sleep(0)
        assert account.balance < balance
        for task in waits:
            task.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        assert account.balance == pytest.approx(balance)

    run(work)


def test_concurrent_requests_of_a_network_are_limited() -> None:
    async def work() -> None:
        loop, started = SimulatedLoop(), list[str]()
        go = asyncio.Event()

        async def wait(name: str, until: asyncio.Event | None) -> None:
            started.append(name)
            if until is not None:
                await until.wait()

        def request(
            name: str, until: asyncio.Event | None = None, max_delay: float | None = 1e9
        ) -> asyncio.Task[None]:
            return asyncio.create_task(loop.shares.run(name, lambda: wait(name, until), max_delay))

        tasks = [request("mallory", go) for _ in range(3 * fair_share.MAX_CONCURRENT)]
        await request("ann")
        assert started.count("mallory") == fair_share.MAX_CONCURRENT
        await request("mallory", max_delay=None)  # messages do not wait for requests
        for task in tasks[: fair_share.MAX_CONCURRENT]:  # cancelled requests release their slots
            task.cancel()
        tasks[-1].cancel()  # this one has not started
        go.set()
        await asyncio.wait(tasks)
        assert started.count("mallory") == 3 * fair_share.MAX_CONCURRENT
        assert sum(task.cancelled() for task in tasks) == fair_share.MAX_CONCURRENT + 1

    run(work)


def test_number_of_remembered_networks_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "MAX_ACCOUNTS", 3)

    async def work() -> None:
        loop = SimulatedLoop()
        for number in range(10):
            await loop.request(f"network {number}", 0.001)
        assert list(loop.shares._accounts) == ["network 7", "network 8", "network 9"]

    run(work)


def run_metered(work: Callable[[list[float]], Any]) -> tuple[Any, float]:
    clock = [0.0]

    async def main() -> tuple[Any, float]:
        shares = LoopShares(meter=lambda: clock[0])
        meter: Metered[Any] = shares._account("ann").meter(work(clock))
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

    done, spent = run_metered(work)
    assert done == "done"
    assert spent == pytest.approx(0.07)


def test_long_work_is_paid_for_before_the_next_starts() -> None:
    async def work() -> None:
        worked, slept, started = [0.0], [0.0], list[float]()

        async def sleep(seconds: float) -> None:
            slept[0] += seconds
            await asyncio.sleep(0)

        shares = LoopShares(now=lambda: worked[0] + slept[0], meter=lambda: worked[0], sleep=sleep)

        async def load() -> str:
            started.append(slept[0])
            await asyncio.sleep(0)
            worked[0] += 0.04
            return "loaded"

        async def request() -> None:
            async with long_work():
                # In a separate task, since other requests may wait for the same table.
                assert await asyncio.create_task(charged(load())) == "loaded"

        # All start before the time of the first is known.
        await asyncio.gather(*(asyncio.create_task(shares.run("mallory", request)) for _ in range(20)))
        assert len(started) == 20
        assert started[-1] >= (19 * 0.04 - BURST_SECONDS) / SHARE - 1
        before = slept[0]
        await shares.run("ann", request)
        assert slept[0] == before

    run(work)


def test_reserved_time_does_not_delay_long_work() -> None:
    async def work() -> None:
        loop = SimulatedLoop()
        account = loop.shares._account("ann")

        async def request() -> None:
            reserved = [account.reserve()[0] for _ in range(1_000)]  # by requests during this one
            async with long_work():
                loop.now += 0.001
            for seconds in reserved:
                account.settle(seconds, None)

        await loop.shares.run("ann", request)
        assert loop.slept == 0

    run(work)


def test_work_of_the_server_itself_is_not_charged() -> None:
    async def work() -> None:
        async with long_work():
            assert await charged(SimulatedLoop().work(0.1)) == "done"

    run(work)


def test_stalled_machine_is_not_charged() -> None:
    async def work() -> None:
        loop = SimulatedLoop()
        await loop.request("ann", 60.0)
        await loop.request("ann", 0.001)
        assert loop.slept == 0

    run(work)


def test_errors_and_cancellation_pass_through() -> None:
    async def fails(clock: list[float]) -> None:
        await asyncio.sleep(0)
        clock[0] += 0.01
        raise ValueError("no")

    error, spent = run_metered(fails)
    assert isinstance(error, ValueError)
    assert spent == pytest.approx(0.01)

    async def times_out(clock: list[float]) -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(3600)
        except TimeoutError:
            clock[0] += 0.03
        return "in time"

    done, spent = run_metered(times_out)
    assert done == "in time"
    assert spent == pytest.approx(0.03)


def test_without_limits_nothing_is_measured() -> None:
    async def work() -> None:
        loop = SimulatedLoop()
        loop.shares.active = False
        for _ in range(100):
            await loop.request("mallory", 1.0)
        assert loop.slept == 0
        assert not loop.shares._accounts

    run(work)


def test_requests_and_messages_use_the_share_of_their_network(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            shares, waits = app.server.limits.loop, list[float]()

            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            shares.sleep, shares.active = sleep, True
            ann = await app.guest("Ann")
            table = (await app.open(ann, "rota", [{"kind": "me"}]))["id"]
            socket = await app.socket(table, ann.token)
            await socket.drain()
            (account,) = shares._accounts.values()
            waits.clear()
            account.balance, account.estimate = -0.5, 0.001
            assert (await app.request("GET", "/api/bots")).status == 200
            assert len(waits) == 1
            await socket.drain()
            assert len(waits) == 2
            account.balance = -100.0  # whatever the last requests took
            refused = await app.request("GET", "/api/bots")
            assert (refused.status, refused.json["code"]) == (429, "too_fast")
            assert waits[2:] == [fair_share.REFUSAL_DELAY]  # otherwise a client could repeat it at once
            await socket.drain()  # messages of an open connection are delayed instead
            assert len(waits) == 4

    run(work)
