"""Routes for the daily deals: one a day for each game, the same for everyone."""

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

from ...games import GAMES, game, words
from ..domain.entries import Sat
from ..domain.game_state import Terms, day_of, now
from ..domain.refusals import Refused
from ..domain.rooms import new_id
from ..identity.people import Person
from ..lifespan import Server
from ..transport.origin_guard import address
from ..transport.rate_limits import DAILY_FROM_ADDRESS
from .errors import problems
from .identity import Asker, Here, writer

BEST = 20
FIRST_DAY = date(2026, 1, 1)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Attempt(Struct, frozen=True):
    """Your attempt at a deal. One that ended after its day has no scores to compare.

    Only you see it among the best if it is not `listed`: you were new when you finished it.
    """

    table: str
    status: str
    scores: list[int] | None
    listed: bool


class Best(Struct, frozen=True):
    """A line of the leaderboard."""

    place: int
    name: str
    you: bool
    scores: list[int]
    table: str | None


class Deal(Struct, frozen=True):
    """A game's deal of a day."""

    game: str
    name: str
    attempt: Attempt | None
    best: list[Best]
    yesterday: Best | None


class Days(Struct, frozen=True):
    """The days around it."""

    before: str | None
    after: str | None


class Daily(Struct, frozen=True):
    """All deals of a day."""

    day: str
    days: Days
    deals: list[Deal]


class Started(Struct, frozen=True):
    """The table of your attempt."""

    id: str


def today() -> str:
    """The day that deals go by."""
    return day_of(now())


def _read(day: str | None) -> date:
    latest = date.fromisoformat(today())
    if day is None:
        return latest
    try:
        if not _DAY.fullmatch(day):
            raise ValueError
        read = date.fromisoformat(day)
    except ValueError:
        raise Refused("no_such_day", "a day is written as 2026-11-15") from None
    if not FIRST_DAY <= read <= latest:
        raise Refused("no_such_day", f"there are deals from {FIRST_DAY} to {latest}")
    return read


async def seed_of(server: Server, day: str, name: str) -> str:
    """The seed of a deal: the same for everyone, known to nobody.

    It follows from the secret key, from the oldest one while keys are being replaced. Whoever comes first
    settles it for the day, so that it outlasts that key.
    """
    key = server.people.oldest_key.encode()
    derived = hmac.new(key, f"daily:{day}:{name}".encode(), hashlib.sha256).hexdigest()
    return await server.store.daily_seed(day, name) or derived


@get("/api/daily", responses=problems(400))
async def show_daily(
    server: Here,
    person: Asker,
    day: FromQuery[str | None] = None,
    language: Annotated[str, QueryParameter(name="lang", max_length=20)] = "en",
) -> Daily:
    """The deals of a day, your attempts and the best results."""
    asked = _read(day)
    before = asked - timedelta(days=1) if asked > FIRST_DAY else None
    over = asked.isoformat() < today()
    return Daily(
        day=asked.isoformat(),
        days=Days(
            before.isoformat() if before else None, (asked + timedelta(days=1)).isoformat() if over else None
        ),
        deals=[await _deal(server, person, asked, before, name, language) for name in GAMES],
    )


async def _deal(
    server: Server, person: Person | None, day: date, before: date | None, name: str, language: str
) -> Deal:
    best = await _best(server, person, day, name, BEST)
    yesterday = await _best(server, None, before, name, 1) if before else []
    return Deal(
        game=name,
        name=words(name, language).name,
        attempt=await _attempt(server, person, day.isoformat(), name) if person else None,
        best=best,
        yesterday=yesterday[0] if yesterday else None,
    )


async def _attempt(server: Server, person: Person, day: str, name: str) -> Attempt | None:
    row = await server.store.attempt(day, name, person.id)
    if row is None:
        return None
    result = await server.store.result(day, name, person.id)
    scores = msgspec.json.decode(result["scores"]) if result else None
    return Attempt(row["id"], row["status"], scores, bool(result and result["listed"]))


async def _best(server: Server, person: Person | None, day: date, name: str, limit: int) -> list[Best]:
    rows = await server.store.best(day.isoformat(), name, limit, person.id if person else None)
    over = day.isoformat() < today()
    lines: list[Best] = []
    for number, row in enumerate(rows, 1):
        scores = msgspec.json.decode(row["scores"])
        shared = lines and lines[-1].scores == scores
        mine = person is not None and row["person"] == person.id
        lines.append(
            Best(
                place=lines[-1].place if shared else number,
                name=row["name_now"] or row["name"],
                you=mine,
                scores=scores,
                table=row["table_id"] if over or mine else None,
            )
        )
    return lines


@post("/api/daily/{name:str}", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 404, 429))
async def start_daily(
    server: Here, request: Request[Any, Any, Any], person: Asker, name: FromPath[str]
) -> Started:
    """Your one attempt at today's deal: begun now, or gone on with."""
    guest = await server.people.keep(writer(person, server))
    day, wanted = today(), game(name).id
    found = await server.store.attempt(day, wanted, guest.id)
    if found is not None:
        return Started(found["id"])
    if not server.limits.allow(DAILY_FROM_ADDRESS, address(request.scope)):
        raise Refused("too_fast", "too many deals were begun from here; wait a few minutes and try again")
    terms = Terms(
        id=new_id(),
        game=wanted,
        players=1,
        options={},
        public=False,
        move_time=None,
        daily=day,
        owner=guest.id,
        invite=secrets.token_urlsafe(9),
        seed=await seed_of(server, day, wanted),
        created=now(),
    )
    try:
        room = await server.rooms.open(terms, [Sat(0, guest.id, guest.name)])
    except IntegrityError:  # a second click at the same moment
        found = await server.store.attempt(day, wanted, guest.id)
        assert found is not None
        return Started(found["id"])
    return Started(room.id)


DAILY = [show_daily, start_daily]
