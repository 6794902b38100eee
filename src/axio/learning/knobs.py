"""Turning the knobs of `engine.worth` by the cross-entropy method: try some, keep the best, try near them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.worth import KNOBS, PLAIN
from .selfplay import Bench

START = (0.1, 0.3, 0.05, 0.05, 1.0, 0.5)
SPREAD = (0.2, 0.2, 0.1, 0.1, 1.0, 1.0)
TRIES = 24  # settings a generation
BEST = 6  # of them that the next generation is made from
SLOW = 0.3  # of the old that stays
LEAST = 0.005  # spread


def greedy_knobs() -> np.ndarray:
    """Every point is worth the same."""
    knobs = np.zeros(KNOBS, np.float32)
    knobs[PLAIN] = 1.0
    return knobs


def turn_knobs(
    bench: Bench,
    mind: Any,
    generations: int,
    games: int,
    seed: int,
    advance: Callable[[int], None] = lambda n: None,
) -> np.ndarray:
    """The knobs with which playing by what points are worth does best, against greed and against itself."""
    lots = np.random.default_rng(seed)
    middle, spread = np.array(START), np.array(SPREAD)
    others = bench.variant.players - 1
    rivals = [_with_knobs(mind, greedy_knobs()), _with_knobs(mind, middle)]
    for generation in range(generations):
        tried = middle + spread * lots.normal(size=(TRIES, KNOBS))
        tried[0] = middle
        tried[:, 0] = np.abs(tried[:, 0])
        results = []
        for knobs in tried:
            one = _with_knobs(mind, knobs)
            meetings = [[one] + [rival] * others for rival in (rivals if others else rivals[:1])]
            results.append(
                np.mean([bench.contest(minds, [0] * len(minds), games, generation)[0] for minds in meetings])
            )
            advance(1)
        best = tried[np.argsort(results)[-BEST:]]
        middle = SLOW * middle + (1 - SLOW) * best.mean(axis=0)
        spread = SLOW * spread + (1 - SLOW) * best.std(axis=0) + LEAST
        rivals[1] = _with_knobs(mind, middle)
    return middle.astype(np.float32)


def _with_knobs(mind: Any, knobs: np.ndarray) -> Any:
    other = mind.copy()
    other["knobs"][0] = knobs
    return other
