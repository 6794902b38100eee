"""Databases for measurements: an SQLite file, or a temporary PostgreSQL cluster."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from benchmarks.server.processes import free_port, on_core

MOVES = """SELECT count(*) FROM entries WHERE body LIKE '{"a":"move"%'"""
# By convention this folder is on a disk, unlike /tmp, which can be a file system in memory.
ON_DISK = Path("/var/tmp")


@dataclass(frozen=True, slots=True)
class Store:
    """The database of a server."""

    name: str
    folder: Path
    url: str  # empty for an SQLite file in the folder

    def syncs(self) -> list[float]:
        """Return the durations of 100 synchronous writes of a page, in seconds."""
        seconds = []
        with (self.folder / "probe").open("wb", buffering=0) as file:
            for _ in range(100):
                file.write(bytes(4096))
                start = time.perf_counter()
                os.fsync(file.fileno())
                seconds.append(time.perf_counter() - start)
        return seconds

    def moves(self) -> int:
        """Return the number of moves in the database."""
        if self.url:
            return asyncio.run(_count(self.url))
        (file,) = self.folder.glob("*.sqlite3")
        connection = sqlite3.connect(file)
        try:
            return int(connection.execute(MOVES).fetchone()[0])
        finally:
            connection.close()


async def _count(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(MOVES))
    finally:
        await connection.close()


@contextmanager
def store(kind: str, core: int | None) -> Iterator[Store]:
    """Create an empty database of a kind, `sqlite` or `postgresql`, whose processes run on `core`."""
    with _folder() as folder:
        if kind == "sqlite":
            yield Store(kind, folder, "")
            return
        with _cluster(core) as port:
            yield Store(kind, folder, f"postgresql://postgres@127.0.0.1:{port}/postgres")


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="axio-bench-", dir=ON_DISK if ON_DISK.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cluster(core: int | None) -> Iterator[int]:
    """Start PostgreSQL with default settings, which make every commit durable."""
    programs, port = _programs(), free_port()
    with _folder() as folder:
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres", pwd.getpwnam("postgres").pw_gid)
        data = folder / "data"
        initdb = _as_postgres(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8")
        subprocess.run([*initdb, "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL)
        options = ("-p", port, "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}")
        with on_core(core):
            server = subprocess.Popen(
                _as_postgres(programs / "postgres", "-D", data, *options),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        try:
            _wait(programs, port)
            yield port
        finally:
            server.terminate()
            server.wait()


def has_postgresql() -> bool:
    """Return whether PostgreSQL is installed."""
    return shutil.which("initdb") is not None or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def _programs() -> Path:
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if newest:
        return newest[-1]
    found = shutil.which("initdb")
    if found is None:
        raise FileNotFoundError("PostgreSQL is not installed")
    return Path(found).parent


def _as_postgres(*command: object) -> list[str]:
    words = [str(word) for word in command]
    if os.getuid() != 0:
        return words
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *words]


def _wait(programs: Path, port: int) -> None:
    ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    for _ in range(200):
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise TimeoutError("PostgreSQL did not start")
