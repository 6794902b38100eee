"""Backup and restore of a server with SQLite: one archive with the database and the secret key.

The server may run during a backup. SQLite copies a consistent snapshot in a read transaction, which does not
block writers in WAL mode. PostgreSQL has its own tools; see docs/guides/hosting.md.
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
from ...files import file_name_in_errors
from ..private_files import PRIVATE_FILE_MODE, SQLITE_SUFFIXES, make_private
from ..processes import lock_file, single_instance
from ..settings import KEY_FILE, InvalidSetting, Settings, sqlite_file
from ..storage.schema import known_revisions

FORMAT = "axio-backup/1"
MANIFEST, DATABASE = "manifest.json", "database.sqlite3"
MEMBERS = (MANIFEST, DATABASE, KEY_FILE)
COUNTED_TABLES = ("people", "tables", "entries")
MAX_MANIFEST_BYTES, MAX_KEY_BYTES = 64_000, 16_000
BLOCK_BYTES = 1 << 20

ProgressCallback = Callable[[int], None]
"""Called with the number of bytes processed since the last call."""


class BackupManifest(Struct, frozen=True):
    """Description of the contents of an archive."""

    format: str
    version: str
    schema: str
    made: str
    size: int
    sha256: str
    rows: dict[str, int]
    key: bool


def make_backup(
    settings: Settings, target: Path, *, force: bool = False, advance: ProgressCallback = lambda amount: None
) -> BackupManifest:
    """Write an archive of a server's data to `target`. The server may be running.

    The archive appears only when it is complete.

    Args:
        settings: Settings of the server.
        target: Archive to write.
        force: Replace an existing file.
        advance: Callback for the progress.

    Raises:
        InvalidSetting: The server uses PostgreSQL or has no database.
        InvalidFile: `target` exists and `force` is not set, or it belongs to the server.
    """
    database = database_file(settings)
    if not database.is_file():
        raise InvalidSetting(f"no database at {database}: name its folder with --data")
    key = settings.folder / KEY_FILE
    target = Path(os.path.realpath(target))
    _check_target(target, [*_database_files(database), lock_file(database), key])
    if target.exists() and not force:
        raise InvalidFile(f"{target} exists; --force replaces it")
    folder = target.parent
    if not folder.is_dir():
        raise InvalidFile(f"folder {folder} does not exist")
    with tempfile.TemporaryDirectory(prefix=".axio-backup-", dir=folder) as temporary:
        copy = Path(temporary) / DATABASE
        _copy_database(database, copy)
        try:
            manifest = _manifest(copy, key.is_file())
        except (sqlite3.Error, TypeError):
            raise InvalidFile(f"{database} is not a database of {PROGRAM}") from None
        secret = key.read_bytes() if manifest.key else b""
        archive = Path(temporary) / "archive"
        with file_name_in_errors(target), open(archive, "wb", opener=_open_private) as file:
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
    settings: Settings, source: Path, *, force: bool = False, advance: ProgressCallback = lambda amount: None
) -> tuple[BackupManifest, list[Path]]:
    """Restore the database and the key of an archive. Nothing is replaced before the archive is verified.

    Args:
        settings: Settings of the server.
        source: Archive to read.
        force: Move existing data aside.
        advance: Callback for the progress.

    Returns:
        The manifest of the archive, and the new paths of the files that were moved aside.

    Raises:
        InvalidFile: The archive is damaged or of a newer version, or data exist and `force` is not set.
        AlreadyRunning: A server uses the database.
    """
    database = database_file(settings)
    key = settings.folder / KEY_FILE
    with ExitStack() as stack:
        if locked := lock_file(database).exists():
            stack.enter_context(single_instance(settings, "a restore"))
        _check_no_data(database, force)
        parent = next(folder for folder in database.parents if folder.exists())  # on the same file system
        unpacked = _temporary_folder(stack, parent)
        manifest = _extract(source, unpacked, advance)
        _check_database(source, unpacked / DATABASE, manifest)
        settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not locked:  # a new lock file is created only now, in the folder of the database
            stack.enter_context(single_instance(settings, "a restore"))
            _check_no_data(database, force)
        if manifest.key:  # the data folder may be on another file system than the database
            copied_key = shutil.copy(
                unpacked / KEY_FILE, _temporary_folder(stack, settings.folder) / KEY_FILE
            )
        moved = _move_aside([*_database_files(database), key] if manifest.key else _database_files(database))
        if manifest.key:
            os.replace(copied_key, key)
        os.replace(unpacked / DATABASE, database)
        _check_matches_manifest(database, manifest, "quick_check")
    return manifest, moved


def _temporary_folder(stack: ExitStack, parent: Path) -> Path:
    """Return a folder in `parent` that is deleted at the end of `stack`."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".axio-restore-", dir=parent)))


