"""A profile of rollouts: the time of each part, measured on its own, times the number of its calls.

The sum over all parts is compared with the time of the same rollouts as a whole, which shows how reliable the
profile is. A part that runs on its own finds the caches and branch predictors of the processor in a different
state, and the code between the parts belongs to none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, thread_time
from typing import Any

import msgspec
import numpy as np

from axiogames.games.runtime.state import allocate
from axiogames.games.runtime.xorshift import seed_state, seed_word
from axiogames.players.evaluation.rollout_loops import (
    ROLLOUT_STATES,
    SEARCH_STATES,
    RolloutSums,
    RolloutTask,
    run_rollouts,
)
from axiogames.players.evaluation.weights import scratch_dtype
from axiogames.players.search.determinization import hidden_tiles
from benchmarks.search.parts import COPY, PARTS, POLICY, UTILITY, PartCalls, repeat, trace
from benchmarks.search.positions import SEED, SearchPosition

DETERMINIZATIONS = 4
SAMPLES = 256  # recorded positions per part
MIN_ROUNDS = 3
SLICE = 0.001  # seconds per part and round


class Part(msgspec.Struct, frozen=True):
    """One part of a rollout."""

    part: str
    calls: float  # per rollout
    nanoseconds: float  # per call
    share: float  # of the time of all parts


class Profile(msgspec.Struct, frozen=True):
    """Profile of the rollouts at one stage of a game."""

    game: str
    stage: str
    microseconds: float  # per rollout, measured as a whole
    explained: float  # share of it that the parts add up to
    parts: tuple[Part, ...]


class RolloutProfiler:
    """The rollouts from one position, measured as a whole and in parts."""

    def __init__(self, position: SearchPosition) -> None:
        self._position, self._variant = position, position.variant
        self._task = RolloutTask(
            position.actions,
            seed_word(SEED),
            0,
            DETERMINIZATIONS,
            hidden_tiles(position.view),
            position.turns,
            np.float32(position.search_after),
        )
        self._trace, self._repeat = self._variant.kernels[trace], self._variant.kernels[repeat]
        self._scratch = allocate(scratch_dtype(len(self._variant.tracks)))
        self.calls = np.zeros(len(PARTS), np.int64)
        self._calls = PartCalls(
            self.calls,
            allocate(position.view.state.dtype, len(PARTS) * SAMPLES).reshape(len(PARTS), SAMPLES),
            np.zeros((len(PARTS), SAMPLES), np.int64),
            seed_state(SEED),
            int(position.view.state["seat"][0]),
        )
        self.rollouts = DETERMINIZATIONS * len(position.actions)
        traced = np.zeros(len(position.actions))
        self._play(self._trace, traced, self._calls)
        assert np.array_equal(traced, self.play()), "`trace` must run the same rollouts as `run_rollouts`"
        self._sampled = np.minimum(self.calls, SAMPLES)
        self._passes = [1] * len(PARTS)
        self._seconds(0)  # compiles `repeat`
        self._passes = [max(1, round(SLICE / max(self._seconds(part), 1e-6))) for part in range(len(PARTS))]

    def play(self) -> np.ndarray:
        """Run the rollouts and return the sum of values for each move."""
        sums = np.zeros(len(self._position.actions))
        points = np.zeros((len(sums), self._variant.players, len(self._variant.tracks)))
        self._play(self._variant.kernels[run_rollouts], RolloutSums(sums, np.zeros(len(sums)), points))
        return sums

    def measure(self) -> np.ndarray:
        """Return the seconds per call of each part, and the seconds of all rollouts as a whole.

        The times are CPU times of this thread, so pauses in which the machine does other work do not count.
        """
        per_call = [self._seconds(part) / max(1, self._calls_per_pass(part)) for part in range(len(PARTS))]
        start = thread_time()
        self.play()
        return np.array([*per_call, thread_time() - start])

    def _play(self, loop: Any, *results: Any) -> None:
        states = allocate(self._calls.samples.dtype, ROLLOUT_STATES)
        states[0] = self._position.view.state[0]
        loop(self._variant.constants, states, self._task, self._position.weights, self._scratch, *results)

    def _calls_per_pass(self, part: int) -> int:
        """Return the number of calls of a part in one measurement."""
        return int(self._sampled[part]) * self._passes[part]

    def _seconds(self, part: int) -> float:
        states = allocate(self._calls.samples.dtype, SEARCH_STATES)
        self._scratch["rng"] = seed_state(SEED)
        start = thread_time()
        self._repeat(
            self._variant.constants,
            states,
            part,
            self._passes[part],
            self._task,
            self._position.weights,
            self._scratch,
            self._calls,
        )
        return thread_time() - start


def profiles(
    game: str, stages: dict[str, list[RolloutProfiler]], seconds: float, tick: Callable[[float], None]
) -> tuple[Profile, ...]:
    """Return a profile for each stage, measured in rounds for about `seconds`."""
    rounds: list[list[np.ndarray]] = []
    start = perf_counter()
    while len(rounds) < MIN_ROUNDS or perf_counter() - start < seconds:
        rounds.append([profiler.measure() for profilers in stages.values() for profiler in profilers])
        tick(min(1.0, (perf_counter() - start) / seconds, len(rounds) / MIN_ROUNDS))
    medians = iter(np.median(rounds, axis=0))
    return tuple(
        profile(game, stage, profilers, np.array([next(medians) for _ in profilers]))
        for stage, profilers in stages.items()
    )


def profile(game: str, stage: str, profilers: Sequence[RolloutProfiler], medians: np.ndarray) -> Profile:
    """Return the profile of positions from the results of `RolloutProfiler.measure`, one row per position."""
    calls = np.array([profiler.calls for profiler in profilers])
    rollouts = sum(profiler.rollouts for profiler in profilers)
    measured = float(medians[:, -1].sum())
    cost = medians[:, :-1].copy()
    cost[:, POLICY] -= cost[:, UTILITY] - cost[:, COPY]
    cost[:, np.arange(len(PARTS)) != COPY] -= cost[:, [COPY]]
    seconds = (np.maximum(cost, 0.0) * calls).sum(axis=0)
    total = float(seconds.sum())
    parts = tuple(
        Part(
            part=name,
            calls=float(calls[:, part].sum()) / rollouts,
            nanoseconds=float(seconds[part]) / max(1, int(calls[:, part].sum())) * 1e9,
            share=float(seconds[part]) / total,
        )
        for part, name in enumerate(PARTS)
    )
    return Profile(game, stage, measured / rollouts * 1e6, total / measured, parts)
