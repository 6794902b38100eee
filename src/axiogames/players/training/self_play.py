"""Games of a mind against itself, as data to learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.runtime.state import allocate
from ...games.runtime.xorshift import seed_state
from ...games.variant import Variant
from ..evaluation.network import feature_count
from ..evaluation.rollout_loops import play_matches, self_play
from ..evaluation.weights import MAX_SEATS, scratch_dtype

LONGEST = 400  # positions of a game, at most
NOISE = 60  # moves of a thousand that are made by lot, so that more than the usual is seen


@dataclass(frozen=True, slots=True)
class Games:
    """Positions in numbers, in the order they were played: who had just moved, and what came of it."""

    inputs: np.ndarray
    results: np.ndarray
    seats: np.ndarray
    ends: np.ndarray  # where the next game begins, for each game

    def targets(self, values: np.ndarray, trust: float) -> np.ndarray:
        """What each position should be worth, from the result and what later positions look like.

        `values` is what they look like now. With a `trust` of 1 only the result counts. With less, each later
        position of the same seat takes a share of what is left: less exact, but steadier than one result.
        """
        targets: np.ndarray = self.results.copy()
        start = 0
        for end in self.ends.tolist():
            later: dict[int, int] = {}
            for row in range(end - 1, start - 1, -1):
                seat = int(self.seats[row])
                if seat in later:
                    after = later[seat]
                    targets[row] = (1 - trust) * values[after] + trust * targets[after]
                later[seat] = row
            start = end
        return targets


class Bench:
    """Room for compiled loops that play whole games of one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.tracks = len(variant.tracks)
        self._states = allocate(variant.opening.dtype, 2)
        self._desk = allocate(scratch_dtype(self.tracks))
        self._room = np.zeros(variant.most_actions, np.int32)

    def play(
        self, weights: Any, games: int, keep: int, seed: int, advance: Callable[[int], None] = lambda n: None
    ) -> Games:
        """Let a mind play itself by glances at `keep` moves."""
        rng = seed_state(seed)
        inputs = np.zeros((LONGEST, feature_count(MAX_SEATS, self.tracks)), np.float32)
        results, seats = np.zeros(LONGEST, np.float32), np.zeros(LONGEST, np.int64)
        used = feature_count(self.variant.players, self.tracks)
        played: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for _ in range(games):
            rows = self.variant.kernels[self_play](
                self.variant.constants,
                self.variant.opening,
                self._states,
                keep,
                NOISE,
                rng,
                weights,
                self._desk,
                self._room,
                inputs,
                results,
                seats,
                0,
            )
            played.append((inputs[:rows, :used].copy(), results[:rows].copy(), seats[:rows].copy()))
            advance(1)
        ends = np.cumsum([len(one[1]) for one in played])
        inputs, results, seats = (np.concatenate(column) for column in zip(*played, strict=True))
        return Games(inputs, results, seats, ends)

    def contest(self, contestants: list[Any], keeps: list[int], games: int, seed: int) -> np.ndarray:
        """Let minds play each other, changing seats: what each gets on average, between 0 and 1."""
        points = np.zeros(len(contestants))
        self.variant.kernels[play_matches](
            self.variant.constants, self.variant.opening, self._states, np.array(keeps, np.int64), games,
            seed_state(seed), np.concatenate(contestants), self._desk, self._room, points,
        )  # fmt: skip
        mean: np.ndarray = points / games
        return mean
