"""The loops of a batch for one game, compiled when they are first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..engine import batches
from ..engine.layout import allocate
from ..games.variant import Variant


class Loops:
    """`engine.batches`, bound to a game's rules and compiled for the layout of its state.

    The arguments here are examples: their types are what is compiled for.
    """

    def __init__(self, variant: Variant) -> None:
        self._kernels = variant.kernels
        self._rules = variant.kernels.with_parts(batches.PARTS)
        self._tables = variant.tables
        self._states = allocate(variant.opening.dtype)
        self._rngs = np.zeros(1, np.uint64)
        self._numbers = np.zeros(1, np.int32)
        self._flags = np.zeros(1, np.bool_)
        self._seats = np.zeros(1, np.uint8)
        self._counts = np.zeros(1, np.int64)

    def _make(self, loop: Any, *arguments: Any) -> Any:
        return self._kernels.make(loop, self._rules, self._tables, *arguments, 0, 1)

    @cached_property
    def begin(self) -> Any:
        return self._make(batches.begin_all, self._states, self._states, self._rngs, self._flags)

    @cached_property
    def first_wrong(self) -> Any:
        return self._make(batches.first_wrong, self._states, self._numbers, 0)

    @cached_property
    def advance(self) -> Any:
        gains, finals = np.zeros((1, 1), np.int16), np.zeros((1, 1, 1), np.int16)
        rewards = np.zeros((1, 1), np.float32)
        return self._make(
            batches.advance_all, self._states, self._states, self._rngs, self._numbers, True, 0, gains,
            finals, rewards, self._flags,
        )  # fmt: skip

    @cached_property
    def mark(self) -> Any:
        return self._make(batches.mark_all, self._states, np.zeros((1, 1), np.uint8))

    @cached_property
    def count(self) -> Any:
        return self._make(batches.count_all, self._states, self._numbers)

    @cached_property
    def nth(self) -> Any:
        return self._make(batches.nth_all, self._states, self._counts, self._numbers)

    @cached_property
    def pick(self) -> Any:
        return self._make(batches.pick_all, self._states, self._rngs, self._numbers)

    @cached_property
    def choose(self) -> Any:
        return self._make(batches.choose_all, self._states, self._rngs, self._numbers)

    @cached_property
    def observe(self) -> Any:
        places, boards, vectors = np.zeros(1, np.int16), np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int16)
        return self._make(batches.observe_all, self._states, self._seats, places, boards, vectors)

    @cached_property
    def random_games(self) -> Any:
        return self._make(batches.random_games, self._states, self._states, self._rngs, 0, self._counts)

    @cached_property
    def greedy_games(self) -> Any:
        return self._make(
            batches.greedy_games, self._states, self._states, self._rngs, 0, self._counts, self._counts
        )
