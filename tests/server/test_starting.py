"""Startup checks of databases and settings; workers end with their parent."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from axiogames.cli import main
from axiogames.errors import InvalidFile
from axiogames.server.operations.backup import make_backup, restore_backup
from axiogames.server.processes import AlreadyRunning, check_startup, single_instance
from axiogames.server.settings import DATABASE_FILE, InvalidSetting, Settings
from axiogames.server.storage.database import Database
from tests.server.driving import free_port, start_server
from tests.server.in_process import TIMEOUT
from tests.server.postgres import Postgres, run_sql


@pytest.fixture
def database_file(tmp_path: Path) -> Path:
    """Create the database of a server and return its file."""

    async def make() -> None:
        database = Database(Settings(data=str(tmp_path)).url)
        await database.upgrade()
        await database.close()

    asyncio.run(make())
    return tmp_path / DATABASE_FILE


def serve_error(file: Path | str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Return the error message of `axio serve` for a database."""
    url = file if isinstance(file, str) else f"sqlite:///{file}"
    arguments = ["serve", "--no-open", "--port", str(free_port()), "--database", url, *more]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert len(error.strip().splitlines()) == 1
    return error


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def replace_by_text(file: Path) -> None:
    file.write_text("This is not a database.\n" * 100)


def set_newer_version(file: Path) -> None:
    change(file, "UPDATE alembic_version SET version_num = '9999_telepathy'")


def replace_by_foreign(file: Path) -> None:
    file.unlink()
    change(file, "CREATE TABLE bookmarks (id INTEGER)")


def replace_by_foreign_alembic(file: Path) -> None:
    file.unlink()
    change(
        file, "CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('a1b2')"
    )


def drop_entries_table(file: Path) -> None:
    change(file, "PRAGMA foreign_keys = OFF", "DROP TABLE entries")


def overwrite_parts_of_pages(file: Path) -> None:
    change(file, "PRAGMA journal_mode = DELETE")
    content = bytearray(file.read_bytes())
    for start in range(4096 * 2, len(content), 4096):
        content[start : start + 200] = b"\xa5" * 200
    file.write_bytes(content)


