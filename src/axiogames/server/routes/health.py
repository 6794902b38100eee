"""Routes for those who keep the server running."""

from __future__ import annotations

from litestar import Response, get
from litestar.openapi import ResponseSpec
from msgspec import Struct

from ... import __version__
from .errors import problems
from .identity import Here

RECOVERY = 2.0  # seconds that background tasks get to recover before the server is called unhealthy


class Health(Struct, frozen=True, omit_defaults=True):
    """Whether the server can do its work."""

    status: str
    version: str
    failing: tuple[str, ...] = ()  # background tasks that have failed and not succeeded since


@get(
    "/health",
    responses={503: ResponseSpec(Health, False, "The server cannot do all of its work.")} | problems(),
)
async def show_health(server: Here) -> Response[Health]:
    """Whether the database can be read and written, and what goes on in the background succeeds."""
    supervisor = server.supervisor
    status = await server.database.check()
    if not status and supervisor.failing:  # perhaps only because the database was away until now
        await supervisor.recover(RECOVERY)
    if not status and supervisor.failing:
        status = f"background tasks fail: {', '.join(task.name for task in supervisor.failing)}"
    body = Health(status or "ok", __version__, tuple(task.name for task in supervisor.tasks if task.failing))
    return Response(body, status_code=503 if status else 200, headers={"cache-control": "no-store"})


HEALTH = [show_health]
