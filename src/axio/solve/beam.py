"""A beam search with known draws: after each tile only the most promising positions are gone on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.layout import allocate
from ..games.dominoes.board import EMPTY, PYRAMID
from ..games.dominoes.variant import DominoVariant
from ..games.variant import State
from .expanding import COUNTS, DIGIT, expand, follow, knobs_of, symbols_to_come

CHUNK = 64  # positions that a thread expands in one go
TWINS = 4  # candidates looked at for each that is kept, so that equal boards do not leave places empty
NOTHING = -1  # worse than any result


@dataclass(frozen=True, slots=True)
class Found:
    """The best line of a beam: the numbers of its moves, and the sorted points they lead to.

    `exact` if the beam left no position out, except such as were the same as another.
    """

    actions: tuple[int, ...]
    points: tuple[int, ...]
    width: int
    exact: bool


@dataclass(frozen=True, slots=True)
class _Expanded:
    """What moves lead to: positions to go on from, and the best end (result, parent, action)."""

    values: np.ndarray
    parents: np.ndarray
    actions: np.ndarray
    best: np.ndarray


class Beam:
    """Beams of any width from one position alone."""

    def __init__(
        self, variant: DominoVariant, state: State, laid: int, kinds: Sequence[int], threads: int = 1
    ) -> None:
        """`laid` tiles lie in the position; `kinds` are all known tiles from the start of the game on."""
        self.variant = variant
        self.state = state
        self.laid = laid
        self.kinds = kinds
        self.threads = threads
        self._expand, self._follow = variant.kernels[expand], variant.kernels[follow]
        self._shows = symbols_to_come(variant, kinds)
        self._knobs = knobs_of(variant)

    def search(self, width: int, tick: Callable[[float], None] = lambda share: None) -> Found:
        """The best line that a beam of this width finds.

        `tick` is told again and again how much is done, 0 to 1; what it raises ends the search.
        """
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            return self._search(width, pool, tick)
        finally:
            if pool:
                pool.shutdown(cancel_futures=True)

    def _search(self, width: int, pool: ThreadPoolExecutor | None, tick: Callable[[float], None]) -> Found:
        states = allocate(self.state.dtype)
        states[0] = self.state[0]
        layers: list[tuple[np.ndarray, np.ndarray]] = []  # parents and actions of the positions kept
        best = NOTHING
        line: tuple[int, ...] = ()
        exact = True
        room = int((self.state["cells"][0] == EMPTY).sum()) // 2
        most = min(len(self.kinds) - self.laid, room)  # layers
        for layer in range(most):
            ends = [(start, min(start + CHUNK, len(states))) for start in range(0, len(states), CHUNK)]
            work = ((states, *chunk, self.laid + layer + 1) for chunk in ends)
            expanded = []
            for one in pool.map(self._expanded, work) if pool else map(self._expanded, work):
                expanded.append(one)
                tick((layer + len(expanded) / len(ends)) / most)
                if one.best[0] > best:
                    best = int(one.best[0])
                    line = (*_back(layers, int(one.best[1])), int(one.best[2]))
            values = np.concatenate([one.values for one in expanded])
            if not len(values):
                break
            parents = np.concatenate([one.parents for one in expanded])
            actions = np.concatenate([one.actions for one in expanded])
            kind = self.kinds[self.laid + layer + 1]
            states, chosen, all_kept = self._kept(states, values, parents, actions, kind, width)
            exact = exact and all_kept
            layers.append((parents[chosen], actions[chosen]))
        return Found(line, _points(best, len(self.variant.tracks)), width, exact)

    def _expanded(self, work: tuple[Any, int, int, int]) -> _Expanded:
        """What every move leads to in some of the positions, after which so many tiles lie."""
        states, first, end, laid = work
        tracks = len(self.variant.tracks)
        most = (end - first) * self.variant.most_actions
        values, best = np.empty(most), np.full(3, NOTHING)
        parents, actions = np.empty(most, np.int64), np.empty(most, np.int64)
        rows = self._expand(
            self.variant.tables, states, first, end, laid, laid == len(self.kinds), self._shows, self._knobs,
            np.zeros((tracks, COUNTS)), np.zeros(tracks, np.int64),
            np.zeros(self.variant.most_actions, np.int32), allocate(states.dtype),
            values, parents, actions, best,
        )  # fmt: skip
        return _Expanded(values[:rows], parents[:rows], actions[:rows], best)

    def _kept(
        self, states: Any, values: np.ndarray, parents: np.ndarray, actions: np.ndarray, kind: int, width: int
    ) -> tuple[Any, np.ndarray, bool]:
        """The most promising positions, no two alike; which candidates they are; whether all were kept."""
        for order in _best_first(values, TWINS * width):
            after = allocate(states.dtype, len(order))
            self._follow(self.variant.tables, states, parents[order], actions[order], kind, after)
            different = _different(after)
            if len(different) >= width or len(order) == len(values):
                break
        all_kept = len(order) == len(values) and len(different) <= width
        different = different[:width]
        return after[different], order[different], all_kept


def _best_first(values: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """The numbers of the best `count` candidates, then of twice as many, and so on until it is all of them.

    Equal ones stand in their order, so that the same candidates are chosen everywhere.
    """
    while count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        good = np.flatnonzero(values >= least)
        yield good[np.argsort(-values[good], kind="stable")][:count]
        count *= 2
    yield np.argsort(-values, kind="stable")


def _different(states: Any) -> np.ndarray:
    """The first of each group of positions in which the same tiles bring the same points, in their order.

    These are the positions with the same symbols and points. Where pyramids stood or stand makes no
    difference: no symbol comes there, and no line goes on behind.
    """
    cells = np.maximum(states["cells"], PYRAMID)
    rows = np.ascontiguousarray(np.hstack([cells, states["scores"][:, 0]]))
    _, first = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))).ravel(), return_index=True)
    return np.sort(first)


def _points(result: int, tracks: int) -> tuple[int, ...]:
    """The sorted points that a number of `result_of` stands for."""
    return tuple(result // DIGIT**place % DIGIT for place in reversed(range(tracks)))


def _back(history: Sequence[tuple[np.ndarray, np.ndarray]], row: int) -> tuple[int, ...]:
    """The moves that led to a position of the last layer."""
    line = []
    for parents, actions in reversed(history):
        line.append(int(actions[row]))
        row = int(parents[row])
    return tuple(reversed(line))
