"""Starting the server's processes."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from .alone import alone
from .logs import set_up_logs
from .settings import BadSetting, Settings
from .storage.database import Database

FACTORY = f"{__package__}.serving:app"
LARGEST_MESSAGE = 16_000
FIRST_PORT, PORTS_TRIED = 8000, 20
OPTIONS: dict[str, Any] = {
    "loop": "uvloop",
    "http": "httptools",
    "ws": f"{__package__}.sockets:LeanSocket",
    "ws_max_size": LARGEST_MESSAGE,
    "ws_per_message_deflate": False,  # a compressor for each client would take more memory than the game
    "ws_ping_interval": 30.0,
    "ws_ping_timeout": 60.0,
    "access_log": False,
    "server_header": False,
    "log_config": None,
    "timeout_graceful_shutdown": 3,
    "h11_max_incomplete_event_size": 32_000,
}


def app() -> object:
    """The application, made in each worker process from what it inherits."""
    from .app import make_app

    settings = Settings.from_environment()
    set_up_logs(settings.logs)
    return make_app(settings)


def check(settings: Settings) -> None:
    """See whether a server can be started this way. Raises `BadSetting`."""
    settings.check()
    _check_port(settings)
    try:
        if settings.on_postgresql:
            asyncio.run(_reach(settings))
        else:
            _open(settings)
    except (SQLAlchemyError, OSError) as error:
        # The driver's own words only: SQLAlchemy adds lines, and an address may hold a password.
        why = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise BadSetting(f"the database cannot be reached: {why}") from None


async def _reach(settings: Settings) -> None:
    database = Database(settings.url)
    try:
        async with database.reading() as connection:
            await connection.execute(text("SELECT 1"))
    finally:
        await database.close()


def _open(settings: Settings) -> None:
    url = make_url(settings.url).set(drivername="sqlite")
    Path(url.database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    engine.dispose()


def serve(settings: Settings, *, when_ready: Callable[[str], None] | None = None) -> None:
    """Serve until it is interrupted, what `check` has found good. Raises `AlreadyRunning`."""
    with alone(settings, address(settings)):
        settings.to_environment()
        set_up_logs(settings.logs)
        if when_ready is not None:
            threading.Thread(target=_wait, args=(settings, when_ready), daemon=True).start()
        _run(settings)


def _run(settings: Settings) -> None:
    uvicorn.run(
        FACTORY,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers if settings.workers > 1 else None,
        **OPTIONS,
    )


def address(settings: Settings) -> str:
    """Where a browser on this machine finds the page."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"


def open_browser(url: str) -> None:
    """Show the page, where there is a browser."""
    webbrowser.open(url)


def free_port(host: str, first: int = FIRST_PORT) -> int:
    """The first port that nobody uses."""
    for port in range(first, first + PORTS_TRIED):
        try:
            _check_port(Settings(host=host, port=port))
            return port
        except BadSetting:
            continue
    raise BadSetting(f"no port from {first} to {first + PORTS_TRIED - 1} is free: choose one with --port")


def _check_port(settings: Settings) -> None:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise BadSetting(
                f"port {settings.port} of {settings.host} cannot be used ({error.strerror}): "
                "choose another with --port"
            ) from None


def _wait(settings: Settings, when_ready: Callable[[str], None]) -> None:
    url = address(settings)
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}health", timeout=1):
                when_ready(url)
                return
        except OSError:
            time.sleep(0.1)
