"""Routes for identity: guests, accounts, sessions and personal data; and dependencies of all routes."""

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
from ..identity.export_schema import Export
from ..identity.people import Banned, InvalidCredentials, Person, clean_name
from ..identity.tokens import looks_like_token
from ..lifespan import Server
from ..settings import Settings
from ..transport.origin_guard import client_network
from ..transport.rate_limits import (
    GUESTS,
    HASHES,
    NEW_GUESTS,
    PERSONAL_DATA,
    PICTURES,
    PICTURES_FROM_ADDRESS,
    WRITES,
    RateLimit,
    password_try,
    phrase_try,
)
from .errors import problems

COOKIE = "who"
COOKIE_LIFETIME = 365 * 24 * 3600  # seconds
COOKIE_RENEWAL_AGE = 30 * 24 * 3600  # seconds; older cookies are replaced
_COOKIE_HEADER = re.compile(rf"(?:^|;)[ \t]*{COOKIE}=([^;]*)")

AnyConnection = ASGIConnection[Any, Any, Any, Any]

# Dependencies injected by name, and the path parameter of a table.
ServerDep: TypeAlias = NamedDependency[Server]
PersonDep: TypeAlias = NamedDependency[Person | None]
TableId: TypeAlias = FromPath[str]


def provide_server(state: State) -> Server:
    """Return the running server."""
    server: Server = state.server
    return server


async def provide_person(request: AnyConnection, server: ServerDep) -> Person | None:
    """Return the person who sent the request, `None` without a valid cookie or token."""
    return await authenticate(request, server)


def read_token(request: AnyConnection) -> tuple[str, bool]:
    """Return the token of a request, and whether it came in a cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme == "Bearer":
        return token, False
    # Not `request.cookies`: before Python 3.11.10, parsing some headers of 32 kB takes seconds, and the
    # library caches a thousand of them.
    found = _COOKIE_HEADER.findall(request.headers.get("cookie", ""))
    return (found[-1].strip(' \t"') if found else ""), True


async def authenticate(request: AnyConnection, server: Server) -> Person | None:
    """Return the person of a request or WebSocket, `None` if unauthenticated. Raises `Banned`."""
    token, _ = read_token(request)
    person = await server.people.find_by_token(token) if token else None
    if person is not None and person.banned:
        raise Banned
    if person is not None:
        server.bots.requesters.note(person.id, client_network(request.scope))
    return person


def require_person(person: Person | None, server: Server) -> Person:
    """Return the person of a request that changes something. Raises `Refused`, also beyond the rate limit."""
    if person is None:
        raise Refused(
            "unknown_person", "authentication required: open the page, or POST /api/guests and send the token"
        )
    if not server.limits.allow(WRITES, person.id):
        raise Refused("too_fast", "too many requests; wait a moment and try again")
    return person


def check_picture_rate(server: Server, person: Person | None, network: str) -> None:
    """Apply the rate limit of pictures and replays. Raises `Refused`."""
    allowed = server.limits.allow(PICTURES_FROM_ADDRESS, network)
    if person is not None:
        allowed = server.limits.allow(PICTURES, person.id) and allowed
    if not allowed:
        raise Refused("too_fast", "too many pictures and replays; wait a moment and try again")


def identity_cookie(server: Server, person: Person, session: str = "") -> Cookie:
    """Return the cookie that authenticates a person, by default in a new session."""
    return _make_cookie(server.settings, server.people.token(person, session), COOKIE_LIFETIME)


def expired_cookie(server: Server) -> Cookie:
    """Return a cookie that deletes the identity cookie."""
    return _make_cookie(server.settings, "", 0)


def _make_cookie(settings: Settings, value: str, age: int) -> Cookie:
    return Cookie(
        key=COOKIE,
        value=value,
        max_age=age,
        path="/",
        httponly=True,
        samesite="lax",
        secure=settings.secure_cookies,
    )


# ------------------------------------------------------------ requests and responses


class PersonInfo(Struct, frozen=True):
    """Your own data."""

    id: str
    name: str
    username: str | None
    phrase: bool


class AccountInfo(PersonInfo, frozen=True):
    """Your own data, with a new token if the old one has become invalid."""

    token: str | None


class NameRequest(Struct, frozen=True):
    """New name."""

    name: str


class NewGuest(Struct, frozen=True):
    """New guest with its token."""

    id: str
    name: str
    token: str


class PhraseRequest(Struct, frozen=True):
    """Request for a new phrase."""

    old_password: str | None = None  # required if a password is set


@dataclass
class OptionalBody(Operation):
    """Operation with an optional request body; Litestar declares every body as required."""

    def __post_init__(self) -> None:
        if isinstance(self.request_body, RequestBody):
            self.request_body.required = False


class PhraseInfo(Struct, frozen=True):
    """Secret phrase, shown only once."""

    phrase: str


class AccountRequest(Struct, frozen=True):
    """Username and password."""

    username: str
    password: str
    old_password: str | None = None  # required if a password is set


class SignInRequest(Struct, frozen=True):
    """Credentials: a phrase, or a username and password."""

    phrase: str | None = None
    username: str | None = None
    password: str | None = None


class SignOutRequest(Struct, frozen=True):
    """Scope of signing out: this device or all of them."""

    everywhere: bool = False


class DeletionRequest(Struct, frozen=True):
    """Confirmation of a deletion, with the password if one is set."""

    password: str | None = None
    confirm: bool = False


# ------------------------------------------------------------ handlers


def _fields(person: Person) -> tuple[str, str, str | None, bool]:
    return person.id, person.name, person.username, person.phrase


def person_info(person: Person) -> PersonInfo:
    """Return the data of a person for the person."""
    return PersonInfo(*_fields(person))


def _check_rate(server: Server, request: Request[Any, Any, Any], limit: RateLimit) -> None:
    if not server.limits.allow(limit, client_network(request.scope)):
        raise Refused("too_fast", "too many attempts from your network; wait a few minutes and try again")


def _limit_password_tries(
    server: Server, request: Request[Any, Any, Any], person: Person
) -> AbstractContextManager[None]:
    """Return a context manager that limits attempts at the person's password, if one is set."""
    if person.username is None:
        return nullcontext()
    _check_rate(server, request, HASHES)
    return password_try(server.limits, client_network(request.scope), person.username, InvalidCredentials)


