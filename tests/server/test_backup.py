"""Backups during play contain all acknowledged moves; damaged archives are not restored."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shlex
import shutil
import sqlite3
import stat
import subprocess
import tarfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from axiogames.errors import InvalidFile
from axiogames.server.operations import backup
from axiogames.server.operations.backup import DATABASE, MANIFEST, make_backup, restore_backup
from axiogames.server.processes import LOCK_SUFFIX, AlreadyRunning, single_instance
from axiogames.server.settings import DATABASE_FILE, InvalidSetting, Settings
from tests.cli.test_cli import assert_refused, run
from tests.demanded import skip_or_fail
from tests.server.driving import Browser, Guest, random_chooser, start_server
from tests.server.postgres import Postgres, program_folder, run_sql

GAME = "trio"
TABLES = 3


@dataclass(frozen=True)
class PlayedBackup:
    """Backup of a server made during play."""

    data: Path
    archive: Path
    before: dict[str, int]  # last acknowledged number of each table before the backup
    phrase: str
    printed: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> PlayedBackup:
    folder = tmp_path_factory.mktemp("backed-up")
    archive = folder / "backup.tar.gz"
    with start_server(folder / "data") as server:
        people = [server.guest(f"Guest {n}") for n in range(TABLES)]
        phrase = people[0].post("/api/me/phrase")["phrase"]
        tables = [guest.open(GAME, ["me", "random"]).id for guest in people]
        stop, acknowledged = threading.Event(), dict[str, int]()

        def play(guest: Guest, table: str) -> None:
            choose = random_chooser(table)
            with guest.live(table) as live:
                while not stop.is_set() and live.wait_for_turn()["phase"] != "over":
                    assert live.moves is not None
                    live.play(choose(live.moves))
                    acknowledged[table] = live.n

        players = [
            threading.Thread(target=play, args=pair, daemon=True) for pair in zip(people, tables, strict=True)
        ]
        for player in players:
            player.start()
        while len(acknowledged) < TABLES or min(acknowledged.values()) < 8:
            stop.wait(0.01)
        before = dict(acknowledged)
        result = run("backup", str(archive), "--data", str(folder / "data"))
        stop.set()
        for player in players:
            player.join()
    assert (result.code, result.err) == (0, "")
    return PlayedBackup(folder / "data", archive, before, phrase, result.out)


def entries(database: Path) -> dict[str, list[tuple[int, str]]]:
    """Return the numbers and bodies of all stored entries by table."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT table_id, number, body FROM entries ORDER BY table_id, number")
        found: dict[str, list[tuple[int, str]]] = {}
        for table, number, body in rows:
            found.setdefault(table, []).append((number, body))
    return found


def settings(folder: Path) -> Settings:
    return Settings(data=str(folder))


def test_backup_during_play_contains_acknowledged_moves(played: PlayedBackup, tmp_path: Path) -> None:
    assert f"{TABLES} tables" in played.printed
    assert " entries, " in played.printed
    result = run("restore", str(played.archive), "--data", str(tmp_path / "new"))
    assert (result.code, result.err) == (0, "")
    restored, original = entries(tmp_path / "new" / DATABASE_FILE), entries(played.data / DATABASE_FILE)
    assert set(restored) == set(played.before)
    for table, number in played.before.items():
        assert len(restored[table]) >= number
        assert restored[table] == original[table][: len(restored[table])]
        assert [n for n, _ in restored[table]] == list(range(1, len(restored[table]) + 1))


def test_restored_server_keeps_games_and_sessions(played: PlayedBackup, tmp_path: Path) -> None:
    restore_backup(settings(tmp_path), played.archive)
    with start_server(tmp_path) as server:
        browser = Browser(server.url)
        assert browser.post("/api/enter", {"phrase": played.phrase})["name"] == "Guest 0"
        (table,) = browser.get("/api/tables?which=mine")
        with browser.live(table["id"]) as live:
            assert live.play_to_end() is not None


