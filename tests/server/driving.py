"""A real server process and its clients over HTTP and WebSockets.

    with start_server(tmp_path) as server:
        ann = Guest(server.url, "Ann")
        table = ann.open("axio", ["me", "greedy"])
        with ann.live(table.id) as live:
            result = live.play_to_end()

No operation waits longer than `TIMEOUT`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Self

from tests.server.clients import (
    Browser,
    Client,
    Guest,
    OpenedTable,
    Refusal,
    Response,
    seat_request,
    send_request,
)
from tests.server.live import (
    TIMEOUT,
    Choose,
    Json,
    LiveSocket,
    check_consecutive,
    count_offers,
    move_text,
    play_together,
    random_chooser,
)

START_TIMEOUT = 180.0  # seconds; the server may have to compile the rules on a busy machine

__all__ = [
    "Browser", "Choose", "Client", "Guest", "Json", "LiveSocket", "OpenedTable", "Refusal", "Response",
    "RunningServer", "check_consecutive", "count_offers", "free_port", "move_text", "play_together",
    "random_chooser", "seat_request", "send_request", "start_server",
]  # fmt: skip


class RunningServer:
    """A server process, stopped at the end of its `with` block."""

    def __init__(
        self, process: subprocess.Popen[bytes], port: int, data: Path, database: str, log: Path
    ) -> None:
        self.process = process
        self.port = port
        self.data = data
        self.database = database
        self._log = log
        self.metrics_port = 0

    @property
    def metrics_url(self) -> str:
        """URL of the metrics."""
        return f"http://127.0.0.1:{self.metrics_port}"

    @property
    def url(self) -> str:
        """URL of the server, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        """Standard error of the server so far."""
        return self._log.read_text(encoding="utf-8")

    def guest(self, name: str = "Ann") -> Guest:
        """Create a guest with a token."""
        return Guest(self.url, name)

    def stop(self) -> int:
        """Stop the server by SIGTERM, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop; it wrote:\n{self.log}") from None

    def kill(self) -> None:
        """Kill the server and its workers by SIGKILL."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.stop()
        else:
            self.kill()


def free_port() -> int:
    """Return an unused port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(
    data: Path,
    *,
    database: str = "",
    extra: Sequence[str] = (),
    limits: bool = False,
    environment: Mapping[str, str] | None = None,
    log: str = "warning",
    metrics: bool = False,
    port: int = 0,
) -> RunningServer:
    """Start a server and wait until it is healthy.

    Args:
        data: Data folder.
        database: URL of a PostgreSQL database; empty for SQLite in the data folder.
        extra: Further options of `axio serve`.
        limits: Apply rate limits.
        environment: Further environment variables, such as `AXIO_KEY`.
        log: Log level.
        metrics: Serve metrics on a free port.
        port: Port of the server; 0 for a free one.
    """
    data.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    log_file = data / f"stderr-{port}.txt"
    command = [
        sys.executable,
        "-m",
        "axiogames",
        "serve",
        "--port",
        str(port),
        "--no-open",
        "--data",
        str(data),
    ]
    command += ["--log", log, *(() if limits else ("--no-rate-limit",))]
    metrics_port = free_port() if metrics else 0
    command += [*(("--metrics-port", str(metrics_port)) if metrics else ())]
    command += [*(("--database", database) if database else ()), *extra]
    with log_file.open("ab") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    server = RunningServer(process, port, data, database, log_file)
    server.metrics_port = metrics_port
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if send_request(server.url, "GET", "/health").status == 200:
                return server
        except (OSError, HTTPException):
            time.sleep(0.05)
    server.kill()
    raise AssertionError(f"the server did not start; it wrote:\n{server.log}")
