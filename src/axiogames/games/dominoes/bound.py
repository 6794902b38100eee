"""An upper bound of solo play in the domino family with a known order of draws.

The proof, for a position and the tiles to come:

1.  *Tiles.* A tile takes two cells of one connected group of empty cells. A group of n cells therefore has
    room for at most n // 2 tiles, and if it is bipartite, for at most as many tiles as the smaller part has
    cells. Play ends only when no two empty cells are adjacent. The tiles placed by then are a maximal
    matching, so there are at least half as many as in any other matching.
2.  *Lines.* The points of a symbol in a line depend on that line alone: it counts symbols of its colour that
    only symbols of that colour separate from it. `longest_line` tries every order of placing k symbols in the
    current line, without any other colour, and as if the halves of a tile were placed one after the other
    (the second half then counts the first, which the rules do not allow). Other colours only break lines, so
    the maximum bounds the points of k symbols there in any play. Lines of one direction share no cell. The
    best distribution of a colour's symbols over them therefore bounds its points in that direction, and the
    sum over the directions bounds its points in all lines.
3.  *Pyramids.* A point of a pyramid for a colour is a pair of an empty cell and an adjacent symbol. A symbol
    on the board has as many such pairs as adjacent empty cells. A symbol to come has at most one less than
    the number of directions, because the other half takes one. Each pyramid stands on a cell that no tile
    takes and gives at most as many points as there are directions. t tiles leave all but 2t cells, and each
    tile can shut in only cells beside its halves.
4.  *Tracks.* A colour ends with at most its current points plus lines and pyramids, and at most with the cap.

The order of the tiles is known, so t tiles are the first t. For each t that step 1 allows, steps 2 to 4 bound
every colour and hence every entry of the sorted scores. The best play has one of these t, so the largest of
the sorted vectors bounds its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from .board import EMPTY

if TYPE_CHECKING:
    from ..variant import State
    from .variant import DominoVariant

OWN, FREE, WALL = 0, 1, 2  # content of a cell of a line from the perspective of one colour


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bounds of a result.

    Attributes:
        points: Bound of the sorted scores, compared lexicographically like results.
        total: Bound of the sum of the scores.
    """

    points: tuple[int, ...]
    total: int


def upper_bound(variant: DominoVariant, state: State, coming: Sequence[int]) -> Bound:
    """Return a proven upper bound of solo play from a position. The module docstring has the proof.

    Args:
        variant: Solo variant.
        state: Position.
        coming: Kinds of the tiles to place, in order.
    """
    board = _Board(variant, state)
    tracks = range(len(variant.colours))
    now = state["scores"][0, 0].tolist()
    cap = variant.cap
    min_tiles, max_tiles = board.tiles(len(coming))
    shows = np.zeros((len(coming) + 1, len(tracks)), np.int64)
    for n, kind in enumerate(coming, 1):
        for letter in variant.kinds[kind]:
            shows[n:, variant.colours.index(letter)] += 1
    lines = [board.max_line_points(colour, int(shows[max_tiles, colour])) for colour in tracks]
    best: tuple[int, ...] = ()
    best_total = 0
    for tiles in range(min_tiles, max_tiles + 1):
        symbols = shows[tiles].tolist()
        by_cells = board.degree * min(len(board.empty) - 2 * tiles, 2 * (board.degree - 1) * tiles)
        pairs = [board.pairs(colour, symbols[colour]) for colour in tracks]
        reached = [
            min(cap, now[c] + lines[c][symbols[c]] + (min(pairs[c], by_cells) if board.pyramids else 0))
            for c in tracks
        ]
        together = sum(now) + sum(lines[c][symbols[c]] for c in tracks)
        together += min(sum(pairs), by_cells) if board.pyramids else 0
        best = max(best, tuple(sorted(reached)))
        best_total = max(best_total, min(together, sum(reached)))
    return Bound(best, best_total)


