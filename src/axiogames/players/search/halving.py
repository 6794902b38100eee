"""The clock of a search: it drives the compiled loops of sequential halving within limits.

The clock is read every few milliseconds, so that the time limit holds. The search stops early when more
rollouts could not change the result by a noticeable amount.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from .rollouts import CHUNK, Rollouts
from .search_loops import add_rollouts, end_round, search_is_decided

CLOCK_INTERVAL = 0.006  # seconds between two readings of the clock
COUNTED_SAMPLES = 8 * CHUNK  # determinizations between two readings of the clock if rollouts are counted


@dataclass(frozen=True, slots=True)
class Deadline:
    """The limits of a search: a time, measured from the deadline's creation, and a number of rollouts."""

    seconds: float
    rollouts: int | None  # `None` for no limit
    started: float = field(default_factory=lambda: time.perf_counter())


def sequential_halving(runner: Rollouts, search: Any, turns: int, deadline: Deadline) -> None:
    """Run the rounds of a search that has begun, within its limits.

    Args:
        runner: runs the rollouts.
        search: the record of the search, see `search_dtype`.
        turns: further moves of the root player in each rollout.
        deadline: when to stop.
    """
    kernels = runner.variant.kernels
    started = time.perf_counter()
    remaining = deadline.started + deadline.seconds - started
    counted = deadline.rollouts is not None
    rounds = int(search["rounds"][0])
    for n_round in range(1, rounds + 1):
        actions = search["alive_actions"][0, : search["n_alive"][0]].copy()
        end = started + remaining * n_round / rounds
        for samples in _counted_samples(search, end) if counted else _timed_samples(end):
            # With a time limit, all threads get equal work. Counted rollouts are added up in chunks of a
            # fixed size, so that the result does not depend on the number of threads.
            chunk = CHUNK if counted else ceil(samples / runner.threads)
            for stats in runner.run(actions, int(search["samples"][0]), samples, turns, chunk):
                kernels[add_rollouts](search, stats.samples, stats.sums, stats.squares)
            if not counted and kernels[search_is_decided](search):
                return
        kernels[end_round](search)


def _counted_samples(search: Any, end: float) -> Iterator[int]:
    """Yield the number of determinizations to run next, until the round's share or the time is used up."""
    while search["left"][0] > 0 and time.perf_counter() < end:
        yield min(int(search["left"][0]), COUNTED_SAMPLES)


def _timed_samples(end: float) -> Iterator[int]:
    """Yield the number of determinizations to run next, until the time is used up."""
    samples = 1
    while True:
        start = time.perf_counter()
        yield samples
        now = time.perf_counter()
        if now >= end:
            return
        seconds_each = max((now - start) / samples, 1e-7)
        samples = max(1, min(int(min(CLOCK_INTERVAL, end - now) / seconds_each), 4 * CHUNK))
