"""Routes for what can be learned from a game that is over."""

from __future__ import annotations

from collections.abc import Mapping

from litestar import Response, get, post
from litestar.status_codes import HTTP_202_ACCEPTED

from ...review.wording import words
from ..guard.limits import REVIEWS as PACE
from ..play.refusals import Refused
from ..play.reviews import ReviewState
from .errors import problems
from .games import HOUR, Language
from .person import Asker, Here, TableId, writer
from .tables import finished


@get("/api/review/words", responses=problems(400))
async def show_words(language: Language = "en") -> Response[Mapping[str, str]]:
    """The words of reviews and hints, by the keys of their remarks."""
    return Response(words(language), headers=HOUR)


@get("/api/tables/{table_id:str}/review", responses=problems(400, 404, 409, 503))
async def show_review(server: Here, person: Asker, table_id: TableId) -> ReviewState:
    """How far the review of a finished game is, and the review when it is there."""
    room = await finished(server, table_id, person)
    return server.reviews.state(room.id)


@post(
    "/api/tables/{table_id:str}/review",
    status_code=HTTP_202_ACCEPTED,
    responses=problems(400, 401, 403, 404, 409, 429, 503),
)
async def start_review(server: Here, person: Asker, table_id: TableId) -> ReviewState:
    """Let a finished game be reviewed, once for all who may see it."""
    guest = writer(person, server)
    room = await finished(server, table_id, person)
    told = server.reviews.state(room.id)
    if told.state != "none":
        return told
    if not server.limits.allow(PACE, guest.id):
        raise Refused("too_fast", "that were many reviews; try again in a few minutes")
    return server.reviews.start(room.game)


REVIEWS = [show_words, show_review, start_review]
