"""Rules of a server while their machine code is being prepared.

The server answers at once. A separate process with low priority compiles the loops of the games into the
compile cache (`rule_compiler`), and this process loads them from there. Until then the loops that tables need
run interpreted, which takes milliseconds per move; searches would take minutes, so bots and hints wait.

    rules.start()
    supervisor.add("rules", rules.run)
    await rules.when_ready(job)  # runs a job that searches, again after a loop that it needs is loaded
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from ..errors import AxioError
from ..files import hold_lock
from ..games import GAMES, find_variant, registered_packages
from ..games.protocol import MAX_PLAYERS
from ..games.runtime.compile import INTERPRETED, EntryPoint, cache_folder, cache_root, is_ready
from ..games.runtime.kernels import Kernels
from ..games.runtime.signatures import Template, loop_of
from . import rule_compiler
from .domain.refusals import Refused
from .presentation import moves_json
from .rule_compiler import ANOTHER_COMPILES, ENTRY_POINTS, LOCK_FILE, LOOPS, NICENESS, NOT_SAVED
from .supervisor import BackgroundTask

POLL_INTERVAL = 0.2  # seconds between two looks at the cache
STOP_TIMEOUT = 5.0
MAX_CRASHES = 3  # of the compiling process, after which this process compiles
MAX_ERROR_BYTES = 2_000  # of the error output of the process
# Environment of the compiling process. That of the server may contain secrets such as the database password.
INHERITED_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR",
    "LOCALAPPDATA", "USERPROFILE", "AXIO_CACHE_DIR", "XDG_CACHE_HOME",
)  # fmt: skip

Result = TypeVar("Result")


class RulesNotReady(Exception):
    """A search needs a loop that is not loaded yet."""

    def __init__(self, kernels: Kernels, template: Template) -> None:
        super().__init__(f"{template.__name__} of {kernels.label} is not compiled yet")
        self.kernels = kernels
        self.template = template


class RulesUnavailable(Refused):
    """The rules cannot be compiled."""

    def __init__(self) -> None:
        super().__init__("unavailable", "the server could not prepare the rules; its log says why")


class CompilerFailed(AxioError):
    """The compiling process ended with an error."""


class RulesProgress(Struct, frozen=True):
    """Preparation of the rules: whether all are ready, and the prepared share of each game from 0 to 1."""

    ready: bool
    games: dict[str, float]


class RuleLoader:
    """Loads the compiled loops of this process, and runs the process that compiles them if none runs."""

    def __init__(self) -> None:
        self.all_ready = asyncio.Event()  # set when all loops of all games are loaded
        self._pending: dict[tuple[int, Template], tuple[Kernels, Template]] = {}  # loops to load, by identity
        self._lock = threading.Lock()
        self._changed = asyncio.Event()  # a loop was loaded or requested
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._crashes = 0
        self._compiles_here = False
        self._failure = ""  # why loops cannot be compiled at all
        self._closed = False

    # ------------------------------------------------------------ requests

    def start(self) -> None:
        """Let loops that are not loaded yet run interpreted or raise `RulesNotReady`, in this process."""
        self._loop = asyncio.get_running_loop()
        if INTERPRETED:
            self.all_ready.set()
            return
        Kernels.on_missing = self._run_interpreted
        EntryPoint.interpreted = True

    def _run_interpreted(self, kernels: Kernels, template: Template) -> Callable[..., Any]:
        """Request a loop, and return what runs meanwhile. Called in any thread."""
        with self._lock:
            known = (id(kernels), template) in self._pending
            self._pending[id(kernels), template] = kernels, template
        if not known or kernels.wanted_since(template) == float("inf"):
            kernels.want(template)
            if self._loop is not None:
                with suppress(RuntimeError):  # the event loop has been closed
                    self._loop.call_soon_threadsafe(self._changed.set)
        if loop_of(template).parts:
            raise RulesNotReady(kernels, template)
        return kernels.interpreted(template)

    async def when_ready(self, job: Callable[[], Awaitable[Result]]) -> Result:
        """Run a job and return its result; repeat it whenever a loop that it needs had to be loaded first.

        Raises:
            RulesUnavailable: The rules cannot be compiled.
        """
        while True:
            try:
                return await job()
            except RulesNotReady as missing:
                await self._wait_for(missing.kernels, missing.template)

    async def _wait_for(self, kernels: Kernels, template: Template) -> None:
        while template not in kernels:
            if self._failure or self._closed:
                raise RulesUnavailable
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), POLL_INTERVAL)

    # ------------------------------------------------------------ progress

    def progress(self) -> RulesProgress:
        """Return the progress of all games."""
        if self.all_ready.is_set():
            return RulesProgress(True, dict.fromkeys(GAMES, 1.0))
        total, done = Counter[str](), Counter[str]()
        for name in GAMES:
            for kernels in _kernels_of(name):
                total[name] += len(LOOPS)
                done[name] += sum(kernels.is_compiled(template) for template in LOOPS)
        return RulesProgress(False, {name: round(done[name] / total[name], 2) for name in GAMES})

    # ------------------------------------------------------------ background task

    async def run(self, task: BackgroundTask) -> None:
        """Load loops as they become ready, until the server stops.

        Raises:
            CompilerFailed: The compiling process crashed. The next call starts another one.
        """
        if INTERPRETED:
            return
        if not self.all_ready.is_set():
            await asyncio.to_thread(self._request_all)
        while not self._closed:
            await self._load_ready()
            task.succeeded()
            if not self._pending:
                await self._load_entry_points()
                self.all_ready.set()
                self._changed.clear()
                await self._changed.wait()
                continue
            if self._compiles_here:
                await self._compile_here()
                continue
            self._check_process()
            await asyncio.sleep(POLL_INTERVAL)

    def _request_all(self) -> None:
        """Request the loops of all games with every number of players."""
        for name in GAMES:
            for players in range(1, MAX_PLAYERS + 1):
                kernels = find_variant(name, players).kernels
                with self._lock:
                    for template in LOOPS:
                        if template not in kernels:
                            self._pending.setdefault((id(kernels), template), (kernels, template))

    async def _load_ready(self) -> None:
        """Load the requested loops that are compiled, one at a time so that other work runs in between."""
        for key, (kernels, template) in list(self._pending.items()):
            if kernels.is_compiled(template) and await asyncio.to_thread(kernels.load, template):
                with self._lock:
                    self._pending.pop(key, None)
                self._crashes = 0
                self._changed.set()

    async def _load_entry_points(self) -> None:
        if EntryPoint.interpreted and (self._compiles_here or is_ready(ENTRY_POINTS, cache_folder())):
            EntryPoint.interpreted = False
            await asyncio.to_thread(moves_json.prepare)

    # ------------------------------------------------------------ compiling process

    def _check_process(self) -> None:
        """Start the compiling process if none runs on this machine, and report a failed one."""
        process, root = self._process, cache_root()
        if root is None:
            self._compiles_here = True
        elif process is None:
            try:
                root.mkdir(parents=True, exist_ok=True)
                with hold_lock(root / LOCK_FILE) as free:
                    pass
            except OSError:
                self._compiles_here = True
                return
            if free:
                self._process = _spawn()
        elif process.poll() is not None:
            self._process = None
            self._on_exit(process)

    def _on_exit(self, process: subprocess.Popen[bytes]) -> None:
        """Handle the end of the compiling process. Raises `CompilerFailed`."""
        assert process.stderr is not None
        output = process.stderr.read()[-MAX_ERROR_BYTES:].decode(errors="replace")
        _close_pipes(process)
        if process.returncode == NOT_SAVED:
            self._compiles_here = True
            raise CompilerFailed("the compile cache is not writable; compiling the rules in the server")
        if process.returncode in (0, ANOTHER_COMPILES):
            return
        self._crashes += 1
        self._compiles_here = self._crashes >= MAX_CRASHES
        raise CompilerFailed(f"the process that compiles the rules ended ({process.returncode}): {output}")

    async def _compile_here(self) -> None:
        """Compile the requested loops in this process, which slows it down. Raises `CompilerFailed`."""
        for key, (kernels, template) in list(self._pending.items()):
            try:
                await asyncio.to_thread(kernels.build, template)
            except Exception as error:
                self._failure = f"{type(error).__name__}: {error}"
                raise CompilerFailed(f"the rules cannot be compiled: {self._failure}") from error
            self._failure = ""
            with self._lock:
                self._pending.pop(key, None)
            self._changed.set()

    def close(self) -> None:
        """End the compiling process, and let loops be compiled on first use again."""
        self._closed = True
        self._changed.set()
        if Kernels.on_missing == self._run_interpreted:
            Kernels.on_missing = None
            EntryPoint.interpreted = INTERPRETED
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _close_pipes(process)
            process.wait(STOP_TIMEOUT)


def _kernels_of(name: str) -> Iterable[Kernels]:
    """Return the loops of a game, one object for each set that is compiled separately."""
    found = (find_variant(name, players).kernels for players in range(1, MAX_PLAYERS + 1))
    return {kernels.label: kernels for kernels in found}.values()


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stderr):
        if pipe is not None:
            pipe.close()


def _spawn() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    # The process must import the same package and the packages of registered games.
    package_root = str(Path(rule_compiler.__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys((package_root, *filter(None, sys.path))))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", rule_compiler.__name__, *registered_packages()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
    )
    if hasattr(os, "setpriority"):  # at once, because its imports compete with those of the server
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
    return process
