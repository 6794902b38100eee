"""Migrations produce the schema of the code on both databases, repeatedly and concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, insert, inspect, select

from axiogames.server.settings import Settings
from axiogames.server.storage.database import Database
from axiogames.server.storage.schema import metadata, people


def differences(connection: Connection) -> Any:
    """Return the differences between the schema of a database and that of the code."""
    context = MigrationContext.configure(
        connection, opts={"compare_type": True, "compare_server_default": True}
    )
    return compare_metadata(context, metadata)


def indexes(connection: Connection) -> dict[str, set[str]]:
    """Return the names of the indexes by database table."""
    inspector = inspect(connection)
    return {
        name: {str(index["name"]) for index in inspector.get_indexes(name)}
        for name in inspector.get_table_names()
        if name != "alembic_version"
    }


def test_migrations_match_schema(database: str, new_database: Callable[[str], str]) -> None:
    url = Settings(database=new_database(database)).url

    async def run() -> None:
        upgraded = Database(url)
        await upgraded.upgrade()
        async with upgraded.reading() as connection:
            assert await connection.run_sync(differences) == []
            index_names = await connection.run_sync(indexes)
        assert set(index_names) == set(metadata.tables)
        for name, table in metadata.tables.items():
            assert {str(index.name) for index in table.indexes} <= index_names[name]
        await upgraded.close()

    asyncio.run(run())


def test_upgrade_is_idempotent(database: str, new_database: Callable[[str], str]) -> None:
    url = Settings(database=new_database(database)).url

    async def run() -> None:
        first = Database(url)
        await first.upgrade()
        async with first.writing() as connection:
            await connection.execute(insert(people), [{"id": "ann", "name": "Ann", "epoch": 3, "created": 1}])
        await first.upgrade()
        await first.close()
        second = Database(url)
        await second.upgrade()
        async with second.reading() as connection:
            assert (await connection.execute(select(people.c.name, people.c.epoch))).all() == [("Ann", 3)]
            assert await connection.run_sync(differences) == []
        await second.close()

    asyncio.run(run())


def test_concurrent_upgrades_succeed(new_database: Callable[[str], str]) -> None:
    url = Settings(database=new_database("postgresql")).url

    async def run() -> None:
        databases = [Database(url) for _ in range(4)]
        await asyncio.gather(*(each.upgrade() for each in databases))
        async with databases[0].reading() as connection:
            assert await connection.run_sync(differences) == []
        for each in databases:
            await each.close()

    asyncio.run(run())
