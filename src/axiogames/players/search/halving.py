"""Sequential halving: all moves get rollouts, then the better half of the moves, and so on.

Every round has the same share of the budget. The clock is read every few milliseconds, so that the time limit
holds. The search stops early when more rollouts could not change the result by a noticeable amount.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from .rollouts import CHUNK, RolloutConfig, Rollouts, RolloutStats

CLOCK_INTERVAL = 0.006  # seconds between two readings of the clock
COUNTED_SAMPLES = 8 * CHUNK  # determinizations between two readings of the clock if rollouts are counted
FINALISTS = 2  # moves that the last round compares
CONFIDENCE = 3.0  # standard errors
NEGLIGIBLE = 0.001  # difference in value that is not worth more rollouts
MIN_SAMPLES = 100  # rollouts of each move before standard errors are trusted


@dataclass(frozen=True, slots=True)
class Deadline:
    """The limits of a search: a time, measured from the deadline's creation, and a number of rollouts."""

    seconds: float
    rollouts: int | None  # `None` for no limit
    started: float = field(default_factory=lambda: time.perf_counter())


def sequential_halving(
    runner: Rollouts, actions: np.ndarray, config: RolloutConfig, deadline: Deadline, priors: np.ndarray
) -> RolloutStats:
    """Compare actions by rollouts and return their statistics.

    The best action is the one with the best posterior value among those with the most rollouts.

    Args:
        runner: runs the rollouts.
        actions: the actions to compare.
        config: the length of rollouts and the weight of the priors.
        deadline: when to stop.
        priors: the value of each action before any rollout.
    """
    total = RolloutStats(len(actions), runner.variant.players, len(runner.variant.tracks))
    alive = np.arange(len(actions))
    rounds = max(1, ceil(log2(max(len(actions), FINALISTS) / FINALISTS)) + 1)
    started = time.perf_counter()
    remaining = deadline.started + deadline.seconds - started
    counted = deadline.rollouts is not None
    samples_done = 0
    for n_round in range(1, rounds + 1):
        end = started + remaining * n_round / rounds
        share = None if deadline.rollouts is None else deadline.rollouts // rounds
        for samples in _sample_counts(share, len(alive), end):
            # With a time limit, all threads get equal work. Counted rollouts are added up in chunks of a
            # fixed size, so that the result does not depend on the number of threads.
            chunk = CHUNK if counted else ceil(samples / runner.threads)
            for stats in runner.run(actions[alive], samples_done, samples, config.turns, chunk):
                total.add(alive, stats)
            samples_done += samples
            if not counted and _is_decided(total, alive, priors, config.prior_weight):
                return total
        if n_round < rounds:
            best = np.argsort(-posterior_value(total, priors, config.prior_weight)[alive], kind="stable")
            alive = np.sort(alive[best[: max(FINALISTS, ceil(len(alive) / 2))]])
    return total


def posterior_value(total: RolloutStats, priors: np.ndarray, prior_weight: float) -> np.ndarray:
    """Return the mean value of each move, where its prior counts as `prior_weight` rollouts."""
    values: np.ndarray = (total.sums + prior_weight * priors) / np.maximum(total.count + prior_weight, 1)
    return values


def _is_decided(total: RolloutStats, alive: np.ndarray, priors: np.ndarray, prior_weight: float) -> bool:
    """Return whether no move can be better than the best one by more than `NEGLIGIBLE`."""
    if total.count[alive].min() < MIN_SAMPLES:
        return False
    values, errors = posterior_value(total, priors, prior_weight)[alive], total.errors[alive]
    best = int(values.argmax())
    others = np.arange(len(alive)) != best
    upper_bounds = values + CONFIDENCE * np.hypot(errors, errors[best])
    return bool((upper_bounds[others] - values[best] < NEGLIGIBLE).all())


def _sample_counts(share: int | None, moves: int, end: float) -> Iterator[int]:
    """Yield the number of determinizations to run next, until the share or the time is used up."""
    if share is not None:
        left = max(1, share // moves)
        while left > 0 and time.perf_counter() < end:
            yield min(left, COUNTED_SAMPLES)
            left -= min(left, COUNTED_SAMPLES)
        return
    samples = 1
    while True:
        start = time.perf_counter()
        yield samples
        now = time.perf_counter()
        if now >= end:
            return
        seconds_each = max((now - start) / samples, 1e-7)
        samples = max(1, min(int(min(CLOCK_INTERVAL, end - now) / seconds_each), 4 * CHUNK))
