"""Prometheus metrics: collectors, request instrumentation, and the HTTP endpoint on a separate port.

Counters and histograms cover this process since its start. Current values (rooms, queues, tables) are read
on each scrape. No metric identifies people, tables or addresses; labels have few values.
"""

from __future__ import annotations

import asyncio
import logging
import time
from bisect import bisect_left
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from litestar.types import ASGIApp, Message, Receive, Send
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from .. import PROGRAM
from .supervisor import BackgroundTask

if TYPE_CHECKING:
    from .lifespan import Server
    from .work_pools import WorkPool


LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
NO_ROUTE = "none"  # label of requests that were refused before routing
SCRAPE_TIMEOUT = 10.0  # seconds for a whole scrape
MAX_HEAD_BYTES = 8_000
MAX_CONCURRENT_SCRAPES = 8

log = logging.getLogger(__name__)


class LoopHistogram(Collector):
    """A histogram without locks, written by the event loop only."""

    def __init__(self, name: str, help: str) -> None:
        self._name, self._help = name, help
        self._counts = [0] * (len(LATENCY_BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Add one observation."""
        self._counts[bisect_left(LATENCY_BUCKETS, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the current value."""
        limits = [*map(str, LATENCY_BUCKETS), "+Inf"]
        buckets = list(zip(limits, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._help, buckets=buckets, sum_value=self._sum)


REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

REQUESTS = Histogram(
    f"{PROGRAM}_http_request_seconds",
    "Time to answer HTTP requests, by route and class of status.",
    ("method", "route", "status"),
    registry=REGISTRY,
    buckets=LATENCY_BUCKETS,
)
MESSAGES = LoopHistogram(f"{PROGRAM}_message_seconds", "Time to process WebSocket messages.")
REGISTRY.register(MESSAGES)
ERRORS = Counter(f"{PROGRAM}_errors", "Unexpected exceptions, by class.", ("kind",), registry=REGISTRY)
REFUSALS = Counter(
    f"{PROGRAM}_refusals", "Refused requests and messages, by error code.", ("code",), registry=REGISTRY
)
TRANSACTIONS = Histogram(
    f"{PROGRAM}_database_seconds",
    "Time of transactions, including the wait for a connection.",
    ("kind",),
    registry=REGISTRY,
    buckets=LATENCY_BUCKETS,
)
DATABASE_FAILURES = Counter(
    f"{PROGRAM}_database_failures",
    "Transactions that failed as the database was unavailable.",
    registry=REGISTRY,
)
POOL_WAITS = Histogram(
    f"{PROGRAM}_pool_wait_seconds",
    "Time jobs waited for a thread.",
    ("pool",),
    registry=REGISTRY,
    buckets=LATENCY_BUCKETS,
)
BOT_FAILURES = Counter(
    f"{PROGRAM}_bot_failures", "Moves replaced by a random legal one after a bot failed.", registry=REGISTRY
)

POOLS: WeakSet[WorkPool] = WeakSet()
"""All work pools of this process."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Timer:
    """Context manager that observes its duration, also on failure."""

    __slots__ = ("_histogram", "_started")

    def __init__(self, histogram: Histogram | LoopHistogram) -> None:
        self._histogram = histogram
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._histogram.observe(time.perf_counter() - self._started)


def instrument(app: ASGIApp) -> ASGIApp:
    """Return `app` with its HTTP requests counted and timed."""

    def measuring(scope: Any, receive: Receive, send: Send) -> Awaitable[None]:
        # Not for WebSockets: every message would pass through the extra coroutine.
        timed = _timed if scope["type"] == "http" else app
        return timed(scope, receive, send)

    async def _timed(scope: Any, receive: Receive, send: Send) -> None:
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        started = time.perf_counter()
        try:
            await app(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = scope.get("path_template") or NO_ROUTE
            kind = f"{status // 100}xx" if status else NO_ROUTE
            REQUESTS.labels(method, route, kind).observe(seconds)

    return measuring


class ServerCollector(Collector):
    """Current values of a server."""

    def __init__(self, server: Server, tables: dict[str, int]) -> None:
        self._server = server
        self._tables = tables

    def collect(self) -> Iterator[Metric]:
        server = self._server
        yield _counter("entries", "Entries committed to the journal.", server.journal.appended)
        yield _counter("commits", "Commits of entries; one commit may contain many.", server.journal.commits)
        yield _gauge("tables_in_memory", "Tables in memory.", len(server.rooms))
        yield _gauge("clients", "Clients connected to tables.", server.rooms.clients)
        yield _gauge("bots_thinking", "Bot moves being computed or queued.", server.bots.thinking)
        if self._tables:
            yield _gauges("tables", "Tables in the database, by state.", "state", self._tables)
        yield from self._pools()
        yield from self._background()

    def _pools(self) -> Iterator[Metric]:
        groups: dict[str, list[WorkPool]] = {}
        for pool in sorted(POOLS, key=lambda pool: pool.name):
            groups.setdefault(pool.name, []).append(pool)
        running = {name: sum(pool.running for pool in pools) for name, pools in groups.items()}
        waiting = {name: sum(sum(pool.waiting) for pool in pools) for name, pools in groups.items()}
        refused = {name: sum(pool.refused for pool in pools) for name, pools in groups.items()}
        overdue = {name: sum(pool.timeouts for pool in pools) for name, pools in groups.items()}
        yield _gauges("pool_running", "Running jobs.", "pool", running)
        yield _gauges("pool_waiting", "Queued jobs.", "pool", waiting)
        yield _counters("pool_refused", "Jobs refused because the queue was full.", "pool", refused)
        yield _counters("pool_overdue", "Jobs that exceeded their time limit.", "pool", overdue)

    def _background(self) -> Iterator[Metric]:
        tasks = self._server.supervisor.tasks
        restarts = {task.name: task.restarts for task in tasks}
        failing = {task.name: int(task.failing) for task in tasks}
        yield _counters("background_restarts", "Restarts of background tasks.", "task", restarts)
        yield _gauges("background_failing", "Background tasks that fail (1) or work (0).", "task", failing)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"{PROGRAM}_{name}", text, value=value)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PROGRAM}_{name}", text, value=value)


def _counters(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    metric = CounterMetricFamily(f"{PROGRAM}_{name}", text, labels=[label])
    for value, count in values.items():
        metric.add_metric([value], count)
    return metric


def _gauges(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    metric = GaugeMetricFamily(f"{PROGRAM}_{name}", text, labels=[label])
    for value, count in values.items():
        metric.add_metric([value], count)
    return metric


async def exposition(server: Server) -> bytes:
    """Return all metrics in the Prometheus text format, without table counts while the database is down."""
    tables: dict[str, int] = {}
    try:
        tables["unfinished"] = await server.store.count_unfinished()
        tables["quarantined"] = await server.store.count_quarantined()
    except Exception:  # database failures have their own counter
        tables = {}
    now = CollectorRegistry()
    now.register(ServerCollector(server, tables))
    return generate_latest(REGISTRY) + generate_latest(now)


def count_refusal(code: str) -> None:
    """Count a refused request or message by its error code."""
    REFUSALS.labels(code).inc()


def count_error(error: BaseException) -> None:
    """Count an unexpected exception."""
    ERRORS.labels(type(error).__name__).inc()


async def serve_metrics(server: Server, task: BackgroundTask) -> None:
    """Serve metrics until cancelled. Raises `OSError` if no port is free.

    There is one port per worker process; each process takes the first free one.
    """
    settings = server.settings
    active = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal active
        active += 1
        try:
            if active <= MAX_CONCURRENT_SCRAPES:
                async with asyncio.timeout(SCRAPE_TIMEOUT):
                    await _answer(server, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client disconnected, is too slow, or does not speak HTTP
        except Exception:
            log.exception("failed to serve metrics")
        finally:
            active -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    for port in settings.metrics_ports:
        try:
            listener = await asyncio.start_server(answer, settings.metrics_host, port, limit=MAX_HEAD_BYTES)
        except OSError:
            if port == settings.metrics_ports[-1]:
                raise
        else:
            break
    log.info("serving metrics on port %d", port)
    task.succeeded()
    async with listener:
        await listener.serve_forever()


async def _answer(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path != b"/metrics":
        status, kind, body = b"404 Not Found", "text/plain", b"metrics are at /metrics\n"
    elif method not in (b"GET", b"HEAD"):
        status, kind, body = b"405 Method Not Allowed", "text/plain", b"metrics are for GET\n"
    else:
        status, kind, body = b"200 OK", CONTENT_TYPE_LATEST, await exposition(server)
    lines = [
        b"HTTP/1.1 " + status,
        b"content-type: " + kind.encode(),
        b"content-length: %d" % len(body),
        b"cache-control: no-store",
        b"connection: close",
    ]
    writer.write(b"\r\n".join([*lines, b"", b""]) + (b"" if method == b"HEAD" else body))
    await writer.drain()
