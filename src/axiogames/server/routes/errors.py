"""Error responses: HTTP status, error code for programs and message for people."""

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
from ..identity.people import Banned, InvalidCredentials, InvalidName, PasswordRequired
from ..metrics import count_error, count_refusal
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

DESCRIPTIONS = {
    400: "The request is malformed.",
    401: "Authentication required.",
    403: "Not allowed.",
    404: "Not found.",
    409: "Conflict with the current state of the table.",
    413: "The request body is too large.",
    414: "The URL is too long.",
    422: "The request is well-formed but invalid.",
    429: "Rate limit exceeded; `retry-after` is the number of seconds to wait.",
    503: "Database unavailable or server overloaded; `retry-after` is the number of seconds to wait.",
}


class Problem(Struct, frozen=True):
    """Error response."""

    status_code: int
    code: str
    detail: str


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the error responses of a route for the OpenAPI schema. Every route may answer 414."""
    return {status: ResponseSpec(Problem, False, DESCRIPTIONS[status]) for status in (*statuses, 414)}


def problem_response(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response[Problem]:
    """Return an error response, and count it."""
    count_refusal(code)
    retry = {"retry-after": "5"} if status in (429, 503) else {}
    return Response(Problem(status, code, detail), status_code=status, headers={**(headers or {}), **retry})


class JsonRequest(Request[Any, Any, Any]):
    """Request whose body must be JSON in UTF-8, regardless of its content type."""

    async def json(self) -> Any:
        """Return the decoded body. Raises `ClientException`."""
        try:
            return await super().json()
        except UnicodeDecodeError:
            raise ClientException("the body must be JSON in UTF-8") from None


def _domain_error(_: Request[Any, Any, Any], error: AxioError) -> Response[Problem]:
    if isinstance(error, Refused):
        return problem_response(STATUS.get(error.code, 400), error.code, str(error))
    if isinstance(error, UnknownGame):
        return problem_response(404, "unknown_game", str(error))
    if isinstance(error, UnknownFigure):
        return problem_response(404, "unknown_figure", str(error))
    if isinstance(error, InvalidName):
        return problem_response(422, error.code, str(error))
    if isinstance(error, InvalidCredentials):
        return problem_response(403, "wrong_secret", str(error))
    if isinstance(error, PasswordRequired):
        return problem_response(403, "password_needed", str(error))
    if isinstance(error, Banned):
        return problem_response(403, "banned", str(error))
    if isinstance(error, IllegalMove):
        return problem_response(422, code_of(error), str(error))
    return problem_response(422, "bad_request", str(error))


def _http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem] | Response[bytes]:
    status = error.status_code
    if status == 404 and "text/html" in request.headers.get("accept", ""):
        return page(request, "404", 404)
    detail = error.detail
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        parts = [f"{item.get('key', 'body')}: {item.get('message', '')}" for item in error.extra]
        detail = "; ".join(parts) or detail
    # The headers include `allow` for 405.
    return problem_response(status, CODES.get(status, "error"), detail, error.headers)


def _recursion_error(_: Request[Any, Any, Any], error: RecursionError) -> Response[Problem]:
    return problem_response(400, "bad_request", "the body is nested too deeply")


def _internal_error(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    count_error(error)
    return problem_response(
        500, "broken", "internal server error; nothing was changed. Try again in a moment"
    )


def _storage_error(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """Return 503 if the database or the disk is unavailable, otherwise 500."""
    if not is_unavailable(error):
        return _internal_error(request, error)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    count_error(error)
    return _domain_error(request, Unavailable())


ERRORS: ExceptionHandlersMap = {
    AxioError: _domain_error,
    SQLAlchemyError: _storage_error,
    OSError: _storage_error,
    HTTPException: _http_error,
    RecursionError: _recursion_error,
    Exception: _internal_error,
}