def database_file(settings: Settings) -> Path:
    """Return the SQLite file of a server. Raises `InvalidSetting` for PostgreSQL."""
    if settings.on_postgresql:
        raise InvalidSetting(
            "use pg_dump and pg_restore for a server on PostgreSQL: see docs/guides/hosting.md"
        )
    settings.check()
    file = sqlite_file(settings.url)
    assert file is not None, "`Settings.check` refuses a database in memory"
    return Path(os.path.realpath(file))


def _database_files(database: Path) -> list[Path]:
    """Return the paths of a database and its auxiliary SQLite files, which belong together."""
    return [database.with_name(database.name + suffix) for suffix in SQLITE_SUFFIXES]


# ------------------------------------------------------------ writing


def _check_target(target: Path, used: list[Path]) -> None:
    """Raise `InvalidFile` for targets that a backup never replaces: server files and irregular files."""
    exists = target.exists()
    if exists and not target.is_file():
        raise InvalidFile(f"{target} is not a regular file: choose another target")
    for path in used:
        same = exists and path.exists() and target.samefile(path)
        if same or str(target) == os.path.realpath(path):
            raise InvalidFile(f"{target} belongs to the server: choose another target")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE_MODE)


def _copy_database(database: Path, copy: Path) -> None:
    os.close(os.open(copy, os.O_CREAT | os.O_WRONLY, PRIVATE_FILE_MODE))  # private before the first write
    try:
        with closing(
            sqlite3.connect(f"{database.resolve().as_uri()}?mode=rw", uri=True, timeout=30)
        ) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error as error:
        raise InvalidFile(f"cannot copy {database}: {error}") from None


def _manifest(copy: Path, has_key: bool) -> BackupManifest:
    with closing(sqlite3.connect(copy)) as connection:
        rows = {name: _count(connection, name) for name in COUNTED_TABLES}
        schema = _schema(connection)
    digest, size = _digest(copy)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return BackupManifest(FORMAT, __version__, schema, created, size, digest, rows, has_key)