def truncate(file: Path) -> None:
    change(file, "PRAGMA journal_mode = DELETE")
    file.write_bytes(file.read_bytes()[: 4096 * 3 + 100])


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (replace_by_text, "not an SQLite database"),
        (set_newer_version, "9999_telepathy"),
        (replace_by_foreign, "bookmarks"),
        (replace_by_foreign_alembic, "another program"),
        (drop_entries_table, "another program"),
        (overwrite_parts_of_pages, "damaged"),
        (truncate, "damaged"),
        (replace_by_folder, "cannot use"),
    ],
)
def test_foreign_or_damaged_database_is_a_one_line_error(
    database_file: Path, damage: Callable[[Path], None], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(database_file)
    before = database_file.read_bytes() if database_file.is_file() else b""
    error = serve_error(database_file, capsys)
    assert expected in error
    assert str(database_file) in error
    assert not database_file.is_file() or database_file.read_bytes() == before  # unchanged


def test_unreachable_database_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axiogames.server.storage.database.TRANSACTION_TIMEOUT", 0.1)
    assert "cannot connect" in serve_error("postgresql://axio@127.0.0.1:1/axio", capsys)
    with socket.socket() as silent:  # accepts connections but never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://axio@127.0.0.1:{silent.getsockname()[1]}/axio"
        assert "no answer" in serve_error(url, capsys)


def test_backup_of_foreign_database_is_a_one_line_error(database_file: Path, tmp_path: Path) -> None:
    for damage in (replace_by_foreign, replace_by_text):
        damage(database_file)
        with pytest.raises(InvalidFile, match=str(database_file)):
            make_backup(Settings(data=str(tmp_path)), tmp_path / "backup")


def test_read_only_database_is_a_one_line_error(
    database_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(database_file, "PRAGMA journal_mode = DELETE")
    error = serve_error(f"sqlite:///file:{database_file}?mode=ro&uri=true", capsys)
    assert "cannot write" in error


def test_locked_database_is_a_one_line_error(
    database_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axiogames.server.storage.inspection.SQLITE_BUSY_TIMEOUT_MS", 1)
    with closing(sqlite3.connect(database_file)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "locked" in serve_error(database_file, capsys)


@pytest.mark.parametrize(
    "database", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_in_memory_database_is_refused(database: str) -> None:
    with pytest.raises(InvalidSetting, match="memory"):
        Settings(database=database).check()


@pytest.mark.parametrize(
    "address", ["axio@[::1/axio", "axio@db:port/axio", "axio:pass/word@db/axio", "axio@db\udcff/axio"]
)
def test_invalid_database_url_is_a_one_line_error(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    detail = serve_error(f"postgresql://{address}", capsys).partition("%40")[2]
    assert detail
    assert main(["admin", "log", "--database", f"postgresql://{address}"]) == 2
    assert capsys.readouterr().err.endswith(detail)


def test_invalid_postgresql_options_are_refused_in_one_line(
    postgres: Postgres, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url = postgres.create()
    check_startup(Settings(data=str(tmp_path), database=f"{url}?sslmode=prefer&application_name=club"))
    for wrong, words in (
        (f"{url}?sslmode=never", "sslmode"),
        (f"{url}?telepathy=on", "telepathy"),
        (f"postgresql://axio@{'ü' * 70}/axio", "too long"),
    ):
        assert words in serve_error(wrong, capsys)
        assert main(["admin", "log", "--database", wrong]) == 2
        assert words in capsys.readouterr().err


def test_new_and_older_databases_are_accepted(database_file: Path) -> None:
    check_startup(Settings(data=str(database_file.parent), port=free_port()))
    check_startup(Settings(data=str(database_file.parent / "new"), port=free_port()))


def test_schema_of_postgresql_is_checked(postgres: Postgres, capsys: pytest.CaptureFixture[str]) -> None:
    url = postgres.create()
    run_sql(url, "CREATE TABLE unrelated (id INTEGER)")
    check_startup(Settings(database=url, port=free_port()))  # several servers may share a PostgreSQL database
    run_sql(url, "CREATE TABLE tables (id INTEGER)")
    assert "'tables'" in serve_error(url, capsys)
    run_sql(
        url,
        "DROP TABLE tables",
        "CREATE TABLE alembic_version (version_num TEXT)",
        "INSERT INTO alembic_version VALUES ('9999_telepathy')",
    )
    assert "another program" in serve_error(url, capsys)
    run_sql(url, "CREATE TABLE entries (id INTEGER)")
    assert "9999_telepathy" in serve_error(url, capsys)


# ------------------------------------------------------------------ one server per database


def test_database_lock_is_independent_of_path(
    database_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(database_file)
    (tmp_path / "elsewhere" / "folder").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    names = [
        Settings(data=str(tmp_path)),
        Settings(data=str(tmp_path / "elsewhere" / "folder")),
        Settings(database=f"sqlite:///{database_file}"),
        Settings(database=f"sqlite:///{database_file}?timeout=3"),
        Settings(database=f"sqlite:///file:{database_file}?uri=true"),
        Settings(database=f"sqlite:///../{DATABASE_FILE}"),
        Settings(database=f"sqlite:///{tmp_path}/elsewhere/../link"),
        Settings(database=f"sqlite:///folder/{DATABASE_FILE}"),
    ]
    for first in names:
        with single_instance(first, "http://one/"):
            for second in names:
                with (
                    pytest.raises(AlreadyRunning, match="http://one/"),
                    single_instance(second, "http://two/"),
                ):
                    pass
                with pytest.raises(AlreadyRunning):
                    restore_backup(second, tmp_path / "backup", force=True)
    with single_instance(Settings(database=f"sqlite:///{tmp_path / 'other.sqlite3'}"), "http://three/"):
        pass


def test_lock_error_names_the_running_server(database_file: Path) -> None:
    settings = Settings(database=f"sqlite:///{database_file}")
    for owner, expected in (
        ("http://one/", "in use by a server at http://one/"),
        ("a restore", "in use by a restore"),
    ):
        with (
            single_instance(settings, owner),
            pytest.raises(AlreadyRunning, match=expected),
            single_instance(settings, ""),
        ):
            pass


def test_database_with_hard_links_is_refused(database_file: Path, tmp_path: Path) -> None:
    os.link(database_file, tmp_path / "hard")
    for name in (database_file, tmp_path / "hard"):
        with (
            pytest.raises(InvalidSetting, match="hard links"),
            single_instance(Settings(database=f"sqlite:///{name}"), ""),
        ):
            pass


# ------------------------------------------------------------------ lifetime of processes


def test_workers_exit_with_their_parent(postgres: Postgres, tmp_path: Path) -> None:
    with start_server(tmp_path, database=postgres.create(), extra=["--workers", "2"]) as server:
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait(TIMEOUT)
        deadline = time.monotonic() + TIMEOUT
        try:
            while not _port_is_free(server.port):  # the next server needs the port
                assert time.monotonic() < deadline, "the workers still run"
                time.sleep(0.05)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)


def _port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
        return True
