"""The text form of views: one line of JSON without hidden information, which engines receive."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ...errors import ParseError, abbreviated, shortened
from ...games.runtime.state import HIDDEN, REMOVE
from ...games.variant import Variant
from ...model.events import UNKNOWN, Draw, Event, Exchange, Place, Removed, Start, redact_event
from ...model.position import Position
from ...model.view import View

MAX_POINTS = 32767  # points are 16-bit integers
MAX_EVENTS = 2000  # the longest games have about 1,450, if four players exchange whenever they can


class LegalMove(Struct, frozen=True):
    """A legal move and its points by track."""

    move: str
    gain: dict[str, int]


class ViewMessage(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A view. The fields after `events` are derived, for engines that do not know the rules."""

    seat: int
    position: str
    events: tuple[Event, ...] = ()
    game: str | UnsetType = UNSET
    players: int | UnsetType = UNSET
    options: tuple[str, ...] | UnsetType = UNSET
    turn: int | UnsetType | None = UNSET
    tracks: tuple[str, ...] | UnsetType = UNSET
    scores: tuple[dict[str, int], ...] | UnsetType = UNSET
    hands: tuple[tuple[str, ...], ...] | UnsetType = UNSET
    unseen: dict[str, int] | UnsetType = UNSET
    in_bag: int | UnsetType = UNSET
    moves: tuple[LegalMove, ...] | UnsetType = UNSET


_DECODER = msgspec.json.Decoder(ViewMessage)


def write_view(view: View) -> str:
    """Return the text of the view of a seat, with the legal moves and their points if it is to move."""
    return msgspec.json.encode(_message_of(view)).decode()


def read_view(text: str | bytes) -> View:
    """Parse the text of a view.

    Raises:
        ParseError: the text is not a view, or contains information that is hidden from its seat.
    """
    if not isinstance(text, str | bytes):
        raise ParseError(f"not a view: {abbreviated(text)} is not text: give a line of JSON")
    try:
        return _read(text)
    except ParseError as error:  # it may quote a tile or a number of any length
        raise ParseError(shortened(str(error))) from None


def _read(text: str | bytes) -> View:
    try:
        message = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ParseError(f"not a view: {error}") from None
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        raise ParseError(f"not a view: not Unicode text: {error.reason}") from None
    if len(message.events) > MAX_EVENTS:
        raise ParseError(f"view: {len(message.events)} events, more than the limit of {MAX_EVENTS}")
    position = Position.parse(message.position)
    if not 0 <= message.seat < position.players:
        raise ParseError(f"view: there is no seat {message.seat}: 0 to {position.players - 1}")
    view = View(position.variant, position.state, message.seat, message.events)
    _check_hidden(view, message.seat)
    board = _Board(view)
    for number, event in enumerate(message.events, 1):
        try:
            _check_size(view.variant, event)
            _check_event(view, message.seat, event)
            board.check(event)
        except ParseError as error:
            raise ParseError(f"view, event {number}: {error}") from None
    _check_derived(message, view)
    return view


def legal_moves(view: View) -> tuple[LegalMove, ...]:
    """Return the legal moves and their points, as engines receive them."""
    moves = view.legal_moves()
    tracks = view.variant.tracks
    rows = view.gains(moves).tolist()
    return tuple(
        LegalMove(str(move), {track: n for track, n in zip(tracks, row, strict=True) if n})
        for move, row in zip(moves, rows, strict=True)
    )


def _message_of(view: View) -> ViewMessage:
    if view.seat is None:
        raise ParseError("an engine needs the view of a seat, not of a spectator")
    return ViewMessage(
        seat=view.seat,
        position=view.position,
        events=view.events,
        game=view.game,
        players=view.players,
        options=tuple(view.options),
        turn=view.turn,
        tracks=view.variant.tracks,
        scores=view.scores,
        hands=tuple(view.hand(seat) for seat in range(view.players)),
        unseen=view.unseen,
        in_bag=view.in_bag,
        moves=legal_moves(view),
    )


