"""Rollouts from one position, in one thread or several, and their configuration.

A rollout samples the hidden tiles (a determinization), plays one action and follows the rollout policy until
the root player has moved `turns` more times or the game has ended.
"""

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
from ..evaluation.rollout_loops import ROLLOUT_STATES, RolloutSums, RolloutTask, run_rollouts
from ..evaluation.weights import (
    is_trained,
    load_weights,
    read_entry,
    scratch_dtype,
    weights_file,
    write_entries,
)
from .determinization import hidden_tile_groups

CHUNK = 16  # determinizations that are added up together, independent of the number of threads
TO_THE_END = 1 << 30  # turns
ALWAYS, NEVER = -1.0, 2.0  # for `search_after`: progress is in [0, 1]


class RolloutStats:
    """Sums over the rollouts of some moves: number, values, squared values, and points of every seat."""

    def __init__(self, moves: int, seats: int, tracks: int) -> None:
        self.count = np.zeros(moves, np.int64)
        self.sums = np.zeros(moves)
        self.squares = np.zeros(moves)
        self.points = np.zeros((moves, seats, tracks))

    def add(self, which: np.ndarray, other: RolloutStats) -> None:
        """Add the statistics `other` to those of the moves with the indices `which`."""
        self.count[which] += other.count
        self.sums[which] += other.sums
        self.squares[which] += other.squares
        self.points[which] += other.points

    @property
    def means(self) -> np.ndarray:
        """The mean value of each move."""
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
    """Runs rollouts from one position.

    Args:
        view: the position as a seat knows it.
        weights: the evaluation, see `weights_dtype`.
        seed: the seed of all determinizations.
        threads: the number of threads; with more than one, call `close` at the end.
        search_after: the progress of the game from which on rollouts use one-ply search instead of the
            policy.
    """

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
        """Stop the threads."""
        if self._pool:
            self._pool.shutdown()

    def one_ply_values(self, actions: np.ndarray) -> np.ndarray:
        """Return the evaluation of the position after each action, in one determinization."""
        (stats,) = self.run(actions, 0, 1, 0)
        return stats.sums

    def run(
        self, actions: np.ndarray, start: int, samples: int, turns: int, chunk: int = CHUNK
    ) -> Iterator[RolloutStats]:
        """Run a rollout after each action, in `samples` determinizations.

        Args:
            actions: legal actions.
            start: the index of the first determinization. Each index has its own seed.
            samples: the number of determinizations.
            turns: further moves of the root player in each rollout.
            chunk: the number of determinizations that are added up together.

        Yields:
            The statistics of each chunk, in order: sums of them are equal to the last bit for any number of
            threads.
        """
        actions = np.ascontiguousarray(actions, np.int32)
        stop = start + samples
        chunks = [
            (actions, seed_states(self.seed, index, min(chunk, stop - index)), turns)
            for index in range(start, stop, chunk)
        ]
        yield from self._pool.map(self._chunk, chunks) if self._pool else map(self._chunk, chunks)

    def _chunk(self, work: tuple[np.ndarray, np.ndarray, int]) -> RolloutStats:
        actions, seeds, turns = work
        tracks = len(self.variant.tracks)
        states = allocate(self.state.dtype, ROLLOUT_STATES)
        states[0] = self.state[0]
        scratch = allocate(scratch_dtype(tracks))
        stats = RolloutStats(len(actions), self.variant.players, tracks)
        self._loop(
            self.variant.constants,
            states,
            RolloutTask(actions, seeds, *self._hidden, turns, self.search_after),
            self.weights,
            scratch,
            RolloutSums(stats.sums, stats.squares, stats.points),
        )
        stats.count += len(seeds)
        return stats


# ---------------------------------------------------------------- configuration


@dataclass(frozen=True, slots=True)
class RolloutConfig:
    """How rollouts are run and weighed."""

    turns: int  # further moves of the root player in each rollout
    width: int  # moves that are compared
    prior_weight: float  # rollouts that the one-ply value of a move counts as
    search_after: float  # progress of the game from which on rollouts use one-ply search


# One-ply search in rollouts is about ten times slower and better: a thousand such rollouts find better moves
# than ten thousand that follow the policy; a few of them do not.
FAST_CONFIG = RolloutConfig(turns=4, width=16, prior_weight=100.0, search_after=0.85)
FULL_CONFIG = RolloutConfig(turns=4, width=16, prior_weight=30.0, search_after=ALWAYS)
# Without a trained network no rollout can be evaluated before the end of the game.
UNTRAINED_CONFIG = RolloutConfig(turns=TO_THE_END, width=16, prior_weight=0.0, search_after=NEVER)

FAST, FULL = "hurried", "unhurried"  # names of entries in the weights file
DEFAULT_CONFIGS = {FAST: FAST_CONFIG, FULL: FULL_CONFIG}


@cache
def load_config(variant: Variant, pace: str) -> RolloutConfig:
    """Return the config of a game for a pace, `FAST` or `FULL`."""
    if not is_trained(load_weights(variant)):
        return UNTRAINED_CONFIG
    path = weights_file(variant)
    return read_config(variant, pace, path) if path.exists() else DEFAULT_CONFIGS[pace]


def read_config(variant: Variant, pace: str, path: Path) -> RolloutConfig:
    """Return the config in a weights file for this number of players, or the default.

    Raises:
        InvalidFile: the entry is not a config.
    """
    values = read_entry(path, _entry(variant, pace))
    if values is None:
        return DEFAULT_CONFIGS[pace]
    if (
        values.shape != (4,)
        or values.dtype.kind != "f"
        or not np.isfinite(values).all()
        or values[:2].min() < 1
    ):
        raise InvalidFile(
            f"{path}: {_entry(variant, pace)} is not a rollout config: 4 floats, the first two at least 1"
        )
    turns, width, prior_weight, search_after = values.tolist()
    return RolloutConfig(int(turns), int(width), prior_weight, search_after)


def write_config(variant: Variant, pace: str, config: RolloutConfig, path: Path) -> None:
    """Write a config into a weights file. Its other entries are kept."""
    write_entries({_entry(variant, pace): np.array(astuple(config), np.float64)}, path)


def _entry(variant: Variant, pace: str) -> str:
    return f"{variant.players}.{pace}"
