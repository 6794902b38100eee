"""A beam search with known draws: after each tile only the most promising positions are gone on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...games.dominoes.board import COVERED, EMPTY, PYRAMID
from ...games.dominoes.variant import DominoVariant
from ...games.protocol import apply, legal_actions
from ...games.runtime.signatures import Actions, Bool, Constants, Float64s, Int, Int64s, States, array, loop
from ...games.runtime.state import DRAW, OVER, allocate
from ...games.variant import State

# Typed by Numba at compilation, as rules are.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs


Float64Rows = Annotated[Any, array(np.float64, 2)]

DIGIT = 64  # more than a track shows

BEST = 4  # cells that are looked at for each colour: the best ones
NEARLY_SHUT, HALF_SHUT = BEST, BEST + 1  # symbols beside empty cells with one and two open sides
COUNTS = BEST + 2

# How strongly the lowest colour counts, at the start and how much more at the end; how many of the empty
# cells tiles will take; what a symbol to come will score: at least, and by the best cells for its colour;
# what symbols beside cells that are nearly or half shut in are worth; from where on points count less, and
# how much they do then.
STEEP, STEEPER, TAKEN, EACH, BY_BEST = 0, 1, 2, 3, 4
BESIDE_NEARLY, BESIDE_HALF, PLENTY, BEYOND = (
    BY_BEST + BEST,
    BY_BEST + BEST + 1,
    BY_BEST + BEST + 2,
    BY_BEST + BEST + 3,
)

# Found by an evolution strategy with narrow beams, each generation on new deals (docs/solving.md).
WITH_PYRAMIDS = (0.149, 0.014, 0.835, 1.186, 0.133, 0.118, 0.05, -0.026, -0.08, 0.27, 32.2, 0.16)
WITHOUT = (0.183, 0.009, 0.91, 1.02, 0.146, 0.106, 0.059, 0.0, -0.124, -0.06, 34.9, 0.111)


def knobs_of(variant: DominoVariant) -> np.ndarray:
    """The numbers that `promise` goes by in a game."""
    return np.array(WITH_PYRAMIDS if variant.facts.pyramids else WITHOUT)


def symbols_to_come(variant: DominoVariant, kinds: Sequence[int]) -> np.ndarray:
    """How many symbols of each colour the first 0, 1, 2, … tiles show; after the last one no more come."""
    shows = np.zeros((len(kinds) + len(variant.names), len(variant.colours)))
    for n, kind in enumerate(kinds, 1):
        for letter in variant.kinds[kind]:
            shows[n:, variant.colours.index(letter)] += 1
    return shows


def move_on(c, s, action):
    """Carry out an action or what chance drew: called, since copies of it would take long to compile."""
    apply(c, s, action)


def result_of(s, order):
    """The points of play alone, sorted, as one number that compares like the vector."""
    tracks = s.scores.shape[1]
    for track in range(tracks):
        at = track
        while at > 0 and order[at - 1] > s.scores[0, track]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = s.scores[0, track]
    value = np.int64(0)
    for i in range(tracks):
        value = value * DIGIT + order[i]
    return value


def promise(c, s, laid, shows, utility_params, counts):
    """What a position after `laid` tiles promises: about the points of the lowest colour at the end.

    `shows` comes from `symbols_to_come`; `counts` is room to count in.
    """
    colours = s.scores.shape[1]
    empty = look_around(c, s, counts)
    tiles = utility_params[TAKEN] * empty * 0.5
    last = laid + np.int64(tiles)
    part = tiles - np.int64(tiles)
    steep = utility_params[STEEP] + utility_params[STEEPER] * (1.0 - s.n_free / len(c.slots))
    total = 0.0
    for colour in range(colours):
        to_come = (
            shows[last, colour] + part * (shows[last + 1, colour] - shows[last, colour]) - shows[laid, colour]
        )
        each = utility_params[EACH]
        for i in range(BEST):
            each += utility_params[BY_BEST + i] * counts[colour, i]
        points = s.scores[0, colour] + to_come * each
        points += (
            utility_params[BESIDE_NEARLY] * counts[colour, NEARLY_SHUT]
            + utility_params[BESIDE_HALF] * counts[colour, HALF_SHUT]
        )
        if points > utility_params[PLENTY]:
            points = utility_params[PLENTY] + (points - utility_params[PLENTY]) * utility_params[BEYOND]
        total += np.exp(-steep * points)
    return -np.log(total) / steep


def look_around(c, s, counts):
    """Count what each colour finds on the board; how many cells a tile can still take."""
    empty = 0
    for colour in range(s.scores.shape[1]):
        for i in range(COUNTS):
            counts[colour, i] = 0.0
    for cell in range(len(s.cells) - 1):
        sides = s.open[cell]
        if sides == 0 or sides >= COVERED:
            continue
        empty += 1
        for colour in range(s.scores.shape[1]):
            points = np.float64(s.sums[cell, colour])
            if points > counts[colour, BEST - 1]:
                at = BEST - 1
                while at > 0 and counts[colour, at - 1] < points:
                    counts[colour, at] = counts[colour, at - 1]
                    at -= 1
                counts[colour, at] = points
        if sides <= 2:
            for d in range(c.near.shape[1]):
                colour = s.cells[c.near[cell, d]]
                if colour >= 0:
                    counts[colour, BEST - 1 + sides] += 1.0
    return empty


PARTS = (look_around, promise, move_on, result_of)


@loop(parts=PARTS)
def expand(
    constants: Constants,
    states: States,
    first: Int,
    end: Int,
    laid: Int,
    last: Bool,
    shows: Float64Rows,
    utility_params: Float64s,
    counts: Float64Rows,
    order: Int64s,
    buffer: Actions,
    trial: States,
    values: Float64s,
    parents: Int64s,
    actions: Int64s,
    best: Int64s,
):
    """Try every move in the positions from `first` on; how many of them lead to positions to go on from.

    Those get a row in `values`, `parents` and `actions`. Of the moves that end the game (with `last`, all do:
    no tile is known after this one) the first with the best result goes into `best`: result, parent, action.
    `laid` is how many tiles lie after the move.
    """
    c = constants[0]
    s = trial[0]
    rows = 0
    for i in range(first, end):
        for j in range(legal_actions(c, states[i], buffer)):
            action = np.int64(buffer[j])
            trial[0] = states[i]
            move_on(c, s, action)
            if last or s.phase == OVER:
                result = result_of(s, order)
                if result > best[0]:
                    best[0], best[1], best[2] = result, i, action
            else:
                values[rows] = promise(c, s, laid, shows, utility_params, counts)
                parents[rows] = i
                actions[rows] = action
                rows += 1
    return rows


@loop(parts=PARTS)
def follow(constants: Constants, states: States, parents: Int64s, actions: Int64s, kind: Int, after: States):
    """Write the positions after these moves, with a tile of this kind drawn, into `after`."""
    c = constants[0]
    for i in range(len(parents)):
        after[i] = states[parents[i]]
        move_on(c, after[i], np.int64(actions[i]))
        if after[i].phase >= DRAW:
            move_on(c, after[i], np.int64(kind))


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
        buffer = int((self.state["cells"][0] == EMPTY).sum()) // 2
        most = min(len(self.kinds) - self.laid, buffer)  # layers
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
        most = (end - first) * self.variant.max_legal_actions
        values, best = np.empty(most), np.full(3, NOTHING)
        parents, actions = np.empty(most, np.int64), np.empty(most, np.int64)
        rows = self._expand(
            self.variant.constants,
            states,
            first,
            end,
            laid,
            laid == len(self.kinds),
            self._shows,
            self._knobs,
            np.zeros((tracks, COUNTS)),
            np.zeros(tracks, np.int64),
            np.zeros(self.variant.max_legal_actions, np.int32),
            allocate(states.dtype),
            values,
            parents,
            actions,
            best,
        )
        return _Expanded(values[:rows], parents[:rows], actions[:rows], best)

    def _kept(
        self, states: Any, values: np.ndarray, parents: np.ndarray, actions: np.ndarray, kind: int, width: int
    ) -> tuple[Any, np.ndarray, bool]:
        """The most promising positions, no two alike; which candidates they are; whether all were kept."""
        for order in _best_first(values, TWINS * width):
            after = allocate(states.dtype, len(order))
            self._follow(self.variant.constants, states, parents[order], actions[order], kind, after)
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
