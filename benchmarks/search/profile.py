"""A profile of rollouts: the time of each part on its own, times the number of its calls.

What the parts add up to is compared with what the same rollouts take as a whole, which says how far the
profile is to be believed: on its own a part finds the processor's caches and guesses in another state, and
what lies between the parts is in none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, thread_time
from typing import Any

import msgspec
import numpy as np

from axiogames.games.runtime.state import allocate
from axiogames.games.runtime.xorshift import seed_state, seed_states
from axiogames.players.evaluation.rollout_loops import (
    ROLLOUT_STATES,
    SEARCH_STATES,
    RolloutSums,
    RolloutTask,
    run_rollouts,
)
from axiogames.players.evaluation.weights import scratch_dtype
from axiogames.players.search.determinization import hidden_tile_groups
from benchmarks.search.exercises import SEED, Exercise
from benchmarks.search.parts import COPY, KEENEST, PARTS, WEIGH, PartCalls, repeat, trace

GUESSES = 4
SAMPLES = 256  # positions that are kept for each part
LEAST_ROUNDS = 3
SLICE = 0.001  # seconds that a part is repeated for in one round


class Part(msgspec.Struct, frozen=True):
    """One part of a rollout."""

    part: str
    calls: float  # in a rollout
    nanoseconds: float  # a call
    share: float  # of what all parts take together


class Profile(msgspec.Struct, frozen=True):
    """Profile of the rollouts at one stage of a game."""

    game: str
    stage: str
    microseconds: float  # a rollout, measured as a whole
    explained: float  # of that by what the parts take together
    parts: tuple[Part, ...]


class RolloutProfiler:
    """The rollouts from one position, measured as a whole and in parts."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise, self._variant = exercise, exercise.variant
        self._task = RolloutTask(
            exercise.actions,
            seed_states(SEED, 0, GUESSES),
            *hidden_tile_groups(exercise.view),
            exercise.turns,
            np.float32(exercise.search_after),
        )
        self._trace, self._repeat = self._variant.kernels[trace], self._variant.kernels[repeat]
        self._desk = allocate(scratch_dtype(len(self._variant.tracks)))
        self.calls = np.zeros(len(PARTS), np.int64)
        self._calls = PartCalls(
            self.calls,
            allocate(exercise.view.state.dtype, len(PARTS) * SAMPLES).reshape(len(PARTS), SAMPLES),
            np.zeros((len(PARTS), SAMPLES), np.int64),
            seed_state(SEED),
            int(exercise.view.state["seat"][0]),
        )
        self.rollouts = GUESSES * len(exercise.actions)
        traced = np.zeros(len(exercise.actions))
        self._play(self._trace, traced, self._calls)
        assert np.array_equal(traced, self.play()), "`trace` does not play as `run_rollouts` does"
        self._kept = np.minimum(self.calls, SAMPLES)
        self._passes = [1] * len(PARTS)
        self._seconds(0)  # compiles it
        self._passes = [
            max(1, round(SLICE / max(self._seconds(number), 1e-6))) for number in range(len(PARTS))
        ]

    def play(self) -> np.ndarray:
        """Run the rollouts and return the sum of values for each move."""
        sums = np.zeros(len(self._exercise.actions))
        points = np.zeros((len(sums), self._variant.players, len(self._variant.tracks)))
        self._play(self._variant.kernels[run_rollouts], RolloutSums(sums, np.zeros(len(sums)), points))
        return sums

    def measure(self) -> np.ndarray:
        """Return seconds per call of each part, and of all rollouts as a whole.

        Counted while this thread runs: a pause in which the machine does something else would be taken for
        a part's own time.
        """
        calls = [self._seconds(number) / max(1, self._each(number)) for number in range(len(PARTS))]
        start = thread_time()
        self.play()
        return np.array([*calls, thread_time() - start])

    def _play(self, loop: Any, *results: Any) -> None:
        states = allocate(self._calls.samples.dtype, ROLLOUT_STATES)
        states[0] = self._exercise.view.state[0]
        loop(self._variant.constants, states, self._task, self._exercise.weights, self._desk, *results)

    def _each(self, number: int) -> int:
        """Number of calls of a part in one measurement."""
        return int(self._kept[number]) * self._passes[number]

    def _seconds(self, number: int) -> float:
        states = allocate(self._calls.samples.dtype, SEARCH_STATES)
        self._desk["rng"] = seed_state(SEED)
        start = thread_time()
        self._repeat(
            self._variant.constants,
            states,
            number,
            self._passes[number],
            self._task,
            self._exercise.weights,
            self._desk,
            self._calls,
        )
        return thread_time() - start


def profiles(
    game: str, stages: dict[str, list[RolloutProfiler]], seconds: float, tick: Callable[[float], None]
) -> tuple[Profile, ...]:
    """Return a profile for each stage, measured in rounds for about `seconds`."""
    rounds: list[list[np.ndarray]] = []
    start = perf_counter()
    while len(rounds) < LEAST_ROUNDS or perf_counter() - start < seconds:
        rounds.append([dissection.measure() for some in stages.values() for dissection in some])
        tick(min(1.0, (perf_counter() - start) / seconds, len(rounds) / LEAST_ROUNDS))
    medians = iter(np.median(rounds, axis=0))
    return tuple(
        profile(game, stage, some, np.array([next(medians) for _ in some])) for stage, some in stages.items()
    )


def profile(game: str, stage: str, some: Sequence[RolloutProfiler], medians: np.ndarray) -> Profile:
    """Return the profile of positions from the results of `RolloutProfiler.measure`, one row per position."""
    calls = np.array([dissection.calls for dissection in some])
    rollouts = sum(dissection.rollouts for dissection in some)
    whole = float(medians[:, -1].sum())
    cost = medians[:, :-1].copy()
    cost[:, KEENEST] -= cost[:, WEIGH] - cost[:, COPY]
    cost[:, np.arange(len(PARTS)) != COPY] -= cost[:, [COPY]]
    taken = (np.maximum(cost, 0.0) * calls).sum(axis=0)
    together = float(taken.sum())
    parts = tuple(
        Part(
            part=name,
            calls=float(calls[:, number].sum()) / rollouts,
            nanoseconds=float(taken[number]) / max(1, int(calls[:, number].sum())) * 1e9,
            share=float(taken[number]) / together,
        )
        for number, name in enumerate(PARTS)
    )
    return Profile(game, stage, whole / rollouts * 1e6, together / whole, parts)
