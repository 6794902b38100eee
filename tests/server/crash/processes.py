"""A process with all imports done that forks servers, which are then killed.

Starting a server takes seconds, forking one takes milliseconds. The forking process has no threads and no
event loop. It owns the listening sockets: a client that connects between two servers waits for the next one.
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
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from axiogames.server.settings import Settings

START_TIMEOUT = 300.0  # seconds for imports and, with a cold cache, compilation
TIMEOUT = 60.0  # seconds for a fork or a reaped process


class ForkServer:
    """Client of the forking process. Each database has one server at a time."""

    def __init__(self, settings: Sequence[Settings], log: Path) -> None:
        self._settings = settings
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._pids: dict[int, int] = {}
        self.ports: list[int] = []

    async def __aenter__(self) -> Self:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                json.dumps([asdict(settings) for settings in self._settings]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # keep NumPy from starting threads
            )
        try:
            self.ports = await self._answer(START_TIMEOUT)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()  # the process then kills its servers and exits
        await asyncio.wait_for(process.wait(), TIMEOUT)

    @property
    def log(self) -> str:
        """Standard error of the servers."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    async def start(self, index: int) -> None:
        """Fork a server."""
        self._pids[index] = await self._ask("start", index)

    def kill(self, index: int) -> None:
        """Send SIGKILL. The process id stays reserved until `reap`, so no other process can be hit."""
        if index in self._pids:
            os.kill(self._pids[index], signal.SIGKILL)

    async def reap(self, index: int) -> None:
        """Kill the server if it runs, and wait for its end."""
        self.kill(index)
        del self._pids[index]
        await self._ask("reap", index)

    async def _ask(self, command: str, index: int) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        async with self._lock:
            self._process.stdin.write(f"{command} {index}\n".encode())
            return await self._answer(TIMEOUT)

    async def _answer(self, timeout: float) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), timeout)
        if not line:
            raise AssertionError(f"the fork server has ended; it wrote:\n{self.log}")
        return json.loads(line)


# ---------------------------------------------------------------- the forking process


def main() -> None:
    """Fork and reap servers on commands from standard input, until it ends."""
    import uvicorn
    import uvloop

    from axiogames.server.app import make_app
    from axiogames.server.processes import UVICORN_OPTIONS, configure_logging

    settings = [
        Settings(**{**fields, "origins": tuple(fields["origins"])}) for fields in json.loads(sys.argv[1])
    ]
    configure_logging(settings[0].log_level)
    with tempfile.TemporaryDirectory() as folder:
        config = uvicorn.Config(make_app(replace(settings[0], data=folder, database="")), **UVICORN_OPTIONS)
        uvloop.run(_warm_up(uvicorn.Server(config)))
    for thread in threading.enumerate():  # forking a process with threads is unsafe
        if thread is not threading.current_thread():
            thread.join()
    sockets = [socket.create_server(("127.0.0.1", 0), backlog=200) for _ in settings]
    configs = [uvicorn.Config(make_app(each), **UVICORN_OPTIONS) for each in settings]
    for config in configs:
        config.load()
    gc.collect()
    gc.freeze()  # keep pages shared after the fork
    _write_line([listener.getsockname()[1] for listener in sockets])
    alive: dict[int, int] = {}
    for line in sys.stdin:
        command, which = line.split()
        number = int(which)
        if command == "start":
            alive[number] = os.fork()
            if not alive[number]:
                _serve(uvicorn.Server(configs[number]), sockets[number])
            _write_line(alive[number])
        else:
            _reap(alive.pop(number))
            _write_line("reaped")
    for child in alive.values():
        _reap(child)


async def _warm_up(server: Any) -> None:
    """Start, play and stop once, so that all imports and caches are warm."""
    from axiogames.games import GAMES
    from tests.server.crash.clients import Connection, Match, Person, Player
    from tests.server.crash.ledger import Ledger

    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        connection = Connection(listener.getsockname()[1], random.Random(0))
        created = await connection.retry("POST", "/api/guests", body={"name": "Rehearsal"})
        person = Person(created["id"], created["token"])
        for game in GAMES:
            body = {"game": game, "seats": [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]}
            table = await connection.retry("POST", "/api/tables", person.token, body)
            await Player(connection, Match(Ledger(table["id"]), [person], stay=6), person).play()
        server.should_exit = True
        await serving


def _serve(server: Any, listener: socket.socket) -> None:
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)  # standard input of the test is not for the server
    os.dup2(devnull, 1)
    try:
        server.run(sockets=[listener])
    finally:
        os._exit(1)


def _reap(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _write_line(value: object) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
