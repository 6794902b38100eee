"""Work pools: priorities, fairness, refusals, cancellation and timeouts."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from axiogames.server.domain.refusals import Refused
from axiogames.server.work_pools import (
    SHORT_SWITCH_INTERVAL,
    Busy,
    JobTimeout,
    QueueLimits,
    Requester,
    WorkPool,
)
from tests.server.rooms import run, until


class Gate:
    """Provides jobs that block until the gate opens, and records the order in which jobs run."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._open = threading.Event()

    def hold(self, name: str = "held") -> str:
        """Occupy a thread until the gate opens."""
        assert self._open.wait(20)
        return self.note(name)

    def note(self, name: str) -> str:
        self.done.append(name)
        return name

    def open(self) -> None:
        self._open.set()


def run_with_pool(
    work: Callable[[WorkPool, Gate], Coroutine[Any, Any, None]], threads: int = 1, **options: Any
) -> None:
    """Run a test with a pool and a gate. The gate is opened at the end, even after a failure."""

    async def main() -> None:
        pool, gate = WorkPool("test", threads, **options), Gate()
        try:
            await work(pool, gate)
        finally:
            gate.open()
            pool.close()

    run(main)


async def run_ready_tasks() -> None:
    """Let all ready tasks run."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_priorities_and_round_robin_over_requesters() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        jobs = [("review", "bob", 1), ("a1", "ann", 0), ("a2", "ann", 0), ("a3", "ann", 0), ("b1", "bob", 0)]
        waiting = [
            asyncio.create_task(pool.run(gate.note, name, requester=requester, priority=priority))
            for name, requester, priority in jobs
        ]
        await run_ready_tasks()
        assert pool.running == 1
        assert pool.waiting == (4, 1)
        assert pool.requesters() == 2
        gate.open()
        assert await asyncio.gather(held, *waiting) == ["held", *(name for name, *_ in jobs)]
        assert gate.done == ["held", "a1", "b1", "a2", "a3", "review"]
        assert pool.waiting == (0, 0)
        await until(lambda: pool.running == 0)

    run_with_pool(work, priorities=2)


def test_number_of_concurrent_jobs_is_number_of_threads() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        tasks = [asyncio.create_task(pool.run(gate.hold)) for _ in range(5)]
        await run_ready_tasks()
        assert (pool.running, pool.waiting) == (2, (3,))
        gate.open()
        assert await asyncio.gather(*tasks) == ["held"] * 5

    run_with_pool(work, threads=2)


def test_full_queue_refuses_at_once() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        waiting = [
            asyncio.create_task(pool.run(gate.note, name, requester=name)) for name in ("a", "a", "b", "c")
        ]
        await run_ready_tasks()
        with pytest.raises(Busy, match="too many; try again"):
            await pool.run(gate.note, "refused", requester="d")
        assert (pool.waiting, pool.refused) == ((4,), 1)
        gate.open()
        await asyncio.gather(held, *waiting)
        assert await pool.run(gate.note, "d", requester="d") == "d"
        assert "refused" not in gate.done

    run_with_pool(work, bounds=QueueLimits(4, 2, "too many"))


def test_less_urgent_jobs_do_not_displace_urgent_ones() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        jobs = [("late", 1), ("later", 1), ("first", 0), ("second", 0)]
        waiting = [
            asyncio.create_task(pool.run(gate.note, name, requester=name, priority=priority))
            for name, priority in jobs
        ]
        await run_ready_tasks()
        assert pool.waiting == (2, 2)
        for priority in (0, 1):
            with pytest.raises(Busy):
                await pool.run(gate.note, "refused", requester="d", priority=priority)
        gate.open()
        await asyncio.gather(held, *waiting)
        assert gate.done == ["held", "first", "second", "late", "later"]

    run_with_pool(work, bounds=QueueLimits(2), priorities=2)


def test_requester_cannot_fill_the_queue() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        hostile = [asyncio.create_task(pool.run(gate.note, "no", requester="mallory")) for _ in range(20)]
        await run_ready_tasks()
        honest = asyncio.create_task(pool.run(gate.note, "ann", requester="ann"))
        await run_ready_tasks()
        assert pool.waiting == (3,)
        gate.open()
        answers = await asyncio.gather(held, honest, *hostile, return_exceptions=True)
        assert sum(isinstance(answer, Busy) for answer in answers) == 18
        assert gate.done == ["held", "no", "ann", "no"]

    run_with_pool(work, bounds=QueueLimits(10, 2))


def test_cancelled_job_leaves_the_queue() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        gone = asyncio.create_task(pool.run(gate.note, "gone", requester="ann"))
        stays = asyncio.create_task(pool.run(gate.note, "stays", requester="ann"))
        await run_ready_tasks()
        gone.cancel()
        await run_ready_tasks()
        assert pool.waiting == (1,)
        gate.open()
        await asyncio.gather(held, stays)
        assert gate.done == ["held", "stays"]

    run_with_pool(work)


def test_running_job_keeps_its_thread_after_cancellation() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        gone = asyncio.create_task(pool.run(gate.hold, "gone"))
        await run_ready_tasks()
        gone.cancel()
        later = asyncio.create_task(pool.run(gate.note, "later"))
        await run_ready_tasks()
        assert (pool.running, pool.waiting) == (1, (1,))
        gate.open()
        assert await later == "later"
        assert gate.done == ["gone", "later"]
        await until(lambda: pool.running == 0)

    run_with_pool(work)


def test_thread_is_not_lost_on_simultaneous_cancellation() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        for cancelled_first in (True, False):
            held = asyncio.create_task(pool.run(gate.note, "held"))
            await asyncio.sleep(0)
            gone = asyncio.create_task(pool.run(gate.note, "gone"))
            await asyncio.sleep(0)
            assert pool.waiting == (1,)
            if cancelled_first:
                gone.cancel()
                pool._release()
            else:
                pool._release()
                gone.cancel()
            pool.running += 1  # for the thread passed on above, which is still in use
            await asyncio.gather(held, gone, return_exceptions=True)
            await until(lambda: pool.running == 0)
        assert gate.done == ["held", "held"]
        assert await pool.run(gate.note, "after") == "after"

    run_with_pool(work)


def test_exceptions_of_jobs_propagate() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            await pool.run(int, "x")
        await until(lambda: pool.running == 0)
        assert await pool.run(int, "7") == 7

    run_with_pool(work)


def test_closed_pool_refuses_queued_and_new_jobs() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        waits = asyncio.create_task(pool.run(gate.note, "waits"))
        await run_ready_tasks()
        pool.close()
        for refused in (waits, pool.run(gate.note, "new")):
            with pytest.raises(Refused, match="the server is stopping"):
                await refused
        with pytest.raises(asyncio.CancelledError):
            await held
        assert gate.done == []

    run_with_pool(work)


def test_round_robin_over_networks_and_requesters() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        crowd = [("x1", "x"), ("x2", "x"), ("y1", "y"), ("z1", "z")]
        jobs = [(name, Requester(person, "crowd")) for name, person in crowd] + [
            ("a", Requester("ann")),
            ("b", Requester("bob")),
        ]
        waiting = [
            asyncio.create_task(pool.run(gate.note, name, requester=requester)) for name, requester in jobs
        ]
        await run_ready_tasks()
        assert pool.share(Requester("x", "crowd")) == 1 / (4 * 3 * 2)  # including the running one
        assert pool.share(Requester("ann")) == 1 / 4
        with pytest.raises(Busy):
            pool.check(Requester("new", "crowd"))
        pool.check(Requester("new"))
        gate.open()
        await asyncio.gather(held, *waiting)
        assert gate.done == ["held", "x1", "a", "b", "y1", "z1", "x2"]
        await until(lambda: pool.running == 0)
        assert pool.share(Requester("ann")) == 1.0

    run_with_pool(work, bounds=QueueLimits(per_network=4))


def test_cancelled_jobs_do_not_count() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        requester = Requester("x", "crowd")
        gone = [asyncio.create_task(pool.run(gate.note, "gone", requester=requester)) for _ in range(3)]
        await run_ready_tasks()
        with pytest.raises(Busy):
            pool.check(requester)
        for task in gone:
            task.cancel()
        await run_ready_tasks()
        pool.check(requester)
        assert pool.share(Requester("ann")) == 1.0
        gate.open()
        await held
        assert gate.done == ["held"]

    run_with_pool(work, bounds=QueueLimits(per_network=3))


def test_spare_thread_replaces_a_hanging_one(caplog: pytest.LogCaptureFixture) -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        with pytest.raises(JobTimeout, match="hold"):
            await pool.run(gate.hold)
        assert (pool.timed_out, pool.running) == (1, 0)
        pool.job_timeout = None
        assert await pool.run(gate.note, "next") == "next"
        pool.job_timeout = 0.0
        with pytest.raises(JobTimeout):  # no spare thread is left
            await pool.run(gate.hold)
        pool.job_timeout = None
        waits = asyncio.create_task(pool.run(gate.note, "waits"))
        await run_ready_tasks()
        assert (pool.timed_out, pool.waiting) == (2, (1,))
        gate.open()
        assert await waits == "waits"
        await until(lambda: pool.timed_out == pool.running == 0)
        assert pool.timeouts == 2
        assert await pool.run(gate.note, "after") == "after"

    run_with_pool(work, job_timeout=0.0, spare_threads=1)
    assert "has been running for more than 0 s" in caplog.text


def test_timeout_is_detected_after_cancellation() -> None:
    async def work(pool: WorkPool, gate: Gate) -> None:
        pool.job_timeout = 0.01
        gone = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        gone.cancel()
        await until(lambda: pool.timed_out == 1)
        pool.job_timeout = None
        assert await pool.run(gate.note, "next") == "next"
        gate.open()
        await until(lambda: pool.timed_out == pool.running == 0)

    run_with_pool(work, spare_threads=1)


def test_switch_interval_is_short_while_long_jobs_run() -> None:
    usual = sys.getswitchinterval()

    async def work(pool: WorkPool, gate: Gate) -> None:
        held = asyncio.create_task(pool.run(gate.hold))
        await run_ready_tasks()
        assert sys.getswitchinterval() == pytest.approx(SHORT_SWITCH_INTERVAL)
        gate.open()
        await held
        await until(lambda: not pool.running)
        assert sys.getswitchinterval() == pytest.approx(usual)

    run_with_pool(work, yields_gil=True)
