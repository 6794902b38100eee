"""Messages for one viewer, built only from that viewer's redacted view of the table."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias, TypedDict

from msgspec import UNSET, Struct
from msgspec.structs import replace

from ...games import game as game_info
from ...games.runtime.state import OFFER, OVER, PLACE
from ...model.events import Event
from ...model.view import View, last_placed, tiles_laid
from ...web.board_json import board_encoder
from ..domain.entries import MovePlayed, MoveTakenBack, TableEntry, TilesDrawn
from ..domain.game_state import GameState
from ..transport.fair_share import Pauses
from .messages import Phase, PositionInfo, SeatInfo, SeatKind, StepMessage, TableInfo, ViewMessage
from .moves_json import move_encoder

MAX_VIEWS = 100  # in the cache
PHASES: dict[int, Phase] = {PLACE: "place", OFFER: "offer", OVER: "over"}


@dataclass(frozen=True, slots=True)
class Viewer:
    """Viewer of a table: a person, `None` if anonymous, and the seat from which they look, if any."""

    person: str | None
    seat: int | None


# ------------------------------------------------------------ complete views


def complete_view(
    game: GameState, viewer: Viewer, present: Collection[str], deadline: int | None
) -> ViewMessage:
    """Return everything that a viewer may know.

    Args:
        game: The table.
        viewer: The viewer.
        present: People who are connected.
        deadline: Time at which the clock moves for the seat to move.
    """
    view = _view_of(game, viewer)
    board = board_encoder(game.config.variant)
    return ViewMessage(
        n=game.number,
        ack=None,
        table=_table_info(game, viewer),
        seats=seat_infos(game, present),
        you=viewer.seat,
        yours=game.seats_of(viewer.person),
        board=board.board(view.state),
        tiles=board.board_tiles(tiles_laid(view.events)),
        events=view.events,
        now=_position_info(game, view, viewer.seat, deadline, last_placed(view.events)),
        moves=move_encoder(view.variant).moves(view) if _has_to_move(game, viewer.seat) else None,
    )


def seat_infos(game: GameState, present: Collection[str]) -> list[SeatInfo]:
    """Return the occupants of all seats. `present` contains the people who are connected."""
    infos = []
    for seat in game.seats:
        kind: SeatKind = "open" if seat.free else "bot" if seat.bot is not None else "person"
        away = seat.name if seat.bot is not None and seat.person is not None else None
        name = seat.bot if seat.bot is not None and away else seat.name
        here = kind == "bot" or (seat.person is not None and seat.person in present)
        infos.append(SeatInfo(name or "", kind, seat.bot, here, away, seat.invited))
    return infos


def may_have_hints(game: GameState, person: str | None) -> bool:
    """Return whether a person may ask for hints: no other person plays, and it is not a daily deal."""
    others = {seat.person for seat in game.seats if seat.person is not None} - {person}
    return bool(game.seats_of(person)) and not others and game.config.daily is None


def _view_of(game: GameState, viewer: Viewer) -> View:
    if game.table is not None:
        return game.table.view(viewer.seat)
    variant = game.config.variant
    return View(variant, variant.new_state(), None, ())


def _has_to_move(game: GameState, seat: int | None) -> bool:
    """Return whether a person has to move for a seat."""
    return (
        seat is not None and seat == game.turn and game.pending_draw is None and game.seats[seat].bot is None
    )


def _table_info(game: GameState, viewer: Viewer) -> TableInfo:
    config, variant = game.config, game.config.variant
    may_invite = game.status == "open" and (viewer.person == config.owner or game.seats_of(viewer.person))
    return TableInfo(
        id=config.id,
        game=config.game,
        name=game_info(config.game).name,
        options=config.options,
        status=game.status,
        public=config.public,
        move_time=config.move_time,
        commitment=config.commitment,
        daily=config.daily,
        next=game.rematch,
        host=viewer.person == config.owner,
        invite=config.invite if may_invite else None,
        hints=game.status == "playing" and may_have_hints(game, viewer.person),
        tracks=variant.tracks,
        cap=variant.cap,
        colours=variant.colours,
    )


def _position_info(
    game: GameState, view: View, seat: int | None, deadline: int | None, last: tuple[str, ...]
) -> PositionInfo:
    variant, state, players = view.variant, view.state, view.players
    scores = state["scores"][0, :players].tolist()
    phase: Phase = game.status if game.status != "playing" else PHASES.get(int(state["phase"][0]), "draw")
    return PositionInfo(
        turn=game.turn,
        phase=phase,
        scores=scores,
        in_bag=view.in_bag,
        standing=view.ranks,
        extra=variant.extra_turns(state),
        pyramids=variant.pyramids(state),
        spent=variant.spent(state),
        last=last,
        lowest=[_lowest_tracks(variant.tracks, row) for row in scores],
        deadline=deadline,
        result=view.result if game.status == "over" else None,
        **_viewer_part(game, view, seat),
    )


class ViewerPart(TypedDict):
    """The fields of `PositionInfo` that differ between viewers."""

    hands: list[tuple[str, ...]]
    back: bool
    held: bool


def _viewer_part(game: GameState, view: View, seat: int | None) -> ViewerPart:
    return {
        # Hands are empty before the start. Afterwards they hold tiles or, redacted, `?`.
        "hands": [view.hand(owner) for owner in range(view.players)],
        "back": game.can_take_back(seat),
        "held": game.pending_draw is not None and game.pending_draw == seat,
    }


def _lowest_tracks(tracks: tuple[str, ...], points: list[int]) -> list[str]:
    """Return the tracks with the fewest points, none for games with a single track."""
    least = min(points)
    return [track for track, n in zip(tracks, points, strict=True) if n == least] if len(tracks) > 1 else []


# ------------------------------------------------------------ steps


class StepMessages:
    """Messages about the last entry, a move or a draw. The part that is public is computed once."""

    __slots__ = ("_deadline", "_game", "_messages", "_shared", "_table")

    def __init__(self, game: GameState, deadline: int | None) -> None:
        assert game.table is not None
        assert isinstance(game.last_entry, MovePlayed | TilesDrawn)
        self._game, self._table = game, game.table
        self._deadline = deadline
        self._messages: dict[int | None, StepMessage] = {}
        self._shared: StepMessage | None = None  # any message; all have the same public part

    def for_seat(self, seat: int | None, ack: str | None = None) -> StepMessage:
        """Return the message for a viewer who looks from a seat, or from none."""
        if seat not in self._messages:
            view = self._table.view(seat, since=self._game.events_before)
            self._shared = self._messages[seat] = self._build(seat, view, self._shared)
        return replace(self._messages[seat], ack=ack) if ack else self._messages[seat]

    def _build(self, seat: int | None, view: View, shared: StepMessage | None) -> StepMessage:
        game, board = self._game, board_encoder(view.variant)
        moves = move_encoder(view.variant).moves(view) if _has_to_move(game, seat) else None
        if shared is not None:
            now = replace(shared.now, **_viewer_part(game, view, seat))
            return replace(shared, you=seat, events=view.events, now=now, moves=moves)
        last = last_placed(view.events) or last_placed(self._table.events)
        tiles = board.board_tiles(tiles_laid(view.events))
        return StepMessage(
            n=game.number,
            ack=None,
            you=seat,
            events=view.events,
            tiles=tiles,
            now=_position_info(game, view, seat, self._deadline, last),
            moves=moves,
            board=board.board(view.state) if tiles and view.variant.grows else UNSET,
        )


# ------------------------------------------------------------ cache

# Number of the last entry, names on the seats, people present, deadline.
TableVersion: TypeAlias = tuple[int, tuple[str, ...], frozenset[str], int | None]
# Serial of the game; the viewer's seat, their own seats and whether they own the table.
ViewKey: TypeAlias = tuple[int, int | None, tuple[int, ...], bool]

_serials = count()


def new_serial() -> int:
    """Return a new number that identifies a `GameState` in memory."""
    return next(_serials)


class ViewCache:
    """The most recently requested views of the latest state of their tables. All tables share one cache."""

    def __init__(self, capacity: int = MAX_VIEWS) -> None:
        self._views: OrderedDict[ViewKey, tuple[TableVersion, ViewMessage]] = OrderedDict()
        self._capacity = capacity

    def view(
        self,
        serial: int,
        game: GameState,
        viewer: Viewer,
        present: frozenset[str],
        deadline: int | None,
        *,
        ack: str | None = None,
    ) -> ViewMessage:
        """Return the result of `complete_view`, from the cache if possible.

        Args:
            serial: Identifies `game`; see `new_serial`.
            game: The table.
            viewer: The viewer.
            present: People who are connected.
            deadline: Time at which the clock moves for the seat to move.
            ack: Id of the message that the view answers.
        """
        own = tuple(game.seats_of(viewer.person))
        key = (serial, viewer.seat, own, viewer.person == game.config.owner)
        names = tuple([seat.name for seat in game.seats])  # they change without an entry
        version = (game.number, names, present, deadline)
        cached = self._views.get(key)
        if cached is None or cached[0] != version:
            cached = version, complete_view(game, viewer, present, deadline)
            self._views[key] = cached
            if len(self._views) > self._capacity:
                self._views.popitem(last=False)
        self._views.move_to_end(key)
        return replace(cached[1], ack=ack) if ack is not None else cached[1]


# ------------------------------------------------------------ replays


class Replay(Struct, frozen=True):
    """The position at the start, with the first tiles drawn, and every later step."""

    view: ViewMessage
    steps: list[StepMessage]


class Replays:
    """Builds replays of finished games, one at a time and in small pieces.

    Building a replay takes up to 20 ms. A thread would hold the GIL all that time, so it happens in the event
    loop, which runs other tasks after each piece.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def build(
        self, game: GameState, entries: Sequence[tuple[int, TableEntry]], person: str | None
    ) -> Replay:
        """Return the replay for a person.

        Args:
            game: A table without entries. The entries are applied to it.
            entries: All entries with their times.
            person: The viewer, `None` if anonymous.
        """
        async with self._lock:
            return await _build_replay(game, entries, person)


