"""What the numbers of an observation mean, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..protocol import add_hidden, observe_board, observe_counters
from .compile import rule
from .state import HIDDEN, OFFER, OVER, PLACE


@rule
def clear(row):
    """Write zeros."""
    for i in range(len(row)):
        row[i] = 0


def observe(c, s, seat, places, board, out):
    """Write the board as a seat sees it into zeros, and the rest of what it knows into `out`."""
    observe_board(c, s, places, board)
    out[0] = s.phase == PLACE
    out[1] = s.phase == OFFER
    out[2] = s.phase == OVER
    out[3] = s.in_bag
    at = 4
    players, tracks, kinds = c.players, s.scores.shape[1], len(s.bag)
    for turn in range(players):
        other = (seat + turn) % players
        out[at] = s.seat == other
        out[at + 1] = s.held[other]
        at += 2
        for track in range(tracks):
            out[at + track] = s.scores[other, track]
        at += tracks
    for kind in range(kinds):
        out[at + kind] = 0
        out[at + kinds + kind] = s.bag[kind]
    for other in range(players):
        # One's own tiles are counted in the first list, those of others among the unseen ones.
        start = at if other == seat else at + kinds
        for i in range(s.held[other]):
            if s.hands[other, i] != HIDDEN:
                out[start + s.hands[other, i]] += 1
    add_hidden(c, s, seat, out, at + kinds)
    observe_counters(c, s, seat, out, at + 2 * kinds)


@dataclass(frozen=True, eq=False)
class BoardLayout:
    """How a board is written as an array of small numbers. Compares by value.

    `names` says what lies along the axis `named`: planes of a picture (axis 0), or the features of each place
    of a list (the last axis). `places` says where in a plane each cell of the board lies.
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
        """How many numbers there are."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Observation:
    """A seat's knowledge of a position: the board, and a list of numbers with a name for each.

    Seats are counted from the one that looks: `seat0` is itself, `seat1` the next one, and so on.
    """

    board: BoardLayout
    names: tuple[str, ...]

    def where(self, prefix: str) -> list[int]:
        """The places of all numbers whose names begin like this."""
        return [i for i, name in enumerate(self.names) if name.startswith(prefix)]


def feature_names(
    players: int, tracks: tuple[str, ...], kinds: tuple[str, ...], counters: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of what `engine.observing.observe` writes."""
    seats = [
        f"seat{seat}.{what}"
        for seat in range(players)
        for what in ("moves", "tiles", *(f"points.{track}" for track in tracks))
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
