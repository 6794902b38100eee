"""Games in this machine's memory, shared among threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..engine.layout import allocate
from ..games.variant import Variant
from .loops import Loops
from .threads import Threads

# From call to call the calling thread takes a little more if it had to wait for others, else a little less.
PACE = 0.01
MOST_LEAD = 0.5


class Processor:
    """Runs loops over the games of a batch; arrays are NumPy's."""

    def __init__(self, variant: Variant, games: int, threads: int) -> None:
        self.games = games
        self.threads = min(threads, games)
        self._tables = variant.tables
        self._loops = Loops(variant)
        self._pool = Threads(self.threads) if self.threads > 1 else None
        # The calling thread is the first to start and the last to go on: by loop, how much more it takes.
        self._leads: dict[str, float] = {}

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
            limits = np.iinfo(dtype)
            array = np.clip(array, limits.min, limits.max)  # so that no wrong number becomes a right one
        return np.ascontiguousarray(array, dtype)

    def take(self, array: np.ndarray) -> np.ndarray:
        """An array that loops have written, for Python to read."""
        return array

    def run(self, name: str, *arguments: Any) -> None:
        """Run a loop over all games."""
        loop = self._loops[name]
        if self._pool is None:
            loop(self._tables, *arguments, 0, self.games)
            return
        lead = self._leads.get(name, 0.0)
        shares = [
            (self._tables, *arguments, first, last)
            for first, last in pairwise(shared_out(self.games, self.threads, lead))
        ]
        had_to_wait = self._pool.run(loop, shares)
        self._leads[name] = min(max(lead + (PACE if had_to_wait else -PACE), 0.0), MOST_LEAD)

    def wait(self) -> None:
        """Nothing to wait for: `run` comes back when its loop has ended."""

    def close(self) -> None:
        """Let the threads go."""
        if self._pool:
            self._pool.close()


def shared_out(games: int, threads: int, lead: float) -> list[int]:
    """Where shares of two or more threads begin and end, if the first is so much larger than an equal one."""
    others = threads - 1
    first = min(round(games / threads * (1 + lead)), games - others)
    return [0, *(first + (games - first) * part // others for part in range(threads))]
