"""What no play can pass in the domino family, alone and with all draws known.

The argument, for a position and the tiles that are still to come:

1.  *Tiles.* A tile takes two cells of one connected group of empty cells. So a group of n cells has room
    for at most n // 2 tiles; where it can be coloured like a chessboard, for at most as many as it has
    cells of the rarer shade. Play ends only when no two empty cells are neighbours. No tile can be added
    to those laid by then, so they are at least half as many as in any way to lay tiles there at once.
2.  *Lines.* What a symbol scores in a line depends on that line alone: it counts symbols of its colour
    with nothing but that colour between. `longest_line` tries every order of laying k symbols into a line
    as it is now, as if no other colour were ever laid there, and as if the halves of a tile were laid one
    after the other (then the second counts the first, which the rules do not). Other colours only break
    lines. So what it finds is at least what k symbols score there in any play. Lines of one direction
    have no cell in common. So the best way to share the symbols of a colour out among them is at least
    what those score in that direction, and the sum over the directions at least what they score in lines
    at all.
3.  *Pyramids.* A pyramid's point for a colour is a pair of an empty cell and a symbol beside it. A symbol
    that lies has as many such pairs as it has empty cells beside it, one still to come at most one less
    than there are directions, since one way leads to its other half. And each pyramid stands on a cell
    that no tile takes and brings at most as many points as there are directions. t tiles leave all but 2
    t cells, and each of them can shut in no cells but those beside its halves.
4.  *Tracks.* A colour never has more than it has now, lines and pyramids together, nor more than the cap.

The tiles come in a known order, so t tiles are the first t of them. For each t that 1 allows, 2 to 4 bound
every colour, and so the sorted vector, number by number. The best play has one of these t. So the largest
of the vectors, compared as results are, is at least its result.
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

OWN, FREE, WALL = 0, 1, 2  # a cell of a line, to one colour


@dataclass(frozen=True, slots=True)
class Bound:
    """What no play passes: the sorted points, compared as results are, and the points together."""

    points: tuple[int, ...]
    total: int


def upper_bound(variant: DominoVariant, state: State, coming: Sequence[int]) -> Bound:
    """A proven bound for play alone from a position, with the kinds that are still to be placed in order.

    The argument stands at the top of this module.
    """
    board = _Board(variant, state)
    tracks = range(len(variant.colours))
    now = state["scores"][0, 0].tolist()
    cap = variant.cap
    fewest, most = board.tiles(len(coming))
    shows = np.zeros((len(coming) + 1, len(tracks)), np.int64)
    for n, kind in enumerate(coming, 1):
        for letter in variant.kinds[kind]:
            shows[n:, variant.colours.index(letter)] += 1
    lines = [board.most_in_lines(colour, int(shows[most, colour])) for colour in tracks]
    best: tuple[int, ...] = ()
    best_total = 0
    for tiles in range(fewest, most + 1):
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
    """A position as the argument looks at it."""

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
        # A cell that no tile can ever take ends a line as an edge does.
        self.open = {cell for group in self.groups if len(group) > 1 for cell in group}

    def beside(self, cell: int) -> Iterator[int]:
        """The empty cells beside a cell."""
        return (other for other in self.near[cell] if other in self.empty)

    def _groups(self) -> Iterator[dict[int, int]]:
        """The connected groups of empty cells; each cell with the steps it was found after."""
        left = set(self.empty)
        while left:
            group = {left.pop(): 0}
            queue = list(group)
            for cell in queue:
                for other in self.beside(cell):
                    if other in left:
                        left.remove(other)
                        group[other] = group[cell] + 1
                        queue.append(other)
            yield group

    def tiles(self, known: int) -> tuple[int, int]:
        """The fewest and the most tiles that can still be laid, of so many that are known (1)."""
        most = sum(self._most_in(group) for group in self.groups)
        taken: set[int] = set()
        laid = 0
        for cell in sorted(self.empty):
            free = [other for other in self.beside(cell) if other not in taken]
            if cell not in taken and free:
                taken |= {cell, free[0]}
                laid += 1
        return min(known, (laid + 1) // 2), min(known, most)

    def _most_in(self, group: dict[int, int]) -> int:
        chess = all(
            (steps + group[other]) % 2 for cell, steps in group.items() for other in self.beside(cell)
        )
        dark = sum(steps % 2 for steps in group.values())
        return min(dark, len(group) - dark) if chess else len(group) // 2

    def pairs(self, colour: int, symbols: int) -> int:
        """The most pairs of an empty cell and a symbol of this colour beside it, with so many to come (3)."""
        lying = (cell for cell in range(self.edge) if self.shown[cell] == colour)
        return sum(len(list(self.beside(cell))) for cell in lying) + (self.degree - 1) * symbols

    def most_in_lines(self, colour: int, symbols: int) -> list[int]:
        """The most that 0, 1, … `symbols` symbols of a colour can score in lines (2)."""
        total = [0] * (symbols + 1)
        for axis in range(self.axes):
            best = [0] * (symbols + 1)
            for stretch in self._stretches(axis, colour):
                more = longest_line(stretch)
                best = [
                    max(best[n - k] + more[k] for k in range(min(n, len(more) - 1) + 1))
                    for n in range(symbols + 1)
                ]
            total = [a + b for a, b in zip(total, best, strict=True)]
        return total

    def _stretches(self, axis: int, colour: int) -> Iterator[tuple[int, ...]]:
        """The lines of one direction as a colour sees them, cut at walls; only those with room in them."""
        for start in range(self.edge):
            if self.near[start][axis + self.axes] != self.edge:
                continue
            stretch: list[int] = []
            cell = start
            while True:
                what = WALL if cell == self.edge else self._seen(cell, colour)
                if what != WALL:
                    stretch.append(what)
                elif stretch:
                    if FREE in stretch:
                        yield tuple(stretch)
                    stretch = []
                if cell == self.edge:
                    break
                cell = self.near[cell][axis]

    def _seen(self, cell: int, colour: int) -> int:
        if cell in self.open:
            return FREE
        return OWN if self.shown[cell] == colour else WALL


@cache
def longest_line(stretch: tuple[int, ...]) -> tuple[int, ...]:
    """The most that 0, 1, 2, … symbols score in a stretch of line, laid one by one in the best order.

    >>> longest_line((FREE, FREE, FREE))
    (0, 0, 1, 3)
    >>> longest_line((OWN, FREE, OWN, OWN))
    (0, 3)
    """
    free = [at for at, what in enumerate(stretch) if what == FREE]
    own = sum(1 << at for at, what in enumerate(stretch) if what == OWN)
    best = {own: 0}  # the most so far, by which cells show the colour
    most = [0]
    for _ in free:
        after: dict[int, int] = {}
        for laid, points in best.items():
            for at in free:
                if not laid >> at & 1:
                    then = laid | 1 << at
                    after[then] = max(after.get(then, 0), points + _run(laid, at))
        best = after
        most.append(max(best.values()))
    return tuple(most)


def _run(laid: int, at: int) -> int:
    """How many symbols stand unbroken on both sides of a cell of a line."""
    length = 0
    for step in (-1, 1):
        place = at + step
        while place >= 0 and laid >> place & 1:
            length += 1
            place += step
    return length
