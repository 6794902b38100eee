"""Beam search for one-player games with known draws: each layer keeps the most promising positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

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

RADIX = 64  # base of encoded results, above the points of any track

BEST_CELLS = 4  # cells that count for each colour: those with the most points
ONE_OPEN_SIDE, TWO_OPEN_SIDES = (
    BEST_CELLS,
    BEST_CELLS + 1,
)  # symbols next to empty cells with this many open sides
COUNTS = BEST_CELLS + 2

# Indices of the parameters of `estimate`:
# SHARPNESS, SHARPNESS_GROWTH: sharpness of the soft minimum at the start, and its increase until the end;
# COVERED_SHARE: share of the empty cells that tiles will cover;
# SYMBOL_POINTS, POINTS_BY_CELL: points of a future symbol: a constant, and factors for the best cells;
# BESIDE_ONE_OPEN, BESIDE_TWO_OPEN: points of a symbol next to a cell with one and with two open sides;
# SATURATION, SATURATED_FACTOR: points above which further points count less, and their factor.
SHARPNESS, SHARPNESS_GROWTH, COVERED_SHARE, SYMBOL_POINTS, POINTS_BY_CELL = 0, 1, 2, 3, 4
BESIDE_ONE_OPEN, BESIDE_TWO_OPEN, SATURATION, SATURATED_FACTOR = (
    POINTS_BY_CELL + BEST_CELLS,
    POINTS_BY_CELL + BEST_CELLS + 1,
    POINTS_BY_CELL + BEST_CELLS + 2,
    POINTS_BY_CELL + BEST_CELLS + 3,
)

# Tuned by an evolution strategy with narrow beams, each generation on new deals (docs/guides/solving.md).
WITH_PYRAMIDS = (0.149, 0.014, 0.835, 1.186, 0.133, 0.118, 0.05, -0.026, -0.08, 0.27, 32.2, 0.16)
WITHOUT_PYRAMIDS = (0.183, 0.009, 0.91, 1.02, 0.146, 0.106, 0.059, 0.0, -0.124, -0.06, 34.9, 0.111)


def estimate_params(variant: DominoVariant) -> np.ndarray:
    """Return the parameters of `estimate` for a game."""
    return np.array(WITH_PYRAMIDS if variant.facts.pyramids else WITHOUT_PYRAMIDS)


def symbol_counts(variant: DominoVariant, kinds: Sequence[int]) -> np.ndarray:
    """Return the number of symbols of each colour on the first 0, 1, 2, … tiles.

    Further rows, for tiles after the last known one, equal the last row.
    """
    counts = np.zeros((len(kinds) + len(variant.names), len(variant.colours)))
    for n, kind in enumerate(kinds, 1):
        for letter in variant.kinds[kind]:
            counts[n:, variant.colours.index(letter)] += 1
    return counts


class KnownTiles(NamedTuple):
    """The known tiles, and the parameters of `estimate`."""

    n_placed: Int  # number of tiles on the board after the next move
    last: Bool  # whether no tile is known after the next move
    symbols: Float64Rows  # see `symbol_counts`
    params: Float64s


class BeamScratch(NamedTuple):
    """Working memory of `expand`."""

    counts: Float64Rows  # see `count_board`
    points: Int64s  # see `result_of`
    legal: Actions
    trial: States


class Expansion(NamedTuple):
    """Positions after moves from the positions of a beam, and the best final result."""

    values: Float64s  # estimates
    parents: Int64s  # index of the position before the move
    actions: Int64s
    best: Int64s  # result, parent, action


def apply_action(c, s, action):
    """Apply an action or a chance outcome. Not inlined, since copies would take long to compile."""
    apply(c, s, action)


def result_of(s, points):
    """Return the sorted points of a one-player game as one integer. Integers compare as the points do.

    `points` is overwritten.
    """
    tracks = s.scores.shape[1]
    for track in range(tracks):
        at = track
        while at > 0 and points[at - 1] > s.scores[0, track]:
            points[at] = points[at - 1]
            at -= 1
        points[at] = s.scores[0, track]
    value = np.int64(0)
    for i in range(tracks):
        value = value * RADIX + points[i]
    return value


def estimate(c, s, n_placed, symbols, params, counts):
    """Return an estimate of the final points of the lowest colour, for a position with `n_placed` tiles.

    It is the soft minimum of the estimates of all colours.
    """
    colours = s.scores.shape[1]
    empty = count_board(c, s, counts)
    tiles = params[COVERED_SHARE] * empty * 0.5
    last = n_placed + np.int64(tiles)
    fraction = tiles - np.int64(tiles)
    sharpness = params[SHARPNESS] + params[SHARPNESS_GROWTH] * (1.0 - s.n_free / len(c.slots))
    total = 0.0
    for colour in range(colours):
        future_symbols = (
            symbols[last, colour]
            + fraction * (symbols[last + 1, colour] - symbols[last, colour])
            - symbols[n_placed, colour]
        )
        points_each = params[SYMBOL_POINTS]
        for i in range(BEST_CELLS):
            points_each += params[POINTS_BY_CELL + i] * counts[colour, i]
        points = s.scores[0, colour] + future_symbols * points_each
        points += (
            params[BESIDE_ONE_OPEN] * counts[colour, ONE_OPEN_SIDE]
            + params[BESIDE_TWO_OPEN] * counts[colour, TWO_OPEN_SIDES]
        )
        if points > params[SATURATION]:
            points = params[SATURATION] + (points - params[SATURATION]) * params[SATURATED_FACTOR]
        total += np.exp(-sharpness * points)
    return -np.log(total) / sharpness


def count_board(c, s, counts):
    """Write the counts of each colour into a row of `counts` and return the number of usable empty cells.

    A row has the points of the best cells, then the symbols next to cells with one and with two open sides.
    """
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
            if points > counts[colour, BEST_CELLS - 1]:
                at = BEST_CELLS - 1
                while at > 0 and counts[colour, at - 1] < points:
                    counts[colour, at] = counts[colour, at - 1]
                    at -= 1
                counts[colour, at] = points
        if sides <= 2:
            for d in range(c.near.shape[1]):
                colour = s.cells[c.near[cell, d]]
                if colour >= 0:
                    counts[colour, BEST_CELLS - 1 + sides] += 1.0
    return empty


PARTS = (count_board, estimate, apply_action, result_of)


@loop(parts=PARTS)
def expand(
    constants: Constants,
    states: States,
    start: Int,
    stop: Int,
    tiles: KnownTiles,
    scratch: BeamScratch,
    output: Expansion,
):
    """Try every move in the positions from `start` to `stop` - 1 and return the number of rows written.

    A move that does not end the game gets a row in `output`. Of the moves that end it (all, after the last
    known tile), the first one with the best result goes into `output.best` if it is better.
    """
    # Records are unpacked outside the loop because each access to a field changes a reference count.
    c = constants[0]
    n_placed, last, symbols, params = tiles
    counts, points, legal, trial = scratch
    values, parents, actions, best = output
    s = trial[0]
    rows = 0
    for i in range(start, stop):
        for j in range(legal_actions(c, states[i], legal)):
            action = np.int64(legal[j])
            trial[0] = states[i]
            apply_action(c, s, action)
            if last or s.phase == OVER:
                result = result_of(s, points)
                if result > best[0]:
                    best[0], best[1], best[2] = result, i, action
            else:
                values[rows] = estimate(c, s, n_placed, symbols, params, counts)
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
        apply_action(c, after[i], np.int64(actions[i]))
        if after[i].phase >= DRAW:
            apply_action(c, after[i], np.int64(kind))


CHUNK = 64  # positions that a thread expands at a time
CANDIDATES_PER_POSITION = 4  # candidates tried for each position kept, since some lead to equal positions
NO_RESULT = -1  # below every result


@dataclass(frozen=True, slots=True)
class BeamResult:
    """The best line of a beam: its actions and the sorted points at its end."""

    actions: tuple[int, ...]
    points: tuple[int, ...]
    width: int
    exact: bool  # whether the beam kept all positions, except equal ones


class Beam:
    """Beams of any width from one position of a one-player game.

    Args:
        variant: the game.
        state: the position.
        n_placed: the number of tiles on the board.
        kinds: all known tiles from the start of the game on.
        threads: the number of threads.
    """

    def __init__(
        self, variant: DominoVariant, state: State, n_placed: int, kinds: Sequence[int], threads: int = 1
    ) -> None:
        self.variant = variant
        self.state = state
        self.n_placed = n_placed
        self.kinds = kinds
        self.threads = threads
        self._expand, self._follow = variant.kernels[expand], variant.kernels[follow]
        self._symbols = symbol_counts(variant, kinds)
        self._params = estimate_params(variant)

    def search(self, width: int, tick: Callable[[float], None] = lambda share: None) -> BeamResult:
        """Return the best line that a beam of this width finds.

        Args:
            width: the number of positions kept after each tile.
            tick: called with the completed share, in [0, 1]; an exception that it raises ends the search.
        """
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        try:
            return self._search(width, pool, tick)
        finally:
            if pool:
                pool.shutdown(cancel_futures=True)

    def _search(
        self, width: int, pool: ThreadPoolExecutor | None, tick: Callable[[float], None]
    ) -> BeamResult:
        states = allocate(self.state.dtype)
        states[0] = self.state[0]
        layers: list[tuple[np.ndarray, np.ndarray]] = []  # parents and actions of the positions kept
        best = NO_RESULT
        line: tuple[int, ...] = ()
        exact = True
        max_placements = int((self.state["cells"][0] == EMPTY).sum()) // 2
        n_layers = min(len(self.kinds) - self.n_placed, max_placements)
        for layer in range(n_layers):
            chunks = [(start, min(start + CHUNK, len(states))) for start in range(0, len(states), CHUNK)]
            work = ((states, *chunk, self.n_placed + layer + 1) for chunk in chunks)
            parts: list[Expansion] = []
            for part in pool.map(self._expand_chunk, work) if pool else map(self._expand_chunk, work):
                parts.append(part)
                tick((layer + len(parts) / len(chunks)) / n_layers)
                if part.best[0] > best:
                    best = int(part.best[0])
                    line = (*_line_to(layers, int(part.best[1])), int(part.best[2]))
            values, parents, actions = (
                np.concatenate(column)
                for column in zip(*((part.values, part.parents, part.actions) for part in parts), strict=True)
            )
            if not len(values):
                break
            candidates = Expansion(values, parents, actions, np.empty(0, np.int64))
            states, chosen, all_kept = self._select_best(states, candidates, self.n_placed + layer + 1, width)
            exact = exact and all_kept
            layers.append((parents[chosen], actions[chosen]))
        return BeamResult(line, _points(best, len(self.variant.tracks)), width, exact)

    def _expand_chunk(self, work: tuple[Any, int, int, int]) -> Expansion:
        """Expand a chunk of positions.

        Args:
            work: the states, the range to expand, and the number of tiles after the move.
        """
        states, start, stop, n_placed = work
        tracks = len(self.variant.tracks)
        limit = (stop - start) * self.variant.max_legal_actions
        output = Expansion(
            values=np.empty(limit),
            parents=np.empty(limit, np.int64),
            actions=np.empty(limit, np.int64),
            best=np.full(3, NO_RESULT),
        )
        scratch = BeamScratch(
            counts=np.zeros((tracks, COUNTS)),
            points=np.zeros(tracks, np.int64),
            legal=np.zeros(self.variant.max_legal_actions, np.int32),
            trial=allocate(states.dtype),
        )
        tiles = KnownTiles(n_placed, n_placed == len(self.kinds), self._symbols, self._params)
        rows = self._expand(self.variant.constants, states, start, stop, tiles, scratch, output)
        return Expansion(output.values[:rows], output.parents[:rows], output.actions[:rows], output.best)

    def _select_best(
        self, states: Any, candidates: Expansion, n_placed: int, width: int
    ) -> tuple[Any, np.ndarray, bool]:
        """Return the most promising positions, all distinct.

        Returns:
            The positions after the next draw, the indices of their candidates, and whether all were kept.
        """
        values, parents, actions, _ = candidates
        for order in _best_first(values, CANDIDATES_PER_POSITION * width):
            after = allocate(states.dtype, len(order))
            self._follow(
                self.variant.constants, states, parents[order], actions[order], self.kinds[n_placed], after
            )
            distinct = _distinct_positions(after)
            if len(distinct) >= width or len(order) == len(values):
                break
        all_kept = len(order) == len(values) and len(distinct) <= width
        distinct = distinct[:width]
        return after[distinct], order[distinct], all_kept


def _best_first(values: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """Yield the indices of the best `count` candidates, then of twice as many, and so on up to all of them.

    Candidates with equal values keep their order, so that every machine chooses the same ones.
    """
    while count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        good = np.flatnonzero(values >= least)
        yield good[np.argsort(-values[good], kind="stable")][:count]
        count *= 2
    yield np.argsort(-values, kind="stable")


def _distinct_positions(states: Any) -> np.ndarray:
    """Return the indices of the first of each group of equivalent positions, ascending.

    Positions with the same symbols and points are equivalent. Whether a pyramid stands on a cell or stood
    there makes no difference: no symbol can be placed there, and no line continues behind it.
    """
    cells = np.maximum(states["cells"], PYRAMID)
    rows = np.ascontiguousarray(np.hstack([cells, states["scores"][:, 0]]))
    _, first = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))).ravel(), return_index=True)
    return np.sort(first)


def _points(result: int, tracks: int) -> tuple[int, ...]:
    """Return the sorted points that `result_of` encoded."""
    return tuple(result // RADIX**digit % RADIX for digit in reversed(range(tracks)))


def _line_to(layers: Sequence[tuple[np.ndarray, np.ndarray]], row: int) -> tuple[int, ...]:
    """Return the actions that led to a position of the last layer."""
    line = []
    for parents, actions in reversed(layers):
        line.append(int(actions[row]))
        row = int(parents[row])
    return tuple(reversed(line))