def test_backup_files_are_private(played: PlayedBackup, tmp_path: Path) -> None:
    restore_backup(settings(tmp_path / "new"), played.archive)
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    for path in (played.archive, *(tmp_path / "new").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_existing_data_are_moved_aside_only_with_force(played: PlayedBackup, tmp_path: Path) -> None:
    restore_backup(settings(tmp_path), played.archive)
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as connection:
        connection.execute("UPDATE people SET name = 'Somebody else'")
        connection.commit()
    (tmp_path / "key").write_text("k" * 64)
    assert_refused(run("restore", str(played.archive), "--data", str(tmp_path)), "exists", "--force")
    again = run("restore", str(played.archive), "--data", str(tmp_path), "--force")
    assert again.code == 0
    assert again.err.count("Existing data was moved to") == 2
    (aside,) = tmp_path.glob(f"{DATABASE_FILE}.before-*")
    with closing(sqlite3.connect(aside)) as connection:
        assert connection.execute("SELECT DISTINCT name FROM people").fetchall() == [("Somebody else",)]
    assert (tmp_path / "key").read_text() != "k" * 64


def leave_orphaned_wal(folder: Path) -> set[str]:
    """Create a WAL file without its database, and return the names of all files."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE other (content)")
        connection.executemany("INSERT INTO other VALUES (?)", [("x" * 3000,)] * 20)
        connection.commit()
        auxiliary = {
            suffix: Path(f"{folder / DATABASE_FILE}{suffix}").read_bytes() for suffix in ("-wal", "-shm")
        }
    (folder / DATABASE_FILE).unlink()
    for suffix, content in auxiliary.items():
        (folder / f"{DATABASE_FILE}{suffix}").write_bytes(content)
    return {path.name for path in folder.iterdir()}


def test_orphaned_wal_file_is_moved_aside_with_force(played: PlayedBackup, tmp_path: Path) -> None:
    data = tmp_path / "data"
    names = leave_orphaned_wal(data)
    assert_refused(run("restore", str(played.archive), "--data", str(data)), "-wal exists", "--force")
    assert {path.name for path in data.iterdir()} == names
    result = run("restore", str(played.archive), "--data", str(data), "--force")
    assert (result.code, result.err.count("Existing data was moved to")) == (0, 2)
    assert len(list(data.glob(f"{DATABASE_FILE}.before-*-wal"))) == 1
    with closing(sqlite3.connect(data / DATABASE_FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM tables").fetchone() == (TABLES,)


def test_restored_database_is_verified_in_place(
    played: PlayedBackup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_orphaned_wal(tmp_path / "data")
    monkeypatch.setattr(backup, "_move_aside", lambda paths: [])
    with pytest.raises(InvalidFile, match=f"{DATABASE_FILE}: (cannot read )?the database"):
        restore_backup(settings(tmp_path / "data"), played.archive, force=True)


def test_refused_restore_leaves_no_files(played: PlayedBackup, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        restore_backup(settings(tmp_path / "new" / "folder"), tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / DATABASE_FILE).write_text("mine")
    with pytest.raises(InvalidFile, match="--force moves it aside"):
        restore_backup(settings(tmp_path), played.archive)
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE_FILE]


def test_restore_is_refused_while_server_runs(played: PlayedBackup, tmp_path: Path) -> None:
    with single_instance(settings(tmp_path), "http://127.0.0.1:8000/"), pytest.raises(AlreadyRunning):
        restore_backup(settings(tmp_path), played.archive)
    assert not (tmp_path / DATABASE_FILE).exists()


def test_existing_backup_is_not_overwritten(played: PlayedBackup, tmp_path: Path) -> None:
    (tmp_path / "existing.tar.gz").write_text("mine")
    with pytest.raises(InvalidFile, match="--force replaces it"):
        make_backup(settings(played.data), tmp_path / "existing.tar.gz")
    assert (tmp_path / "existing.tar.gz").read_text() == "mine"
    make_backup(settings(played.data), tmp_path / "existing.tar.gz", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["existing.tar.gz"]
    with tarfile.open(tmp_path / "existing.tar.gz") as tar:
        assert sorted(tar.getnames()) == sorted((MANIFEST, DATABASE, "key"))


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal", LOCK_SUFFIX, "key"])
def test_backup_target_must_not_be_a_server_file(
    suffix: str, link: Callable[[Path, Path], None] | None, played: PlayedBackup, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    restore_backup(settings(data), played.archive)
    target = used = data / (suffix if suffix == "key" else DATABASE_FILE + suffix)
    if link is not None:
        used.touch()
        target = tmp_path / "link"
        link(used, target)
    before = {path: path.read_bytes() for path in data.iterdir()}
    assert_refused(run("backup", str(target), "--data", str(data), "--force"), "belongs to the server")
    assert {path: path.read_bytes() for path in data.iterdir()} == before


def test_backup_target_must_be_a_regular_file(played: PlayedBackup, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        result = run("backup", str(tmp_path / name), "--data", str(played.data), "--force")
        assert_refused(result, "not a regular file")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_key_from_environment_is_not_in_backup(played: PlayedBackup, tmp_path: Path) -> None:
    shutil.copytree(played.data, tmp_path / "data")
    (tmp_path / "data" / "key").unlink()
    result = run("backup", str(tmp_path / "b.tar.gz"), "--data", str(tmp_path / "data"))
    assert result.code == 0
    assert "AXIO_KEY" in result.err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "key").write_text("k" * 64)
    restore_backup(settings(tmp_path / "other"), tmp_path / "b.tar.gz")
    assert (tmp_path / "other" / "key").read_text() == "k" * 64


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_backup_of_postgresql_is_refused(command: str, tmp_path: Path) -> None:
    result = run(command, str(tmp_path / "x"), "--database", "postgresql://nobody@localhost/none")
    assert_refused(result, "pg_dump", "docs/guides/hosting.md")


def test_backup_without_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="no database at"):
        make_backup(settings(tmp_path), tmp_path / "b.tar.gz")
    assert list(tmp_path.iterdir()) == []


def test_backup_json_output_is_the_manifest(played: PlayedBackup, tmp_path: Path) -> None:
    result = run("backup", str(tmp_path / "b.tar.gz"), "--data", str(played.data), "--json")
    manifest = json.loads(result.out)
    assert (manifest["rows"]["tables"], manifest["rows"]["people"], manifest["key"]) == (TABLES, TABLES, True)


# ------------------------------------------------------------ damaged archives

Change = Callable[[dict[str, bytes]], dict[str, bytes]]


def manifest_with(**values: object) -> Change:
    def change(parts: dict[str, bytes]) -> dict[str, bytes]:
        return {**parts, MANIFEST: json.dumps({**json.loads(parts[MANIFEST]), **values}).encode()}

    return change


def with_flipped_bit(parts: dict[str, bytes]) -> dict[str, bytes]:
    body = bytearray(parts[DATABASE])
    body[len(body) // 2] ^= 1
    return {**parts, DATABASE: bytes(body)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: {name: parts[name] for name in (MANIFEST, "key")}, "is missing"),
        (lambda parts: {name: parts[name] for name in (DATABASE, "key")}, "is missing"),
        (lambda parts: {name: parts[name] for name in (MANIFEST, DATABASE)}, "do not match"),
        (lambda parts: {**parts, "../evil": b"x"}, "it contains ../evil"),
        (lambda parts: {**parts, MANIFEST: b"{" * 5000}, "cannot read"),
        (lambda parts: {**parts, MANIFEST: b"\xff"}, "cannot read"),
        (lambda parts: {**parts, MANIFEST: b"x" * 100_000}, "has 100000 bytes"),
        (lambda parts: {**parts, DATABASE: parts[DATABASE][:-1]}, "do not match"),
        (manifest_with(format="axio-backup/9"), "axio-backup/9"),
        (manifest_with(schema="9999"), "newer schema"),
        (manifest_with(rows={"people": 1, "tables": 1, "entries": 1}), "does not match"),
        (manifest_with(size="big"), "cannot read"),
        (with_flipped_bit, "SHA-256"),
    ],
)
def test_invalid_archive_is_refused_and_replaces_nothing(
    played: PlayedBackup, tmp_path: Path, change: Change, message: str
) -> None:
    with tarfile.open(played.archive) as tar:
        parts = {name: tar.extractfile(name).read() for name in tar.getnames()}  # type: ignore[union-attr]
    with tarfile.open(tmp_path / "wrong.tar.gz", "w:gz") as tar:
        for name, content in change(parts).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, BytesIO(content))
    with pytest.raises(InvalidFile, match=message):
        restore_backup(settings(tmp_path / "new"), tmp_path / "wrong.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.tar.gz"]


@pytest.mark.parametrize("content", [b"", b"not an archive", gzip.compress(b"no tar", mtime=0), None])
def test_file_that_is_not_an_archive_is_refused(
    content: bytes | None, played: PlayedBackup, tmp_path: Path
) -> None:
    if content is None:
        content = played.archive.read_bytes()[:-4000]
    (tmp_path / "wrong").write_bytes(content)
    assert_refused(run("restore", str(tmp_path / "wrong"), "--data", str(tmp_path / "new")), "wrong")


def test_damage_anywhere_in_archive_is_detected(played: PlayedBackup, tmp_path: Path) -> None:
    whole = played.archive.read_bytes()
    for offset in range(40, len(whole), len(whole) // 60):
        changed = bytes([whole[offset] ^ 0x55])
        (tmp_path / "wrong").write_bytes(whole[:offset] + changed + whole[offset + 1 :])
        with pytest.raises(InvalidFile, match="wrong"):
            restore_backup(settings(tmp_path / "new"), tmp_path / "wrong")


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_archive_with_cyclic_offset_is_refused(kind: bytes, tmp_path: Path) -> None:
    member = tarfile.TarInfo(DATABASE)
    member.type, member.size = kind, -512
    (tmp_path / "wrong").write_bytes(gzip.compress(member.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
    with pytest.raises(InvalidFile, match="wrong"):
        restore_backup(settings(tmp_path / "new"), tmp_path / "wrong")


def test_full_disk_is_not_reported_as_damaged_archive(
    played: PlayedBackup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "the disk is full")))
    result = run("restore", str(played.archive), "--data", str(tmp_path / "new"))
    assert_refused(result, "axio: /", f"/{DATABASE}: the disk is full")
    again = run("backup", str(tmp_path / "again"), "--data", str(played.data))
    assert_refused(again, f"axio: {tmp_path / 'again'}: the disk is full")
    assert list(tmp_path.iterdir()) == []


def test_key_and_database_on_different_file_systems(
    played: PlayedBackup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def replace_on_same_file_system(source: Path, target: Path) -> None:
        if source.relative_to(tmp_path).parts[0] != target.relative_to(tmp_path).parts[0]:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_on_same_file_system)
    (tmp_path / "large").mkdir()
    (tmp_path / "small").mkdir()
    split = Settings(data=str(tmp_path / "small"), database=f"sqlite:///{tmp_path}/large/games")
    for _ in range(2):  # the second time replaces existing data
        restore_backup(split, played.archive, force=True)
        assert entries(tmp_path / "large" / "games")
        assert (tmp_path / "small" / "key").read_bytes() == (played.data / "key").read_bytes()


def test_links_in_archive_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "wrong", "w:gz") as tar:
        member = tarfile.TarInfo(DATABASE)
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(InvalidFile, match="links"):
        restore_backup(settings(tmp_path / "new"), tmp_path / "wrong")


# ------------------------------------------------------------------ PostgreSQL


def test_pg_dump_during_play_restores_as_documented(postgres: Postgres, tmp_path: Path) -> None:
    """Run the commands of docs/guides/hosting.md with the URLs of this test."""
    url, other = postgres.create(), postgres.create()
    programs = program_folder()
    assert programs is not None
    if not (programs / "pg_dump").exists():
        skip_or_fail("postgresql", "pg_dump is not installed")
    page = (Path(__file__).parents[2] / "docs" / "guides" / "hosting.md").read_text(encoding="utf-8")
    dump, restore = (
        shlex.split(line) for line in page.splitlines() if line.startswith(("pg_dump ", "pg_restore "))
    )
    acknowledged: dict[str, int] = {}
    with start_server(tmp_path / "data", database=url) as server, ThreadPoolExecutor(TABLES) as pool:
        people = [server.guest(f"Guest {n}") for n in range(TABLES)]
        tables = [guest.open(GAME, ["me", "random"]).id for guest in people]
        dump_starts = threading.Barrier(TABLES + 1)

        def play(guest: Guest, table: str) -> None:
            choose = random_chooser(table)
            with guest.live(table) as live:
                for number in range(18):
                    if number == 8:
                        dump_starts.wait(60)  # play continues during the dump
                    if live.wait_for_turn()["phase"] == "over":
                        return
                    assert live.moves is not None
                    live.play(choose(live.moves))
                    if number < 8:
                        acknowledged[table] = live.n

        playing = [pool.submit(play, *pair) for pair in zip(people, tables, strict=True)]
        dump_starts.wait(60)
        call(programs, dump, tmp_path, url)
        for future in playing:
            future.result()
    call(programs, restore, tmp_path, other)
    query = "SELECT table_id, number, body FROM entries ORDER BY table_id, number"
    original, restored = by_table(run_sql(url, query)), by_table(run_sql(other, query))
    assert set(restored) == set(acknowledged) == set(tables)
    for table, number in acknowledged.items():
        assert number <= len(restored[table]) <= len(original[table])
        assert restored[table] == original[table][: len(restored[table])]
    with (
        start_server(tmp_path / "data", database=other) as server,
        people[0].at(server.url).live(tables[0]) as live,
    ):
        assert live.play_to_end() is not None


def call(programs: Path, words: list[str], folder: Path, url: str) -> None:
    """Run a documented command with the URL of a database of this test."""
    words = [f"--dbname={url}" if word.startswith("--dbname=") else word for word in words]
    result = subprocess.run(
        [programs / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def by_table(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[int, str]]]:
    """Return the numbers and bodies of entries by table."""
    found: dict[str, list[tuple[int, str]]] = {}
    for table, number, body in rows:
        found.setdefault(table, []).append((number, body))
    return found