def _check_hidden(view: View, seat: int) -> None:
    state = view.state
    for other in range(view.players):
        if other != seat and any(tile != UNKNOWN for tile in view.hand(other)):
            raise ParseError(
                f"view: seat {seat} does not see the hand of seat {other}: write ? for each tile"
            )
    if UNKNOWN in view.hand(seat):
        raise ParseError(f"view: seat {seat} sees its own hand: write the tiles, not ?")
    if "removed" in state.dtype.names and state["removed"][0].any():
        raise ParseError("view: removed tiles are hidden: write ? and their number")
    hidden = "aside" in state.dtype.names and not view.variant.exchange_is_public
    if hidden and state["seat"][0] != seat and (state["aside"][0, : state["n_aside"][0]] != HIDDEN).any():
        raise ParseError(f"view: seat {seat} does not see the tiles set aside: write ? for each tile")


def _check_size(variant: Variant, event: Event) -> None:
    """Check that an event has no more tiles than the rules allow in one event."""
    match event:
        case Draw(_, tiles) | Exchange(_, tiles):
            count, limit = len(tiles), variant.hand
        case Removed(tiles):
            opening = variant.opening
            count, limit = len(tiles), int(opening["due"][0]) if opening["phase"][0] == REMOVE else 0
        case Start(display):
            count, limit = len(display), len(variant.start_places)
        case _:
            return  # placements are compared with the board
    if count > limit:
        raise ParseError(f"{count} tiles, more than the limit of {limit} in such an event of this game")


def _check_event(view: View, seat: int, event: Event) -> None:
    if redact_event(event, seat, view.variant.exchange_is_public) != event:
        raise ParseError(f"seat {seat} does not see these tiles: write ? for each tile")
    if not isinstance(event, Start) and not 0 <= getattr(event, "p", 0) < view.players:
        raise ParseError(
            f"there is no seat {abbreviated(getattr(event, 'p', None))}: 0 to {view.players - 1}"
        )
    match event:
        case Draw(p, tiles) | Exchange(p, tiles):
            visible = p == seat
        case Place(_, tile):
            tiles, visible = (tile,), True
        case Start(display):
            tiles, visible = tuple(shown.tile for shown in display), True
        case _:
            return
    for tile in tiles:
        if view.variant.kind_of(tile) is None and (visible or tile != UNKNOWN):
            raise ParseError(f"there is no tile {tile[:20]!r}")


class _Board:
    """The tiles and pyramids on the board of a view. At most one event may have put each of them there."""

    def __init__(self, view: View) -> None:
        self.variant = view.variant
        self._shown = self.variant.shown_at(view.state)
        self._pyramids = {*self.variant.pyramids(view.state), *self.variant.spent(view.state)}

    def check(self, event: Event) -> None:
        """Remove the tiles and pyramids of an event. Raise `ParseError` if they are not on the board."""
        if isinstance(event, Start):
            for shown in event.display:
                if shown.at not in self.variant.start_places:
                    raise ParseError(f"no tile of an opening display is on {shown.at[:20]!r}")
                self._take(shown.tile, (shown.at,))
        elif isinstance(event, Place):
            self._take(event.tile, event.at)
            for cell in event.pyramids:
                if cell not in self._pyramids:
                    raise ParseError(f"no pyramid is on {cell[:20]!r} in the position, or two events set it")
                self._pyramids.remove(cell)
            if event.named is not None and event.named not in tuple(self.variant.colours):
                raise ParseError(f"{event.named[:20]!r} is not a colour of this game: {self.variant.colours}")
            for track, points in event.gain.items():
                if track not in self.variant.tracks or not 0 <= points <= MAX_POINTS:
                    raise ParseError(f"a gain of {points} in {track[:20]!r} is impossible")

    def _take(self, tile: str, at: tuple[str, ...]) -> None:
        if not self.variant.has_tile_shape(at):
            raise ParseError(f"{tile} cannot be on {' '.join(at)[:40]!r}")
        letters = (tile,) if len(at) == 1 else tuple(tile)
        for cell, letter in zip(at, letters, strict=True):
            if self._shown.pop(cell, None) != letter:
                raise ParseError(f"no {letter} is on {cell[:20]!r} in the position, or two events place it")


def _check_derived(message: ViewMessage, view: View) -> None:
    """Check that derived fields, if present, agree with the position."""
    derived = _message_of(view)
    for field in ViewMessage.__struct_fields__:
        value, expected = getattr(message, field), getattr(derived, field)
        if value is not UNSET and field not in ("position", "events") and value != expected:
            raise ParseError(f"view: `{field}` does not agree with the position")
