"""Checks before a server uses a database: owner, integrity and schema version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, create_engine, inspect, make_url, text
from sqlalchemy.exc import DatabaseError, OperationalError

from ... import __version__
from ..private_files import make_private_file, make_private_folder
from ..settings import FINGERPRINT, InvalidSetting, sqlite_file
from .database import SQLITE_BUSY_TIMEOUT_MS, driver_message
from .schema import entries, known_revisions, metadata, read_fact

VERSION_TABLE = "alembic_version"
MAX_CHECKED_BYTES = 256 << 20  # larger SQLite files are not scanned at startup


def check_sqlite_file(url: str) -> str | None:
    """Check that a server can use an SQLite file, and return the stored fingerprint of its key, if any.

    Creates a missing file. Raises `InvalidSetting`.
    """
    file = sqlite_file(url)
    assert file is not None, "`Settings.check` refuses a database in memory"
    make_private_folder(file.parent)
    make_private_file(file)
    arguments = {"timeout": SQLITE_BUSY_TIMEOUT_MS / 1000}
    engine = create_engine(make_url(url).set(drivername="sqlite"), connect_args=arguments)
    try:
        with engine.connect() as connection:
            _check_integrity(connection, file)
            check_schema(connection, str(file))
            _check_writable(connection, file)
            return read_fact(connection, FINGERPRINT)
    except OperationalError as error:
        raise InvalidSetting(f"cannot use the database {file}: {driver_message(error)}") from None
    except DatabaseError as error:
        raise InvalidSetting(
            f"{file} is damaged or not an SQLite database: {driver_message(error)}"
        ) from None
    finally:
        engine.dispose()


def check_schema(connection: Connection, name: str = "the database") -> None:
    """Check that a database is empty or ours, and not of a later version. Raises `InvalidSetting`."""
    names = set(inspect(connection).get_table_names())
    if VERSION_TABLE in names:
        versions = set(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars())
        if versions and entries.name not in names:
            raise _foreign_database(name, names - {VERSION_TABLE} or {VERSION_TABLE})
        if unknown := versions - known_revisions():
            raise InvalidSetting(
                f"{name} was written by a later version than {__version__} (schema {min(unknown)}): "
                "install that version, or choose another database"
            )
    elif foreign := names if connection.dialect.name == "sqlite" else names & set(metadata.tables):
        raise _foreign_database(name, foreign)


def _foreign_database(name: str, tables: set[str]) -> InvalidSetting:
    return InvalidSetting(
        f"{name} belongs to another program (it has a table {min(tables)!r}): choose another with --database"
    )


def _check_integrity(connection: Connection, file: Path) -> None:
    if file.stat().st_size > MAX_CHECKED_BYTES:
        return
    result = connection.execute(text("PRAGMA quick_check(1)")).scalar()
    if result != "ok":
        detail = " ".join(str(result).split())
        raise InvalidSetting(f"{file} is damaged ({detail}): restore a backup")


def _check_writable(connection: Connection, file: Path) -> None:
    connection.rollback()
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA user_version = {version}")
        connection.rollback()
    except OperationalError as error:
        raise InvalidSetting(f"cannot write to the database {file}: {driver_message(error)}") from None
