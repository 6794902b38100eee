"""Self-play: games of the evaluation against itself, as training data, and matches between weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.runtime import signatures
from ...games.runtime.state import allocate
from ...games.runtime.xorshift import seed_state
from ...games.variant import Variant
from ..evaluation.network import feature_count
from ..evaluation.rollout_loops import SEARCH_STATES, PositionArrays, play_matches, self_play
from ..evaluation.weights import MAX_SEATS, scratch_dtype

MAX_POSITIONS = 400  # in a game
NOISE = 60  # random moves per thousand, for more varied positions


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Positions of games in the order of play, each after a move."""

    inputs: np.ndarray  # features, a row for each position
    results: np.ndarray  # the result of the game for the seat that has just moved, in [0, 1]
    seats: np.ndarray  # the seat that has just moved
    ends: np.ndarray  # the index after the last position, for each game

    def targets(self, values: np.ndarray, trust: float) -> np.ndarray:
        """Return the value that each position should have, as in TD(λ) with λ = `trust`.

        With a `trust` of 1 it is the result. With less, the values of later positions of the same seat count
        as well: biased, but less noisy than a single result.

        Args:
            values: the current value of each position.
            trust: λ, the weight of the next target relative to the next value.
        """
        targets: np.ndarray = self.results.copy()
        start = 0
        for end in self.ends.tolist():
            next_of: dict[int, int] = {}
            for row in range(end - 1, start - 1, -1):
                seat = int(self.seats[row])
                if seat in next_of:
                    later = next_of[seat]
                    targets[row] = (1 - trust) * values[later] + trust * targets[later]
                next_of[seat] = row
            start = end
        return targets


class SelfPlay:
    """Plays whole games of one variant in compiled code."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.tracks = len(variant.tracks)
        self._states = allocate(variant.opening.dtype, SEARCH_STATES)
        self._scratch = allocate(scratch_dtype(self.tracks))

    def play(
        self, weights: Any, games: int, keep: int, seed: int, advance: Callable[[int], None] = lambda n: None
    ) -> TrainingData:
        """Play games of `weights` against themselves.

        Args:
            weights: the weights of all seats.
            games: the number of games.
            keep: the width of the one-ply search that chooses moves; 0 for the rollout policy.
            seed: the seed of all games.
            advance: called with 1 after each game.
        """
        arrays = signatures.GameArrays(self.variant.opening, self._states, seed_state(seed))
        inputs = np.zeros((MAX_POSITIONS, feature_count(MAX_SEATS, self.tracks)), np.float32)
        results, seats = np.zeros(MAX_POSITIONS, np.float32), np.zeros(MAX_POSITIONS, np.int64)
        positions = PositionArrays(inputs, results, seats)
        used = feature_count(self.variant.players, self.tracks)
        played: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for _ in range(games):
            rows = self.variant.kernels[self_play](
                self.variant.constants, arrays, keep, NOISE, weights, self._scratch, positions
            )
            played.append((inputs[:rows, :used].copy(), results[:rows].copy(), seats[:rows].copy()))
            advance(1)
        ends = np.cumsum([len(results) for _, results, _ in played])
        inputs, results, seats = (np.concatenate(column) for column in zip(*played, strict=True))
        return TrainingData(inputs, results, seats, ends)

    def match(self, contestants: list[Any], keeps: list[int], games: int, seed: int) -> np.ndarray:
        """Play a match with rotating seats and return the mean result of each contestant, in [0, 1].

        Args:
            contestants: weights, one for each seat.
            keeps: the search width of each contestant, as in `play`.
            games: the number of games.
            seed: the seed of all games.
        """
        points = np.zeros(len(contestants))
        self.variant.kernels[play_matches](
            self.variant.constants,
            signatures.GameArrays(self.variant.opening, self._states, seed_state(seed)),
            np.array(keeps, np.int64),
            games,
            np.concatenate(contestants),
            self._scratch,
            points,
        )
        mean: np.ndarray = points / games
        return mean
