"""Playing on from a position in compiled code, a few guesses at a time, in one thread or several."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..engine.layout import allocate
from ..engine.lots import seeds
from ..engine.minds import desk_dtype
from ..engine.thinking import roll_out
from ..view import View
from .hidden import hidden_tiles

CHUNK = 16  # guesses that are added up together: the same ones, however many threads there are
TO_THE_END = 1 << 30  # turns
ALWAYS, NEVER = -1.0, 2.0  # less and more of a game than there is, for `late`


class Tally:
    """What came of some moves: how often each was tried, and what that added up to."""

    def __init__(self, moves: int, seats: int, tracks: int) -> None:
        self.count = np.zeros(moves, np.int64)
        self.sums = np.zeros(moves)
        self.squares = np.zeros(moves)
        self.points = np.zeros((moves, seats, tracks))

    def add(self, which: np.ndarray, other: Tally) -> None:
        """Add what another tally has for its moves to what this one has for `which`."""
        self.count[which] += other.count
        self.sums[which] += other.sums
        self.squares[which] += other.squares
        self.points[which] += other.points

    @property
    def means(self) -> np.ndarray:
        """What each move was worth on average."""
        means: np.ndarray = self.sums / np.maximum(self.count, 1)
        return means

    @property
    def errors(self) -> np.ndarray:
        """The standard errors of the means."""
        count = np.maximum(self.count, 1)
        variance = np.maximum(self.squares / count - self.means**2, 0.0)
        errors: np.ndarray = np.sqrt(variance / count)
        return errors


class Rollouts:
    """All that playing on from one position needs: what is known of it, and room for every thread."""

    def __init__(self, view: View, mind: Any, seed: int, threads: int = 1, late: float = NEVER) -> None:
        self.variant = view.variant
        self.state = view.state
        self.mind = mind
        self.late = np.float32(late)
        self.seed = seed & (2**64 - 1)
        self.threads = threads
        self._hidden = hidden_tiles(view)
        self._loop = self.variant.kernels[roll_out]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """Let the threads go."""
        if self._pool:
            self._pool.shutdown()

    def look(self, actions: np.ndarray) -> np.ndarray:
        """What each action leads to is worth at a first look, without playing on."""
        (tally,) = self.run(actions, 0, 1, 0)
        return tally.sums

    def run(
        self, actions: np.ndarray, first: int, guesses: int, turns: int, chunk: int = CHUNK
    ) -> Iterator[Tally]:
        """Play on after each action in guesses number `first` and those after it; chunk by chunk.

        The chunks come in their order, and whoever adds them up gets the same numbers to the last bit.
        """
        actions = np.ascontiguousarray(actions, np.int32)
        starts = range(first, first + guesses, chunk)
        chunks = [
            (actions, seeds(self.seed, start, min(chunk, first + guesses - start)), turns) for start in starts
        ]
        yield from self._pool.map(self._chunk, chunks) if self._pool else map(self._chunk, chunks)

    def _chunk(self, work: tuple[np.ndarray, np.ndarray, int]) -> Tally:
        actions, guesses, turns = work
        tracks = len(self.variant.tracks)
        states = allocate(self.state.dtype, 4)
        states[0] = self.state[0]
        desk = allocate(desk_dtype(tracks))
        tally = Tally(len(actions), self.variant.players, tracks)
        self._loop(
            self.variant.tables, states, actions, len(actions), guesses, turns, self.late, *self._hidden,
            self.mind, desk, np.zeros(self.variant.most_actions, np.int32), tally.sums, tally.squares,
            tally.points,
        )  # fmt: skip
        tally.count += len(guesses)
        return tally
