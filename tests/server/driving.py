"""Drives a real server process over real HTTP and WebSockets.

    with start_server(tmp_path) as server:
        ann = Guest(server.url, "Ann")
        table = ann.open("axio", ["me", "greedy"])
        with ann.live(table.id) as live:
            result = live.play_to_the_end()

Nothing here waits longer than `PATIENCE` for one answer.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from websockets.sync.client import connect

from .live import PATIENCE, Choose, Json, Live, at_random, move_text, offers

START = 180.0  # seconds for a server to come up; it may have to compile the rules, on a busy machine

__all__ = [
    "Answer", "Browser", "Choose", "Client", "Guest", "Json", "Live", "Opened", "Refusal", "RunningServer",
    "ask", "at_random", "free_port", "move_text", "offers", "seat_of", "start_server",
]  # fmt: skip


class RunningServer:
    """A server process. Leaving the `with` stops it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

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
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop; it wrote:\n{self.log}") from None

    def kill(self) -> None:
        """End it at once (SIGKILL), with its workers."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

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
) -> RunningServer:
    """Start a server on a free port and wait until it is healthy.

    `data` is its folder, `database` the address of a PostgreSQL database, `extra` more options of `serve`,
    `environment` more variables such as `AXIO_KEY`.
    """
    data.mkdir(parents=True, exist_ok=True)
    port = free_port()
    written = data / f"stderr-{port}.txt"
    command = [sys.executable, "-m", "axio", "serve", "--port", str(port), "--no-open", "--data", str(data)]
    command += ["--log", log, *(() if limits else ("--no-limits",))]
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
    server = RunningServer(process, port, written)
    until = time.monotonic() + START
    while time.monotonic() < until and process.poll() is None:
        try:
            if ask(server.url, "GET", "/health").status == 200:
                return server
        except (OSError, HTTPException):
            time.sleep(0.05)
    server.kill()
    raise AssertionError(f"the server did not start; it wrote:\n{server.log}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a request."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    url: str, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """One request on a connection of its own. A body that is not bytes is sent as JSON."""
    sent = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    try:
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Opened:
    """A new table and the key to its free seats."""

    id: str
    invite: str


class Client:
    """Somebody who asks a server; by itself nobody that it knows."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def headers(self) -> dict[str, str]:
        """What is sent with everything."""
        return {}

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """A request, whatever comes of it."""
        return ask(self.url, method, path, body, {**self.headers, **(headers or {})})

    def get(self, path: str) -> Any:
        return self._good(self.ask("GET", path))

    def post(self, path: str, body: object = None) -> Any:
        return self._good(self.ask("POST", path, body))

    def patch(self, path: str, body: object = None) -> Any:
        return self._good(self.ask("PATCH", path, body))

    @staticmethod
    def _good(answer: Answer) -> Any:
        if answer.status < 400:
            return answer.json
        problem = answer.json
        assert problem["status_code"] == answer.status
        raise Refusal(answer.status, problem["code"], problem["detail"])

    def open(self, game: str, seats: Sequence[str | Json], **terms: object) -> Opened:
        """Open a table. A seat is `me`, `open`, a bot's level, or a whole seat of the protocol."""
        wanted = [seat_of(seat) if isinstance(seat, str) else seat for seat in seats]
        return Opened(**self.post("/api/tables", {"game": game, "seats": wanted, **terms}))

    def join(self, table: Opened, **how: object) -> Json:
        """Sit down by the invite link."""
        view: Json = self.post(f"/api/tables/{table.id}/join", {"invite": table.invite, **how})
        return view

    def view(self, table_id: str) -> Json:
        """What this client may know of a table."""
        view: Json = self.get(f"/api/tables/{table_id}")
        return view

    def live(self, table_id: str, after: int | None = None) -> Live:
        """A WebSocket to a table; to be used in a `with`."""
        query = "" if after is None else f"?after={after}"
        address = f"{self.url.replace('http', 'ws', 1)}/api/tables/{table_id}/live{query}"
        return Live(
            connect(
                address,
                additional_headers=self.headers,
                open_timeout=PATIENCE,
                close_timeout=PATIENCE,
                max_size=None,
                proxy=None,
            )
        )


class Guest(Client):
    """A guest that acts with a token, as a program does."""

    def __init__(self, url: str, name: str = "Ann") -> None:
        super().__init__(url)
        self.token = ""
        made = self.post("/api/guests", {"name": name})
        self.id: str = made["id"]
        self.name: str = made["name"]
        self.token = made["token"]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def at(self, url: str) -> Guest:
        """The same guest at another process of the server."""
        same = Guest.__new__(Guest)
        Client.__init__(same, url)
        same.token, same.id, same.name = self.token, self.id, self.name
        return same


class Browser(Client):
    """Somebody with a page: a cookie that the server sets, and an origin that the page sends."""

    def __init__(self, url: str, origin: str | None = None) -> None:
        super().__init__(url)
        self.origin = url if origin is None else origin
        self.cookie = ""
        self.get("/api/me")

    @property
    def headers(self) -> dict[str, str]:
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        return {"Origin": self.origin, **cookie}

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        answer = super().ask(method, path, body, headers)
        if set_cookie := answer.headers["set-cookie"]:
            self.cookie = set_cookie.partition(";")[0]
        return answer


def seat_of(word: str) -> Json:
    """A seat of the protocol from `me`, `open` or a bot's level."""
    return {"kind": word} if word in ("me", "open") else {"kind": "bot", "level": word}
