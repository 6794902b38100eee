"""What all tests need."""

from __future__ import annotations

import fcntl
import os
import signal
from typing import Any

from hypothesis import HealthCheck, settings

from axiogames.games.runtime.compile import INTERPRETED, cache_folder
from axiogames.games.runtime.kernels import Kernels

# Started in the background, a test run may have been told to ignore Ctrl-C, and would hand that on to the
# programs whose interruption it tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# For all tests: how long a machine takes to make examples says nothing about the code.
settings.register_profile(
    "axio",
    max_examples=15 if INTERPRETED else 120,
    deadline=None,  # the first example may compile
    derandomize=True,  # the same run for everybody; change a test to search anew
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("axio")

# Nor should it matter what terminal they are run in: how wide it is, and whether it likes colours.
for _name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)

compile_alone = Kernels._compile


def compile_once(kernels: Kernels, bound: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a loop, or wait until another process of this test run has, and take it from the cache."""
    folder = cache_folder()
    assert folder is not None, "tests need a compile cache"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{bound.py_func.__name__}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_alone(kernels, bound, arguments)


Kernels._compile = compile_once  # type: ignore[assignment, method-assign]
