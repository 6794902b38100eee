"""Learning a game from nothing: knobs first, then rounds of playing and learning from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.variant import Variant
from ..evaluation.weights import untrained_weights
from .fitting import TRIES, cross_entropy, fit, fit_params, greedy_params, predict
from .self_play import Bench, Games

KEEP = 16  # moves looked at in games to learn from
TRUST = 0.7  # in results, see `Games.targets`
MEMORY = 6  # rounds whose games are learned from
RATES = ((3, 3e-3), (12, 1e-3), (1 << 30, 3e-4))  # how fast to learn up to a round
PROOF_KEEP = 24


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to play and learn."""

    rounds: int = 20
    games: int = 3000  # a round
    generations: int = 12  # of knobs
    param_games: int = 400
    proof_games: int = 1000  # after each round, to see what it was good for
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Round:
    """What a round was good for: results against greed and against the round before (1 is winning all)."""

    number: int
    loss: float
    against_greed: float
    against_last: float
    weights: Any


def train(
    variant: Variant,
    plan: Plan,
    advance: Callable[[str, int, int], None] = lambda what, done, of: None,
    learned: Any = None,
) -> Iterator[Round]:
    """Learn a game, or go on from what has been `learned`; what each round has brought.

    The last mind is the one to keep.
    """
    bench = Bench(variant)
    count = _Counter(advance)
    known = learned is not None
    weights = learned if known else _with_fitted_params(bench, plan, count)
    rival = weights.copy()
    rival["utility_params"][0] = greedy_params()
    others = variant.players - 1
    remembered: list[Games] = []
    for number in range(plan.rounds):
        played = bench.play(
            weights,
            plan.games,
            KEEP if number or known else 0,
            plan.seed * 1000 + number,
            count(f"round {number + 1}", plan.games),
        )
        remembered = [*remembered, played][-MEMORY:]
        inputs = np.concatenate([games.inputs for games in remembered])
        trust = TRUST if number or known else 1.0
        targets = np.concatenate(
            [games.targets(predict(weights, games.inputs), trust) for games in remembered]
        )
        learned = fit(weights, inputs, targets, _rate(number, known), plan.seed + number)
        seed = plan.seed * 7919 + number
        greed = bench.contest(
            [learned] + [rival] * others, [PROOF_KEEP] + [0] * others, plan.proof_games, seed
        )
        last = bench.contest(
            [learned] + [weights] * others, [PROOF_KEEP] * (others + 1), plan.proof_games, seed
        )
        yield Round(
            number + 1,
            cross_entropy(predict(learned, played.inputs), played.results),
            float(greed[0]),
            float(last[0]),
            learned,
        )
        weights = learned


def _with_fitted_params(bench: Bench, plan: Plan, count: _Counter) -> Any:
    weights = untrained_weights(bench.variant)
    steps = plan.generations * TRIES
    weights["utility_params"][0] = fit_params(
        bench,
        weights,
        plan.generations,
        plan.param_games // bench.variant.players,
        plan.seed,
        count("turning knobs", steps),
    )
    return weights


def _rate(number: int, known: bool) -> float:
    """How fast to learn in a round: what is known already is changed with care."""
    return RATES[-1][1] if known else next(rate for until, rate in RATES if number < until)


class _Counter:
    """Tells how far a part of the work is."""

    def __init__(self, advance: Callable[[str, int, int], None]) -> None:
        self._advance = advance

    def __call__(self, what: str, of: int) -> Callable[[int], None]:
        done = 0

        def step(n: int) -> None:
            nonlocal done
            done += n
            self._advance(what, done, of)

        return step
