"""A process that has imported everything and forks servers, which are then killed.

Starting a server takes seconds, forking one takes milliseconds. The process that forks has no threads and no
event loop. It holds the socket that the servers listen on: who connects between two servers waits for the
next one.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from axio.server.settings import Settings

START = 300.0  # seconds to import everything and, on a new machine, to compile the rules
PATIENCE = 60.0  # seconds for a fork or a death


class Nursery:
    """The forking process, seen from the test."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._settings = settings
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self.port = 0
        self.pid: int | None = None

    async def __aenter__(self) -> Self:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                json.dumps(asdict(self._settings)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # or NumPy would start threads
            )
        self.port = (await self._answer(START))["port"]
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()  # it kills its server and ends
        await asyncio.wait_for(process.wait(), PATIENCE)

    @property
    def log(self) -> str:
        """What the servers have written to standard error."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    async def start(self) -> None:
        """Fork a server."""
        self.pid = (await self._ask("start"))["pid"]

    def strike(self) -> None:
        """SIGKILL, now. Its number stays the server's until `bury`, so nobody else can be hit."""
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)

    async def bury(self) -> None:
        """Kill the server if it lives, and wait until nothing is left of it."""
        self.strike()
        self.pid = None
        await self._ask("bury")

    async def _ask(self, command: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n".encode())
        return await self._answer(PATIENCE)

    async def _answer(self, patience: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), patience)
        if not line:
            raise AssertionError(f"the nursery has ended; it wrote:\n{self.log}")
        answer: dict[str, Any] = json.loads(line)
        return answer


# ---------------------------------------------------------------- inside that process


def main() -> None:
    """Fork and bury servers as standard input says; at its end, end."""
    import uvicorn
    import uvloop

    from axio.server.app import make_app
    from axio.server.logs import set_up_logs
    from axio.server.serving import OPTIONS

    found = json.loads(sys.argv[1])
    settings = Settings(**{**found, "origins": tuple(found["origins"])})
    set_up_logs(settings.logs)
    with tempfile.TemporaryDirectory() as folder:
        config = uvicorn.Config(make_app(replace(settings, data=folder, database="")), **OPTIONS)
        uvloop.run(_rehearse(uvicorn.Server(config)))
    for thread in threading.enumerate():  # a process with threads cannot be forked safely
        if thread is not threading.current_thread():
            thread.join()
    door = socket.create_server(("127.0.0.1", 0), backlog=200)
    config = uvicorn.Config(make_app(settings), **OPTIONS)
    config.load()
    gc.collect()
    gc.freeze()  # what is not looked at need not be copied
    _say(port=door.getsockname()[1])
    child = 0
    for line in sys.stdin:
        if line.strip() == "start":
            child = os.fork()
            if not child:
                _serve(uvicorn.Server(config), door)
            _say(pid=child)
        else:
            _bury(child)
            child = 0
            _say(buried=True)
    _bury(child)


async def _rehearse(server: Any) -> None:
    """Start, play and stop once, so that no server has to import or to work out what never changes."""
    from axio.games import GAMES
    from axio.games.declaration import MOST_PLAYERS

    from .clients import Line, Match, Person, Player
    from .ledger import Ledger

    with socket.create_server(("127.0.0.1", 0)) as door:
        serving = asyncio.create_task(server.serve(sockets=[door]))
        line = Line(door.getsockname()[1], random.Random(0))
        made = await line.insist("POST", "/api/guests", body={"name": "Rehearsal"})
        person = Person(made["id"], made["token"])
        for game in GAMES:
            for players in range(1, MOST_PLAYERS + 1):
                seats = [{"kind": "me"}, *[{"kind": "bot", "level": "balanced"}] * (players - 1)]
                body = {"game": game, "seats": seats}
                table = await line.insist("POST", "/api/tables", person.token, body)
                await Player(line, Match(Ledger(table["id"]), [person], stay=8), person).play()
        server.should_exit = True
        await serving


def _serve(server: Any, door: socket.socket) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # what the test says is not for the server
    os.dup2(nothing, 1)
    try:
        server.run(sockets=[door])
    finally:
        os._exit(1)


def _bury(child: int) -> None:
    if child:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
