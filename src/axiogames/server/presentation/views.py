"""Messages for one viewer, made from the view that the table gives of itself and nothing else."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias, TypedDict

from msgspec import UNSET, Struct
from msgspec.structs import replace

from ...games import game as declared
from ...games.runtime.state import OFFER, OVER, PLACE
from ...model.events import Event
from ...model.view import View, last_placed, tiles_laid
from ..domain.entries import Act, Drew, Moved, TookBack
from ..domain.game_state import Game
from ..transport.fair_share import Pauses
from .board_json import describer
from .messages import Kind, Now, Phase, SeatInfo, StepMessage, TableInfo, ViewMessage

PHASES: dict[int, Phase] = {PLACE: "place", OFFER: "offer", OVER: "over"}


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who is told what happens: a person (or nobody known), looking from a seat or from none."""

    person: str | None
    seat: int | None


class Private(TypedDict):
    """The part of `Now` that is not the same for everybody."""

    hands: list[tuple[str, ...]]
    back: bool
    held: bool


def whole_view(
    game: Game, viewer: Viewer, here: Collection[str], deadline: int | None, ack: str | None = None
) -> ViewMessage:
    """All that a viewer may know."""
    position = _position(game, viewer)
    told = describer(game.terms.variant)
    return ViewMessage(
        n=game.number,
        ack=ack,
        table=_info(game, viewer),
        seats=seat_infos(game, here),
        you=viewer.seat,
        yours=game.seats_of(viewer.person),
        board=told.board(position),
        tiles=told.all_on_board(tiles_laid(position.events)),
        events=position.events,
        now=_now(game, position, viewer.seat, deadline, last_placed(position.events)),
        moves=told.moves(position) if _asked(game, viewer.seat) else None,
    )


class Step:
    """What the last entry changed, if it is a move or a draw; what all may know of it is found out once."""

    __slots__ = ("_deadline", "_game", "_known", "_seen", "_table")

    def __init__(self, game: Game, deadline: int | None) -> None:
        assert game.table is not None
        assert isinstance(game.last, Moved | Drew)
        self._game, self._table = game, game.table
        self._deadline = deadline
        self._seen: dict[int | None, StepMessage] = {}
        self._known: StepMessage | None = None  # whoever was first to be told it

    def seen_from(self, seat: int | None, ack: str | None = None) -> StepMessage:
        """As it is told to somebody who looks from a seat, or from none."""
        if seat not in self._seen:
            position = self._table.view(seat, since=self._game.events_before)
            self._known = self._seen[seat] = self._told(seat, position, self._known)
        return replace(self._seen[seat], ack=ack) if ack else self._seen[seat]

    def _told(self, seat: int | None, position: View, known: StepMessage | None) -> StepMessage:
        game, told = self._game, describer(position.variant)
        moves = told.moves(position) if _asked(game, seat) else None
        if known is not None:
            now = replace(known.now, **_private(game, position, seat))
            return replace(known, you=seat, events=position.events, now=now, moves=moves)
        last = last_placed(position.events) or last_placed(self._table.events)
        laid = told.all_on_board(tiles_laid(position.events))
        return StepMessage(
            n=game.number,
            ack=None,
            you=seat,
            events=position.events,
            tiles=laid,
            now=_now(game, position, seat, self._deadline, last),
            moves=moves,
            board=told.board(position) if laid and position.variant.grows else UNSET,
        )


def seat_infos(game: Game, here: Collection[str]) -> list[SeatInfo]:
    """Who sits where; `here` are the people who are connected."""
    infos = []
    for seat in game.seats:
        kind: Kind = "open" if seat.free else "bot" if seat.bot is not None else "person"
        away = seat.name if seat.bot is not None and seat.person is not None else None
        name = seat.bot if seat.bot is not None and away else seat.name
        present = kind == "bot" or (seat.person is not None and seat.person in here)
        infos.append(SeatInfo(name or "", kind, seat.bot, present, away, seat.invited))
    return infos


def may_have_hints(game: Game, person: str | None) -> bool:
    """Whether a person may ask what a bot would do: where nobody else plays, and not in a daily deal."""
    others = {seat.person for seat in game.seats if seat.person is not None} - {person}
    return bool(game.seats_of(person)) and not others and game.terms.daily is None


def _position(game: Game, viewer: Viewer) -> View:
    if game.table is not None:
        return game.table.view(viewer.seat)
    variant = game.terms.variant
    return View(variant, variant.new_state(), None, ())


def _asked(game: Game, seat: int | None) -> bool:
    return seat is not None and seat == game.turn and game.held is None and game.seats[seat].bot is None


