"""Training: first the utility parameters, then rounds of self-play and fitting of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.variant import Variant
from ..evaluation.weights import untrained_weights
from .fitting import POPULATION, cross_entropy, fit, fit_params, greedy_params, predict
from .self_play import SelfPlay, TrainingData

SEARCH_WIDTH = 16  # of the one-ply search in self-play
EVALUATION_WIDTH = 24  # of the one-ply search in the matches after a round
TRUST = 0.7  # see `TrainingData.targets`
REPLAY_ROUNDS = 6  # rounds whose games the network is fitted to
RATES = ((3, 3e-3), (12, 1e-3), (1 << 30, 3e-4))  # learning rates, each up to a round


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The amount of play in training."""

    rounds: int = 20
    games: int = 3000  # per round
    generations: int = 12  # of the cross-entropy method that tunes the utility parameters
    param_games: int = 400  # per match of this tuning
    evaluation_games: int = 1000  # per match after each round
    seed: int = 1


@dataclass(frozen=True, slots=True)
class TrainingRound:
    """The outcome of a round: its loss, and its results against greedy play and the previous round."""

    number: int
    loss: float
    against_greedy: float
    against_last: float
    weights: Any


def train(
    variant: Variant,
    config: TrainingConfig,
    advance: Callable[[str, int, int], None] = lambda task, done, total: None,
    trained: Any = None,
) -> Iterator[TrainingRound]:
    """Train the evaluation of a game.

    Args:
        variant: the game and the number of players.
        config: the amount of play.
        advance: called with the name of a task, the amount done, and the total.
        trained: weights to continue from, or `None` to train new ones.

    Yields:
        The outcome of each round. The weights of the last round are the ones to keep.
    """
    self_play = SelfPlay(variant)
    progress = _Progress(advance)
    resumed = trained is not None
    weights = trained if resumed else _with_fitted_params(self_play, config, progress)
    greedy = weights.copy()
    greedy["utility_params"][0] = greedy_params()
    others = variant.players - 1
    replay: list[TrainingData] = []
    for number in range(config.rounds):
        searched = bool(number or resumed)  # in the first round, the network has not been fitted yet
        played = self_play.play(
            weights,
            config.games,
            SEARCH_WIDTH if searched else 0,
            config.seed * 1000 + number,
            progress(f"round {number + 1}", config.games),
        )
        replay = [*replay, played][-REPLAY_ROUNDS:]
        inputs = np.concatenate([data.inputs for data in replay])
        trust = TRUST if searched else 1.0
        targets = np.concatenate([data.targets(predict(weights, data.inputs), trust) for data in replay])
        fitted = fit(weights, inputs, targets, _rate(number, resumed), config.seed + number)
        seed = config.seed * 7919 + number
        against_greedy = self_play.match(
            [fitted] + [greedy] * others, [EVALUATION_WIDTH] + [0] * others, config.evaluation_games, seed
        )
        against_last = self_play.match(
            [fitted] + [weights] * others, [EVALUATION_WIDTH] * (others + 1), config.evaluation_games, seed
        )
        yield TrainingRound(
            number + 1,
            cross_entropy(predict(fitted, played.inputs), played.results),
            float(against_greedy[0]),
            float(against_last[0]),
            fitted,
        )
        weights = fitted


def _with_fitted_params(self_play: SelfPlay, config: TrainingConfig, progress: _Progress) -> Any:
    weights = untrained_weights(self_play.variant)
    steps = config.generations * POPULATION
    weights["utility_params"][0] = fit_params(
        self_play,
        weights,
        config.generations,
        config.param_games // self_play.variant.players,
        seed=config.seed,
        advance=progress("tuning utility parameters", steps),
    )
    return weights


def _rate(round_index: int, resumed: bool) -> float:
    """Return the learning rate of a round; a trained network is changed slowly."""
    return RATES[-1][1] if resumed else next(rate for stop, rate in RATES if round_index < stop)


class _Progress:
    """Reports the progress of each task."""

    def __init__(self, advance: Callable[[str, int, int], None]) -> None:
        self._advance = advance

    def __call__(self, task: str, total: int) -> Callable[[int], None]:
        done = 0

        def step(n: int) -> None:
            nonlocal done
            done += n
            self._advance(task, done, total)

        return step
