"""Print the files of the package that a click or a bot's move runs through: `python -m tests.walks click`.

Rules run interpreted here, so that the profiler sees them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import axiogames

PACKAGE = Path(axiogames.__file__).parent
GAME = "axio"
MOVES_BEFORE = 28  # later in a game, interpreted rollouts are short


class Trace:
    """The files of the package in which functions were called, in the order of their first call."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.active = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if self.active and event == "call":
            self.paths.setdefault(frame.f_code.co_filename)

    @property
    def files(self) -> list[str]:
        """The files as paths relative to the package."""
        paths = (Path(path) for path in self.paths)
        return [path.relative_to(PACKAGE).as_posix() for path in paths if path.is_relative_to(PACKAGE)]

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Profile this thread and all that start from now on; nothing is kept until `active` is set."""
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def bot_move() -> list[str]:
    """Return the files of one move of `sim`, after one that has loaded what is loaded once."""
    from axiogames import Table, find_variant
    from axiogames.players import Budget, Player, player
    from axiogames.rng import Generator

    table, trace, rng = Table(find_variant(GAME, 2), seed=1), Trace(), Generator("walk")
    random, sim = player("random"), player("sim")

    def move(bot: Player) -> None:
        assert table.turn is not None
        choice = bot.choose(table.view(table.turn), Budget(rollouts=1), rng)
        assert choice.action is not None
        table.play_action(choice.action)

    for _ in range(MOVES_BEFORE):
        move(random)
    move(sim)
    with trace.installed():
        trace.active = True
        move(sim)
        trace.active = False
    return trace.files


def click() -> list[str]:
    """Return the files of one move that a person sends and two receive, after some that warm up."""
    trace = Trace()
    with trace.installed(), tempfile.TemporaryDirectory() as folder:
        asyncio.run(_click(trace, Path(folder)))
    return trace.files


async def _click(trace: Trace, folder: Path) -> None:
    from tests.server.in_process import running_app

    async with running_app(folder) as server:
        guests = [await server.guest(name) for name in ("Ann", "Ben")]
        table = await server.open(guests[0], GAME, [{"kind": "me"}, {"kind": "open"}])
        invitation = {"invite": table["invite"]}
        await server.call("POST", f"/api/tables/{table['id']}/join", guests[1].token, invitation)
        sockets = [await server.socket(table["id"], guest.token) for guest in guests]
        view = await sockets[0].until(lambda message: message["type"] == "view")
        n, turn = view["n"], view["now"]["turn"]
        for trace.active in (False, False, True):
            step = await sockets[turn].request(do="move", id=f"move-{n}", n=n, pick=0)
            n = step["n"]
            await sockets[1 - turn].until_entry(n)
            turn = step["now"]["turn"]
        trace.active = False


WALKS = {"bot_move": bot_move, "click": click}

if __name__ == "__main__":
    assert os.environ.get("NUMBA_DISABLE_JIT") == "1", "compiled rules are not profiled"
    print(json.dumps(WALKS[sys.argv[1]]()))