def _info(game: Game, viewer: Viewer) -> TableInfo:
    terms, variant = game.terms, game.terms.variant
    invited = game.status == "open" and (viewer.person == terms.owner or game.seats_of(viewer.person))
    return TableInfo(
        id=terms.id,
        game=terms.game,
        name=declared(terms.game).name,
        options=terms.options,
        status=game.status,
        public=terms.public,
        move_time=terms.move_time,
        commitment=terms.commitment,
        daily=terms.daily,
        next=game.next,
        host=viewer.person == terms.owner,
        invite=terms.invite if invited else None,
        hints=game.status == "playing" and may_have_hints(game, viewer.person),
        tracks=variant.tracks,
        cap=variant.cap,
        colours=variant.colours,
    )


def _now(game: Game, position: View, seat: int | None, deadline: int | None, last: tuple[str, ...]) -> Now:
    variant, state, players = position.variant, position.state, position.players
    scores = state["scores"][0, :players].tolist()
    phase: Phase = game.status if game.status != "playing" else PHASES.get(int(state["phase"][0]), "draw")
    return Now(
        turn=game.turn,
        phase=phase,
        scores=scores,
        in_bag=position.in_bag,
        standing=position.standing,
        extra=variant.extra_turns(state),
        pyramids=variant.pyramids(state),
        spent=variant.spent(state),
        last=last,
        lowest=[_lowest(variant.tracks, row) for row in scores],
        deadline=deadline,
        result=position.result if game.status == "over" else None,
        **_private(game, position, seat),
    )


def _private(game: Game, position: View, seat: int | None) -> Private:
    """What is not the same for everybody."""
    return {
        # A state before the deal has seats without tiles; afterwards all tiles are told, or their backs.
        "hands": [position.hand(one) for one in range(position.players)],
        "back": game.may_take_back(seat),
        "held": game.held is not None and game.held == seat,
    }


def _lowest(tracks: tuple[str, ...], points: list[int]) -> list[str]:
    """The tracks that lag behind, where there are several to compare."""
    least = min(points)
    return [track for track, n in zip(tracks, points, strict=True) if n == least] if len(tracks) > 1 else []


class Replay(Struct, frozen=True):
    """The position after the deal, and every step from there."""

    view: ViewMessage
    steps: list[StepMessage]


class Replays:
    """Makes replays, one at a time and in small pieces.

    A replay takes up to 20 ms. Threads would not help, as Python's lock is held all the while; so everybody
    else gets a turn after each piece.
    """

    def __init__(self) -> None:
        self._alone = asyncio.Lock()

    async def make(self, game: Game, acts: Sequence[tuple[int, Act]], person: str | None) -> Replay:
        """Return the replay of a game from its entries."""
        async with self._alone:
            return await _replay(game, acts, person)


async def _replay(game: Game, acts: Sequence[tuple[int, Act]], person: str | None) -> Replay:
    """Return a replay; placements that were taken back are left out."""
    viewer = Viewer(person, None)
    view: ViewMessage | None = None
    steps: list[StepMessage] = []
    pause = Pauses()
    for at, act in acts:
        await pause()
        game.carry_out(act)
        game.since = at
        if isinstance(act, Moved | Drew):
            steps.append(_open_hands(Step(game, None).seen_from(None), game))
        elif isinstance(act, TookBack):
            del steps[-1:]
        elif view is None and game.table is not None:
            view = whole_view(game, viewer, (), None)
            view = replace(view, now=replace(view.now, hands=_hands(game)), events=_events(game, 0))
    assert view is not None, "a game that is over has begun"
    return Replay(replace(view, table=replace(view.table, status="over", next=game.next)), steps)


def _open_hands(told: StepMessage, game: Game) -> StepMessage:
    return replace(told, now=replace(told.now, hands=_hands(game)), events=_events(game, game.events_before))


def _hands(game: Game) -> list[tuple[str, ...]]:
    assert game.table is not None
    return [game.table.hand(seat) for seat in range(game.table.players)]


def _events(game: Game, since: int) -> tuple[Event, ...]:
    assert game.table is not None
    return game.table.events[since:]


MOST_VIEWS = 100

State: TypeAlias = tuple[
    int, tuple[str, ...], frozenset[str], int | None
]  # number, names, who is here, deadline
ViewKind: TypeAlias = tuple[
    int, int | None, tuple[int, ...], bool
]  # of which game; seat, own seats, whether host

_serials = count()


def new_serial() -> int:
    """Return a number that stands for one game in memory."""
    return next(_serials)


class ViewCache:
    """The views that were asked for last, of the latest state of their tables. All tables share it."""

    def __init__(self, most: int = MOST_VIEWS) -> None:
        self._kept: OrderedDict[ViewKind, tuple[State, ViewMessage]] = OrderedDict()
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