class _Board:
    """The position in the terms of the proof."""

    def __init__(self, variant: DominoVariant, state: State) -> None:
        cells = len(variant.names)
        self.near: list[list[int]] = variant.constants["near"][0].tolist()
        self.edge = cells
        self.degree = len(variant.facts.directions)
        self.axes = self.degree // 2
        self.pyramids = variant.facts.pyramids > 0
        self.shown: list[int] = state["cells"][0].tolist()
        self.empty = {cell for cell in range(cells) if self.shown[cell] == EMPTY}
        self.groups = list(self._groups())
        # A cell that no tile can take ends a line like the edge.
        self.open = {cell for group in self.groups if len(group) > 1 for cell in group}

    def beside(self, cell: int) -> Iterator[int]:
        """Return the empty cells beside a cell."""
        return (near for near in self.near[cell] if near in self.empty)

    def _groups(self) -> Iterator[dict[int, int]]:
        """Yield the connected groups of empty cells, as distances by cell in a breadth-first search."""
        left = set(self.empty)
        while left:
            group = {left.pop(): 0}
            queue = list(group)
            for cell in queue:
                for near in self.beside(cell):
                    if near in left:
                        left.remove(near)
                        group[near] = group[cell] + 1
                        queue.append(near)
            yield group

    def tiles(self, known: int) -> tuple[int, int]:
        """Return the minimum and maximum number of tiles that can still be placed, of `known` tiles (1)."""
        maximum = sum(self._max_tiles(group) for group in self.groups)
        taken: set[int] = set()
        laid = 0
        for cell in sorted(self.empty):
            free = [near for near in self.beside(cell) if near not in taken]
            if cell not in taken and free:
                taken |= {cell, free[0]}
                laid += 1
        return min(known, (laid + 1) // 2), min(known, maximum)

    def _max_tiles(self, group: dict[int, int]) -> int:
        bipartite = all(
            (steps + group[near]) % 2 for cell, steps in group.items() for near in self.beside(cell)
        )
        odd = sum(steps % 2 for steps in group.values())
        return min(odd, len(group) - odd) if bipartite else len(group) // 2

    def pairs(self, colour: int, symbols: int) -> int:
        """Return the maximum number of pairs of an empty cell and an adjacent symbol of a colour (3)."""
        laid = (cell for cell in range(self.edge) if self.shown[cell] == colour)
        return sum(len(list(self.beside(cell))) for cell in laid) + (self.degree - 1) * symbols

    def max_line_points(self, colour: int, symbols: int) -> list[int]:
        """Return the maximum points of 0, 1, … `symbols` more symbols of a colour in lines (2)."""
        total = [0] * (symbols + 1)
        for axis in range(self.axes):
            best = [0] * (symbols + 1)
            for stretch in self._stretches(axis, colour):
                points = longest_line(stretch)
                best = [
                    max(best[n - k] + points[k] for k in range(min(n, len(points) - 1) + 1))
                    for n in range(symbols + 1)
                ]
            total = [a + b for a, b in zip(total, best, strict=True)]
        return total

    def _stretches(self, axis: int, colour: int) -> Iterator[tuple[int, ...]]:
        """Yield the lines of one direction for a colour, split at walls, that have a free cell."""
        for start in range(self.edge):
            if self.near[start][axis + self.axes] != self.edge:
                continue
            stretch: list[int] = []
            cell = start
            while True:
                content = WALL if cell == self.edge else self._content(cell, colour)
                if content != WALL:
                    stretch.append(content)
                elif stretch:
                    if FREE in stretch:
                        yield tuple(stretch)
                    stretch = []
                if cell == self.edge:
                    break
                cell = self.near[cell][axis]

    def _content(self, cell: int, colour: int) -> int:
        if cell in self.open:
            return FREE
        return OWN if self.shown[cell] == colour else WALL


@cache
def longest_line(stretch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the maximum points of 0, 1, 2, … symbols placed one by one in a stretch of a line.

    >>> longest_line((FREE, FREE, FREE))
    (0, 0, 1, 3)
    >>> longest_line((OWN, FREE, OWN, OWN))
    (0, 3)
    """
    free = [at for at, content in enumerate(stretch) if content == FREE]
    own = sum(1 << at for at, content in enumerate(stretch) if content == OWN)
    best = {own: 0}  # maximum points by the set of cells with the colour, as bits
    maxima = [0]
    for _ in free:
        after: dict[int, int] = {}
        for laid, points in best.items():
            for at in free:
                if not laid >> at & 1:
                    key = laid | 1 << at
                    after[key] = max(after.get(key, 0), points + _run(laid, at))
        best = after
        maxima.append(max(best.values()))
    return tuple(maxima)


def _run(laid: int, at: int) -> int:
    """Return the number of symbols in unbroken runs on both sides of a cell of a line."""
    length = 0
    for step in (-1, 1):
        cell = at + step
        while cell >= 0 and laid >> cell & 1:
            length += 1
            cell += step
    return length
