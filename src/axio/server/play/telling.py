"""Messages for one viewer, made from the view that the table gives of itself and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from msgspec import UNSET

from ...engine.phases import OFFER, OVER, PLACE
from ...events import Event, Place, Start
from ...games import game as declared
from ...view import View, last_placed, tiles_laid
from .acts import Drew, Moved
from .describe import Describer, describer
from .game import Game
from .messages import Kind, Now, OnBoard, Phase, SeatInfo, StepMessage, TableInfo, ViewMessage

PHASES: dict[int, Phase] = {PLACE: "place", OFFER: "offer", OVER: "over"}


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who is told what happens: a person (or nobody known), looking from a seat or from none."""

    person: str | None
    seat: int | None


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
        now=_now(game, position, viewer, deadline),
        moves=told.moves(position) if _asked(game, viewer) else None,
    )


def step(
    game: Game, viewer: Viewer, since: int, last: tuple[str, ...], deadline: int | None
) -> StepMessage | None:
    """What the last entry changed, if it is a move or a draw. `since` counts the events before it."""
    if not isinstance(game.last, Moved | Drew) or game.table is None:
        return None
    position = game.table.view(viewer.seat, since=since)
    told = describer(game.terms.variant)
    laid = _laid(position.events, told)
    return StepMessage(
        n=game.number,
        ack=None,
        you=viewer.seat,
        events=position.events,
        tiles=laid,
        now=_now(game, position, viewer, deadline, last),
        moves=told.moves(position) if _asked(game, viewer) else None,
        board=told.board(position) if laid and game.terms.variant.grows else UNSET,
    )


def seat_infos(game: Game, here: Collection[str]) -> list[SeatInfo]:
    """Who sits where; `here` are the people who are connected."""
    infos = []
    for seat in game.seats:
        kind: Kind = "open" if seat.free else "bot" if seat.bot is not None else "person"
        away = seat.name if seat.bot is not None and seat.person is not None else None
        name = seat.bot if seat.bot is not None and away else seat.name
        present = kind == "bot" or (seat.person is not None and seat.person in here)
        infos.append(SeatInfo(name or "", kind, seat.bot, present, away))
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


def _asked(game: Game, viewer: Viewer) -> bool:
    return viewer.seat is not None and viewer.seat == game.turn and game.held is None


def _laid(events: tuple[Event, ...], told: Describer) -> list[OnBoard]:
    return told.all_on_board(tiles_laid([event for event in events if isinstance(event, Place | Start)]))


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


def _now(
    game: Game, position: View, viewer: Viewer, deadline: int | None, last: tuple[str, ...] | None = None
) -> Now:
    variant, state, players = position.variant, position.state, position.players
    scores = state["scores"][0, :players].tolist()
    # A state before the deal has seats without tiles; afterwards every seat's tiles or their backs are told.
    hands = [position.hand(seat) for seat in range(players)]
    if game.status != "playing":
        phase: Phase = game.status
    else:
        phase = PHASES.get(int(state["phase"][0]), "draw")
    if last is None:
        last = last_placed(position.events)
    elif position.events:
        last = last_placed(position.events) or last
    return Now(
        turn=game.turn,
        phase=phase,
        scores=scores,
        hands=hands,
        in_bag=position.in_bag,
        standing=position.standing,
        extra=variant.extra_turns(state),
        pyramids=variant.pyramids(state),
        spent=variant.spent(state),
        last=last,
        lowest=[_lowest(variant.tracks, row) for row in scores],
        back=game.may_take_back(viewer.seat),
        held=game.held is not None and game.held == viewer.seat,
        deadline=deadline,
        result=position.result if game.status == "over" else None,
    )


def _lowest(tracks: tuple[str, ...], points: list[int]) -> list[str]:
    """The tracks that lag behind, where there are several to compare."""
    least = min(points)
    return [track for track, n in zip(tracks, points, strict=True) if n == least] if len(tracks) > 1 else []
