"""Drives a real server process over real HTTP and WebSockets.

    with start_server(tmp_path) as server:
        ann = Guest(server.url, "Ann")
        table = ann.open("axio", ["me", "greedy"])
        with ann.live(table.id) as live:
            result = live.play_to_the_end()

Nothing here waits longer than `TIMEOUT` for one answer.
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

START_TIMEOUT = 180.0  # seconds for a server to come up; it may have to compile the rules, on a busy machine

__all__ = [
    "Browser", "Choose", "Client", "Guest", "Json", "LiveSocket", "OpenedTable", "Refusal", "Response",
    "RunningServer", "check_consecutive", "count_offers", "free_port", "move_text", "play_together",
    "random_chooser", "seat_request", "send_request", "start_server",
]  # fmt: skip


class RunningServer:
    """A server process. Leaving the `with` stops it."""

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
        """Where its metrics are."""
        return f"http://127.0.0.1:{self.metrics_port}"

    @property
    def url(self) -> str:
        """The server's address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        """What the server has written to standard error so far."""
        return self._log.read_text(encoding="utf-8")

    def guest(self, name: str = "Ann") -> Guest:
        """A new guest with a token."""
        return Guest(self.url, name)

    def stop(self) -> int:
        """Ask it to stop (SIGTERM) and wait; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop; it wrote:\n{self.log}") from None

    def kill(self) -> None:
        """End it at once (SIGKILL), with its workers."""
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
    """A port of the loopback address that nobody uses now."""
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
) -> RunningServer:
    """Start a server on a free port and wait until it is healthy.

    `data` is its folder, `database` the address of a PostgreSQL database, `extra` more options of `serve`,
    `environment` more variables such as `AXIO_KEY`. With `metrics` it serves them, on a free port.
    """
    data.mkdir(parents=True, exist_ok=True)
    port = free_port()
    written = data / f"stderr-{port}.txt"
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
    with written.open("ab") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    server = RunningServer(process, port, data, database, written)
    server.metrics_port = metrics_port
    until = time.monotonic() + START_TIMEOUT
    while time.monotonic() < until and process.poll() is None:
        try:
            if send_request(server.url, "GET", "/health").status == 200:
                return server
        except (OSError, HTTPException):
            time.sleep(0.05)
    server.kill()
    raise AssertionError(f"the server did not start; it wrote:\n{server.log}")
