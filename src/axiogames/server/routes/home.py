"""The data of the home page in one response, because every round trip delays the first visit."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get
from msgspec import Struct

from ...games import GAMES
from ..presentation.messages import TableSummary
from .daily import today
from .errors import problems
from .games import GameSummary, Language, game_summaries
from .identity import PersonDep, PersonInfo, ServerDep, identify, person_info
from .tables import find_tables


class DailyProgress(Struct, frozen=True):
    """Number of today's deals, and of those that you have finished."""

    deals: int
    done: int


class HomeData(Struct, frozen=True):
    """You, all games, your tables, open tables, public games in play, and your progress in today's deals."""

    me: PersonInfo
    games: list[GameSummary]
    mine: list[TableSummary]
    open: list[TableSummary]
    live: list[TableSummary]
    daily: DailyProgress


@get("/api/home", responses=problems(400, 401, 403, 429))
async def show_home_data(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, language: Language = "en"
) -> Response[HomeData]:
    """Everything that the home page shows. A browser without a cookie becomes a guest, as by `/api/me`."""
    visitor, cookies = await identify(server, request, person)
    attempts = [await server.store.daily_attempt(today(), name, visitor.id) for name in GAMES if person]
    data = HomeData(
        me=person_info(visitor),
        games=game_summaries(language),
        mine=await find_tables(server, person, "mine"),
        open=await find_tables(server, person, "open"),
        live=await find_tables(server, person, "live"),
        daily=DailyProgress(len(GAMES), sum(row is not None and row["status"] == "over" for row in attempts)),
    )
    return Response(data, cookies=cookies)
