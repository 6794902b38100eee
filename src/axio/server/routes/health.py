"""Routes for those who keep the server running."""

from __future__ import annotations

from litestar import MediaType, Response, get
from litestar.openapi import ResponseSpec
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from ...version import __version__
from ..running import Server
from ..settings import PROGRAM
from .person import Here


class Health(Struct, frozen=True):
    """Whether the server can do its work."""

    status: str
    version: str


class _Numbers(Collector):
    """What a server counts, read when it is asked for."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def collect(self) -> list[Metric]:
        server = self._server
        return [
            _counter("entries", "Entries committed to the journal.", server.journal.appended),
            _counter("commits", "Commits that they shared.", server.journal.commits),
            _gauge("tables_in_memory", "Tables kept in memory.", len(server.rooms)),
            _gauge("clients", "Clients connected to tables.", server.rooms.clients),
            _gauge("bots_thinking", "Bots that think or wait for their turn to.", server.bots.thinking),
        ]


def _counter(name: str, text: str, value: float) -> Metric:
    metric = CounterMetricFamily(f"{PROGRAM}_{name}", text)
    metric.add_metric([], value)
    return metric


def _gauge(name: str, text: str, value: float) -> Metric:
    metric = GaugeMetricFamily(f"{PROGRAM}_{name}", text)
    metric.add_metric([], value)
    return metric


@get("/health", responses={503: ResponseSpec(Health, False, "The database does not answer.")})
async def show_health(server: Here) -> Response[Health]:
    """Whether the server is up and its database answers."""
    try:
        async with server.database.reading() as connection:
            await connection.execute(text("SELECT 1"))
    except (SQLAlchemyError, OSError):
        return Response(Health("the database does not answer", __version__), status_code=503)
    return Response(Health("ok", __version__), headers={"cache-control": "no-store"})


@get("/metrics", media_type=MediaType.TEXT, include_in_schema=False)
async def show_metrics(server: Here) -> Response[bytes]:
    """Numbers for Prometheus, of this process."""
    registry = CollectorRegistry()
    registry.register(_Numbers(server))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


HEALTH = [show_health, show_metrics]
