"""Observations: the array that a seat gets, and the names of its entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..protocol import add_hidden, observe_board, observe_counters
from .compile import rule
from .state import HIDDEN, OFFER, OVER, PLACE


@rule
def clear(row):
    """Fill an array with zeros."""
    for i in range(len(row)):
        row[i] = 0


def observe(c, s, seat, places, board, out):
    """Write the observation of a seat.

    `board` is an array of zeros for `observe_board`; `places` is `BoardLayout.places`. `out` gets the entries
    that `feature_names` names.
    """
    observe_board(c, s, places, board)
    out[0] = s.phase == PLACE
    out[1] = s.phase == OFFER
    out[2] = s.phase == OVER
    out[3] = s.in_bag
    at = 4
    players, tracks, kinds = c.players, s.scores.shape[1], len(s.bag)
    for offset in range(players):
        player = (seat + offset) % players
        out[at] = s.seat == player
        out[at + 1] = s.held[player]
        at += 2
        for track in range(tracks):
            out[at + track] = s.scores[player, track]
        at += tracks
    for kind in range(kinds):
        out[at + kind] = 0
        out[at + kinds + kind] = s.bag[kind]
    for player in range(players):
        # The seat's own tiles are counted by kind; those of other players count as unseen.
        start = at if player == seat else at + kinds
        for i in range(s.held[player]):
            if s.hands[player, i] != HIDDEN:
                out[start + s.hands[player, i]] += 1
    add_hidden(c, s, seat, out, at + kinds)
    observe_counters(c, s, seat, out, at + 2 * kinds)


@dataclass(frozen=True, eq=False)
class BoardLayout:
    """The array that represents a board in observations. Compares by value.

    Attributes:
        shape: Shape of the array.
        names: Names of the entries along the axis `named`.
        named: 0 if the array is a stack of named planes, 1 if it is a list of places with named features.
        places: Index in a plane of each cell of the board, in the order of the cells.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    named: int
    places: np.ndarray

    def _values(self) -> tuple[object, ...]:
        return self.shape, self.names, self.named, self.places.dtype, self.places.tobytes()

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, BoardLayout) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Observation:
    """The layout of an observation: the board, and a vector with a name for each entry.

    Names count seats from the observing one: `seat0` is the observer, `seat1` the next seat, and so on.
    """

    board: BoardLayout
    names: tuple[str, ...]

    def where(self, prefix: str) -> list[int]:
        """Return the indices of all entries whose names start with `prefix`."""
        return [i for i, name in enumerate(self.names) if name.startswith(prefix)]


def feature_names(
    players: int, tracks: tuple[str, ...], kinds: tuple[str, ...], counters: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of the entries that `observe` writes to `out`."""
    seats = [
        f"seat{seat}.{entry}"
        for seat in range(players)
        for entry in ("moves", "tiles", *(f"points.{track}" for track in tracks))
    ]
    return (
        "phase.place",
        "phase.offer",
        "phase.over",
        "bag",
        *seats,
        *(f"hand.{kind}" for kind in kinds),
        *(f"unseen.{kind}" for kind in kinds),
        *counters,
    )
