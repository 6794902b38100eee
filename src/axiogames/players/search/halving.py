"""Finding the best of some moves: all are tried, then the better half of them, and so on.

Sequential halving: every round gets the same share of the budget, and half as many moves. Time runs out
between chunks of a few milliseconds, so that nobody waits longer than was agreed. Nor longer than needed:
where more thought would change next to nothing, the rest of the time is given back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from .rollouts import CHUNK, Rollouts, RolloutStats

PATIENCE = 0.006  # seconds between two looks at the clock
PORTION = 8 * CHUNK  # guesses between two looks at the clock where rollouts are counted
LEFT = 2  # moves that the last round compares
SURE = 3.0  # standard errors by which a move may be better than it looks
AT_STAKE = 0.001  # of winning or of the places: less is not worth waiting for
ENOUGH = 100  # rollouts of each move before their errors are believed


@dataclass(frozen=True, slots=True)
class Deadline:
    """How much may be spent: rollouts, where they are counted, otherwise seconds since this was made."""

    seconds: float
    rollouts: int | None
    begun: float = field(default_factory=lambda: time.perf_counter())

    def rounds(self, moves: int) -> int:
        """How many rounds so many moves need."""
        return max(1, ceil(log2(max(moves, LEFT) / LEFT)) + 1)


def sequential_halving(
    rollouts: Rollouts,
    actions: np.ndarray,
    turns: int,
    meter: Deadline,
    looks: np.ndarray,
    prior_weight: float,
) -> RolloutStats:
    """Try the actions; what came of each. The best is the one that is worth most of those tried most.

    `looks` is what they seemed to be worth before, which counts as much as so many rollouts as `prior_weight`
    says.
    """
    total = RolloutStats(len(actions), rollouts.variant.players, len(rollouts.variant.tracks))
    alive = np.arange(len(actions))
    rounds = meter.rounds(len(actions))
    begun = time.perf_counter()
    left = meter.begun + meter.seconds - begun
    first = 0
    for number in range(rounds):
        until = begun + left * (number + 1) / rounds
        share = None if meter.rollouts is None else meter.rollouts // rounds
        for guesses in _portions(share, len(alive), until):
            # By the clock, all threads get the same; counted, the same is added up however many there are.
            chunk = CHUNK if meter.rollouts is not None else ceil(guesses / rollouts.threads)
            for tally in rollouts.run(actions[alive], first, guesses, turns, chunk):
                total.add(alive, tally)
            first += guesses
            if meter.rollouts is None and _decided(total, alive, looks, prior_weight):
                return total
        if number + 1 < rounds:
            best = np.argsort(-posterior_value(total, looks, prior_weight)[alive], kind="stable")
            alive = np.sort(alive[best[: max(LEFT, ceil(len(alive) / 2))]])
    return total


def posterior_value(total: RolloutStats, looks: np.ndarray, prior_weight: float) -> np.ndarray:
    """What moves are worth by what came of them, and by how they looked, as much as `prior_weight` says."""
    values: np.ndarray = (total.sums + prior_weight * looks) / np.maximum(total.count + prior_weight, 1)
    return values


def _decided(total: RolloutStats, alive: np.ndarray, looks: np.ndarray, prior_weight: float) -> bool:
    """Whether no move can be better than the best one by so much that it would matter."""
    if total.count[alive].min() < ENOUGH:
        return False
    values, errors = posterior_value(total, looks, prior_weight)[alive], total.errors[alive]
    best = int(values.argmax())
    others = np.arange(len(alive)) != best
    might = values + SURE * np.hypot(errors, errors[best])
    return bool((might[others] - values[best] < AT_STAKE).all())


def _portions(share: int | None, moves: int, until: float) -> Iterator[int]:
    """Numbers of guesses to play next: what a share of rollouts allows, or until a time."""
    if share is not None:
        left = max(1, share // moves)
        while left > 0 and time.perf_counter() < until:
            yield min(left, PORTION)
            left -= min(left, PORTION)
        return
    guesses = 1
    while True:
        start = time.perf_counter()
        yield guesses
        now = time.perf_counter()
        if now >= until:
            return
        pace = max((now - start) / guesses, 1e-7)
        guesses = max(1, min(int(min(PATIENCE, until - now) / pace), 4 * CHUNK))
