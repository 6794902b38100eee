"""Shared servers and databases for tests, one per database kind, started on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.server.driving import Guest, RunningServer, start_server
from tests.server.postgres import Postgres

DATABASES = ("sqlite", "postgresql")
# What these test depends on the database: locks, commits, notifications, time. Elsewhere requests are tested,
# whose queries are the same; there `make slow` runs the tests with PostgreSQL.
DATABASE_TESTS = {
    "test_admin_tables",
    "test_backup",
    "test_crash",
    "test_fair_draws",
    "test_health",
    "test_live",
    "test_migrations",
    "test_personal_data",
    "test_playing",
    "test_retention",
    "test_reviews",
    "test_sessions",
    "test_starting",
    "test_uptime",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of requests with PostgreSQL as slow."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        with_postgresql = callspec is not None and callspec.params.get("database") == "postgresql"
        if with_postgresql and item.path.stem not in DATABASE_TESTS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """PostgreSQL cluster of this test run; `create()` returns a database or skips the test."""
    cluster = Postgres()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def servers(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], RunningServer]]:
    """Function that returns the shared server for a kind of database, without rate limits."""
    running: dict[str, RunningServer] = {}
    with ExitStack() as stack:

        def find(kind: str) -> RunningServer:
            if kind not in running:
                url = postgres.create() if kind == "postgresql" else ""
                running[kind] = stack.enter_context(
                    start_server(tmp_path_factory.mktemp(kind), database=url, metrics=True)
                )
            return running[kind]

        yield find


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """Kind of database. A test with this fixture runs once for each kind."""
    kind: str = request.param
    return kind


@pytest.fixture
def server(servers: Callable[[str], RunningServer], database: str) -> RunningServer:
    """Running server, once for each kind of database."""
    return servers(database)


@pytest.fixture
def sqlite_server(servers: Callable[[str], RunningServer]) -> RunningServer:
    """Running server on SQLite, for tests that are independent of the database."""
    return servers("sqlite")


@pytest.fixture
def ann(server: RunningServer) -> Guest:
    return server.guest("Ann")


@pytest.fixture
def bob(server: RunningServer) -> Guest:
    return server.guest("Bob")


@pytest.fixture
def new_database(postgres: Postgres, tmp_path: Path) -> Callable[[str], str]:
    """Function that creates an empty database of a kind and returns its URL."""

    def make(kind: str) -> str:
        return postgres.create() if kind == "postgresql" else f"sqlite:///{tmp_path / 'fresh.sqlite3'}"

    return make


@pytest.fixture
def url(new_database: Callable[[str], str], database: str) -> str:
    """URL of an empty database, once for each kind."""
    return new_database(database)
