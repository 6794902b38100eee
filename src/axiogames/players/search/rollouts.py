"""Playing on from a position in compiled code, a few guesses at a time, in one thread or several."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidFile
from ...games.runtime.state import allocate
from ...games.runtime.xorshift import seed_states
from ...games.variant import Variant
from ...model.view import View
from ..evaluation.rollout_loops import run_rollouts
from ..evaluation.weights import (
    is_trained,
    load_weights,
    read_entry,
    scratch_dtype,
    weights_file,
    write_entries,
)
from .determinization import hidden_tile_groups

CHUNK = 16  # guesses that are added up together: the same ones, however many threads there are
TO_THE_END = 1 << 30  # turns
ALWAYS, NEVER = -1.0, 2.0  # less and more of a game than there is, for `search_after`


class RolloutStats:
    """What came of some moves: how often each was tried, and what that added up to."""

    def __init__(self, moves: int, seats: int, tracks: int) -> None:
        self.count = np.zeros(moves, np.int64)
        self.sums = np.zeros(moves)
        self.squares = np.zeros(moves)
        self.points = np.zeros((moves, seats, tracks))

    def add(self, which: np.ndarray, other: RolloutStats) -> None:
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

    def __init__(
        self, view: View, weights: Any, seed: int, threads: int = 1, search_after: float = NEVER
    ) -> None:
        self.variant = view.variant
        self.state = view.state
        self.weights = weights
        self.search_after = np.float32(search_after)
        self.seed = seed & (2**64 - 1)
        self.threads = threads
        self._hidden = hidden_tile_groups(view)
        self._loop = self.variant.kernels[run_rollouts]
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
    ) -> Iterator[RolloutStats]:
        """Play on after each action in guesses number `first` and those after it; chunk by chunk.

        The chunks come in their order, and whoever adds them up gets the same numbers to the last bit.
        """
        actions = np.ascontiguousarray(actions, np.int32)
        starts = range(first, first + guesses, chunk)
        chunks = [
            (actions, seed_states(self.seed, start, min(chunk, first + guesses - start)), turns)
            for start in starts
        ]
        yield from self._pool.map(self._chunk, chunks) if self._pool else map(self._chunk, chunks)

    def _chunk(self, work: tuple[np.ndarray, np.ndarray, int]) -> RolloutStats:
        actions, guesses, turns = work
        tracks = len(self.variant.tracks)
        states = allocate(self.state.dtype, 4)
        states[0] = self.state[0]
        scratch = allocate(scratch_dtype(tracks))
        tally = RolloutStats(len(actions), self.variant.players, tracks)
        self._loop(
            self.variant.constants,
            states,
            actions,
            len(actions),
            guesses,
            turns,
            self.search_after,
            *self._hidden,
            self.weights,
            scratch,
            np.zeros(self.variant.most_actions, np.int32),
            tally.sums,
            tally.squares,
            tally.points,
        )
        tally.count += len(guesses)
        return tally


@dataclass(frozen=True, slots=True)
class RolloutConfig:
    """How moves are played on."""

    turns: int  # own moves that rollouts go on for after the one that is tried
    width: int  # moves that are played on
    prior_weight: float  # rollouts that the first look counts as much as
    search_after: float  # of the game: from then on rollouts look at what moves lead to


# Looks make rollouts about ten times as slow, and better: a thousand of them find better moves than ten
# thousand by points, a few do not.
FAST_CONFIG = RolloutConfig(turns=4, width=16, prior_weight=100.0, search_after=0.85)
FULL_CONFIG = RolloutConfig(turns=4, width=16, prior_weight=30.0, search_after=ALWAYS)
UNTRAINED_CONFIG = RolloutConfig(
    turns=TO_THE_END, width=16, prior_weight=0.0, search_after=NEVER
)  # no judgement of where to stop

FAST, FULL = "hurried", "unhurried"
DEFAULT_CONFIGS = {FAST: FAST_CONFIG, FULL: FULL_CONFIG}


@cache
def load_config(variant: Variant, pace: str) -> RolloutConfig:
    """How moves of this game are played on by those who are in a hurry, or by those who are not."""
    if not is_trained(load_weights(variant)):
        return UNTRAINED_CONFIG
    path = weights_file(variant)
    return read_config(variant, pace, path) if path.exists() else DEFAULT_CONFIGS[pace]


def read_config(variant: Variant, pace: str, path: Path) -> RolloutConfig:
    """The manner that a file has for this number of players, else the usual one."""
    kept = read_entry(path, _entry(variant, pace))
    if kept is None:
        return DEFAULT_CONFIGS[pace]
    if kept.shape != (4,) or kept.dtype.kind != "f" or not np.isfinite(kept).all() or kept[:2].min() < 1:
        raise InvalidFile(f"{path}: {_entry(variant, pace)} is no manner")
    turns, width, prior_weight, search_after = kept.tolist()
    return RolloutConfig(int(turns), int(width), prior_weight, search_after)


def write_config(variant: Variant, pace: str, manner: RolloutConfig, path: Path) -> None:
    """Put a manner into the file, beside what has been learned."""
    write_entries({_entry(variant, pace): np.array(astuple(manner), np.float64)}, path)


def _entry(variant: Variant, pace: str) -> str:
    return f"{variant.players}.{pace}"
