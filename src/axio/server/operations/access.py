"""A server's database, for tools that work beside the server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from ..play.refusals import Unavailable
from ..settings import BadSetting, Settings, sqlite_file
from ..storage.database import Database, reason
from ..storage.inspection import VERSIONS, check_schema
from ..storage.revisions import newest_revision


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of a server, which may run meanwhile. Raises `BadSetting` if it cannot be used.

    Nothing is created or upgraded here: only a server does that.
    """
    settings.check()
    if not settings.on_postgresql:
        file = sqlite_file(settings.url)
        if file is None or not file.is_file():
            raise BadSetting(f"there is no database at {file}: name its folder with --data")
    database = Database(settings.url)
    logging.disable(logging.WARNING)  # what is wrong is said in one sentence
    try:
        try:
            await _check(database)
        except UnicodeError as error:  # a host that cannot be
            raise BadSetting(f"the database cannot be used: {reason(error)}") from None
        yield database
    except (Unavailable, SQLAlchemyError) as error:  # not what becomes of files that are written meanwhile
        why = reason(error.__cause__ or error) or "it does not answer"
        raise BadSetting(f"the database cannot be used: {why}") from None
    finally:
        logging.disable(logging.NOTSET)
        await database.close()


async def _check(database: Database) -> None:
    async with database.reading() as connection:
        await connection.run_sync(check_schema)
        found = (await connection.execute(text(f"SELECT version_num FROM {VERSIONS}"))).scalar()
    if found != newest_revision():
        raise BadSetting(f"the database has an older schema ({found}): start the server once, it upgrades it")