@get("/api/me", responses=problems(401, 403, 429))
async def show_me(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep
) -> Response[PersonInfo]:
    """Your own data. A browser without a cookie becomes a guest."""
    visitor, cookies = await identify(server, request, person)
    return Response(person_info(visitor), cookies=cookies)


async def identify(
    server: Server, request: Request[Any, Any, Any], person: Person | None
) -> tuple[Person, list[Cookie]]:
    """Return the person of a request, or a new guest for a browser without a cookie, and cookies to send.

    Raises:
        Refused: The session has ended, the token is invalid, or there are too many new guests.
    """
    token, browser = read_token(request)
    content = server.people.tokens.read(token)
    if person is not None and content is not None:
        await server.people.record_visit(person)
        renew = (
            content.issued < time.time() - COOKIE_RENEWAL_AGE
            or not server.people.tokens.signed_with_newest_key(token)
        )
        return person, [identity_cookie(server, person, content.session)] if browser and renew else []
    # Never replace a signed cookie with that of a new guest unless the user requests it: the response to a
    # password change in another tab may not have arrived yet.
    if content is not None:
        raise Refused(
            "signed_out", "this session has ended; sign in again, or POST /api/me/leave to become a guest"
        )
    if not browser:
        raise Refused("unknown_person", "invalid token: POST /api/guests to get one")
    if looks_like_token(token):
        raise Refused(
            "unreadable_token",
            "invalid signature of the cookie: the secret key has changed, or the cookie is from another "
            "server. POST /api/me/leave to become a guest",
        )
    if not server.limits.allow(NEW_GUESTS, client_network(request.scope)):
        raise Refused("too_fast", "too many new guests from your network; wait a minute and try again")
    guest = server.people.new_guest()
    return guest, [identity_cookie(server, guest)]


@patch("/api/me", responses=problems(400, 401, 403, 413, 422, 429))
async def rename_me(server: ServerDep, person: PersonDep, data: JSONBody[NameRequest]) -> PersonInfo:
    """Change your name."""
    return person_info(await server.people.rename(require_person(person, server), data.name))


