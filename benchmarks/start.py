"""`python -m benchmarks.start`: how soon a server without compiled rules can be used.

Starts `axio serve` with an empty compile cache, requests the first page, opens a table with a bot, and places
a tile over its WebSocket, as the page does. All times count from the start of the process. The load of the
machine is printed with them: another process that computes delays them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
from websockets.sync.client import ClientConnection, connect

from axiogames.analysis.provenance import describe_machine
from axiogames.games import GAMES
from benchmarks import command
from benchmarks.server.processes import DidNotStart, free_port

START_TIMEOUT = 120.0  # seconds
MESSAGE_TIMEOUT = 300.0
POLL_INTERVAL = 0.01


class Milestones(NamedTuple):
    """Seconds from the start of the process, and CPU seconds of the server process until the first tile."""

    page: float
    table: float
    tile: float
    bot: float
    rules: float | None  # until all rules are compiled
    cpu: float


class Client:
    """A guest at a server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._token = ""

    def get(self, path: str) -> bytes:
        """Return the body of a response."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self._port}{path}", timeout=MESSAGE_TIMEOUT
        ) as answer:
            body: bytes = answer.read()
        return body

    def post(self, path: str, body: object) -> Any:
        """Send a JSON request and return the decoded response."""
        headers = {"content-type": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=MESSAGE_TIMEOUT) as answer:
            return json.load(answer)

    def sign_in(self) -> None:
        """Become a guest."""
        self._token = self.post("/api/guests", {"name": "Ann"})["token"]

    def live(self, table: str) -> ClientConnection:
        """Connect to a table."""
        return connect(
            f"ws://127.0.0.1:{self._port}/api/tables/{table}/live",
            additional_headers={"authorization": f"Bearer {self._token}"},
            max_size=None,
        )


@contextmanager
def cold_server(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server with an empty cache and an empty data folder, and end it."""
    arguments = ["serve", "--no-open", "--port", str(port), "--data", str(folder / "data"), "--no-rate-limit"]
    process = subprocess.Popen(
        [sys.executable, "-m", "axiogames", *arguments],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "AXIO_CACHE_DIR": str(folder / "cache")},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def measure(game: str, bot: str, *, until_compiled: bool) -> Milestones:
    """Start a server and play the first move of a game."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with cold_server(Path(folder), port) as process:
            client = Client(port)
            _wait_for_page(client, process)
            page = time.perf_counter() - start
            client.sign_in()
            seats = [{"kind": "me"}, {"kind": "bot", "level": bot}]
            table = client.post("/api/tables", {"game": game, "seats": seats})["id"]
            opened = time.perf_counter() - start
            with client.live(table) as socket:
                number = _receive_turn(socket)["n"]
                socket.send(json.dumps({"do": "move", "id": "first", "n": number, "pick": 0}))
                placed = _receive(socket, lambda message: message.get("ack") == "first")
                tile, cpu = time.perf_counter() - start, _cpu_seconds(process)
                while placed["now"]["turn"] != 0:
                    placed = _receive(socket, lambda message: "now" in message)
                moved = time.perf_counter() - start
            while until_compiled and not json.loads(client.get("/health"))["rules_ready"]:
                time.sleep(1.0)
            rules = time.perf_counter() - start if until_compiled else None
    return Milestones(page, opened, tile, moved, rules, cpu)


def _wait_for_page(client: Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.perf_counter() + START_TIMEOUT
    while time.perf_counter() < deadline and process.poll() is None:
        try:
            client.get("/")
            return
        except OSError:
            time.sleep(POLL_INTERVAL)
    raise DidNotStart("the server did not answer")


def _receive(socket: ClientConnection, matches: Any) -> Any:
    while True:
        message = json.loads(socket.recv(MESSAGE_TIMEOUT))
        if matches(message):
            return message


def _receive_turn(socket: ClientConnection) -> Any:
    return _receive(socket, lambda message: message.get("moves") is not None)


def _cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU time of the server process, without that of the compiling process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@click.command()
@click.option("--game", type=click.Choice(list(GAMES)), default=GAMES[0], show_default=True)
@click.option("--bot", default="level4", show_default=True, help="Level of the bot.")
@click.option("--until-compiled", is_flag=True, help="Wait until all rules are compiled, for minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def program(*, game: str, bot: str, until_compiled: bool, as_json: bool) -> None:
    """Measure how soon a server without compiled rules can be used."""
    load = os.getloadavg()[0]
    found = measure(game, bot, until_compiled=until_compiled)
    if as_json:
        click.echo(
            json.dumps(
                {"machine": describe_machine(), "load": load, "game": game, "bot": bot, **found._asdict()}
            )
        )
        return
    click.echo(f"{describe_machine()}; load {load:.1f} before the start")
    labels = ("first page", "first table", "first tile", f"first move of {bot}", "all rules compiled")
    for label, seconds in zip(labels, found[:-1], strict=True):
        if seconds is not None:
            click.echo(f"{label:24} {seconds:6.2f} s")
    click.echo(f"{'CPU of the server process until the first tile':48} {found.cpu:.2f} s")


if __name__ == "__main__":
    sys.exit(command.main(program, "python -m benchmarks.start"))
