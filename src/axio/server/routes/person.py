"""Who asks: from the cookie of a browser or the token of a program."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie, State
from litestar.di import NamedDependency
from litestar.params import FromPath

from ..guard.gate import address
from ..guard.limits import PICTURES, PICTURES_FROM_ADDRESS, WRITES
from ..identity.people import Banned, Person
from ..play.refusals import Refused
from ..running import Server
from ..settings import Settings

COOKIE = "who"
YEAR = 365 * 24 * 3600
_IN_HEADER = re.compile(rf"(?:^|;)[ \t]*{COOKIE}=([^;]*)")

Asking = ASGIConnection[Any, Any, Any, Any]

# What handlers ask for by these types: the running server, who asks, and the table in the address.
Here: TypeAlias = NamedDependency[Server]
Asker: TypeAlias = NamedDependency[Person | None]
TableId: TypeAlias = FromPath[str]


def provide_server(state: State) -> Server:
    """The running server."""
    server: Server = state.server
    return server


async def provide_person(request: Asking, server: Here) -> Person | None:
    """Who asks, `None` for somebody without cookie or token."""
    return await who(request, server)


def token_of(request: Asking) -> tuple[str, bool]:
    """The token that comes with a request, and whether it is a browser's cookie."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind == "Bearer":
        return token, False
    # Not `request.cookies`: before Python 3.11.10 the library needs seconds for some headers of 32 kB, and it
    # keeps a thousand of them.
    found = _IN_HEADER.findall(request.headers.get("cookie", ""))
    return (found[-1].strip(' \t"') if found else ""), True


async def who(request: Asking, server: Server) -> Person | None:
    """Who is at the other end of a connection. Raises `Banned`."""
    token, _ = token_of(request)
    person = await server.people.by_token(token) if token else None
    if person is not None and person.banned:
        raise Banned
    if person is not None:
        server.bots.askers.came(person.id, address(request.scope))
    return person


def writer(person: Person | None, server: Server) -> Person:
    """Somebody who may change things now. Raises `Refused`."""
    if person is None:
        raise Refused(
            "unknown_person", "nobody knows you yet: open the page, or POST /api/guests and send the token"
        )
    if not server.limits.allow(WRITES, person.id):
        raise Refused("too_fast", "that was too often; wait a moment and try again")
    return person


def check_pace(server: Server, person: Person | None, asker: str) -> None:
    """Refuse who asks for many things that take long. Raises `Refused`."""
    good = server.limits.allow(PICTURES_FROM_ADDRESS, asker)
    if person is not None:
        good = server.limits.allow(PICTURES, person.id) and good
    if not good:
        raise Refused("too_fast", "these were many pictures and replays; wait a moment and try again")


def cookie(server: Server, person: Person, session: str = "") -> Cookie:
    """The cookie that makes a browser this person; in a new session if none is named."""
    return _cookie(server.settings, server.people.token(person, session), YEAR)


def no_cookie(server: Server) -> Cookie:
    """The cookie that makes a browser nobody."""
    return _cookie(server.settings, "", 0)


def _cookie(settings: Settings, value: str, age: int) -> Cookie:
    return Cookie(
        key=COOKIE, value=value, max_age=age, path="/", httponly=True, samesite="lax", secure=settings.secure
    )
