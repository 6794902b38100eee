"""Routes for who you are."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, patch, post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_200_OK
from msgspec import Struct

from ..guard.gate import address
from ..guard.limits import GUESTS, SECRETS
from ..identity.people import Person, clean_name
from ..play.refusals import Refused
from ..running import Server
from .errors import problems
from .person import Asker, Here, cookie, no_cookie, writer


class Me(Struct, frozen=True):
    """What a person sees of themselves."""

    id: str
    name: str
    username: str | None
    phrase: bool


class NewName(Struct, frozen=True):
    """Another name."""

    name: str


class Guest(Struct, frozen=True):
    """A new guest with the token to act as it."""

    id: str
    name: str
    token: str


class NewPhrase(Struct, frozen=True):
    """A secret phrase, told once."""

    phrase: str


class Account(Struct, frozen=True):
    """A username and a password."""

    username: str
    password: str


class Entry(Struct, frozen=True):
    """Who somebody says to be: by a phrase, or by username and password."""

    phrase: str | None = None
    username: str | None = None
    password: str | None = None


class Leaving(Struct, frozen=True):
    """Whether to leave this device or all of them."""

    everywhere: bool = False


def _me(person: Person) -> Me:
    return Me(person.id, person.name, person.username, person.phrase)


def _check(server: Server, request: Request[Any, Any, Any], pace: Any) -> None:
    if not server.limits.allow(pace, address(request.scope)):
        raise Refused("too_fast", "too many tries from here; wait a few minutes and try again")


@get("/api/me")
async def show_me(server: Here, person: Asker) -> Response[Me]:
    """Who you are. A browser that nobody knows becomes a guest."""
    if person is None:
        person = server.people.arrive()
        return Response(_me(person), cookies=[cookie(server, person)])
    return Response(_me(person))


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


@post("/api/me/phrase", status_code=HTTP_200_OK, responses=problems(401, 403, 429))
async def make_phrase(server: Here, person: Asker) -> NewPhrase:
    """A new secret phrase for another device."""
    return NewPhrase(await server.people.give_phrase(writer(person, server)))


@post("/api/me/account", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 422, 429))
async def make_account(server: Here, person: Asker, data: JSONBody[Account]) -> Me:
    """A username and password for this identity."""
    return _me(await server.people.set_password(writer(person, server), data.username, data.password))


@post("/api/enter", status_code=HTTP_200_OK, responses=problems(400, 403, 413, 429))
async def enter(server: Here, request: Request[Any, Any, Any], data: JSONBody[Entry]) -> Response[Me]:
    """Become somebody by phrase, or by username and password."""
    _check(server, request, SECRETS)
    if data.phrase is not None:
        person = await server.people.by_phrase(data.phrase)
    elif data.username is not None and data.password is not None:
        person = await server.people.by_password(data.username, data.password)
    else:
        raise Refused("bad_request", "send either a phrase, or a username and a password")
    return Response(_me(person), cookies=[cookie(server, person)])


@post("/api/me/leave", status_code=HTTP_200_OK, responses=problems(400, 401, 403, 413, 429))
async def leave(server: Here, person: Asker, data: JSONBody[Leaving]) -> Response[dict[str, bool]]:
    """Forget this device, or make all devices forget you."""
    if data.everywhere:
        await server.people.forget_devices(writer(person, server))
    return Response({"left": True}, cookies=[no_cookie(server)])


PEOPLE = [show_me, rename_me, make_guest, make_phrase, make_account, enter, leave]
