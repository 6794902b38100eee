"""Rollouts from one position, in one thread or several, and their configuration.

A rollout samples the hidden tiles (a determinization), plays one action and follows the rollout policy until
the root player has moved `turns` more times or the game has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AxioError, InvalidFile
from ...games.runtime.state import allocate
from ...games.runtime.xorshift import seed_word
from ...games.variant import Variant
from ...model.view import View
from ...moves import Action
from ..evaluation.rollout_loops import ROLLOUT_STATES, RolloutSums, RolloutTask, run_rollouts
from ..evaluation.weights import (
    is_trained,
    load_weights,
    read_entry,
    scratch_dtype,
    weights_file,
    write_entries,
)
from .determinization import hidden_tiles
from .search_loops import MAX_COMPARED, MIN_WIDTH, NO_LIMIT, begin_search, search_dtype

CHUNK = 16  # determinizations that are added up together, independent of the number of threads
TO_THE_END = 1 << 30  # turns
ALWAYS, NEVER = -1.0, 2.0  # for `search_after`: progress is in [0, 1]


class RolloutStats:
    """Sums over the rollouts of some moves: values, squared values, and points of every seat.

    All moves have the same number of rollouts, `samples`.
    """

    def __init__(self, moves: int, seats: int, tracks: int) -> None:
        self.samples = 0
        self.sums = np.zeros(moves)
        self.squares = np.zeros(moves)
        self.points = np.zeros((moves, seats, tracks))

    def add(self, other: RolloutStats) -> None:
        """Add the statistics `other` of further rollouts of the same moves."""
        self.samples += other.samples
        self.sums += other.sums
        self.squares += other.squares
        self.points += other.points

    @property
    def rollouts(self) -> int:
        """The number of rollouts of all moves."""
        return self.samples * len(self.sums)

    @property
    def means(self) -> np.ndarray:
        """The mean value of each move."""
        means: np.ndarray = self.sums / max(self.samples, 1)
        return means


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
        self.seed = seed_word(seed)
        self.threads = threads
        self._hidden = hidden_tiles(view)
        self._loop = self.variant.kernels[run_rollouts]
        self._scratch_type = scratch_dtype(len(self.variant.tracks))
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """Stop the threads."""
        if self._pool:
            self._pool.shutdown()

    def begin_search(self, config: RolloutConfig, limit: int | None, include: Collection[Action] = ()) -> Any:
        """Choose the moves to compare by one-ply values, and return the record of a search that begins.

        Args:
            config: how many moves are compared, and how rollouts are run and weighed.
            limit: the number of rollouts, or `None` for no limit.
            include: actions that are compared in any case.

        Raises:
            AxioError: too many moves would have to be compared.
        """
        if max(config.width, MIN_WIDTH) + len(include) > MAX_COMPARED:
            raise AxioError(
                f"a search compares at most {MAX_COMPARED} moves: "
                f"a width of {config.width} with {len(include)} included moves is too much"
            )
        search = allocate(search_dtype())
        search["rollouts"] = NO_LIMIT if limit is None else limit
        search["width"] = config.width
        search["prior_weight"] = config.prior_weight
        search["n_included"] = len(include)
        search["included"][0, : len(include)] = list(include)
        actions = self.variant.legal_actions(self.state)
        self.variant.kernels[begin_search](search, actions, self._priors(actions), len(actions))
        return search

    def _priors(self, actions: np.ndarray) -> np.ndarray:
        """Return the one-ply values of actions, or without a trained network their points."""
        if is_trained(self.weights):
            return self.one_ply_values(actions)
        points: np.ndarray = self.variant.gains(self.state, actions).sum(axis=1, dtype=np.float64)
        return points

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
        tasks = [
            RolloutTask(
                actions, self.seed, first, min(chunk, stop - first), self._hidden, turns, self.search_after
            )
            for first in range(start, stop, chunk)
        ]
        yield from self._pool.map(self._run, tasks) if self._pool else map(self._run, tasks)

    def _run(self, task: RolloutTask) -> RolloutStats:
        stats = RolloutStats(len(task.actions), self.variant.players, len(self.variant.tracks))
        states, scratch = self._memory()
        sums = RolloutSums(stats.sums, stats.squares, stats.points)
        self._loop(self.variant.constants, states, task, self.weights, scratch, sums)
        stats.samples = task.samples
        return stats

    def _memory(self) -> tuple[Any, Any]:
        """Return states, the first of which is the position, and scratch memory for a call of a loop."""
        states = allocate(self.state.dtype, ROLLOUT_STATES)
        states[0] = self.state[0]
        return states, allocate(self._scratch_type)


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