@post("/api/guests", responses=problems(400, 403, 413, 422, 429))
async def make_guest(
    server: ServerDep, request: Request[Any, Any, Any], data: JSONBody[NameRequest]
) -> NewGuest:
    """Create a guest for a program."""
    _check_rate(server, request, GUESTS)
    person = await server.people.rename(server.people.new_guest(), clean_name(data.name))
    return NewGuest(person.id, person.name, server.people.token(person))


@post(
    "/api/me/phrase",
    status_code=HTTP_200_OK,
    responses=problems(400, 401, 403, 413, 429, 503),
    operation_class=OptionalBody,
)
async def make_phrase(
    server: ServerDep,
    request: Request[Any, Any, Any],
    person: PersonDep,
    data: JSONBody[PhraseRequest | None] = None,
) -> PhraseInfo:
    """Create a secret phrase for signing in on another device; requires the password if one is set."""
    guest, network = require_person(person, server), client_network(request.scope)
    old = data.old_password if data is not None else None
    with _limit_password_tries(server, request, guest):
        return PhraseInfo(await server.people.issue_phrase(guest, network, old=old))


@post("/api/me/account", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 422, 429, 503))
async def make_account(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, data: JSONBody[AccountRequest]
) -> Response[AccountInfo]:
    """Set your username and password. A change ends all other sessions and deletes the phrase."""
    guest, network = require_person(person, server), client_network(request.scope)
    if guest.username is None:
        _check_rate(server, request, HASHES)
    with _limit_password_tries(server, request, guest):
        changed = await server.people.set_password(
            guest, data.username, data.password, network, old=data.old_password
        )
    token, browser = read_token(request)
    content = server.people.tokens.read(token)
    if content is None or content.epoch == changed.epoch:
        return Response(AccountInfo(*_fields(changed), None))
    cookie = identity_cookie(server, changed, content.session)
    if browser:
        return Response(AccountInfo(*_fields(changed), None), cookies=[cookie])
    return Response(AccountInfo(*_fields(changed), cookie.value))


@post("/api/enter", status_code=HTTP_200_OK, responses=problems(400, 403, 413, 429, 503))
async def enter(
    server: ServerDep, request: Request[Any, Any, Any], data: JSONBody[SignInRequest]
) -> Response[PersonInfo]:
    """Sign in by phrase, or by username and password."""
    network = client_network(request.scope)
    if data.phrase is not None:
        with phrase_try(server.limits, network, InvalidCredentials):
            person = await server.people.find_by_phrase(data.phrase)
    elif data.username is not None and data.password is not None:
        _check_rate(server, request, HASHES)
        with password_try(server.limits, network, data.username, InvalidCredentials):
            person = await server.people.find_by_password(data.username, data.password, network)
    else:
        raise Refused("bad_request", "send either a phrase, or a username and a password")
    return Response(person_info(person), cookies=[identity_cookie(server, person)])


@post("/api/me/leave", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 429))
async def leave(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, data: JSONBody[SignOutRequest]
) -> Response[dict[str, bool]]:
    """End the session of this device, or all your sessions."""
    content = server.people.tokens.read(read_token(request)[0])
    if data.everywhere:
        await server.people.sign_out_everywhere(require_person(person, server))
    elif person is not None and content is not None:
        await server.people.end_session(content)
    return Response({"left": True}, cookies=[expired_cookie(server)])


@get(
    "/api/me/export",
    responses={200: ResponseSpec(Export, False, "The exported data.")} | problems(401, 403, 429, 503),
)
async def export_me(server: ServerDep, request: Request[Any, Any, Any], person: PersonDep) -> Stream:
    """Export all your stored data."""
    guest = require_person(person, server)
    _check_rate(server, request, PERSONAL_DATA)
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
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, data: JSONBody[DeletionRequest]
) -> Response[dict[str, bool]]:
    """Delete your data. Finished games stay, without your name."""
    guest = require_person(person, server)
    if guest.username is None and not data.confirm:
        raise Refused("bad_request", "send confirm: true to delete your data")
    _check_rate(server, request, PERSONAL_DATA)
    with _limit_password_tries(server, request, guest):
        await server.people.check_password(guest, data.password, client_network(request.scope))
    await server.personal_data.erase(guest)
    return Response({"deleted": True}, cookies=[expired_cookie(server)])


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
