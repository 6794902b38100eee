"""From the actions of a table to the events of its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ..games.runtime.loops import step
from ..games.runtime.state import DRAW, REMOVE, START
from ..games.variant import State, Variant
from .events import Display, Draw, Event, Exchange, Pass, Place, Removed, Start


class Log:
    """The events of a table, told from its actions when they are asked for.

    Keeps what it has told and the state it has come to, so that asking after every move stays cheap.
    """

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._restart()

    def _restart(self) -> None:
        self._told: list[int] = []
        self._events: list[Event] = []
        self._state: State = self._variant.new_state()

    def copy(self) -> Log:
        """A log that can go on by itself."""
        other = Log(self._variant)
        other._told, other._events = self._told.copy(), self._events.copy()
        other._state = self._state.copy()
        return other

    def upto(self, actions: Sequence[int]) -> tuple[Event, ...]:
        """The events of these actions."""
        if self._told != actions[: len(self._told)]:
            self._restart()
        for action in actions[len(self._told) :]:
            self._tell(action)
            self._told.append(action)
        return tuple(self._events)

    def _tell(self, action: int) -> None:
        state, variant = self._state, self._variant
        phase, seat = int(state["phase"][0]), int(state["seat"][0])
        if phase == DRAW:
            self._extend(Draw(seat, (), variant.source(state)), tiles=(variant.kinds[action],))
        elif phase == REMOVE:
            self._extend(Removed(()), tiles=(variant.kinds[action],))
        elif phase == START:
            laid = variant.starting(state, action)
            self._extend(Start(()), display=(Display(laid.letters, laid.at[0]),))
        else:
            self._tell_move(action, seat)
            return
        variant.kernels[step](variant.constants, state, action, False)

    def _extend(self, empty: Any, **more: tuple[Any, ...]) -> None:
        """Add to the last event if it is of the same kind, else to a new one."""
        ((name, items),) = more.items()
        last: Any = self._events[-1] if self._events else None
        if last is not None and replace(last, **{name: ()}) == empty if type(last) is type(empty) else False:
            self._events[-1] = replace(last, **{name: getattr(last, name) + items})
        else:
            self._events.append(replace(empty, **more))

    def _tell_move(self, action: int, seat: int) -> None:
        state, variant = self._state, self._variant
        move = variant.decode(state, action)
        if move.kind == "place":
            pyramids = variant.pyramids(state)
            variant.kernels[step](variant.constants, state, action, False)
            points = state["gain"][0].tolist()
            gain = {track: n for track, n in zip(variant.tracks, points, strict=True) if n}
            new = tuple(cell for cell in variant.pyramids(state) if cell not in pyramids)
            self._events.append(Place(seat, move.tile, move.at, gain, move.named, new))
            return
        if move.kind == "exchange":
            self._events.append(Exchange(seat, move.tiles or variant.hand_of(state, seat)))
        elif move.kind == "pass":
            self._events.append(Pass(seat))
        variant.kernels[step](variant.constants, state, action, False)