async def _build_replay(
    game: GameState, entries: Sequence[tuple[int, TableEntry]], person: str | None
) -> Replay:
    """Return a replay without the placements that were taken back."""
    viewer = Viewer(person, None)
    view: ViewMessage | None = None
    steps: list[StepMessage] = []
    pause = Pauses()
    for at, entry in entries:
        await pause()
        game.apply(entry, at)
        if isinstance(entry, MovePlayed | TilesDrawn):
            steps.append(_with_open_hands(StepMessages(game, None).for_seat(None), game))
        elif isinstance(entry, MoveTakenBack):
            del steps[-1:]
        elif view is None and game.table is not None:
            view = complete_view(game, viewer, (), None)
            view = replace(view, now=replace(view.now, hands=_hands(game)), events=_events(game, 0))
    assert view is not None, "a finished game has been started"
    return Replay(replace(view, table=replace(view.table, status="over", next=game.rematch)), steps)


def _with_open_hands(step: StepMessage, game: GameState) -> StepMessage:
    return replace(step, now=replace(step.now, hands=_hands(game)), events=_events(game, game.events_before))


def _hands(game: GameState) -> list[tuple[str, ...]]:
    assert game.table is not None
    return [game.table.hand(seat) for seat in range(game.table.players)]


def _events(game: GameState, since: int) -> tuple[Event, ...]:
    assert game.table is not None
    return game.table.events[since:]
