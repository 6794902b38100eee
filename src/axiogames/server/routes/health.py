"""Health check, and the progress of the rules that are being compiled."""

from __future__ import annotations

from litestar import Response, get
from litestar.openapi import ResponseSpec
from msgspec import Struct

from ... import __version__
from ..rule_loader import RulesProgress
from .errors import problems
from .identity import ServerDep

RECOVERY_SECONDS = 2.0  # time for failing background tasks to recover before the check fails


class Health(Struct, frozen=True, omit_defaults=True):
    """Health of the server."""

    status: str
    version: str
    rules_ready: bool  # whether all rules are compiled; until then searching bots and hints wait
    failing: tuple[str, ...] = ()  # background tasks that have failed and not succeeded since


@get(
    "/health",
    responses={503: ResponseSpec(Health, False, "The server is unhealthy.")} | problems(),
)
async def show_health(server: ServerDep) -> Response[Health]:
    """Check that the database can be read and written, and that background tasks succeed."""
    supervisor = server.supervisor
    status = await server.database.check()
    if not status and supervisor.failing:  # perhaps the database has only just recovered
        await supervisor.recover(RECOVERY_SECONDS)
    if not status and supervisor.failing:
        status = f"background tasks fail: {', '.join(task.name for task in supervisor.failing)}"
    body = Health(
        status or "ok",
        __version__,
        server.rules.all_ready.is_set(),
        tuple(task.name for task in supervisor.tasks if task.failing),
    )
    return Response(body, status_code=503 if status else 200, headers={"cache-control": "no-store"})


@get("/api/rules-progress", responses=problems())
async def show_rules_progress(server: ServerDep) -> RulesProgress:
    """Preparation of the rules after an installation or an upgrade. Searching bots and hints wait for it."""
    return server.rules.progress()


HEALTH = [show_health, show_rules_progress]
