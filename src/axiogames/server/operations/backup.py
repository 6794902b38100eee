"""Backups of a server that keeps its games in SQLite: one archive with the database and the secret key.

A backup is made while the server runs. SQLite copies the database as of one moment in a read transaction,
which holds up no writer in WAL mode. PostgreSQL has tools of its own; docs/guides/hosting.md shows them.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from ... import PROGRAM, __version__
from ...errors import InvalidFile
from ...files import naming
from ..private_files import SQLITE_FILES, make_private
from ..processes import alone, lock_file
from ..settings import KEY_FILE, BadSetting, Settings, sqlite_file
from ..storage.schema import known_revisions

FORMAT = "axio-backup/1"
MANIFEST, DATABASE = "manifest.json", "database.sqlite3"
MEMBERS = (MANIFEST, DATABASE, KEY_FILE)
COUNTED = ("people", "tables", "entries")
LARGEST_MANIFEST, LARGEST_KEY = 64_000, 16_000  # bytes
BLOCK = 1 << 20
PRIVATE = 0o600

Advance = Callable[[int], None]
"""Told how many bytes are done since the last call."""


class Manifest(Struct, frozen=True):
    """What an archive holds."""

    format: str
    version: str
    schema: str
    made: str
    size: int
    sha256: str
    rows: dict[str, int]
    key: bool


def make_backup(
    settings: Settings, target: Path, *, force: bool = False, advance: Advance = lambda amount: None
) -> Manifest:
    """Write an archive of a server's data to `target`, while the server runs or not.

    Raises `BadSetting` for a server on PostgreSQL or without a database, `InvalidFile` if `target` exists and
    may not be replaced, by `force` or at all. The archive is complete or not there.
    """
    database = database_file(settings)
    if not database.is_file():
        raise BadSetting(f"there is no database at {database}: name its folder with --data")
    key = settings.folder / KEY_FILE
    target = Path(os.path.realpath(target))
    _check_target(target, [*_parts(database), lock_file(database), key])
    if target.exists() and not force:
        raise InvalidFile(f"{target} exists; --force replaces it")
    folder = target.parent
    if not folder.is_dir():
        raise InvalidFile(f"there is no folder {folder}")
    with tempfile.TemporaryDirectory(prefix=".axio-backup-", dir=folder) as made:
        copy = Path(made) / DATABASE
        _copy_database(database, copy)
        try:
            manifest = _manifest(copy, key.is_file())
        except (sqlite3.Error, TypeError):
            raise InvalidFile(f"{database} is no database of {PROGRAM}") from None
        secret = key.read_bytes() if manifest.key else b""
        archive = Path(made) / "archive"
        with naming(target), open(archive, "wb", opener=_private) as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=5) as tar:
                _add(tar, MANIFEST, msgspec.json.encode(manifest))
                if manifest.key:
                    _add(tar, KEY_FILE, secret)
                _add_file(tar, DATABASE, copy, advance)
            file.flush()
            os.fsync(file.fileno())
        os.replace(archive, target)
    return manifest


def restore_backup(
    settings: Settings, source: Path, *, force: bool = False, advance: Advance = lambda amount: None
) -> tuple[Manifest, list[Path]]:
    """Put the contents of an archive in place; what it holds, and where files that were there have gone.

    Raises `InvalidFile` for an archive that is damaged or of a newer version, and if there is data that may
    not be replaced; `AlreadyRunning` while a server uses it. The archive is checked before anything is
    replaced.
    """
    database = database_file(settings)
    key = settings.folder / KEY_FILE
    with ExitStack() as stack:
        if locked := lock_file(database).exists():
            stack.enter_context(alone(settings, "a restore"))
        _check_data(database, force)
        near = next(folder for folder in database.parents if folder.exists())  # on the same file system
        made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".axio-restore-", dir=near)))
        manifest = _extract(source, made, advance)
        _check_database(source, made / DATABASE, manifest)
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not locked:
            stack.enter_context(alone(settings, "a restore"))
            _check_data(database, force)
        if manifest.key:  # its folder may be on another file system than the database
            near = settings.folder
            beside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".axio-restore-", dir=near)))
            ready = shutil.copy(made / KEY_FILE, beside / KEY_FILE)
        moved = _move_aside([*_parts(database), key] if manifest.key else _parts(database))
        if manifest.key:
            os.replace(ready, key)
        os.replace(made / DATABASE, database)
        _check_content(database, manifest, "quick_check")
    return manifest, moved


def database_file(settings: Settings) -> Path:
    """The file of a server on SQLite. Raises `BadSetting` for one on PostgreSQL."""
    if settings.on_postgresql:
        raise BadSetting("PostgreSQL is backed up by pg_dump and restored by pg_restore: see docs/guides/hosting.md")
    settings.check()
    file = sqlite_file(settings.url)
    assert file is not None, "`Settings.check` refuses a database in memory"
    return Path(os.path.realpath(file))


def _parts(database: Path) -> list[Path]:
    """A database, and what SQLite keeps beside it: it belongs to that database and to no other."""
    return [database.with_name(database.name + end) for end in SQLITE_FILES]


# ------------------------------------------------------------ writing


def _check_target(target: Path, used: list[Path]) -> None:
    """Raise `InvalidFile` for what a backup never replaces: what is no file, and what the server uses."""
    there = target.exists()
    if there and not target.is_file():
        raise InvalidFile(f"{target} is not a regular file: name another")
    for path in used:
        same = there and path.exists() and target.samefile(path)
        if same or str(target) == os.path.realpath(path):
            raise InvalidFile(f"{target} belongs to the server that is backed up: name another file")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


def _copy_database(database: Path, copy: Path) -> None:
    os.close(os.open(copy, os.O_CREAT | os.O_WRONLY, PRIVATE))  # private from its first byte on
    try:
        with closing(
            sqlite3.connect(f"{database.resolve().as_uri()}?mode=rw", uri=True, timeout=30)
        ) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error as error:
        raise InvalidFile(f"{database} cannot be copied: {error}") from None


def _manifest(copy: Path, key: bool) -> Manifest:
    with closing(sqlite3.connect(copy)) as connection:
        rows = {name: _count(connection, name) for name in COUNTED}
        schema = _schema(connection)
    digest, size = _digest(copy)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Manifest(FORMAT, __version__, schema, made, size, digest, rows, key)


def _count(connection: sqlite3.Connection, name: str) -> int:
    (number,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
    return int(number)


def _schema(connection: sqlite3.Connection) -> str:
    (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(revision)


def _digest(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    tar.addfile(_member(name, len(content)), BytesIO(content))


def _add_file(tar: tarfile.TarFile, name: str, path: Path, advance: Advance) -> None:
    with open(path, "rb") as file:
        tar.addfile(_member(name, path.stat().st_size), _Counted(file, advance))


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, PRIVATE
    return member


class _Counted:
    """A file that tells how much of it has been read."""

    def __init__(self, file: IO[bytes], advance: Advance) -> None:
        self._file = file
        self._advance = advance

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._advance(len(block))
        return block


# ------------------------------------------------------------ reading


def _extract(source: Path, folder: Path, advance: Advance) -> Manifest:
    """The manifest of an archive, whose files are now in `folder`. Raises `InvalidFile`."""
    try:
        with tarfile.open(source, "r:gz") as tar:
            members = {member.name: member for member in tar}
            unknown = sorted(set(members) - set(MEMBERS))
            if unknown or not all(member.isreg() for member in members.values()):
                raise InvalidFile(f"{source} is no backup: it holds {', '.join(unknown) or 'links'}")
            if MANIFEST not in members or DATABASE not in members:
                raise InvalidFile(f"{source} is no backup: it lacks {MANIFEST} or {DATABASE}")
            manifest = _read_manifest(source, _small(source, tar, members[MANIFEST], LARGEST_MANIFEST))
            if manifest.key != (KEY_FILE in members) or manifest.size != members[DATABASE].size:
                raise InvalidFile(f"{source} is damaged: its parts do not fit {MANIFEST}")
            if manifest.key:
                key = _small(source, tar, members[KEY_FILE], LARGEST_KEY)
                with open(folder / KEY_FILE, "wb", opener=_private) as out:
                    out.write(key)
            _unpack(tar, members[DATABASE], folder / DATABASE, advance)
            _read_to_the_end(tar)
    except InvalidFile:
        raise
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise InvalidFile(f"{source} is damaged or no backup: {error}") from None
    return manifest


def _small(source: Path, tar: tarfile.TarFile, member: tarfile.TarInfo, largest: int) -> bytes:
    if member.size > largest:
        raise InvalidFile(f"{source} is no backup: {member.name} has {member.size} bytes")
    file = tar.extractfile(member)
    assert file is not None, "a regular file"
    return file.read()


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, advance: Advance) -> None:
    file: Any = tar.extractfile(member)
    with naming(target), open(target, "wb", opener=_private) as out:
        while block := file.read(BLOCK):
            out.write(block)
            advance(len(block))
        out.flush()
        os.fsync(out.fileno())


def _read_to_the_end(tar: tarfile.TarFile) -> None:
    """Let the sums of the compressed file be checked: the key has none of its own."""
    file: Any = tar.fileobj
    while file.read(BLOCK):
        pass


def _read_manifest(source: Path, content: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidFile(f"{source}: {MANIFEST} cannot be read: {error}") from None
    if manifest.format != FORMAT:
        raise InvalidFile(f"{source} has the format {manifest.format!r}; this version reads {FORMAT!r}")
    return manifest


def _check_database(source: Path, database: Path, manifest: Manifest) -> None:
    digest, _ = _digest(database)
    if digest != manifest.sha256:
        raise InvalidFile(f"{source} is damaged: the database has another digest than {MANIFEST} says")
    if manifest.schema not in known_revisions():
        raise InvalidFile(
            f"{source} was made by version {manifest.version}, which has a newer schema ({manifest.schema}): "
            "install that version"
        )
    _check_content(database, manifest, "integrity_check", source)


def _check_content(database: Path, manifest: Manifest, check: str, source: Path | None = None) -> None:
    """Raise `InvalidFile` if a database is not what the manifest of the archive `source` says."""
    where = source or database
    try:
        with closing(sqlite3.connect(database)) as connection:
            found = connection.execute(f"PRAGMA {check}").fetchone()[0]
            rows = {name: _count(connection, name) for name in COUNTED}
            schema = _schema(connection)
    except (sqlite3.Error, TypeError) as error:
        raise InvalidFile(f"{where}: the database cannot be read: {error}") from None
    if found != "ok" or rows != manifest.rows or schema != manifest.schema:
        raise InvalidFile(f"{where}: the database is not what {MANIFEST} says")


def _check_data(database: Path, force: bool) -> None:
    """Raise `InvalidFile` if there is data that may not be moved aside."""
    for path in _parts(database):
        if os.path.lexists(path) and not force:
            raise InvalidFile(f"{path} exists; --force moves it aside and puts the backup in its place")


def _move_aside(paths: list[Path]) -> list[Path]:
    """Rename those files that are there, so that they are in nobody's way; their new names.

    What SQLite keeps beside a database takes the new name of that database, so that it still belongs to it.
    """
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    moved = []
    for path in paths:
        if os.path.lexists(path):
            end = next((end for end in SQLITE_FILES if end and path.name.endswith(end)), "")
            aside = path.with_name(f"{path.name.removesuffix(end)}.before-{at}{end}")
            os.replace(path, aside)
            make_private(aside)
            moved.append(aside)
    return moved
