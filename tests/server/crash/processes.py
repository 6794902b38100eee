"""A process that has imported everything and forks servers, which are then killed.

Starting a server takes seconds, forking one takes milliseconds. The process that forks has no threads and no
event loop. It holds the sockets that the servers listen on: who connects between two servers waits for the
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
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from axiogames.server.settings import Settings

START = 300.0  # seconds to import everything and, on a new machine, to compile the rules
PATIENCE = 60.0  # seconds for a fork or a burial


class Nursery:
    """The forking process, seen from the test. Each of its databases has one server at a time."""

    def __init__(self, settings: Sequence[Settings], log: Path) -> None:
        self._settings = settings
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._pids: dict[int, int] = {}
        self.ports: list[int] = []

    async def __aenter__(self) -> Self:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                __name__,
                json.dumps([asdict(one) for one in self._settings]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # or NumPy would start threads
            )
        try:
            self.ports = await self._answer(START)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()  # it kills its servers and ends
        await asyncio.wait_for(process.wait(), PATIENCE)

    @property
    def log(self) -> str:
        """What the servers have written to standard error."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    async def start(self, which: int) -> None:
        """Fork a server."""
        self._pids[which] = await self._ask("start", which)

    def strike(self, which: int) -> None:
        """SIGKILL, now. The number stays the server's until `bury`, so nobody else can be hit."""
        if which in self._pids:
            os.kill(self._pids[which], signal.SIGKILL)

    async def bury(self, which: int) -> None:
        """Kill the server if it lives, and wait until nothing is left of it."""
        self.strike(which)
        del self._pids[which]
        await self._ask("bury", which)

    async def _ask(self, command: str, which: int) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        async with self._turn:
            self._process.stdin.write(f"{command} {which}\n".encode())
            return await self._answer(PATIENCE)

    async def _answer(self, patience: float) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), patience)
        if not line:
            raise AssertionError(f"the nursery has ended; it wrote:\n{self.log}")
        return json.loads(line)


# ---------------------------------------------------------------- inside that process


def main() -> None:
    """Fork and bury servers as standard input says; at its end, end."""
    import uvicorn
    import uvloop

    from axiogames.server.app import make_app
    from axiogames.server.logs import configure_logging
    from axiogames.server.processes import UVICORN_OPTIONS

    settings = [Settings(**{**one, "origins": tuple(one["origins"])}) for one in json.loads(sys.argv[1])]
    configure_logging(settings[0].log_level)
    with tempfile.TemporaryDirectory() as folder:
        config = uvicorn.Config(make_app(replace(settings[0], data=folder, database="")), **UVICORN_OPTIONS)
        uvloop.run(_rehearse(uvicorn.Server(config)))
    for thread in threading.enumerate():  # a process with threads cannot be forked safely
        if thread is not threading.current_thread():
            thread.join()
    doors = [socket.create_server(("127.0.0.1", 0), backlog=200) for _ in settings]
    configs = [uvicorn.Config(make_app(one), **UVICORN_OPTIONS) for one in settings]
    for config in configs:
        config.load()
    gc.collect()
    gc.freeze()  # what is not looked at need not be copied
    _say([door.getsockname()[1] for door in doors])
    alive: dict[int, int] = {}
    for line in sys.stdin:
        command, which = line.split()
        number = int(which)
        if command == "start":
            alive[number] = os.fork()
            if not alive[number]:
                _serve(uvicorn.Server(configs[number]), doors[number])
            _say(alive[number])
        else:
            _bury(alive.pop(number))
            _say("buried")
    for child in alive.values():
        _bury(child)


async def _rehearse(server: Any) -> None:
    """Start, play and stop once, so that no server has to import or to work out what never changes."""
    from axiogames.games import GAMES
    from tests.server.crash.clients import Line, Match, Person, Player
    from tests.server.crash.ledger import Ledger

    with socket.create_server(("127.0.0.1", 0)) as door:
        serving = asyncio.create_task(server.serve(sockets=[door]))
        line = Line(door.getsockname()[1], random.Random(0))
        made = await line.insist("POST", "/api/guests", body={"name": "Rehearsal"})
        person = Person(made["id"], made["token"])
        for game in GAMES:
            body = {"game": game, "seats": [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]}
            table = await line.insist("POST", "/api/tables", person.token, body)
            await Player(line, Match(Ledger(table["id"]), [person], stay=6), person).play()
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
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
