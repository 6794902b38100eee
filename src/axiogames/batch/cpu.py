"""The backend of batches in main memory, with one thread or several."""

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
    """Runs loops over the games of a batch. Arrays are NumPy's."""

    def __init__(self, variant: Variant, games: int, threads: int) -> None:
        self.games = games
        self._variant = variant
        # More threads than cores would compete for them. Interpreted, only one thread can run at a time.
        self.threads = 1 if INTERPRETED else min(threads, games, cores())
        self._pool = ThreadPool(self.threads) if self.threads > 1 else None

    def states(self, dtype: np.dtype[Any]) -> Any:
        """Allocate a state for every game."""
        return allocate(dtype, self.games)

    def field(self, states: Any, name: str) -> np.ndarray:
        """Return a view of one field of all states."""
        column: np.ndarray = states[name]
        return column

    def zeros(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """Return an array of zeros that loops can write."""
        return np.zeros(shape, dtype)

    def to_device(self, array: np.ndarray) -> np.ndarray:
        """Return an array that loops can read."""
        return array

    def as_input(self, values: Any, dtype: type) -> np.ndarray:
        """Return an argument of a caller as an array of this type if it has integers, else unchanged."""
        array = np.asarray(values)
        if array.dtype.kind not in "biu":
            return array
        if dtype is not np.bool_ and array.dtype.itemsize > np.dtype(dtype).itemsize:
            array = _clipped(array, np.iinfo(dtype))
        array = np.ascontiguousarray(array, dtype)
        return array if array.flags.writeable else array.copy()  # loops are compiled for writeable arrays

    def to_host(self, array: np.ndarray) -> np.ndarray:
        """Return an array that loops have written, for Python to read."""
        return array

    def run(self, name: str, *arguments: Any) -> None:
        """Run a loop over all games."""
        if self._pool is None:
            self._variant.kernels[LOOPS_BY_NAME[name]](self._variant.constants, *arguments, 0, self.games)
        else:
            self._pool.run(
                shared_loop(self._variant, name), self.games, (self._variant.constants, *arguments)
            )

    def wait(self) -> None:
        """Do nothing: `run` returns when its loop has finished."""

    def close(self) -> None:
        """Stop the threads."""
        if self._pool:
            self._pool.close()


def _clipped(array: np.ndarray, limits: np.iinfo) -> np.ndarray:
    """Clip integers to the range of a smaller type, so that an invalid value cannot become a valid one.

    Negative values become the maximum of an unsigned type: 0 would be a seat.
    """
    clipped: np.ndarray = np.clip(array, limits.min, limits.max)
    if limits.min == 0 and array.dtype.kind == "i":
        clipped[array < 0] = limits.max
    return clipped


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
