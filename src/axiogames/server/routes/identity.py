"""Routes for who you are."""

from __future__ import annotations

import re
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from litestar import Request, Response, delete, get, patch, post
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie, State
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import Operation, RequestBody
from litestar.params import FromPath, JSONBody
from litestar.response import Stream
from litestar.status_codes import HTTP_200_OK
from msgspec import Struct

from ... import PROGRAM
from ..domain.refusals import Refused
from ..identity.people import Banned, Person, WrongSecret, clean_name
from ..identity.personal_data import Export
from ..identity.tokens import looks_signed
from ..lifespan import Server
from ..settings import Settings
from ..transport.origin_guard import address
from ..transport.rate_limits import (
    GUESTS,
    HASHES,
    NEW_GUESTS,
    PERSONAL_DATA,
    PICTURES,
    PICTURES_FROM_ADDRESS,
    WRITES,
    Pace,
    password_try,
    phrase_try,
)
from .errors import problems

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


RENEWED = 30 * 24 * 3600  # seconds after which a cookie is set again, so that it lasts for another year


class Me(Struct, frozen=True):
    """What a person sees of themselves."""

    id: str
    name: str
    username: str | None
    phrase: bool


class SignedIn(Me, frozen=True):
    """The same, with a new token for a program whose old one is no longer good."""

    token: str | None


class NewName(Struct, frozen=True):
    """Another name."""

    name: str


class Guest(Struct, frozen=True):
    """A new guest with the token to act as it."""

    id: str
    name: str
    token: str


class WantedPhrase(Struct, frozen=True):
    """That somebody wants a new phrase."""

    old_password: str | None = None  # needed where one is set


@dataclass
class WithoutBody(Operation):
    """A request whose body may be left out; Litestar says of every body that it is required."""

    def __post_init__(self) -> None:
        if isinstance(self.request_body, RequestBody):
            self.request_body.required = False


class NewPhrase(Struct, frozen=True):
    """A secret phrase, told once."""

    phrase: str


class Account(Struct, frozen=True):
    """A username and a password."""

    username: str
    password: str
    old_password: str | None = None  # needed where one is set


class Entry(Struct, frozen=True):
    """Who somebody says to be: by a phrase, or by username and password."""

    phrase: str | None = None
    username: str | None = None
    password: str | None = None


class Leaving(Struct, frozen=True):
    """Whether to leave this device or all of them."""

    everywhere: bool = False


class Deletion(Struct, frozen=True):
    """That somebody means it: with their password where one is set."""

    password: str | None = None
    confirm: bool = False


def _fields(person: Person) -> tuple[str, str, str | None, bool]:
    return person.id, person.name, person.username, person.phrase


def _me(person: Person) -> Me:
    return Me(*_fields(person))


def _check(server: Server, request: Request[Any, Any, Any], pace: Pace) -> None:
    if not server.limits.allow(pace, address(request.scope)):
        raise Refused("too_fast", "too many tries from here; wait a few minutes and try again")


def _own_password_try(
    server: Server, request: Request[Any, Any, Any], person: Person
) -> AbstractContextManager[None]:
    """The bounds for a password that somebody proves to know who is signed in; none where none is set."""
    if person.username is None:
        return nullcontext()
    _check(server, request, HASHES)
    return password_try(server.limits, address(request.scope), person.username, WrongSecret)


@get("/api/me", responses=problems(401, 403, 429))
async def show_me(server: Here, request: Request[Any, Any, Any], person: Asker) -> Response[Me]:
    """Who you are. A browser that nobody knows becomes a guest."""
    token, browser = token_of(request)
    read = server.people.tokens.read(token)
    if person is not None and read is not None:
        await server.people.note_visit(person)
        old = read.issued < time.time() - RENEWED or not server.people.tokens.signed_with_newest_key(token)
        return Response(
            _me(person), cookies=[cookie(server, person, read.session)] if browser and old else []
        )
    # A cookie of ours is never overwritten by that of a new guest, unless its owner has said so. Perhaps a
    # new one is on its way to the browser: another page of it has just changed the password.
    if read is not None:
        raise Refused(
            "signed_out", "this session has ended; log in again, or POST /api/me/leave to be a guest"
        )
    if not browser:
        raise Refused("unknown_person", "this is no token of this server: POST /api/guests makes one")
    if looks_signed(token):
        raise Refused(
            "unreadable_token",
            "this server cannot read who you are: its secret key has changed, or the cookie is from another "
            "server. POST /api/me/leave to begin anew as a guest",
        )
    if not server.limits.allow(NEW_GUESTS, address(request.scope)):
        raise Refused("too_fast", "too many new guests from here; wait a minute and try again")
    person = server.people.arrive()
    return Response(_me(person), cookies=[cookie(server, person)])


