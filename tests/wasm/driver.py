"""Games and rollouts in Python, with the same calls in the same order as `driver.js`."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from axiogames.games.runtime.loops import list_legal, sample_draw, step
from axiogames.games.runtime.state import DRAW, OVER, allocate
from axiogames.games.runtime.xorshift import seed_states
from axiogames.games.variant import Variant
from axiogames.players.evaluation.hidden_tiles import hidden_tiles_dtype
from axiogames.players.evaluation.rollout_loops import (
    RolloutSums,
    RolloutTask,
    one_ply_search_at,
    run_rollouts,
)
from axiogames.players.evaluation.weights import load_weights, scratch_dtype

WIDTH = 24  # moves that the one-ply search compares
ROLL_EVERY = 16  # actions


class Golden:
    """Games whose actions and states are collected in a digest."""

    def __init__(self, variant: Variant) -> None:
        self.variant, self.kernels, self.constants = variant, variant.kernels, variant.constants
        self.weights = load_weights(variant)
        self.states = allocate(variant.opening.dtype, 4)
        self.scratch = allocate(scratch_dtype(len(variant.tracks)))
        self.rng = np.zeros(1, np.uint64)
        self.actions = np.zeros(1 << 14, np.int32)

    def play(self, seed: int, strong: bool) -> str:
        """Play a game and return the digest of its actions, values, rollouts and final state."""
        digest = hashlib.sha256()
        states, constants = self.states, self.constants
        states[0] = self.variant.opening[0]
        state = states[:1]
        self.rng[0] = seed
        actions: list[int] = []
        while state["phase"][0] != OVER:
            if state["phase"][0] >= DRAW:
                action = self.kernels[sample_draw](constants, state, self.rng)
            else:
                count = self.kernels[list_legal](constants, state, self.actions)
                action = int(self.actions[len(actions) % count])
                if strong:
                    action, value = self.kernels[one_ply_search_at](
                        constants, states, WIDTH, self.weights, self.scratch
                    )
                    digest.update(np.float64(value).tobytes())
                if len(actions) % ROLL_EVERY == 0:
                    self._roll(digest, [action, self.actions[count - 1]])
            self.kernels[step](constants, state, action, False)
            actions.append(action)
        digest.update(np.array(actions, np.int32).tobytes())
        digest.update(state.tobytes())
        return digest.hexdigest()

    def _roll(self, digest: Any, actions: list[int]) -> None:
        tracks = len(self.variant.tracks)
        hidden = allocate(hidden_tiles_dtype(self.variant.opening.dtype))
        sums = RolloutSums(np.zeros(2), np.zeros(2), np.zeros((2, self.variant.players, tracks)))
        task = RolloutTask(np.array(actions, np.int32), self.rng.copy(), 5, 2, hidden, 3, np.float32(0.85))
        self.kernels[run_rollouts](self.constants, self.states, task, self.weights, self.scratch, sums)
        for part in sums:
            digest.update(part.tobytes())


def play_goldens(variant: Variant, seeds: list[int], strong: bool) -> list[str]:
    """Play a game per seed and return the digest of each."""
    golden = Golden(variant)
    return [golden.play(seed, strong) for seed in seeds]


def golden_seeds(count: int) -> list[int]:
    """Return the seeds of golden games."""
    seeds: list[int] = seed_states(20, 0, count).tolist()
    return seeds
