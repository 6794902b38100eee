"""Which tiles the hidden ones can be, by all that a seat has seen.

A tile that went back into the bag at an exchange is not among those that were in hands by then. So hidden
tiles are told apart by when they were drawn: the older ones come from fewer tiles.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...games.runtime.state import HIDDEN
from ...model.events import UNKNOWN, Draw, Event, Exchange, Place
from ...model.view import View


def hidden_tile_groups(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Seat and number of hidden tiles of one age a row, and the unseen tiles that they cannot be, by kind.

    The oldest come first. Nothing is ever barred that a hidden tile could be.
    """
    seen = _TileTracker(view)
    for event in view.events:
        seen.take_note(event)
    rows: list[tuple[int, int, int]] = []
    hands, held = view.state["hands"][0], view.state["held"][0]
    for seat in range(view.players):
        hidden = int((hands[seat, : held[seat]] == HIDDEN).sum())
        ages = Counter(seen.ages_of(seat, hidden))
        rows += [(age, seat, count) for age, count in ages.items()]
    rows.sort()
    hidden_counts = np.array([(seat, count) for _, seat, count in rows], np.int64).reshape(-1, 2)
    unseen = view.state["bag"][0].astype(np.int64)
    excluded = np.array([seen.returned_since(age) for age, _, _ in rows], np.int64).reshape(-1, len(unseen))
    left = (unseen - excluded).sum(axis=1)
    if (excluded > unseen).any() or (left < np.cumsum(hidden_counts[:, 1])).any():
        excluded[:] = 0  # the events are not those of this position: nothing can be learned from them
    return hidden_counts, excluded


class _TileTracker:
    """What the events of a view have told about hidden tiles. An age is a number of exchanges before."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._returned: list[np.ndarray] = []  # of each exchange, by kind, as far as not seen again
        self._exchange_of: list[list[int]] = [[] for _ in view.variant.kinds]  # of each such tile, by kind
        self._ages: list[list[int]] = [[] for _ in range(view.players)]  # of tiles in hands, the oldest first
        self._on_the_way: tuple[str, ...] = ()

    def take_note(self, event: Event) -> None:
        """Learn from one more event."""
        if isinstance(event, Draw):
            self._ages[event.p] += [len(self._returned)] * len(event.tiles)
            self._see(event.tiles)
            if self._on_the_way:  # new tiles are drawn before the old ones go back
                for kind in self._kinds(self._on_the_way):
                    self._exchange_of[kind].append(len(self._returned))
                self._returned.append(self._counted(self._on_the_way))
                self._on_the_way = ()
        elif isinstance(event, Place):
            self._part_with(event.p, (event.tile,))
        elif isinstance(event, Exchange):
            self._part_with(event.p, event.shown)
            self._on_the_way = event.shown

    def ages_of(self, seat: int, hidden: int) -> list[int]:
        """The ages of a seat's hidden tiles; where events do not reach back, nothing is barred for them."""
        ages = self._ages[seat][-hidden:] if hidden else []
        return ages + [len(self._returned)] * (hidden - len(ages))

    def returned_since(self, age: int) -> np.ndarray:
        """How many tiles of each kind have gone back since, and have not been seen again."""
        none = np.zeros(len(self._view.variant.kinds), np.int64)
        total: np.ndarray = sum(self._returned[age:], none)
        return total

    def _part_with(self, seat: int, tiles: tuple[str, ...]) -> None:
        # Which of its tiles an opponent has parted with is not known. Taken for the oldest, the rest may be
        # more than it can be, but never less.
        del self._ages[seat][: len(tiles)]
        if seat != self._view.seat:
            self._see(tiles)

    def _see(self, tiles: tuple[str, ...]) -> None:
        """Tiles that turn up may be any that went back: the latest, so that all earlier ages know of it."""
        for kind in self._kinds(tiles):
            if self._exchange_of[kind]:
                self._returned[self._exchange_of[kind].pop()][kind] -= 1

    def _counted(self, tiles: tuple[str, ...]) -> np.ndarray:
        return np.bincount(self._kinds(tiles), minlength=len(self._view.variant.kinds))

    def _kinds(self, tiles: tuple[str, ...]) -> list[int]:
        kinds = [self._view.variant.kind_of(tile) for tile in tiles if tile != UNKNOWN]
        return [kind for kind in kinds if kind is not None]
