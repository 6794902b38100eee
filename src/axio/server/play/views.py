"""Whole views of tables, made once for all viewers who may know the same."""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from typing import TypeAlias

from msgspec.structs import replace

from .game import Game
from .messages import ViewMessage
from .telling import Viewer, whole_view

MOST_VIEWS = 100

State: TypeAlias = tuple[
    int, tuple[str, ...], frozenset[str], int | None
]  # number, names, who is here, deadline
Kind: TypeAlias = tuple[
    int, int | None, tuple[int, ...], bool
]  # of which game; seat, own seats, whether host

_serials = count()


def new_serial() -> int:
    """Return a number that stands for one game in memory."""
    return next(_serials)


class ViewCache:
    """The views that were asked for last, of the latest state of their tables. All tables share it."""

    def __init__(self, most: int = MOST_VIEWS) -> None:
        self._kept: OrderedDict[Kind, tuple[State, ViewMessage]] = OrderedDict()
        self._most = most

    def view(
        self,
        serial: int,
        game: Game,
        viewer: Viewer,
        here: frozenset[str],
        deadline: int | None,
        ack: str | None = None,
    ) -> ViewMessage:
        """Return what `whole_view` returns. `serial` stands for `game` and for no other one."""
        yours = tuple(game.seats_of(viewer.person))
        kind = (serial, viewer.seat, yours, viewer.person == game.terms.owner)
        names = tuple([seat.name for seat in game.seats])  # which change without an act
        state = (game.number, names, here, deadline)
        kept = self._kept.get(kind)
        if kept is None or kept[0] != state:
            kept = state, whole_view(game, viewer, here, deadline)
            self._kept[kind] = kept
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(kind)
        return replace(kept[1], ack=ack) if ack is not None else kept[1]
