"""Whether the cells that are laid can be covered by whole tiles: sets of cells are bits of a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

FEW, MANY = 250, 2_000  # sets of cells that one order of search tries before another order is tried
MOST = 50_000  # before the search gives up; it takes some 20 ms


class Tiling:
    """The ways in which tiles can lie on a board, and a search for an exact cover of some of its cells.

    The search covers the outermost cell that is left, in one of four orders. No set of cells is tried twice,
    so the search is short for all boards of games: some 50 sets on average.
    """

    def __init__(self, cells: int, slots: Iterable[Sequence[int]], printed: Iterable[int]) -> None:
        self._printed = sum(1 << cell for cell in printed)
        lowest: list[list[int]] = [[] for _ in range(cells)]
        highest: list[list[int]] = [[] for _ in range(cells)]
        for slot in slots:
            tile = sum(1 << cell for cell in slot)
            lowest[min(slot)].append(tile)
            highest[max(slot)].append(tile)
        self._orders = [
            ([sorted(tiles, reverse=reverse is from_below) for tiles in by_cell], from_below)
            for reverse in (True, False)
            for by_cell, from_below in ((lowest, True), (highest, False))
        ]

    def can_cover(self, laid: np.ndarray) -> bool:
        """Whether whole tiles can cover exactly the cells that are true, those of printed symbols aside.

        Exact for every board whose search ends within `MOST` sets of cells; of others, true.
        """
        cells = as_bits(laid) & ~self._printed
        for most in (FEW, MANY):
            for tiles, from_below in self._orders:
                found = _search(cells, tiles, from_below, most)
                if found is not None:
                    return found
        return _search(cells, *self._orders[0], MOST) is not False


def as_bits(cells: np.ndarray) -> int:
    """Return an array of truth values as the bits of a number, the first one the lowest."""
    return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")


def _search(cells: int, tiles: Sequence[Sequence[int]], from_below: bool, most: int) -> bool | None:
    """Whether there is an exact cover, `None` if that is not known after so many sets of cells."""
    known, left = {cells}, [cells]
    while left:
        rest = left.pop()
        if not rest:
            return True
        for tile in tiles[((rest & -rest) if from_below else rest).bit_length() - 1]:
            if tile & rest == tile and (fewer := rest ^ tile) not in known:
                known.add(fewer)
                left.append(fewer)
        if len(known) > most:
            return None
    return False
