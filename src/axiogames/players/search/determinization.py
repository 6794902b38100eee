"""Inference of hidden tiles from the events that a seat has seen.

A tile that went back into the bag at an exchange cannot be in a hand that was drawn before. Hidden tiles are
therefore grouped by age: older ones come from fewer tiles. `determinize` in `evaluation.rollout_loops`
samples from these groups.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...games.runtime.state import HIDDEN
from ...model.events import UNKNOWN, Draw, Event, Exchange, Place
from ...model.view import View
from ...moves import Seat, TileKind


def hidden_tile_groups(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of hidden tiles, the oldest first.

    Returns:
        Two arrays with a row for each group: its seat and number of tiles, and the number of unseen tiles of
        each kind that its tiles cannot be. A tile that a group may contain is never excluded.
    """
    tracker = _TileTracker(view)
    for event in view.events:
        tracker.add(event)
    groups: list[tuple[int, int, int]] = []
    hands, held = view.state["hands"][0], view.state["held"][0]
    for seat in range(view.players):
        hidden = int((hands[seat, : held[seat]] == HIDDEN).sum())
        ages = Counter(tracker.ages_of(seat, hidden))
        groups += [(age, seat, count) for age, count in ages.items()]
    groups.sort()
    hidden_counts = np.array([(seat, count) for _, seat, count in groups], np.int64).reshape(-1, 2)
    unseen = view.state["bag"][0].astype(np.int64)
    excluded = np.array([tracker.returned_since(age) for age, _, _ in groups], np.int64).reshape(
        -1, len(unseen)
    )
    left = (unseen - excluded).sum(axis=1)
    if (excluded > unseen).any() or (left < np.cumsum(hidden_counts[:, 1])).any():
        excluded[:] = 0  # the events do not belong to this position: nothing can be inferred from them
    return hidden_counts, excluded


class _TileTracker:
    """Infers the ages of hidden tiles from events. The age of a tile is the number of exchanges before it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._returned: list[np.ndarray] = []  # by exchange and kind: tiles returned and not seen since
        self._exchanges_of: list[list[int]] = [[] for _ in view.variant.kinds]  # by kind: exchange of each
        self._ages: list[list[int]] = [[] for _ in range(view.players)]  # of the tiles in hands, oldest first
        self._exchanged: tuple[str, ...] = ()  # given up, but not yet back in the bag

    def add(self, event: Event) -> None:
        """Update the ages for the next event."""
        if isinstance(event, Draw):
            self._ages[event.p] += [len(self._returned)] * len(event.tiles)
            self._see(event.tiles)
            if self._exchanged:  # new tiles are drawn before the old ones go back
                for kind in self._kinds(self._exchanged):
                    self._exchanges_of[kind].append(len(self._returned))
                self._returned.append(self._count(self._exchanged))
                self._exchanged = ()
        elif isinstance(event, Place):
            self._remove_from_hand(event.p, (event.tile,))
        elif isinstance(event, Exchange):
            self._remove_from_hand(event.p, event.shown)
            self._exchanged = event.shown

    def ages_of(self, seat: Seat, hidden: int) -> list[int]:
        """Return the ages of a seat's hidden tiles. Tiles older than the events exclude nothing."""
        ages = self._ages[seat][-hidden:] if hidden else []
        return ages + [len(self._returned)] * (hidden - len(ages))

    def returned_since(self, age: int) -> np.ndarray:
        """Return the number of tiles of each kind returned since an age and not seen again."""
        none = np.zeros(len(self._view.variant.kinds), np.int64)
        total: np.ndarray = sum(self._returned[age:], none)
        return total

    def _remove_from_hand(self, seat: Seat, tiles: tuple[str, ...]) -> None:
        # It is not known which of its tiles an opponent gives away. Assuming the oldest is safe: more kinds
        # than necessary may be allowed for the remaining tiles, but no possible kind is excluded.
        del self._ages[seat][: len(tiles)]
        if seat != self._view.seat:
            self._see(tiles)

    def _see(self, tiles: tuple[str, ...]) -> None:
        """Record tiles that become visible. Each may have been returned by any exchange; assume the latest.

        It then no longer counts as returned.
        """
        for kind in self._kinds(tiles):
            if self._exchanges_of[kind]:
                self._returned[self._exchanges_of[kind].pop()][kind] -= 1

    def _count(self, tiles: tuple[str, ...]) -> np.ndarray:
        return np.bincount(self._kinds(tiles), minlength=len(self._view.variant.kinds))

    def _kinds(self, tiles: tuple[str, ...]) -> list[TileKind]:
        kinds = [self._view.variant.kind_of(tile) for tile in tiles if tile != UNKNOWN]
        return [kind for kind in kinds if kind is not None]
