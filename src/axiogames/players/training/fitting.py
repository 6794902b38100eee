"""Fitting the network to what positions were worth, by Adam on the cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...games.runtime.evaluation import PLAIN, UTILITY_PARAMS
from ..evaluation.network import HIDDEN_UNITS
from .self_play import Bench

BATCH = 512
EPOCHS = 4
MOMENTUM, SPREAD = 0.9, 0.999  # of Adam
TINY = 1e-8


def predict(weights: Any, inputs: np.ndarray) -> np.ndarray:
    """What positions in numbers are worth to a mind."""
    _, _, values = _forward(_parameters(weights, inputs.shape[1]), inputs)
    return values


def cross_entropy(values: np.ndarray, targets: np.ndarray) -> float:
    """How far values are from targets; even perfect values keep what chance decides."""
    values = np.clip(values, 1e-6, 1 - 1e-6)
    return float(-(targets * np.log(values) + (1 - targets) * np.log(1 - values)).mean())


def fit(weights: Any, inputs: np.ndarray, targets: np.ndarray, rate: float, seed: int) -> Any:
    """A mind that has learned from positions what they are worth."""
    rng = np.random.default_rng(seed)
    width = inputs.shape[1]
    parameters = _parameters(weights, width)
    if not parameters[2].any():
        parameters[0] = rng.normal(0, width**-0.5, (width, HIDDEN_UNITS)).astype(np.float32)
        parameters[2] = rng.normal(0, HIDDEN_UNITS**-0.5, HIDDEN_UNITS).astype(np.float32)
    means = [np.zeros_like(one) for one in parameters]
    squares = [np.zeros_like(one) for one in parameters]
    step, steps = 0, EPOCHS * (len(inputs) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(inputs))
        for first in range(0, len(inputs) - BATCH + 1, BATCH):
            batch = order[first : first + BATCH]
            step += 1
            slope = _slopes(parameters, inputs[batch], targets[batch])
            now = rate * (1 - step / (steps + 1))
            for one, mean, square, change in zip(parameters, means, squares, slope, strict=True):
                mean += (1 - MOMENTUM) * (change - mean)
                square += (1 - SPREAD) * (change**2 - square)
                expected, spread = mean / (1 - MOMENTUM**step), square / (1 - SPREAD**step)
                one -= (now * expected / (np.sqrt(spread) + TINY)).astype(np.float32)
    return _with_parameters(weights, parameters)


def _parameters(weights: Any, width: int) -> list[np.ndarray]:
    return [
        weights["weights"][0, :width].copy(),
        weights["offsets"][0].copy(),
        weights["outer"][0].copy(),
        weights["offset"].copy(),
    ]


def _with_parameters(weights: Any, parameters: list[np.ndarray]) -> Any:
    learned = weights.copy()
    learned["weights"][0, : len(parameters[0])] = parameters[0]
    learned["offsets"][0], learned["outer"][0], learned["offset"] = parameters[1:]
    return learned


def _forward(parameters: list[np.ndarray], inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weights, offsets, outer, offset = parameters
    sums = inputs @ weights + offsets
    active = np.maximum(sums, 0)
    return sums, active, 1 / (1 + np.exp(-(active @ outer + offset[0])))


def _slopes(parameters: list[np.ndarray], inputs: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
    sums, active, values = _forward(parameters, inputs)
    wrong = (values - targets) / len(targets)
    back = np.outer(wrong, parameters[2]) * (sums > 0)
    return [inputs.T @ back, back.sum(axis=0), active.T @ wrong, np.array([wrong.sum()], np.float32)]


START = (0.1, 0.3, 0.05, 0.05, 1.0, 0.5)
FIRST_SPREAD = (0.2, 0.2, 0.1, 0.1, 1.0, 1.0)
TRIES = 24  # settings a generation
BEST = 6  # of them that the next generation is made from
SLOW = 0.3  # of the old that stays
LEAST = 0.005  # spread


def greedy_params() -> np.ndarray:
    """Every point is worth the same."""
    utility_params = np.zeros(UTILITY_PARAMS, np.float32)
    utility_params[PLAIN] = 1.0
    return utility_params


def fit_params(
    bench: Bench,
    weights: Any,
    generations: int,
    games: int,
    seed: int,
    advance: Callable[[int], None] = lambda n: None,
) -> np.ndarray:
    """The knobs with which playing by what points are worth does best, against greed and against itself."""
    rng = np.random.default_rng(seed)
    middle, spread = np.array(START), np.array(FIRST_SPREAD)
    others = bench.variant.players - 1
    rivals = [_with_params(weights, greedy_params()), _with_params(weights, middle)]
    for generation in range(generations):
        tried = middle + spread * rng.normal(size=(TRIES, UTILITY_PARAMS))
        tried[0] = middle
        tried[:, 0] = np.abs(tried[:, 0])
        results = []
        for utility_params in tried:
            one = _with_params(weights, utility_params)
            meetings = [[one] + [rival] * others for rival in (rivals if others else rivals[:1])]
            results.append(
                np.mean(
                    [
                        bench.contest(contestants, [0] * len(contestants), games, generation)[0]
                        for contestants in meetings
                    ]
                )
            )
            advance(1)
        best = tried[np.argsort(results)[-BEST:]]
        middle = SLOW * middle + (1 - SLOW) * best.mean(axis=0)
        spread = SLOW * spread + (1 - SLOW) * best.std(axis=0) + LEAST
        rivals[1] = _with_params(weights, middle)
    return middle.astype(np.float32)


def _with_params(weights: Any, utility_params: np.ndarray) -> Any:
    other = weights.copy()
    other["utility_params"][0] = utility_params
    return other
