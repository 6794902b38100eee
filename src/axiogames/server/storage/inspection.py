"""Checks of a database before a server uses it: whether it is ours, whole, and of a known version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, create_engine, inspect, make_url, text
from sqlalchemy.exc import DatabaseError, OperationalError

from ... import __version__
from ..private_files import make_private_file, make_private_folder
from ..settings import FINGERPRINT, BadSetting, sqlite_file
from .database import BUSY, reason
from .schema import entries, known_revisions, metadata, read_fact

VERSIONS = "alembic_version"
CHECKED_WHOLE = 256 << 20  # bytes of an SQLite file that is read through before each start


def inspect_file(url: str) -> str | None:
    """See whether a server can use an SQLite file, which is made if there is none. Raises `BadSetting`.

    Returns the fingerprint of the key that the server there signs with, if it is known.
    """
    file = sqlite_file(url)
    assert file is not None, "`Settings.check` refuses a database in memory"
    make_private_folder(file.parent)
    make_private_file(file)
    arguments = {"timeout": BUSY / 1000}
    engine = create_engine(make_url(url).set(drivername="sqlite"), connect_args=arguments)
    try:
        with engine.connect() as connection:
            _check_whole(connection, file)
            check_schema(connection, str(file))
            _check_writable(connection, file)
            return read_fact(connection, FINGERPRINT)
    except OperationalError as error:
        raise BadSetting(f"the database {file} cannot be used: {reason(error)}") from None
    except DatabaseError as error:
        raise BadSetting(f"{file} is damaged or not an SQLite database: {reason(error)}") from None
    finally:
        engine.dispose()


def check_schema(connection: Connection, name: str = "the database") -> None:
    """See whether a database is empty or ours, and not of a later version. Raises `BadSetting`."""
    found = set(inspect(connection).get_table_names())
    ours = set(metadata.tables)
    if VERSIONS in found:
        versions = set(connection.execute(text(f"SELECT version_num FROM {VERSIONS}")).scalars())
        if versions and entries.name not in found:
            raise _foreign(name, found - {VERSIONS} or {VERSIONS})
        if unknown := versions - known_revisions():
            raise BadSetting(
                f"{name} was written by a later version than {__version__} (its schema is {min(unknown)}): "
                "install that version, or choose another database"
            )
    elif strange := found if connection.dialect.name == "sqlite" else found & ours:
        raise _foreign(name, strange)


def _foreign(name: str, tables: set[str]) -> BadSetting:
    return BadSetting(
        f"{name} belongs to another program (it has a table {min(tables)!r}): choose another with --database"
    )


def _check_whole(connection: Connection, file: Path) -> None:
    if file.stat().st_size > CHECKED_WHOLE:
        return
    found = connection.execute(text("PRAGMA quick_check(1)")).scalar()
    if found != "ok":
        detail = " ".join(str(found).split())
        raise BadSetting(f"{file} is damaged ({detail}): put a backup in its place")


def _check_writable(connection: Connection, file: Path) -> None:
    connection.rollback()
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA user_version = {version}")
        connection.rollback()
    except OperationalError as error:
        raise BadSetting(f"the database {file} cannot be written: {reason(error)}") from None
