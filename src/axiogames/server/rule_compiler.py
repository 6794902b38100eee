"""Compiling process: `python -m axiogames.server.rule_compiler [PACKAGE ...]`.

It compiles the loops of all games into the compile cache, at low priority, and ends with its standard input.
It exchanges nothing with the servers of this machine but files of the cache: it marks loops that are ready,
and servers mark those that they want. One such process runs per cache.

Arguments are the packages of registered games.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NamedTuple

from ..analysis.review import review_loops
from ..files import hold_lock
from ..games import GAMES, register_game
from ..games.runtime.compile import cache_folder, cache_root, is_ready, mark_ready
from ..games.runtime.kernels import Kernels
from ..games.runtime.signatures import Template, loop_of
from ..model.position import Position
from ..players.compilation import LOOPS as PLAY_LOOPS
from ..players.compilation import compile_units
from .presentation import moves_json

LOOPS = (*PLAY_LOOPS, *review_loops.LOOPS)
NICENESS = 10
LOCK_FILE = "compiling.lock"
ENTRY_POINTS = "entry points"  # marked as ready when all of the server are compiled
# Exit codes
ANOTHER_COMPILES, NOT_SAVED = 3, 4


class Job(NamedTuple):
    """A loop of a game."""

    kernels: Kernels
    template: Template

    @property
    def is_search(self) -> bool:
        """Whether bots and hints wait for the loop. Other loops run interpreted meanwhile."""
        return bool(loop_of(self.template).parts)

    @property
    def urgency(self) -> tuple[bool, bool, float]:
        """What to compile first has the lowest urgency: loops that servers want, and among them searches."""
        since = self.kernels.wanted_since(self.template)
        return since == math.inf, since < math.inf and not self.is_search, since


def all_jobs() -> list[Job]:
    """Return the loops of all games, those of small boards first."""
    units = sorted(compile_units(GAMES), key=lambda unit: unit.players)
    return [Job(unit.kernels, template) for unit in units for template in LOOPS]


def compile_all(jobs: Sequence[Job]) -> int:
    """Compile the loops, those that servers wait for first, and return the exit code."""
    remaining = [job for job in jobs if not job.kernels.is_compiled(job.template)]
    while remaining:
        job = min(remaining, key=lambda job: job.urgency)
        remaining.remove(job)
        job.kernels.compile([job.template])
        if not job.kernels.is_compiled(job.template):
            return NOT_SAVED
    if not is_ready(ENTRY_POINTS, cache_folder()):
        moves_json.prepare()
        for unit in compile_units(GAMES):
            _ = Position(unit.variant, unit.variant.new_state()).ranks
        mark_ready(ENTRY_POINTS, cache_folder())
    return 0


def main(packages: Sequence[str]) -> int:
    """Compile all loops unless another process does, and return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends this process
    threading.Thread(target=_exit_with_input, daemon=True).start()
    for package in packages:
        register_game(package)
    root = cache_root()
    if root is None:
        return NOT_SAVED
    root.mkdir(parents=True, exist_ok=True)
    with hold_lock(root / LOCK_FILE) as held:
        return compile_all(all_jobs()) if held else ANOTHER_COMPILES


def _exit_with_input() -> None:
    """End the process with the server, however the server ends. Files of the cache are written atomically."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
