"""Nothing needs a module or function that only POSIX has. Windows is not tested otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Third-party modules are imported first: theirs may be other modules on other systems. Then this process
# looks like Windows to our own modules.
SCRIPT = """
import importlib, os, pkgutil, signal, socket, sys, tempfile, types, warnings
from pathlib import Path

MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "uvloop")
FUNCTIONS = {
    os: ("fork", "nice", "getuid", "killpg", "setpriority", "sched_getaffinity", "fchmod", "mkfifo"),
    signal: ("SIGKILL", "SIGHUP", "pthread_kill", "pthread_sigmask"),
    socket: ("AF_UNIX",),
}
# Programs, and what needs Alembic's context or an extra that the tests do not install on every system.
SKIPPED = ("axiogames.__main__", "axiogames.server.storage.migrations.env", "axiogames.envs")

import axiogames

def import_all():
    for found in pkgutil.walk_packages(axiogames.__path__, "axiogames."):
        if not found.name.startswith(SKIPPED):
            importlib.import_module(found.name)

import_all()
for name in [name for name in sys.modules if name.startswith("axiogames.")]:
    del sys.modules[name]
for name in MODULES:
    sys.modules[name] = None
for module, names in FUNCTIONS.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
locked = []
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *arguments: locked.append(arguments))
sys.platform = "win32"
import_all()

from axiogames import files
from axiogames.cli.terminal.interrupts import interruptible
from axiogames.games.runtime.compile import cache_root
from axiogames.parallel import process_count
from axiogames.server import processes
from axiogames.server.settings import Settings
from axiogames.server.transport.connections import max_connections, raise_descriptor_limit

with tempfile.TemporaryDirectory() as folder, interruptible(signal.SIGINT):
    with files.lock_directory(Path(folder), "nobody"), files.hold_lock(Path(folder) / "lock") as held:
        assert held
    settings = Settings(data=folder)
    with processes.single_instance(settings, "http://here/"):
        pass
    assert len(locked) == 3
    assert cache_root() is not None
    assert process_count(2) == 2
    raise_descriptor_limit()
    assert max_connections() > 0
    assert processes.UVICORN_OPTIONS["loop"] == "asyncio"
print("imported")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="simulates Windows")
def test_modules_do_not_need_posix(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "AXIO_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("imported\n")