def _count(connection: sqlite3.Connection, name: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
    return int(count)


def _schema(connection: sqlite3.Connection) -> str:
    (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(revision)


def _digest(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    tar.addfile(_member(name, len(content)), BytesIO(content))


def _add_file(tar: tarfile.TarFile, name: str, path: Path, advance: ProgressCallback) -> None:
    with open(path, "rb") as file:
        tar.addfile(_member(name, path.stat().st_size), _ProgressReader(file, advance))


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, PRIVATE_FILE_MODE
    return member


class _ProgressReader:
    """File wrapper that reports the bytes read."""

    def __init__(self, file: IO[bytes], advance: ProgressCallback) -> None:
        self._file = file
        self._advance = advance

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._advance(len(block))
        return block


# ------------------------------------------------------------ reading


def _extract(source: Path, folder: Path, advance: ProgressCallback) -> BackupManifest:
    """Extract an archive into `folder` and return its manifest. Raises `InvalidFile`."""
    try:
        with tarfile.open(source, "r:gz") as tar:
            members = {member.name: member for member in tar}
            unknown = sorted(set(members) - set(MEMBERS))
            if unknown or not all(member.isreg() for member in members.values()):
                raise InvalidFile(f"{source} is not a backup: it contains {', '.join(unknown) or 'links'}")
            if MANIFEST not in members or DATABASE not in members:
                raise InvalidFile(f"{source} is not a backup: {MANIFEST} or {DATABASE} is missing")
            manifest = _read_manifest(
                source, _read_small_member(source, tar, members[MANIFEST], MAX_MANIFEST_BYTES)
            )
            if manifest.key != (KEY_FILE in members) or manifest.size != members[DATABASE].size:
                raise InvalidFile(f"{source} is damaged: its members do not match {MANIFEST}")
            if manifest.key:
                key = _read_small_member(source, tar, members[KEY_FILE], MAX_KEY_BYTES)
                with open(folder / KEY_FILE, "wb", opener=_open_private) as out:
                    out.write(key)
            _extract_database(tar, members[DATABASE], folder / DATABASE, advance)
            _verify_checksum(tar)
    except InvalidFile:
        raise
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise InvalidFile(f"{source} is damaged or not a backup: {error}") from None
    return manifest


def _read_small_member(source: Path, tar: tarfile.TarFile, member: tarfile.TarInfo, limit: int) -> bytes:
    if member.size > limit:
        raise InvalidFile(
            f"{source} is not a backup: {member.name} has {member.size} bytes, more than {limit}"
        )
    file = tar.extractfile(member)
    assert file is not None, "a regular file"
    return file.read()


def _extract_database(
    tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, advance: ProgressCallback
) -> None:
    file: Any = tar.extractfile(member)
    with file_name_in_errors(target), open(target, "wb", opener=_open_private) as out:
        while block := file.read(BLOCK_BYTES):
            out.write(block)
            advance(len(block))
        out.flush()
        os.fsync(out.fileno())


def _verify_checksum(tar: tarfile.TarFile) -> None:
    """Read the rest of the gzip stream, which verifies its checksum: the key has no digest of its own."""
    file: Any = tar.fileobj
    while file.read(BLOCK_BYTES):
        pass


def _read_manifest(source: Path, content: bytes) -> BackupManifest:
    try:
        manifest = msgspec.json.decode(content, type=BackupManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidFile(f"{source}: cannot read {MANIFEST}: {error}") from None
    if manifest.format != FORMAT:
        raise InvalidFile(f"{source} has the format {manifest.format!r}; this version reads {FORMAT!r}")
    return manifest


def _check_database(source: Path, database: Path, manifest: BackupManifest) -> None:
    digest, _ = _digest(database)
    if digest != manifest.sha256:
        raise InvalidFile(f"{source} is damaged: the SHA-256 of the database does not match {MANIFEST}")
    if manifest.schema not in known_revisions():
        raise InvalidFile(
            f"{source} was made by version {manifest.version}, which has a newer schema ({manifest.schema}): "
            "install that version"
        )
    _check_matches_manifest(database, manifest, "integrity_check", source)


def _check_matches_manifest(
    database: Path, manifest: BackupManifest, check: str, source: Path | None = None
) -> None:
    """Raise `InvalidFile` if a database does not match the manifest of `source`."""
    name = source or database
    try:
        with closing(sqlite3.connect(database)) as connection:
            result = connection.execute(f"PRAGMA {check}").fetchone()[0]
            rows = {table: _count(connection, table) for table in COUNTED_TABLES}
            schema = _schema(connection)
    except (sqlite3.Error, TypeError) as error:
        raise InvalidFile(f"{name}: cannot read the database: {error}") from None
    if result != "ok" or rows != manifest.rows or schema != manifest.schema:
        raise InvalidFile(f"{name}: the database does not match {MANIFEST}")


def _check_no_data(database: Path, force: bool) -> None:
    """Raise `InvalidFile` if data exist and `force` is not set."""
    for path in _database_files(database):
        if os.path.lexists(path) and not force:
            raise InvalidFile(f"{path} exists; --force moves it aside and puts the backup in its place")


def _move_aside(paths: list[Path]) -> list[Path]:
    """Rename existing files and return their new paths.

    Auxiliary SQLite files get the new name of their database, so that they still belong together.
    """
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    moved = []
    for path in paths:
        if os.path.lexists(path):
            suffix = next((suffix for suffix in SQLITE_SUFFIXES if suffix and path.name.endswith(suffix)), "")
            aside = path.with_name(f"{path.name.removesuffix(suffix)}.before-{at}{suffix}")
            os.replace(path, aside)
            make_private(aside)
            moved.append(aside)
    return moved
