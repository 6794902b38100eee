"""Settings and fixtures of all tests."""

from __future__ import annotations

import fcntl
import os
import signal
from typing import Any

from hypothesis import HealthCheck, settings

from axiogames.games.runtime.compile import INTERPRETED, cache_folder
from axiogames.games.runtime.kernels import Kernels

# A test run in the background may ignore Ctrl-C. Programs whose interruption is tested would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The time that a machine takes to generate examples is not a property of the code.
settings.register_profile(
    "axio",
    max_examples=15 if INTERPRETED else 120,
    deadline=None,  # the first example may compile
    derandomize=True,  # each run tests the same examples
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("axio")

# Tests do not depend on the terminal in which they run, its size and its colours.
for _name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)

compile_alone = Kernels._compile


def compile_once(kernels: Kernels, bound: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a loop, or wait until another process has compiled it, and load it from the cache."""
    folder = cache_folder()
    assert folder is not None, "tests need a compile cache"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{bound.py_func.__name__}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_alone(kernels, bound, arguments)


Kernels._compile = compile_once  # type: ignore[assignment, method-assign]
