"""What all tests need."""

from __future__ import annotations

import fcntl
import signal
from typing import Any

from axio.engine.compile import cache_folder
from axio.engine.kernels import Kernels

# Started in the background, a test run may have been told to ignore Ctrl-C, and would hand that on to the
# programs whose interruption it tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

compile_alone = Kernels._compile


def compile_once(kernels: Kernels, bound: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a loop, or wait until another process of this test run has, and take it from the cache."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{bound.py_func.__name__}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_alone(kernels, bound, arguments)


Kernels._compile = compile_once  # type: ignore[assignment, method-assign]
