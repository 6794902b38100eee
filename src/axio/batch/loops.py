"""The loops of a batch for one game, compiled when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import batches
from ..engine.layout import allocate
from ..games.variant import Variant
from .crew import Shared, shared

LOOPS: dict[str, Callable[..., Any]] = {
    "begin": batches.begin_all,
    "find_wrong": batches.find_wrong,
    "advance": batches.advance_all,
    "advance_and_look": batches.advance_and_look_all,
    "mark": batches.mark_all,
    "count": batches.count_all,
    "nth": batches.nth_all,
    "pick": batches.pick_all,
    "choose": batches.choose_all,
    "over": batches.over_all,
    "observe": batches.observe_all,
    "random_games": batches.random_games,
    "greedy_games": batches.greedy_games,
}


class Loops:
    """`engine.batches`, bound to a game's rules and compiled for the layout of its state."""

    def __init__(self, variant: Variant) -> None:
        self._kernels = variant.kernels
        self._rules = variant.kernels.with_parts(batches.PARTS)
        self._tables = variant.tables
        self._states = allocate(variant.opening.dtype)
        self._made: dict[str, Any] = {}
        self._shared: dict[str, Shared] = {}

    def __getitem__(self, name: str) -> Any:
        """The loop of this name, ready to be called."""
        if name not in self._made:
            arguments = self._examples()[name]
            self._made[name] = self._kernels.make(
                LOOPS[name], self._rules, self._tables, *arguments, 0, 1, counted=False
            )
        return self._made[name]

    def shared(self, name: str) -> Shared:
        """The loop of this name for a crew."""
        if name not in self._shared:
            self._shared[name] = shared(self[name], name, (self._tables, *self._examples()[name]))
        return self._shared[name]

    def _examples(self) -> dict[str, tuple[Any, ...]]:
        """Arguments as loops will get them: their types are what is compiled for."""
        states, rngs = self._states, np.zeros(1, np.uint64)
        numbers, flags, counts = np.zeros(1, np.int32), np.zeros(1, np.bool_), np.zeros(1, np.int64)
        gains, finals, rewards = (
            np.zeros((1, 1), np.int16),
            np.zeros((1, 1, 1), np.int16),
            np.zeros((1, 1), np.float32),
        )
        places, boards, vectors = np.zeros(1, np.int16), np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16)
        masks = np.zeros((1, 1), np.uint8)
        advance = (states, states, rngs, numbers, True, 0, gains, finals, rewards, flags)
        whole_games = (states, states, rngs, 0, counts, counts)
        return {
            "begin": (states, states, rngs, flags),
            "find_wrong": (states, numbers, 0, flags),
            "advance": advance,
            "advance_and_look": (*advance, places, boards, vectors, masks, True, numbers),
            "mark": (states, masks),
            "count": (states, numbers),
            "nth": (states, counts, numbers),
            "pick": (states, rngs, numbers),
            "choose": (states, rngs, numbers),
            "over": (states, flags),
            "observe": (states, np.zeros(1, np.uint8), places, boards, vectors),
            "random_games": whole_games,
            "greedy_games": whole_games,
        }
