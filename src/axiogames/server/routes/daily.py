"""Routes for daily deals: one deal per day and game, the same for everybody."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import date, timedelta
from typing import Annotated, Any

import msgspec
from litestar import Request, get, post
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import Struct
from sqlalchemy.exc import IntegrityError

from ...games import GAMES, game, localization
from ..domain.entries import SeatTaken
from ..domain.game_state import TableConfig, day_of, now
from ..domain.refusals import Refused
from ..domain.rooms import new_table_id
from ..identity.people import Person
from ..lifespan import Server
from ..transport.origin_guard import client_network
from ..transport.rate_limits import DAILY_FROM_ADDRESS
from .errors import problems
from .identity import PersonDep, ServerDep, require_person

LEADERBOARD_LINES = 20
FIRST_DAY = date(2026, 1, 1)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class DailyAttempt(Struct, frozen=True):
    """Your attempt at a deal. An attempt that ended after its day has no scores.

    An attempt that is not `listed` appears only on your own leaderboard: you were new when you finished it.
    """

    table: str
    status: str
    scores: list[int] | None
    listed: bool


class LeaderboardLine(Struct, frozen=True):
    """Line of a leaderboard."""

    place: int
    name: str
    you: bool
    scores: list[int]
    table: str | None


class DailyDeal(Struct, frozen=True):
    """Deal of a game on a day."""

    game: str
    name: str
    attempt: DailyAttempt | None
    best: list[LeaderboardLine]
    yesterday: LeaderboardLine | None


class AdjacentDays(Struct, frozen=True):
    """Previous and next day."""

    before: str | None
    after: str | None


class DailyDeals(Struct, frozen=True):
    """Deals of a day."""

    day: str
    days: AdjacentDays
    deals: list[DailyDeal]


class StartedAttempt(Struct, frozen=True):
    """Table of your attempt."""

    id: str


def today() -> str:
    """Return the current day of the deals (UTC)."""
    return day_of(now())


def _parse_day(day: str | None) -> date:
    latest = date.fromisoformat(today())
    if day is None:
        return latest
    try:
        if not _DAY.fullmatch(day):
            raise ValueError
        parsed = date.fromisoformat(day)
    except ValueError:
        raise Refused("no_such_day", f"invalid day {day[:20]!r}: use the form 2026-11-15") from None
    if not FIRST_DAY <= parsed <= latest:
        raise Refused("no_such_day", f"no deal on {parsed}: choose a day from {FIRST_DAY} to {latest}")
    return parsed


async def daily_seed(server: Server, day: str, name: str) -> str:
    """Return the seed of a deal, the same for everybody and unpredictable for clients.

    It is derived from the oldest secret key. The first attempt stores it, so that it survives the removal of
    that key.
    """
    key = server.people.oldest_key.encode()
    derived = hmac.new(key, f"daily:{day}:{name}".encode(), hashlib.sha256).hexdigest()
    return await server.store.daily_seed(day, name) or derived


@get("/api/daily", responses=problems(400))
async def show_daily(
    server: ServerDep,
    person: PersonDep,
    day: FromQuery[str | None] = None,
    language: Annotated[str, QueryParameter(name="lang", max_length=20)] = "en",
) -> DailyDeals:
    """Deals of a day, with your attempts and the best results."""
    shown = _parse_day(day)
    before = shown - timedelta(days=1) if shown > FIRST_DAY else None
    over = shown.isoformat() < today()
    return DailyDeals(
        day=shown.isoformat(),
        days=AdjacentDays(
            before.isoformat() if before else None, (shown + timedelta(days=1)).isoformat() if over else None
        ),
        deals=[await _deal(server, person, shown, name, before=before, language=language) for name in GAMES],
    )


async def _deal(
    server: Server, person: Person | None, day: date, name: str, *, before: date | None, language: str
) -> DailyDeal:
    best = await _leaderboard(server, person, day, name, LEADERBOARD_LINES)
    yesterday = await _leaderboard(server, None, before, name, 1) if before else []
    return DailyDeal(
        game=name,
        name=localization(name, language).name,
        attempt=await _attempt(server, person, day.isoformat(), name) if person else None,
        best=best,
        yesterday=yesterday[0] if yesterday else None,
    )


async def _attempt(server: Server, person: Person, day: str, name: str) -> DailyAttempt | None:
    row = await server.store.daily_attempt(day, name, person.id)
    if row is None:
        return None
    result = await server.store.daily_result(day, name, person.id)
    scores = msgspec.json.decode(result["scores"]) if result else None
    return DailyAttempt(row["id"], row["status"], scores, bool(result and result["listed"]))


async def _leaderboard(
    server: Server, person: Person | None, day: date, name: str, limit: int
) -> list[LeaderboardLine]:
    rows = await server.store.leaderboard(day.isoformat(), name, limit, person.id if person else None)
    over = day.isoformat() < today()
    lines: list[LeaderboardLine] = []
    for number, row in enumerate(rows, 1):
        scores = msgspec.json.decode(row["scores"])
        tied = lines and lines[-1].scores == scores
        mine = person is not None and row["person"] == person.id
        lines.append(
            LeaderboardLine(
                place=lines[-1].place if tied else number,
                name=row["name_now"] or row["name"],
                you=mine,
                scores=scores,
                table=row["table_id"] if over or mine else None,
            )
        )
    return lines


@post("/api/daily/{name:str}", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 404, 429))
async def start_daily(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, name: FromPath[str]
) -> StartedAttempt:
    """Start your attempt at today's deal, or return the one you have started."""
    guest = await server.people.ensure_stored(require_person(person, server))
    day, game_id = today(), game(name).id
    found = await server.store.daily_attempt(day, game_id, guest.id)
    if found is not None:
        return StartedAttempt(found["id"])
    if not server.limits.allow(DAILY_FROM_ADDRESS, client_network(request.scope)):
        raise Refused("too_fast", "too many attempts from your network; wait a few minutes and try again")
    config = TableConfig(
        id=new_table_id(),
        game=game_id,
        players=1,
        options={},
        public=False,
        move_time=None,
        daily=day,
        owner=guest.id,
        invite=secrets.token_urlsafe(9),
        seed=await daily_seed(server, day, game_id),
        created=now(),
    )
    try:
        room = await server.rooms.open(config, [SeatTaken(0, guest.id, guest.name)])
    except IntegrityError:  # a concurrent request started the attempt
        found = await server.store.daily_attempt(day, game_id, guest.id)
        assert found is not None
        return StartedAttempt(found["id"])
    return StartedAttempt(room.id)


DAILY = [show_daily, start_daily]
