"""The text form of views, one line of JSON, as engines receive them. It contains no hidden information."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ...errors import ParseError, abbreviated, shortened
from ...games.runtime.state import HIDDEN, REMOVE
from ...games.variant import Variant
from ...model.events import UNKNOWN, Draw, Event, Exchange, Place, Removed, Start, redact_event
from ...model.position import Position
from ...model.view import View

MAX_POINTS = 32767  # points have 16 bits
MAX_EVENTS = 2000  # the longest games have about 1,450: four players who exchange whenever they can


class LegalMove(Struct, frozen=True):
    """A legal move and its points by track."""

    move: str
    gain: dict[str, int]


class ViewMessage(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The first three fields are the view. The others follow from it, for programs without the rules."""

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
    """Return the text of a seat's view, with its legal moves and their points if it is to move."""
    return msgspec.json.encode(_message_of(view)).decode()


def read_view(text: str | bytes) -> View:
    """Parse the text of a view.

    Raises:
        ParseError: the text is not a view, or contains what its seat cannot know.
    """
    if not isinstance(text, str | bytes):
        raise ParseError(f"not a view: {abbreviated(text)} is no text: give a line of JSON")
    try:
        return _read(text)
    except ParseError as error:  # which may quote a tile or a number of any length
        raise ParseError(shortened(str(error))) from None


def _read(text: str | bytes) -> View:
    try:
        message = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ParseError(f"not a view: {error}") from None
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        raise ParseError(f"not a view: not Unicode text: {error.reason}") from None
    if len(message.events) > MAX_EVENTS:
        raise ParseError(f"view: {len(message.events)} events, a game has at most {MAX_EVENTS}")
    position = Position.parse(message.position)
    if not 0 <= message.seat < position.players:
        raise ParseError(f"view: there is no seat {message.seat}, there are 0 to {position.players - 1}")
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
    _check_rest(message, view)
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
        raise ParseError("an engine is shown the view of a seat, not a spectator's")
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
        raise ParseError(f"view: seat {seat} sees its own hand: write its tiles, not ?")
    if "removed" in state.dtype.names and state["removed"][0].any():
        raise ParseError("view: nobody sees removed tiles: write ? and their number")
    secret = "aside" in state.dtype.names and not view.variant.exchange_is_public
    if secret and state["seat"][0] != seat and (state["aside"][0, : state["n_aside"][0]] != HIDDEN).any():
        raise ParseError(f"view: seat {seat} does not see what is laid aside: write ? for each tile")


def _check_size(variant: Variant, event: Event) -> None:
    """Check that an event has no more tiles than the rules move at once."""
    match event:
        case Draw(_, tiles) | Exchange(_, tiles):
            count, most = len(tiles), variant.hand
        case Removed(tiles):
            opening = variant.opening
            count, most = len(tiles), int(opening["due"][0]) if opening["phase"][0] == REMOVE else 0
        case Start(display):
            count, most = len(display), len(variant.start_places)
        case _:
            return  # a placement is compared with what lies on the board
    if count > most:
        raise ParseError(f"{count} tiles, there can be {most} in such an event of this game")


def _check_event(view: View, seat: int, event: Event) -> None:
    if redact_event(event, seat, view.variant.exchange_is_public) != event:
        raise ParseError(f"seat {seat} does not see these tiles: write ? for each of them")
    if not isinstance(event, Start) and not 0 <= getattr(event, "p", 0) < view.players:
        raise ParseError(f"there are the seats 0 to {view.players - 1}")
    match event:
        case Draw(p, tiles) | Exchange(p, tiles):
            own = p == seat
        case Place(_, tile):
            tiles, own = (tile,), True
        case Start(display):
            tiles, own = tuple(shown.tile for shown in display), True
        case _:
            return
    for tile in tiles:
        if view.variant.kind_of(tile) is None and (own or tile != UNKNOWN):
            raise ParseError(f"there is no tile {tile[:20]!r}")


class _Board:
    """The tiles and pyramids on the board of a view. Each must come from at most one event."""

    def __init__(self, view: View) -> None:
        self.variant = view.variant
        self._shown = self.variant.shown_at(view.state)
        self._pyramids = {*self.variant.pyramids(view.state), *self.variant.spent(view.state)}

    def check(self, event: Event) -> None:
        """Remove what an event put on the board. Raises `ParseError` if it is not there."""
        if isinstance(event, Start):
            for shown in event.display:
                if shown.at not in self.variant.start_places:
                    raise ParseError(f"no tile of an opening display lies on {shown.at[:20]!r}")
                self._take(shown.tile, (shown.at,))
        elif isinstance(event, Place):
            self._take(event.tile, event.at)
            for cell in event.pyramids:
                if cell not in self._pyramids:
                    raise ParseError(f"no pyramid is on {cell[:20]!r} in the position, or it is told twice")
                self._pyramids.remove(cell)
            if event.named is not None and event.named not in tuple(self.variant.colours):
                raise ParseError(f"{event.named[:20]!r} is no colour of this game: {self.variant.colours}")
            for track, points in event.gain.items():
                if track not in self.variant.tracks or not 0 <= points <= MAX_POINTS:
                    raise ParseError(f"a gain of {points} in {track[:20]!r} does not exist")

    def _take(self, tile: str, at: tuple[str, ...]) -> None:
        if not self.variant.can_lie(at):
            raise ParseError(f"{tile} cannot lie on {' '.join(at)[:40]!r}")
        letters = (tile,) if len(at) == 1 else tuple(tile)
        for cell, letter in zip(at, letters, strict=True):
            if self._shown.pop(cell, None) != letter:
                raise ParseError(f"no {letter} lies on {cell[:20]!r} in the position, or it is told twice")


def _check_rest(message: ViewMessage, view: View) -> None:
    """Check that derived fields, where they are given, agree with the position."""
    expected = _message_of(view)
    for field in ViewMessage.__struct_fields__:
        theirs, ours = getattr(message, field), getattr(expected, field)
        if theirs is not UNSET and field not in ("position", "events") and theirs != ours:
            raise ParseError(f"view: `{field}` is not what follows from the position")
