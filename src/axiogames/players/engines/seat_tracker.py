"""Tracking of a game from one seat, by the events that the seat sees.

The state is that of a view: hidden tiles count as unseen. The rules need actual tiles in the hand of the seat
that moves, so its hidden tiles are replaced by arbitrary unseen tiles during an event, and put back after it.
The result does not depend on the choice of these tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...drawing.scene import PlacedTile
from ...errors import AxioError, IllegalMove, ParseError, Reason
from ...games.runtime.loops import step
from ...games.runtime.state import DRAW, HIDDEN, OFFER, REMOVE, START
from ...games.variant import State, Variant, copied
from ...model.events import (
    UNKNOWN,
    Display,
    Draw,
    Event,
    Exchange,
    Pass,
    Place,
    Removed,
    Start,
    append_event,
)
from ...model.position import Position, check_seat
from ...model.view import View
from ...moves import Move

KEEP = Move("keep")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The knowledge of the seat after an event."""

    state: State
    events: tuple[Event, ...]
    # After a placement by another seat: the state before it and the move, in case an exchange follows.
    before: State | None = None
    placed: Move | None = None


class SeatTracker:
    """The knowledge of a game from one seat.

    Each event is checked against the rules. An illegal event raises an error and changes nothing.
    """

    def __init__(self, variant: Variant, seat: int) -> None:
        self.variant = variant
        self.seat = check_seat(seat, variant.players)
        self._history: list[Snapshot] = []
        self._now = Snapshot(variant.new_state(), ())

    @classmethod
    def of(cls, view: View) -> SeatTracker:
        """Return a tracker that continues from a view."""
        if view.seat is None:
            raise ParseError("a tracker needs the view of a seat, not of a spectator")
        tracker = cls(view.variant, view.seat)
        tracker._now = Snapshot(view.state, view.events)
        return tracker

    @property
    def view(self) -> View:
        """The current view of the seat."""
        return View(self.variant, copied(self._now.state), self.seat, self._now.events)

    def undo(self) -> None:
        """Take back the last event or move."""
        if not self._history:
            raise AxioError("there is no event to undo")
        self._now = self._history.pop()

    # ------------------------------------------------------------ chance

    def start(self, display: Sequence[PlacedTile]) -> None:
        """Reveal tiles of the opening display."""
        state = copied(self._now.state)
        for tile in display:
            action = self.variant.start_action(state, tile) if state["phase"][0] == START else None
            if action is None:
                raise IllegalMove(f"start {tile.letters} {tile.at[0]}", Reason.NOT_IN_BAG)
            self._step(state, action)
        shown = tuple(Display(tile.letters, tile.at[0]) for tile in display)
        self._record_chance(state, Start(shown))

    def remove(self, count: int) -> None:
        """Remove tiles unseen."""
        state = copied(self._now.state)
        if state["phase"][0] != REMOVE or not 1 <= count <= state["due"][0]:
            due = int(state["due"][0]) if state["phase"][0] == REMOVE else 0
            raise ParseError(f"{count} tiles cannot be removed now: {due} have to be removed")
        for _ in range(count):
            self._step(state, _any_unseen(state))
            _hide_removed(state)
        self._record_chance(state, Removed((UNKNOWN,) * count))

    def draw(self, seat: int, tiles: Sequence[str]) -> None:
        """Draw tiles for a seat: letters for the own seat, `?` for other seats.

        A draw declines a pending offer to exchange.
        """
        seat = check_seat(seat, self.variant.players)
        request = f"draw {seat} {' '.join(tiles)}"
        state = copied(self._now.state)
        if state["phase"][0] == OFFER and state["seat"][0] == seat:
            self._step(state, self.variant.encode(state, KEEP))
        if state["phase"][0] != DRAW:
            raise IllegalMove(request, Reason.NO_DRAW_DUE)
        if state["seat"][0] != seat:
            raise IllegalMove(
                request, Reason.NOT_YOUR_TURN, f"seat {state['seat'][0]} has to draw, not seat {seat}"
            )
        if not 1 <= len(tiles) <= state["due"][0]:
            raise ParseError(f"{request}: {len(tiles)} tiles are drawn, but {state['due'][0]} are due")
        source = self.variant.source(state)
        if seat == self.seat:
            for tile in tiles:
                self._step(state, self._drawable_kind(state, tile, request))
        elif any(tile != UNKNOWN for tile in tiles):
            raise ParseError(f"{request}: seat {self.seat} does not see what seat {seat} draws: write ?")
        else:
            _fill_hand(state, seat)
            for _ in tiles:
                self._step(state, _any_unseen(state))
            self._hide(state, seat)
        names = tuple(self.variant.kinds[self._kind(tile)] if tile != UNKNOWN else tile for tile in tiles)
        self._record_chance(state, Draw(seat, names, source))

    def _drawable_kind(self, state: State, tile: str, request: str) -> int:
        """Return the kind of a tile that can be drawn. Raise `IllegalMove` if there is no such tile."""
        kind = self.variant.kind_of(tile)
        if kind is None or not state["bag"][0, kind]:
            raise IllegalMove(request, Reason.NOT_IN_BAG)
        return kind

    # ------------------------------------------------------------ moves

    def play(self, seat: int, move: Move) -> dict[str, int]:
        """Play a move for a seat and return its points by track. Tiles of a hidden exchange are `?`."""
        seat = check_seat(seat, self.variant.players)
        state = self._now.state
        if state["phase"][0] != DRAW and seat != state["seat"][0]:
            raise IllegalMove(move, Reason.NOT_YOUR_TURN)
        if seat == self.seat:
            if UNKNOWN in move.tiles:
                raise ParseError(f"{move}: seat {seat} sees its own tiles: write them, not ?")
            after, event = self._carry_out(copied(state), seat, move)
            self._record(Snapshot(after, self._now.events + event))
        elif move.kind == "place":
            self._placed_by_other(seat, move)
        elif move.kind == "exchange":
            self._exchanged_by_other(seat, move)
        elif move == KEEP and self._just_placed(seat):
            self._record(self._now)
        else:
            after, event = self._carry_out(copied(state), seat, move, hidden=True)
            self._record(Snapshot(after, self._now.events + event))
        last = self._now.events[-1] if self._now.events else None
        return dict(last.gain) if isinstance(last, Place) and move.kind == "place" else {}

    def _placed_by_other(self, seat: int, move: Move) -> None:
        before = self._now.state
        state = copied(before)
        if state["seat"][0] == seat and state["phase"][0] not in (DRAW, START, REMOVE):
            _fill_hand(state, seat, [self._holdable_kind(state, move.tile, move)])
        after, event = self._carry_out(state, seat, move)
        if after["phase"][0] == OFFER:
            # Assume that the hidden hand is kept. If an exchange follows, the placement is replayed.
            self._step(after, self.variant.encode(after, KEEP))
        self._hide(after, seat)
        self._record(Snapshot(after, self._now.events + event, before, move))

    def _exchanged_by_other(self, seat: int, move: Move) -> None:
        public = self.variant.exchange_is_public
        if public and (not move.tiles or UNKNOWN in move.tiles):
            raise ParseError(f"{move}: exchanged tiles are public in this game: write them")
        if not public and any(tile != UNKNOWN for tile in move.tiles):
            raise ParseError(f"{move}: seat {self.seat} does not see what seat {seat} exchanges: write ?")
        state = copied(self._now.state)
        if public and self._just_placed(seat):
            before, placed = self._now.before, self._now.placed
            assert before is not None
            assert placed is not None
            state = copied(before)
            shown = [self._holdable_kind(state, tile, move) for tile in (placed.tile, *move.tiles)]
            _fill_hand(state, seat, shown)
            self._step(state, self.variant.encode(state, placed))
            if state["phase"][0] != OFFER:
                raise IllegalMove(move, Reason.EXCHANGE_NOT_ALLOWED)
        elif state["phase"][0] < DRAW:
            _fill_hand(state, seat, [self._holdable_kind(state, tile, move) for tile in move.tiles if public])
        if public:
            after, event = self._carry_out(state, seat, move)
        else:
            hand = self.variant.hand_of(state, seat)
            if len(move.tiles) > len(hand) and state["phase"][0] < DRAW:
                raise ParseError(f"exchange: seat {seat} holds {len(hand)} tiles, not {len(move.tiles)}")
            exchange = Move("exchange", tiles=hand[: len(move.tiles)])
            after, _ = self._carry_out(state, seat, exchange)
            event = (Exchange(seat, move.tiles),)
        self._hide(after, seat)
        self._record(Snapshot(after, self._now.events + event))

    def _just_placed(self, seat: int) -> bool:
        """Return whether the last event is a placement by this other seat, which now draws."""
        now = self._now
        return now.before is not None and now.state["phase"][0] == DRAW and now.state["seat"][0] == seat

    def _holdable_kind(self, state: State, tile: str, move: Move) -> int:
        """Return the kind of a tile that may be in a hidden hand. Raise `IllegalMove` if it cannot be."""
        kind = self.variant.kind_of(tile)
        if kind is None:
            raise IllegalMove(move, Reason.NO_SUCH_TILE)
        if not state["bag"][0, kind]:
            raise IllegalMove(move, Reason.NOT_IN_HAND, f"all tiles {tile} are known to be elsewhere")
        return kind

    def _carry_out(
        self, state: State, seat: int, move: Move, *, hidden: bool = False
    ) -> tuple[State, tuple[Event, ...]]:
        """Play a legal move and return the state and its events.

        Set `hidden` for a move that does not depend on the hand, which is hidden.
        """
        position = Position(self.variant, state)
        if hidden and not position.draw_due:
            action = self.variant.encode(state, move)
        else:
            action = position.action_of(move)
        legal, hand = self.variant.decode(state, action), position.hand(seat)
        if legal.kind == "place":
            preview = position.preview(legal)
            event: tuple[Event, ...] = (
                Place(seat, legal.tile, legal.at, preview.gain, legal.named, preview.pyramids),
            )
        elif legal.kind == "exchange":
            event = (Exchange(seat, legal.tiles or hand),)
        else:
            event = (Pass(seat),) if legal.kind == "pass" else ()
        self._step(state, action, move)
        return state, event

    # ------------------------------------------------------------ states and snapshots

    def _step(self, state: State, action: int, move: Move | None = None) -> None:
        reason = self.variant.kernels[step](self.variant.constants, state, int(action), move is not None)
        if reason:
            raise IllegalMove(move, Reason.of(reason))

    def _hide(self, state: State, seat: int) -> None:
        """Count the tiles of another seat as unseen again."""
        _put_back(state, state["hands"][0, seat, : state["held"][0, seat]])
        if "aside" in state.dtype.names and not self.variant.exchange_is_public:
            _put_back(state, state["aside"][0, : state["n_aside"][0]])

    def _kind(self, tile: str) -> int:
        kind = self.variant.kind_of(tile)
        assert kind is not None, "it has been drawn"
        return kind

    def _record_chance(self, state: State, event: Draw | Removed | Start) -> None:
        events = list(self._now.events)
        append_event(events, event)
        self._record(Snapshot(state, tuple(events)))

    def _record(self, snapshot: Snapshot) -> None:
        self._history.append(self._now)
        self._now = snapshot


