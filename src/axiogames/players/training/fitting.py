"""Fitting of the evaluation: the network by Adam, the utility parameters by the cross-entropy method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...games.runtime.evaluation import PLAIN, UTILITY_PARAMS
from ..evaluation.network import HIDDEN_UNITS
from .self_play import SelfPlay

# Adam
BATCH_SIZE = 512
EPOCHS = 4
BETA_1, BETA_2 = 0.9, 0.999
EPSILON = 1e-8

# Cross-entropy method
INITIAL_MEAN = (0.1, 0.3, 0.05, 0.05, 1.0, 0.5)
INITIAL_DEVIATION = (0.2, 0.2, 0.1, 0.1, 1.0, 1.0)
POPULATION = 24  # parameter vectors per generation
ELITE = 6  # the best of them, which determine the next generation
SMOOTHING = 0.3  # weight of the previous mean and deviation
MIN_DEVIATION = 0.005


# ---------------------------------------------------------------- network


def predict(weights: Any, inputs: np.ndarray) -> np.ndarray:
    """Return the network's values for rows of features."""
    _, _, values = _forward(_parameters(weights, inputs.shape[1]), inputs)
    return values


def cross_entropy(values: np.ndarray, targets: np.ndarray) -> float:
    """Return the mean cross entropy of values. It is above 0 even for perfect values: games are random."""
    values = np.clip(values, 1e-6, 1 - 1e-6)
    return float(-(targets * np.log(values) + (1 - targets) * np.log(1 - values)).mean())


def fit(weights: Any, inputs: np.ndarray, targets: np.ndarray, rate: float, seed: int) -> Any:
    """Return weights whose network is fitted to targets, starting from `weights`.

    Args:
        weights: the initial weights; an untrained network is initialized at random.
        inputs: rows of features.
        targets: the value of each row, in [0, 1].
        rate: the initial learning rate, which decreases linearly to 0.
        seed: the seed of the initial network and of the order of samples.
    """
    rng = np.random.default_rng(seed)
    width = inputs.shape[1]
    parameters = _parameters(weights, width)
    if not parameters[2].any():
        parameters[0] = rng.normal(0, width**-0.5, (width, HIDDEN_UNITS)).astype(np.float32)
        parameters[2] = rng.normal(0, HIDDEN_UNITS**-0.5, HIDDEN_UNITS).astype(np.float32)
    means = [np.zeros_like(parameter) for parameter in parameters]
    squares = [np.zeros_like(parameter) for parameter in parameters]
    step, steps = 0, EPOCHS * (len(inputs) // BATCH_SIZE)
    for _ in range(EPOCHS):
        order = rng.permutation(len(inputs))
        for start in range(0, len(inputs) - BATCH_SIZE + 1, BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            step += 1
            gradients = _gradients(parameters, inputs[batch], targets[batch])
            current_rate = rate * (1 - step / (steps + 1))
            for parameter, mean, square, gradient in zip(parameters, means, squares, gradients, strict=True):
                mean += (1 - BETA_1) * (gradient - mean)
                square += (1 - BETA_2) * (gradient**2 - square)
                corrected_mean = mean / (1 - BETA_1**step)
                corrected_square = square / (1 - BETA_2**step)
                parameter -= (current_rate * corrected_mean / (np.sqrt(corrected_square) + EPSILON)).astype(
                    np.float32
                )
    return _with_parameters(weights, parameters)


def _parameters(weights: Any, width: int) -> list[np.ndarray]:
    return [
        weights["hidden_weights"][0, :width].copy(),
        weights["hidden_biases"][0].copy(),
        weights["output_weights"][0].copy(),
        weights["output_bias"].copy(),
    ]


def _with_parameters(weights: Any, parameters: list[np.ndarray]) -> Any:
    fitted = weights.copy()
    fitted["hidden_weights"][0, : len(parameters[0])] = parameters[0]
    fitted["hidden_biases"][0], fitted["output_weights"][0], fitted["output_bias"] = parameters[1:]
    return fitted


def _forward(parameters: list[np.ndarray], inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the hidden units before and after the ReLU, and the values."""
    hidden_weights, hidden_biases, output_weights, output_bias = parameters
    sums = inputs @ hidden_weights + hidden_biases
    active = np.maximum(sums, 0)
    return sums, active, 1 / (1 + np.exp(-(active @ output_weights + output_bias[0])))


def _gradients(parameters: list[np.ndarray], inputs: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
    sums, active, values = _forward(parameters, inputs)
    output = (values - targets) / len(targets)
    hidden = np.outer(output, parameters[2]) * (sums > 0)
    return [inputs.T @ hidden, hidden.sum(axis=0), active.T @ output, np.array([output.sum()], np.float32)]


# ---------------------------------------------------------------- utility parameters


def greedy_params() -> np.ndarray:
    """Return the utility parameters of a greedy player, for which all points have the same utility."""
    utility_params = np.zeros(UTILITY_PARAMS, np.float32)
    utility_params[PLAIN] = 1.0
    return utility_params


def fit_params(
    self_play: SelfPlay,
    weights: Any,
    generations: int,
    games: int,
    *,
    seed: int,
    advance: Callable[[int], None] = lambda n: None,
) -> np.ndarray:
    """Return the utility parameters with which the rollout policy plays best.

    They are tuned by the cross-entropy method, in matches against greedy play and against the current mean.

    Args:
        self_play: plays the matches.
        weights: the weights apart from the utility parameters.
        generations: the number of generations.
        games: games per match.
        seed: the random seed.
        advance: called with 1 after each parameter vector.
    """
    rng = np.random.default_rng(seed)
    mean, deviation = np.array(INITIAL_MEAN), np.array(INITIAL_DEVIATION)
    others = self_play.variant.players - 1
    rivals = [_with_params(weights, greedy_params()), _with_params(weights, mean)]
    for generation in range(generations):
        population = mean + deviation * rng.normal(size=(POPULATION, UTILITY_PARAMS))
        population[0] = mean
        population[:, 0] = np.abs(population[:, 0])
        results = []
        for utility_params in population:
            candidate = _with_params(weights, utility_params)
            line_ups = [[candidate] + [rival] * others for rival in (rivals if others else rivals[:1])]
            results.append(
                np.mean(
                    [
                        self_play.match(line_up, [0] * len(line_up), games, generation)[0]
                        for line_up in line_ups
                    ]
                )
            )
            advance(1)
        elite = population[np.argsort(results)[-ELITE:]]
        mean = SMOOTHING * mean + (1 - SMOOTHING) * elite.mean(axis=0)
        deviation = SMOOTHING * deviation + (1 - SMOOTHING) * elite.std(axis=0) + MIN_DEVIATION
        rivals[1] = _with_params(weights, mean)
    return mean.astype(np.float32)


def _with_params(weights: Any, utility_params: np.ndarray) -> Any:
    copy = weights.copy()
    copy["utility_params"][0] = utility_params
    return copy
