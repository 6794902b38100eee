"""Games in this machine's memory, shared among threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..games.runtime.compile import INTERPRETED
from ..games.runtime.state import allocate
from ..games.variant import Variant
from .loops import LOOPS_BY_NAME, shared_loop
from .thread_pool import ThreadPool


class CpuBackend:
    """Runs loops over the games of a batch; arrays are NumPy's."""

    def __init__(self, variant: Variant, games: int, threads: int) -> None:
        self.games = games
        self._variant = variant
        # More than there are cores would take each other's time, and interpreted only one goes on at a time.
        self.threads = 1 if INTERPRETED else min(threads, games, cores())
        self._crew = ThreadPool(self.threads) if self.threads > 1 else None

    def states(self, dtype: np.dtype[Any]) -> Any:
        """Room for a state of every game."""
        return allocate(dtype, self.games)

    def field(self, states: Any, name: str) -> np.ndarray:
        """A look at one field of all states."""
        column: np.ndarray = states[name]
        return column

    def zeros(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """An array that loops can write into."""
        return np.zeros(shape, dtype)

    def put(self, array: np.ndarray) -> np.ndarray:
        """An array where loops can read it."""
        return array

    def given(self, values: Any, dtype: type) -> np.ndarray:
        """What a caller hands in, as an array of this type, if it is whole numbers; else as it is."""
        array = np.asarray(values)
        if array.dtype.kind not in "biu":
            return array
        if dtype is not np.bool_ and array.dtype.itemsize > np.dtype(dtype).itemsize:
            array = _out_of_range_stays_so(array, np.iinfo(dtype))
        array = np.ascontiguousarray(array, dtype)
        return array if array.flags.writeable else array.copy()  # loops are compiled for those

    def take(self, array: np.ndarray) -> np.ndarray:
        """An array that loops have written, for Python to read."""
        return array

    def run(self, name: str, *arguments: Any) -> None:
        """Run a loop over all games."""
        if self._crew is None:
            self._variant.kernels[LOOPS_BY_NAME[name]](self._variant.constants, *arguments, 0, self.games)
        else:
            self._crew.run(
                shared_loop(self._variant, name), self.games, (self._variant.constants, *arguments)
            )

    def wait(self) -> None:
        """Nothing to wait for: `run` comes back when its loop has ended."""

    def close(self) -> None:
        """Let the threads go."""
        if self._crew:
            self._crew.close()


def _out_of_range_stays_so(array: np.ndarray, limits: np.iinfo) -> np.ndarray:
    """Clip numbers to the range of a smaller type, so that no wrong one becomes a right one.

    Numbers below zero become the largest of an unsigned type: zero would be a seat.
    """
    clipped: np.ndarray = np.clip(array, limits.min, limits.max)
    if limits.min == 0 and array.dtype.kind == "i":
        clipped[array < 0] = limits.max
    return clipped


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
