"""Health, metrics, and database outages."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from axiogames import __version__
from axiogames.server.metrics import REGISTRY, exposition, serve_metrics
from axiogames.server.processes import check_startup
from axiogames.server.settings import InvalidSetting, Settings
from axiogames.server.supervisor import Supervisor
from tests.server.driving import Client, Guest, RunningServer, free_port, start_server
from tests.server.faults import Faults
from tests.server.in_process import running_app
from tests.server.postgres import Postgres


def read_metrics(server: RunningServer) -> dict[str, float]:
    """Return the metrics of a server by name."""
    response = Client(server.metrics_url).request("GET", "/metrics")
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/plain")
    families = list(text_string_to_metric_families(response.text))
    assert all(family.documentation for family in families)
    assert len({family.name for family in families}) == len(families)
    samples = [sample for family in families for sample in family.samples]
    return {
        " ".join([sample.name, *(f"{k}={v}" for k, v in sorted(sample.labels.items()))]): sample.value
        for sample in samples
    }


def test_health_reports_status_and_version(server: RunningServer) -> None:
    response = Client(server.url).request("GET", "/health")
    assert response.json in [
        {"status": "ok", "version": __version__, "rules_ready": ready} for ready in (True, False)
    ]
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["set-cookie"] is None


def test_metrics_follow_events(server: RunningServer, ann: Guest) -> None:
    before = read_metrics(server)
    table = ann.open("rota", ["me"])
    with ann.live(table.id) as live:
        live.play_to_end()
        during = read_metrics(server)
        entries = live.n - 2  # the first entries are inserted with the table
    after = read_metrics(server)
    assert during["axio_clients"] == before["axio_clients"] + 1
    assert during["axio_entries_total"] == before["axio_entries_total"] + entries
    assert 0 < during["axio_commits_total"] - before["axio_commits_total"] <= entries
    assert during["axio_tables_in_memory"] == before["axio_tables_in_memory"] + 1
    assert during["axio_bots_thinking"] >= 0
    assert _change(before, during, "axio_message_seconds_count") > 0
    opening = "axio_http_request_seconds_count method=POST route=/api/tables status=2xx"
    assert _change(before, during, opening) == 1
    assert _change(before, during, "axio_database_seconds_count kind=write") > 0
    assert during["axio_tables state=unfinished"] >= 0
    assert during["axio_tables state=quarantined"] == 0
    for pool in ("bot", "advice", "password", "picture"):
        assert during[f"axio_pool_waiting pool={pool}"] == 0
    assert during["axio_background_restarts_total task=sweep"] == 0
    assert during["axio_background_failing task=rules"] == 0
    assert after["axio_clients"] <= during["axio_clients"]


def _change(before: dict[str, float], after: dict[str, float], name: str) -> float:
    return after[name] - before.get(name, 0)


def test_refusals_errors_and_waits_are_counted(sqlite_server: RunningServer) -> None:
    before, guest = read_metrics(sqlite_server), sqlite_server.guest("Ann")
    Client(sqlite_server.url).request("GET", "/api/tables/nothing")
    Client(sqlite_server.url).request("PROPFIND", "/api/tables")
    Client(sqlite_server.url).request("GET", "/no/such/thing")
    table = guest.open("rota", ["me", "greedy"])
    with guest.live(table.id) as live:
        live.wait_for_turn()
        live.command("draw")
        live.until("refused")
        live.play(0)
        live.wait_for_turn()
    after = read_metrics(sqlite_server)
    route = "axio_http_request_seconds_count method={} route={} status=4xx"
    assert _change(before, after, "axio_refusals_total code=no_such_table") == 1
    assert _change(before, after, "axio_refusals_total code=not_allowed") == 1
    assert _change(before, after, route.format("GET", "/api/tables/{table_id}")) == 1
    assert _change(before, after, route.format("other", "none")) == 1
    assert _change(before, after, route.format("GET", "none")) == 1
    assert _change(before, after, "axio_pool_wait_seconds_count pool=bot") >= 1


def test_metrics_are_served_on_their_port_only(sqlite_server: RunningServer) -> None:
    assert Client(sqlite_server.url).request("GET", "/metrics").status == 404
    metrics = Client(sqlite_server.metrics_url)
    assert metrics.request("GET", "/health").status == 404
    assert metrics.request("POST", "/metrics").status == 405
    head = metrics.request("HEAD", "/metrics")
    assert (head.status, head.text) == (200, "")
    for malformed in (b"\r\n\r\n", b"nonsense", b"GET /metrics" + b"x" * 20_000, b"\xff\x00" * 100):
        with socket.create_connection(("127.0.0.1", sqlite_server.metrics_port), 10) as connection:
            connection.sendall(malformed)
            connection.shutdown(socket.SHUT_WR)
            assert b"200 OK" not in connection.recv(100)
    assert read_metrics(sqlite_server)


def test_unexpected_exceptions_are_counted_by_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:

            async def fail(*_: object) -> None:
                raise LookupError

            monkeypatch.setattr(app.server.store, "list_open", fail)
            before = REGISTRY.get_sample_value("axio_errors_total", {"kind": "LookupError"}) or 0
            assert (await app.request("GET", "/api/tables")).status == 500
            assert REGISTRY.get_sample_value("axio_errors_total", {"kind": "LookupError"}) == before + 1

    asyncio.run(work())


def test_metrics_without_database_omit_table_counts(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            assert b"axio_tables{" in await exposition(app.server)
            Faults(app).down = True
            text = await exposition(app.server)
            assert b"axio_tables{" not in text
            assert b"axio_clients" in text

    asyncio.run(work())


def test_worker_takes_first_free_metrics_port(tmp_path: Path) -> None:
    async def work() -> None:
        first = free_port()
        async with running_app(tmp_path) as app:
            server = replace(app.server, settings=replace(app.server.settings, metrics_port=first, workers=3))
            supervisor = Supervisor()
            for _ in range(3):
                supervisor.add("metrics", lambda task: serve_metrics(server, task))
            supervisor.start()
            found: set[int] = set()
            async with asyncio.timeout(60):
                while len(found) < 3:
                    for port in set(range(first, first + 3)) - found:
                        with suppress(OSError):
                            _, writer = await asyncio.open_connection("127.0.0.1", port)
                            writer.close()
                            found.add(port)
                    await asyncio.sleep(0.01)
            await supervisor.stop()

    asyncio.run(work())


def test_invalid_metrics_port_is_refused(tmp_path: Path) -> None:
    for port, workers in ((8000, 1), (7999, 2), (65_535, 2)):
        settings = Settings(
            database="postgresql://a@b/c", port=8000, metrics_port=port, workers=workers, data=str(tmp_path)
        )
        with pytest.raises(InvalidSetting, match="--metrics-port"):
            settings.check()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSetting, match="--metrics-port"):
            check_startup(Settings(data=str(tmp_path), port=free_port(), metrics_port=port))


def test_metrics_contain_no_personal_data(sqlite_server: RunningServer) -> None:
    guest = sqlite_server.guest("Somebody")
    table = guest.open("axio", ["me", "open"])
    text = Client(sqlite_server.metrics_url).request("GET", "/metrics").text
    for secret in (guest.id, guest.token, guest.name, table.id, table.invite):
        assert secret not in text


@pytest.fixture
def allow_connections(postgres: Postgres) -> Callable[[str, bool], None]:
    """Function that allows or refuses connections to a database."""

    def change(url: str, allowed: bool) -> None:
        name = urlsplit(url).path.strip("/")
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {str(allowed).lower()}")
        if not allowed:
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            postgres.execute(f"{query}'{name}'")

    return change


def test_server_survives_database_outage(
    postgres: Postgres, tmp_path: Path, allow_connections: Callable[[str, bool], None]
) -> None:
    url = postgres.create()
    with start_server(tmp_path, database=url) as server:
        ann = server.guest()
        table = ann.open("rota", ["me", "me"])
        with ann.live(table.id) as live:
            live.recv()
            live.send({"do": "look", "seat": 0})
            before = live.until("view")
            allow_connections(url, False)
            unhealthy = Client(server.url).request("GET", "/health")
            assert (unhealthy.status, unhealthy.json["status"]) == (503, "the database does not answer")
            move = {"id": "1", "n": before["n"], "pick": 0}
            address = f"/api/tables/{table.id}"
            assert ann.refused("POST", f"{address}/moves", move).status in (500, 503)
            assert ann.refused("POST", f"{address}/leave").status in (500, 503)
            live.command("move", pick=0)
            assert live.until("refused")["code"] == "unavailable"
            allow_connections(url, True)
            assert Client(server.url).request("GET", "/health").status == 200
            after = ann.view(table.id)
            assert (after["n"], after["tiles"]) == (before["n"], before["tiles"])  # unchanged
            assert ann.post(f"/api/tables/{table.id}/moves", move) == {"n": before["n"] + 1}
            live.until(lambda message: message.get("n") == before["n"] + 1)
            live.play_to_end()  # play continues
        assert server.stop() in (0, -15)
