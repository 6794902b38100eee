"""Errors as clients get them: a status, a code for programs and a sentence for people."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions import ClientException, HTTPException, ValidationException
from litestar.openapi import ResponseSpec
from litestar.types import ExceptionHandlersMap
from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from ...errors import AxioError, IllegalMove, UnknownFigure, UnknownGame
from ..domain.refusals import Refused, Unavailable, code_of
from ..identity.people import BadName, Banned, PasswordNeeded, WrongSecret
from ..metrics import note_error, note_refusal
from ..storage.database import is_unavailable
from .static import page

log = logging.getLogger(__name__)

STATUS = {
    "no_such_table": 404,
    "unknown_person": 401,
    "unreadable_token": 401,
    "signed_out": 401,
    "stale": 409,
    "too_fast": 429,
    "too_many_tables": 429,
    "not_allowed": 403,
    "seat_taken": 409,
    "not_yet": 409,
    "unavailable": 503,
    "unreadable": 409,
    "busy": 503,
    "not_started": 409,
    "game_over": 409,
}
CODES = {400: "bad_request", 404: "not_found", 405: "no_such_method", 413: "too_large", 415: "bad_request"}


MEANINGS = {
    400: "The request cannot be understood.",
    401: "Nobody knows who asks.",
    403: "This is not for whoever asks.",
    404: "There is no such thing.",
    409: "Not now: things are not as the request assumes.",
    413: "The request is too large.",
    414: "The address of the request is too long.",
    422: "This was understood, but it cannot be.",
    429: "Too often, or too much; `retry-after` says in how many seconds to try again.",
    503: "The database does not answer, or too much is asked for; `retry-after` says when to try again.",
}


class Problem(Struct, frozen=True):
    """What went wrong."""

    status_code: int
    code: str
    detail: str


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """The errors that a request can be answered with, for the schema; whatever it is, 414 is one of them."""
    return {status: ResponseSpec(Problem, False, MEANINGS[status]) for status in (*statuses, 414)}


def problem(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response[Problem]:
    """The answer to a request that cannot be fulfilled."""
    note_refusal(code)
    more = {"retry-after": "5"} if status in (429, 503) else {}
    return Response(Problem(status, code, detail), status_code=status, headers={**(headers or {}), **more})


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body has to be JSON in UTF-8, whatever its content type says."""

    async def json(self) -> Any:
        """The body. Raises `ClientException`."""
        try:
            return await super().json()
        except UnicodeDecodeError:
            raise ClientException("the body has to be JSON in UTF-8") from None


def _axio(_: Request[Any, Any, Any], error: AxioError) -> Response[Problem]:
    if isinstance(error, Refused):
        return problem(STATUS.get(error.code, 400), error.code, str(error))
    if isinstance(error, UnknownGame):
        return problem(404, "unknown_game", str(error))
    if isinstance(error, UnknownFigure):
        return problem(404, "unknown_figure", str(error))
    if isinstance(error, BadName):
        return problem(422, error.code, str(error))
    if isinstance(error, WrongSecret):
        return problem(403, "wrong_secret", str(error))
    if isinstance(error, PasswordNeeded):
        return problem(403, "password_needed", str(error))
    if isinstance(error, Banned):
        return problem(403, "banned", str(error))
    if isinstance(error, IllegalMove):
        return problem(422, code_of(error), str(error))
    return problem(422, "bad_request", str(error))


def _http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem] | Response[bytes]:
    status = error.status_code
    if status == 404 and "text/html" in request.headers.get("accept", ""):
        return page(request, "404", 404)
    detail = error.detail
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        parts = [f"{item.get('key', 'body')}: {item.get('message', '')}" for item in error.extra]
        detail = "; ".join(parts) or detail
    # Among the headers: which methods are allowed instead of the one that was used.
    return problem(status, CODES.get(status, "error"), detail, error.headers)


def _too_deep(_: Request[Any, Any, Any], error: RecursionError) -> Response[Problem]:
    return problem(400, "bad_request", "this is nested too deeply to be read")


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    note_error(error)
    return problem(500, "broken", "the server has made a mistake; nothing was changed. Try again in a moment")


def _unavailable(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """What the database or the disk refuses."""
    if not is_unavailable(error):
        return _unexpected(request, error)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    note_error(error)
    return _axio(request, Unavailable())


ERRORS: ExceptionHandlersMap = {
    AxioError: _axio,
    SQLAlchemyError: _unavailable,
    OSError: _unavailable,
    HTTPException: _http,
    RecursionError: _too_deep,
    Exception: _unexpected,
}
