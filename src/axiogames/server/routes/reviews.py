"""Routes for reviews of finished games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litestar import Request, Response, get, post
from litestar.openapi import ResponseSpec
from litestar.status_codes import HTTP_200_OK, HTTP_202_ACCEPTED

from ...analysis.review.remarks import review_texts
from ..domain.refusals import Refused
from ..domain.reviews import ReviewState
from ..lifespan import Server
from ..transport.origin_guard import client_network
from ..transport.rate_limits import REVIEWS as PER_PERSON
from ..transport.rate_limits import REVIEWS_FROM_ADDRESS as PER_ADDRESS
from .errors import problems
from .games import CACHE_HOUR, Language
from .identity import PersonDep, ServerDep, TableId, require_person
from .tables import finished_room


@get("/api/review/words", responses=problems(400))
async def show_words(language: Language = "en") -> Response[Mapping[str, str]]:
    """Texts of reviews and hints by the keys of their remarks."""
    return Response(review_texts(language), headers=CACHE_HOUR)


@get(
    "/api/tables/{table_id:str}/review",
    responses={200: ResponseSpec(ReviewState, False, "The review, or its progress.")}
    | problems(400, 404, 409, 503),
)
async def show_review(server: ServerDep, person: PersonDep, table_id: TableId) -> Response[bytes]:
    """Review of a finished game, or its progress."""
    room = await finished_room(server, table_id, person)
    return await _state(server, room.id)


@post(
    "/api/tables/{table_id:str}/review",
    status_code=HTTP_202_ACCEPTED,
    responses={202: ResponseSpec(ReviewState, False, "The review, or its progress.")}
    | problems(400, 401, 403, 404, 409, 429, 503),
)
async def start_review(
    server: ServerDep, request: Request[Any, Any, Any], person: PersonDep, table_id: TableId
) -> Response[bytes]:
    """Request the review of a finished game, which all viewers share."""
    guest = require_person(person, server)
    room = await finished_room(server, table_id, person)
    if not await server.reviews.exists(room.id):
        allowed = server.limits.allow(PER_ADDRESS, client_network(request.scope))
        if not (server.limits.allow(PER_PERSON, guest.id) and allowed):
            raise Refused("too_fast", "too many reviews were requested; try again in a few minutes")
        await server.reviews.request(room.game, guest.id)
    return await _state(server, room.id, HTTP_202_ACCEPTED)


async def _state(server: Server, table_id: str, status: int = HTTP_200_OK) -> Response[bytes]:
    body = await server.reviews.find(table_id)
    return Response(body, media_type="application/json", status_code=status)


REVIEWS = [show_words, show_review, start_review]