@patch("/api/me", responses=problems(400, 401, 403, 413, 422, 429))
async def rename_me(server: Here, person: Asker, data: JSONBody[NewName]) -> Me:
    """Take another name."""
    return _me(await server.people.rename(writer(person, server), data.name))


@post("/api/guests", responses=problems(400, 403, 413, 422, 429))
async def make_guest(server: Here, request: Request[Any, Any, Any], data: JSONBody[NewName]) -> Guest:
    """A new guest for a program."""
    _check(server, request, GUESTS)
    person = await server.people.rename(server.people.arrive(), clean_name(data.name))
    return Guest(person.id, person.name, server.people.token(person))


@post(
    "/api/me/phrase",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 413, 429, 503),
    operation_class=WithoutBody,
)
async def make_phrase(
    server: Here, request: Request[Any, Any, Any], person: Asker, data: JSONBody[WantedPhrase | None] = None
) -> NewPhrase:
    """A new secret phrase for another device; with the password where one is set."""
    guest, asker = writer(person, server), address(request.scope)
    old = data.old_password if data is not None else None
    with _own_password_try(server, request, guest):
        return NewPhrase(await server.people.give_phrase(guest, asker, old=old))


@post("/api/me/account", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 422, 429, 503))
async def make_account(
    server: Here, request: Request[Any, Any, Any], person: Asker, data: JSONBody[Account]
) -> Response[SignedIn]:
    """A username and password for this identity. Changing them ends all other sessions and the phrase."""
    guest, asker = writer(person, server), address(request.scope)
    if guest.username is None:
        _check(server, request, HASHES)
    with _own_password_try(server, request, guest):
        changed = await server.people.set_password(
            guest, data.username, data.password, asker, old=data.old_password
        )
    token, browser = token_of(request)
    read = server.people.tokens.read(token)
    if read is None or read.epoch == changed.epoch:
        return Response(SignedIn(*_fields(changed), None))
    new = cookie(server, changed, read.session)
    if browser:
        return Response(SignedIn(*_fields(changed), None), cookies=[new])
    return Response(SignedIn(*_fields(changed), new.value))


@post("/api/enter", status_code=HTTP_200_OK, responses=problems(400, 403, 413, 429, 503))
async def enter(server: Here, request: Request[Any, Any, Any], data: JSONBody[Entry]) -> Response[Me]:
    """Become somebody by phrase, or by username and password."""
    network = address(request.scope)
    if data.phrase is not None:
        with phrase_try(server.limits, network, WrongSecret):
            person = await server.people.by_phrase(data.phrase)
    elif data.username is not None and data.password is not None:
        _check(server, request, HASHES)
        with password_try(server.limits, network, data.username, WrongSecret):
            person = await server.people.by_password(data.username, data.password, network)
    else:
        raise Refused("bad_request", "send either a phrase, or a username and a password")
    return Response(_me(person), cookies=[cookie(server, person)])


@post("/api/me/leave", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 429))
async def leave(
    server: Here, request: Request[Any, Any, Any], person: Asker, data: JSONBody[Leaving]
) -> Response[dict[str, bool]]:
    """End the session of this device, or all your sessions."""
    read = server.people.tokens.read(token_of(request)[0])
    if data.everywhere:
        await server.people.forget_devices(writer(person, server))
    elif person is not None and read is not None:
        await server.people.end_session(read)
    return Response({"left": True}, cookies=[no_cookie(server)])


@get(
    "/api/me/export",
    responses={200: ResponseSpec(Export, False, "The file.")} | problems(401, 403, 429, 503),
)
async def export_me(server: Here, request: Request[Any, Any, Any], person: Asker) -> Stream:
    """Everything that is kept of you."""
    guest = writer(person, server)
    _check(server, request, PERSONAL_DATA)
    return Stream(
        await server.personal_data.export(guest),
        media_type="application/json",
        headers={
            "content-disposition": f'attachment; filename="{PROGRAM}-{guest.id}.json"',
            "cache-control": "no-store",
        },
    )


@delete("/api/me", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 429, 503))
async def delete_me(
    server: Here, request: Request[Any, Any, Any], person: Asker, data: JSONBody[Deletion]
) -> Response[dict[str, bool]]:
    """Delete what is kept of you. Finished games stay, without your name."""
    guest = writer(person, server)
    if guest.username is None and not data.confirm:
        raise Refused("bad_request", "send confirm: true to delete what is kept of you")
    _check(server, request, PERSONAL_DATA)
    with _own_password_try(server, request, guest):
        await server.people.check_password(guest, data.password, address(request.scope))
    await server.personal_data.erase(guest)
    return Response({"deleted": True}, cookies=[no_cookie(server)])


PEOPLE = [
    show_me,
    rename_me,
    make_guest,
    make_phrase,
    make_account,
    enter,
    leave,
    export_me,
    delete_me,
]
