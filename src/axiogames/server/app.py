"""The application: routes, errors, documentation and the gate, put together."""

from __future__ import annotations

from litestar import Litestar, Router
from litestar.config.app import AppConfig
from litestar.config.compression import CompressionConfig
from litestar.datastructures import CacheControlHeader, State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.types import ASGIApp

from .. import PROGRAM, __version__
from .lifespan import Server, assemble, running
from .metrics import measured
from .routes import ROUTES
from .routes.errors import ERRORS, JsonRequest
from .routes.identity import provide_person, provide_server
from .routes.reference import ReferencePage, SchemaFile
from .settings import Settings
from .transport.origin_guard import gate
from .transport.websocket import live

LARGEST_BODY = 8_000
# The page's own files are kept compressed; a PNG is compressed by its nature.
PACKED = [r"^/$", r"^/(static|t|rules|daily|me|offline|privacy)\b", r"^/(sw|manifest|favicon)\.", r"\.png$"]


def make_app(settings: Settings | None = None) -> ASGIApp:
    """The application of a server with these settings, or with those of the environment."""
    server = assemble((settings or Settings.from_environment()).check())
    app = _litestar(server)
    return measured(gate(app, sockets=live(server), settings=server.settings, limits=server.limits))


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
            "gzip", minimum_size=1_000, gzip_compress_level=5, exclude=PACKED
        ),
        request_max_body_size=LARGEST_BODY,
        lifespan=[lambda app: running(server)],
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title=PROGRAM,
            version=__version__,
            description="Tables, people, games and daily deals. docs/protocol.md describes live tables.",
            use_handler_docstrings=True,
            openapi_router=Router(
                "/schema",
                route_handlers=[],
                include_in_schema=False,
                cache_control=CacheControlHeader(max_age=3600),
            ),
            render_plugins=[ReferencePage(), SchemaFile()],
        ),
    )
    return Litestar.from_config(config)
