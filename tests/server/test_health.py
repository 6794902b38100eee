"""What those who keep the server running can see: health, numbers, and the database coming and going."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from axio.version import __version__

from .driving import Client, Guest, RunningServer, start_server
from .postgres import Postgres


def numbers(server: RunningServer) -> dict[str, float]:
    """The metrics of a server, by name."""
    answer = Client(server.url).ask("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation for family in families)
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_a_healthy_server_says_so(server: RunningServer) -> None:
    answer = Client(server.url).ask("GET", "/health")
    assert answer.json == {"status": "ok", "version": __version__}
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["set-cookie"] is None


def test_numbers_follow_what_happens(server: RunningServer, ann: Guest) -> None:
    before = numbers(server)
    table = ann.open("rota", ["me"])
    with ann.live(table.id) as live:
        live.play_to_the_end()
        during = numbers(server)
        entries = live.n - 2  # the first ones are written with the table
    after = numbers(server)
    assert during["axio_clients"] == before["axio_clients"] + 1
    assert during["axio_entries_total"] == before["axio_entries_total"] + entries
    assert 0 < during["axio_commits_total"] - before["axio_commits_total"] <= entries
    assert during["axio_tables_in_memory"] == before["axio_tables_in_memory"] + 1
    assert during["axio_bots_thinking"] >= 0
    assert after["axio_clients"] <= during["axio_clients"]


def test_numbers_tell_nothing_of_anybody(small: RunningServer) -> None:
    guest = small.guest("Somebody")
    table = guest.open("axio", ["me", "open"])
    text = Client(small.url).ask("GET", "/metrics").text
    for secret in (guest.id, guest.token, guest.name, table.id, table.invite):
        assert secret not in text


@pytest.fixture
def close_and_open(postgres: Postgres) -> Callable[[str, bool], None]:
    """Lets nobody into a database any more, or lets them in again."""

    def change(url: str, let_in: bool) -> None:
        name = urlsplit(url).path.strip("/")
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {str(let_in).lower()}")
        if not let_in:
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            postgres.execute(f"{query}'{name}'")

    return change


def test_a_server_survives_the_loss_of_its_database(
    postgres: Postgres, tmp_path: Path, close_and_open: Callable[[str, bool], None]
) -> None:
    url = postgres.create()
    with start_server(tmp_path, database=url) as server:
        ann = server.guest()
        table = ann.open("rota", ["me", "me"])
        with ann.live(table.id) as live:
            live.recv()
            live.send({"do": "look", "seat": 0})
            before = live.until("view")
            close_and_open(url, False)
            sick = Client(server.url).ask("GET", "/health")
            assert (sick.status, sick.json["status"]) == (503, "the database does not answer")
            move = {"id": "1", "n": before["n"], "pick": 0}
            address = f"/api/tables/{table.id}"
            assert ann.refused("POST", f"{address}/moves", move).status in (500, 503)
            assert ann.refused("POST", f"{address}/leave").status in (500, 503)
            live.order("move", pick=0)
            assert live.until("refused")["code"] == "unavailable"
            close_and_open(url, True)
            assert Client(server.url).ask("GET", "/health").status == 200
            after = ann.view(table.id)
            assert (after["n"], after["tiles"]) == (before["n"], before["tiles"])  # nothing has happened
            assert ann.post(f"/api/tables/{table.id}/moves", move) == {"n": before["n"] + 1}
            live.until(lambda told: told.get("n") == before["n"] + 1)
            live.play_to_the_end()  # and everything goes on
        assert server.stop() in (0, -15)
