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

DIGIT = 64  # more than a track shows

BEST = 4  # cells that count for each colour: those with the most points
ONE_OPEN_SIDE, TWO_OPEN_SIDES = BEST, BEST + 1  # symbols next to empty cells with this many open sides
COUNTS = BEST + 2

# Indices of the parameters of `estimate`:
# STEEP, STEEPER: weight of low colours at the start, and its increase until the end;
# TAKEN: share of the empty cells that tiles will cover;
# EACH, BY_BEST: points of a future symbol: a constant, and by the points of each of the best cells;
# BESIDE_ONE, BESIDE_TWO: points of a symbol next to a cell with one and with two open sides;
# PLENTY, BEYOND: points above which further points count less, and their factor.
STEEP, STEEPER, TAKEN, EACH, BY_BEST = 0, 1, 2, 3, 4
BESIDE_ONE, BESIDE_TWO, PLENTY, BEYOND = (
    BY_BEST + BEST,
    BY_BEST + BEST + 1,
    BY_BEST + BEST + 2,
    BY_BEST + BEST + 3,
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

    laid: Int  # number of tiles on the board after the next move
    last: Bool  # whether no tile is known after the next move
    symbols: Float64Rows  # see `symbol_counts`
    params: Float64s


class BeamScratch(NamedTuple):
    """Working memory of `expand`."""

    counts: Float64Rows  # see `count_board`
    order: Int64s
    legal: Actions
    trial: States


class Expansion(NamedTuple):
    """Positions after moves from the positions of a beam, and the best final result."""

    values: Float64s  # estimates
    parents: Int64s  # index of the position before the move
    actions: Int64s
    best: Int64s  # result, parent, action


def apply_action(c, s, action):
    """Apply an action or a chance outcome. A call: inlined copies would take long to compile."""
    apply(c, s, action)


def result_of(s, order):
    """Return the sorted points of a one-player game as an integer that compares like the sorted vector."""
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


def estimate(c, s, laid, symbols, params, counts):
    """Return an estimate of the final points of the lowest colour, for a position with `laid` tiles."""
    colours = s.scores.shape[1]
    empty = count_board(c, s, counts)
    tiles = params[TAKEN] * empty * 0.5
    last = laid + np.int64(tiles)
    fraction = tiles - np.int64(tiles)
    steep = params[STEEP] + params[STEEPER] * (1.0 - s.n_free / len(c.slots))
    total = 0.0
    for colour in range(colours):
        to_come = (
            symbols[last, colour]
            + fraction * (symbols[last + 1, colour] - symbols[last, colour])
            - symbols[laid, colour]
        )
        each = params[EACH]
        for i in range(BEST):
            each += params[BY_BEST + i] * counts[colour, i]
        points = s.scores[0, colour] + to_come * each
        points += (
            params[BESIDE_ONE] * counts[colour, ONE_OPEN_SIDE]
            + params[BESIDE_TWO] * counts[colour, TWO_OPEN_SIDES]
        )
        if points > params[PLENTY]:
            points = params[PLENTY] + (points - params[PLENTY]) * params[BEYOND]
        total += np.exp(-steep * points)
    return -np.log(total) / steep


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
    # Records are unpacked outside the loop: each access to a field counts a reference.
    c = constants[0]
    laid, last, symbols, params = tiles
    counts, order, legal, trial = scratch
    values, parents, actions, best = output
    s = trial[0]
    rows = 0
    for i in range(start, stop):
        for j in range(legal_actions(c, states[i], legal)):
            action = np.int64(legal[j])
            trial[0] = states[i]
            apply_action(c, s, action)
            if last or s.phase == OVER:
                result = result_of(s, order)
                if result > best[0]:
                    best[0], best[1], best[2] = result, i, action
            else:
                values[rows] = estimate(c, s, laid, symbols, params, counts)
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
TWINS = 4  # candidates followed for each position kept, since some lead to equal positions
NO_RESULT = -1  # below every result


@dataclass(frozen=True, slots=True)
class Found:
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
        laid: the number of tiles on the board.
        kinds: all known tiles from the start of the game on.
        threads: the number of threads.
    """

    def __init__(
        self, variant: DominoVariant, state: State, laid: int, kinds: Sequence[int], threads: int = 1
    ) -> None:
        self.variant = variant
        self.state = state
        self.laid = laid
        self.kinds = kinds
        self.threads = threads
        self._expand, self._follow = variant.kernels[expand], variant.kernels[follow]
        self._symbols = symbol_counts(variant, kinds)
        self._params = estimate_params(variant)

    def search(self, width: int, tick: Callable[[float], None] = lambda share: None) -> Found:
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

    def _search(self, width: int, pool: ThreadPoolExecutor | None, tick: Callable[[float], None]) -> Found:
        states = allocate(self.state.dtype)
        states[0] = self.state[0]
        layers: list[tuple[np.ndarray, np.ndarray]] = []  # parents and actions of the positions kept
        best = NO_RESULT
        line: tuple[int, ...] = ()
        exact = True
        room = int((self.state["cells"][0] == EMPTY).sum()) // 2
        n_layers = min(len(self.kinds) - self.laid, room)
        for layer in range(n_layers):
            chunks = [(start, min(start + CHUNK, len(states))) for start in range(0, len(states), CHUNK)]
            work = ((states, *chunk, self.laid + layer + 1) for chunk in chunks)
            parts: list[Expansion] = []
            for part in pool.map(self._expanded, work) if pool else map(self._expanded, work):
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
            states, chosen, all_kept = self._kept(states, candidates, self.laid + layer + 1, width)
            exact = exact and all_kept
            layers.append((parents[chosen], actions[chosen]))
        return Found(line, _points(best, len(self.variant.tracks)), width, exact)

    def _expanded(self, work: tuple[Any, int, int, int]) -> Expansion:
        """Expand positions. `work` is the states, a range of them, and the number of tiles after the move."""
        states, start, stop, laid = work
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
            order=np.zeros(tracks, np.int64),
            legal=np.zeros(self.variant.max_legal_actions, np.int32),
            trial=allocate(states.dtype),
        )
        tiles = KnownTiles(laid, laid == len(self.kinds), self._symbols, self._params)
        rows = self._expand(self.variant.constants, states, start, stop, tiles, scratch, output)
        return Expansion(output.values[:rows], output.parents[:rows], output.actions[:rows], output.best)

    def _kept(
        self, states: Any, candidates: Expansion, laid: int, width: int
    ) -> tuple[Any, np.ndarray, bool]:
        """Return the most promising positions, all different.

        Returns:
            The positions after the next draw, the indices of their candidates, and whether all were kept.
        """
        values, parents, actions, _ = candidates
        for order in _best_first(values, TWINS * width):
            after = allocate(states.dtype, len(order))
            self._follow(
                self.variant.constants, states, parents[order], actions[order], self.kinds[laid], after
            )
            different = _different(after)
            if len(different) >= width or len(order) == len(values):
                break
        all_kept = len(order) == len(values) and len(different) <= width
        different = different[:width]
        return after[different], order[different], all_kept


def _best_first(values: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """Yield the indices of the best `count` candidates, then of twice as many, and so on up to all of them.

    Equal ones stay in their order, so that every machine chooses the same candidates.
    """
    while count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        good = np.flatnonzero(values >= least)
        yield good[np.argsort(-values[good], kind="stable")][:count]
        count *= 2
    yield np.argsort(-values, kind="stable")


def _different(states: Any) -> np.ndarray:
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
    return tuple(result // DIGIT**place % DIGIT for place in reversed(range(tracks)))


def _line_to(layers: Sequence[tuple[np.ndarray, np.ndarray]], row: int) -> tuple[int, ...]:
    """Return the actions that led to a position of the last layer."""
    line = []
    for parents, actions in reversed(layers):
        line.append(int(actions[row]))
        row = int(parents[row])
    return tuple(reversed(line))