def _any_unseen(state: State) -> int:
    """Return the first kind of which a tile is unseen."""
    return int(np.flatnonzero(state["bag"][0])[0])


def _fill_hand(state: State, seat: int, kinds: Sequence[int] = ()) -> None:
    """Replace the hidden tiles of a seat by unseen tiles, which include `kinds`.

    Raises:
        ParseError: the seat holds fewer tiles than `kinds`.
    """
    hand = state["hands"][0, seat, : state["held"][0, seat]]
    hidden = int((hand == HIDDEN).sum())
    if len(kinds) > hidden:
        raise ParseError(f"seat {seat} holds {hidden} tiles, not {len(kinds)}")
    chosen = list(kinds)
    for kind in chosen:
        _take(state, kind)
    while len(chosen) < hidden:
        chosen.append(_any_unseen(state))
        _take(state, chosen[-1])
    hand[:] = sorted(chosen)
    if "aside" in state.dtype.names:
        aside = state["aside"][0, : state["n_aside"][0]]
        for i in np.flatnonzero(aside == HIDDEN).tolist():
            aside[i] = _any_unseen(state)
            _take(state, int(aside[i]))


def _take(state: State, kind: int) -> None:
    if not state["bag"][0, kind]:
        raise ParseError("the events have more tiles of a kind than are unseen")
    state["bag"][0, kind] -= 1
    state["unseen"] -= 1


def _put_back(state: State, kinds: np.ndarray) -> None:
    for kind in kinds.tolist():
        state["bag"][0, kind] += 1
    kinds[:] = HIDDEN
    state["unseen"] += len(kinds)


def _hide_removed(state: State) -> None:
    removed = state["removed"][0]
    state["bag"][0] += removed
    state["unseen"] += removed.sum()
    removed[:] = 0
