"""A temporary PostgreSQL cluster for tests."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg

from tests.demanded import skip_or_fail
from tests.server.driving import free_port

USER = "axio"
TIMEOUT = 60.0


def program_folder() -> Path | None:
    """Return the folder of `initdb` and `postgres`: from the path, or the newest version installed."""
    found = [Path(path).resolve().parent for path in (shutil.which("postgres"),) if path]
    found += sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True
    )
    return next((path for path in found if (path / "initdb").exists() and (path / "postgres").exists()), None)


def _signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended, such as a PostgreSQL worker."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class Postgres:
    """A cluster in a temporary folder, started with the first database."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._process: subprocess.Popen[Any] | None = None
        self._port = 0
        self._created = 0

    def create(self) -> str:
        """Create an empty database and return its URL. Skips the test without PostgreSQL."""
        if self._process is None:
            self._start()
        self._created += 1
        name = f"test{self._created}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self._port}/{name}"

    def execute(self, *statements: str) -> None:
        """Run statements as the superuser, each in its own transaction."""
        run_sql(self.url("postgres"), *statements)

    def stop(self) -> None:
        """Stop the cluster and remove its files."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # fast shutdown despite open connections
            self._process.wait(TIMEOUT)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend the cluster: it keeps and accepts connections but does not answer."""
        pids = self._processes()
        for pid in pids:
            _signal(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                _signal(pid, signal.SIGCONT)

    def restart(self, shutdown: signal.Signals = signal.SIGINT) -> None:
        """Restart the cluster, by a fast (SIGINT) or immediate (SIGQUIT) shutdown."""
        assert self._process is not None
        self._process.send_signal(shutdown)
        self._process.wait(TIMEOUT)
        self._launch()

    def _processes(self) -> list[int]:
        assert self._process is not None
        command = ["ps", "-o", "pid=", "--ppid", str(self._process.pid)]
        children = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        return [self._process.pid, *map(int, children)]

    def _start(self) -> None:
        programs = program_folder()
        if programs is None:
            skip_or_fail("postgresql", "PostgreSQL (initdb, postgres) is not installed")
        self._folder = folder = Path(tempfile.mkdtemp(prefix="axio-pg-"))
        user = _unprivileged()
        if user is not None:
            shutil.chown(folder, user.pw_uid, user.pw_gid)
        self._port = free_port()
        data = folder / "data"
        _initdb(programs, data, user)
        self._launch()

    def _launch(self) -> None:
        programs, folder = program_folder(), self._folder
        assert programs is not None
        assert folder is not None
        user, data = _unprivileged(), folder / "data"
        # These tests simulate no power failure: without fsync they are faster.
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off"}
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log.txt").open("wb") as log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-p", str(self._port), "-N", "200", *arguments],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                **_as(user, folder),
            )
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                self.execute("SELECT 1")
                return
            except (OSError, asyncpg.PostgresError):
                if time.monotonic() > deadline or self._process.poll() is not None:
                    text = (folder / "log.txt").read_text(errors="replace")
                    raise AssertionError(f"PostgreSQL did not start:\n{text}") from None
                time.sleep(0.05)


def run_sql(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements, each in its own transaction, and return the rows of the last one."""

    async def run() -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(url, timeout=TIMEOUT)
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return [tuple(row) for row in rows]
        finally:
            await connection.close()

    return asyncio.run(run())


def _unprivileged() -> pwd.struct_passwd | None:
    """Return the user for PostgreSQL, which refuses to run as root; `None`: the current user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return skip_or_fail(
        "postgresql", "PostgreSQL refuses to run as root; there is no user postgres or nobody"
    )


def _as(user: pwd.struct_passwd | None, folder: Path) -> dict[str, Any]:
    """Return the options of `subprocess` to run a program in a folder as a user."""
    if user is None:
        return {"cwd": folder}
    return {"cwd": folder, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _initdb(programs: Path, data: Path, user: pwd.struct_passwd | None) -> None:
    options = ["-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
    command: list[str | Path] = [programs / "initdb", "-D", data, *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False, **_as(user, data.parent))
    assert result.returncode == 0, f"initdb failed:\n{result.stdout}{result.stderr}"
