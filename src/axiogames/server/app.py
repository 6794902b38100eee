"""The ASGI application: routes, error handlers, OpenAPI schema and middleware."""

from __future__ import annotations

from typing import Any

from litestar import Litestar, Request, Router
from litestar.config.app import AppConfig
from litestar.config.compression import CompressionConfig
from litestar.datastructures import CacheControlHeader, State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp

from .. import PROGRAM, __version__
from .lifespan import Server, build_server, lifespan
from .metrics import instrument
from .routes import ROUTES
from .routes.errors import ERRORS, JsonRequest
from .routes.identity import provide_person, provide_server
from .settings import Settings
from .transport.origin_guard import guard
from .transport.websocket import live

MAX_BODY_BYTES = 8_000
# Static files and pages are compressed ahead of time; PNG is a compressed format.
UNCOMPRESSED_PATHS = [
    r"^/$",
    r"^/(static|t|rules|daily|me|offline|privacy)\b",
    r"^/(sw|manifest|favicon)\.",
    r"\.png$",
]


class _CachedSchema(JsonRenderPlugin):
    """The OpenAPI schema as JSON, at `/schema/openapi.json` and `/schema`; rendered once per process."""

    def __init__(self) -> None:
        super().__init__()
        self._body: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the schema."""
        if self._body is None:
            self._body = super().render(request, openapi_schema)
        return self._body


def make_app(settings: Settings | None = None) -> ASGIApp:
    """Return the application for `settings`, by default those of the environment."""
    server = build_server((settings or Settings.from_environment()).check())
    app = _litestar(server)
    return instrument(guard(app, sockets=live(server), settings=server.settings, limits=server.limits))


def _litestar(server: Server) -> Litestar:
    config = AppConfig(
        route_handlers=list(ROUTES),
        state=State({"server": server}),
        dependencies={
            "server": Provide(provide_server, sync_to_thread=False),
            "person": Provide(provide_person),
        },
        exception_handlers=ERRORS,
        request_class=JsonRequest,
        compression_config=CompressionConfig(
            "gzip", minimum_size=1_000, gzip_compress_level=5, exclude=UNCOMPRESSED_PATHS
        ),
        request_max_body_size=MAX_BODY_BYTES,
        lifespan=[lambda app: lifespan(server)],
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title=PROGRAM,
            version=__version__,
            description="Tables, people, games and daily deals. "
            "docs/reference/http_and_websocket.md describes live tables.",
            use_handler_docstrings=True,
            openapi_router=Router(
                "/schema",
                route_handlers=[],
                include_in_schema=False,
                cache_control=CacheControlHeader(max_age=3600),
            ),
            render_plugins=[_CachedSchema()],
        ),
    )
    return Litestar.from_config(config)
