"""Startup of the server: checks, the lock of an SQLite database, Uvicorn processes and logging.

Log messages contain no secrets, no hidden tiles and no network addresses of clients.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from ..files import try_lock
from .domain.refusals import Unavailable
from .private_files import make_private_folder
from .settings import FINGERPRINT, InvalidSetting, Settings, check_fingerprint, secret_keys, sqlite_file
from .storage.database import Database, driver_message
from .storage.inspection import check_schema, check_sqlite_file
from .storage.schema import read_fact
from .transport.connections import (
    CONNECTIONS_FROM_ADDRESS,
    ConnectionLimits,
    max_connections,
    raise_descriptor_limit,
)
from .transport.hosts import TrustedProxies
from .transport.http_protocol import HttpProtocol
from .transport.websocket_protocol import WebSocketProtocol

LOCK_SUFFIX = ".lock"
FIRST_PORT, PORTS_TRIED = 8000, 20
MAX_MESSAGE_BYTES = 16_000
FACTORY = f"{__package__}.processes:app"
UVICORN_OPTIONS: dict[str, Any] = {
    "interface": "asgi3",  # auto-detection would mistake a plain function for ASGI 2
    "loop": "asyncio" if sys.platform == "win32" else "uvloop",
    "http": HttpProtocol,
    "ws": WebSocketProtocol,
    "ws_max_size": MAX_MESSAGE_BYTES,
    "ws_per_message_deflate": False,  # a compressor per client would take more memory than the game
    "ws_ping_interval": 30.0,
    "ws_ping_timeout": 60.0,
    "access_log": False,
    "server_header": False,
    "log_config": None,
    "proxy_headers": False,  # transport/origin_guard.py reads them
    "timeout_keep_alive": 20,
    "timeout_graceful_shutdown": 3,
}


class InvalidHost(InvalidSetting):
    """The host to listen on is not an address of this machine."""


class AlreadyRunning(InvalidSetting):
    """Another process uses this database. `url` is the address of a server, or describes another program."""

    def __init__(self, file: Path, url: str) -> None:
        user = f"a server at {url}" if "://" in url else url or "another program"
        super().__init__(f"{file} is in use by {user}")
        self.url = url


# ------------------------------------------------------------ startup checks


def check_startup(settings: Settings) -> None:
    """Check that a server can start with these settings. Raises `InvalidSetting`."""
    settings.check()
    _check_port(settings.host, settings.port)
    for port in settings.metrics_ports:
        _check_port(settings.metrics_host, port, "--metrics-port")
    known = (
        asyncio.run(_check_postgresql(settings))
        if settings.on_postgresql
        else check_sqlite_file(settings.url)
    )
    if not settings.accept_new_key:
        check_fingerprint(known, secret_keys(settings.folder), settings.folder)


async def _check_postgresql(settings: Settings) -> str | None:
    """Connect and check the schema; return the fingerprint of the key stored there, if any."""
    database = Database(settings.url)
    logging.disable(logging.WARNING)  # the raised error is the only message
    try:
        async with database.reading() as connection:
            await connection.run_sync(check_schema)
            return await connection.run_sync(read_fact, FINGERPRINT)
    except (Unavailable, SQLAlchemyError, OSError, UnicodeError) as error:
        reason = driver_message(error.__cause__ or error) or "no answer"
        raise InvalidSetting(f"cannot connect to the database: {reason}") from None
    finally:
        await database.close()
        logging.disable(logging.NOTSET)


def free_port(host: str, first: int = FIRST_PORT) -> int:
    """Return the first free port of `host`, from `first` on. Raises `InvalidSetting`."""
    for port in range(first, first + PORTS_TRIED):
        try:
            _check_port(host, port)
            return port
        except InvalidHost:
            raise
        except InvalidSetting:
            continue
    raise InvalidSetting(f"no port from {first} to {first + PORTS_TRIED - 1} is free: choose one with --port")


def _check_port(host: str, port: int, option: str = "--port") -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (socket.gaierror, TypeError, ValueError) as error:  # also a NUL or a label that is too long
            raise InvalidHost(
                f"cannot listen on host {host[:80]!r} ({error}): use an address of this machine"
            ) from None
        except OSError as error:
            raise InvalidSetting(
                f"cannot use port {port} of {host} ({error.strerror}): choose another with {option}"
            ) from None


# ------------------------------------------------------------ one server per SQLite database


def lock_file(database: Path) -> Path:
    """Return the lock file of a database: beside it, after resolving symbolic links."""
    real = Path(os.path.realpath(database))
    return real.with_name(real.name + LOCK_SUFFIX)


@contextmanager
def single_instance(settings: Settings, url: str) -> Iterator[None]:
    """Hold the exclusive lock of an SQLite database. Does nothing on PostgreSQL.

    The operating system releases the lock when the process ends, even if it is killed.

    Args:
        settings: Settings of the server.
        url: Text that other processes find in the lock file: the address of this server.

    Raises:
        AlreadyRunning: Another process holds the lock.
        InvalidSetting: The database file has several hard links.
    """
    file = sqlite_file(settings.url)
    if settings.on_postgresql or file is None:
        yield
        return
    path = lock_file(file)
    make_private_folder(path.parent)
    if file.exists() and file.stat().st_nlink > 1:  # SQLite would create a journal for each name
        raise InvalidSetting(f"{file} has {file.stat().st_nlink} names (hard links): remove all but one")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as lock:
        if not try_lock(lock.fileno()):
            raise AlreadyRunning(file, lock.read().strip())
        lock.truncate(0)
        lock.write(url)
        lock.flush()
        yield


# ------------------------------------------------------------ serving


def serve(settings: Settings, *, when_ready: Callable[[str], None] | None = None) -> None:
    """Serve until interrupted. Call `check_startup` first.

    Args:
        settings: Settings of the server.
        when_ready: Called in a thread with the address of the page once `/health` answers.

    Raises:
        AlreadyRunning: Another process uses the database.
        InvalidSetting: The schema cannot be upgraded.
    """
    with single_instance(settings, local_url(settings)):
        settings.to_environment()
        configure_logging(settings.log_level)
        raise_descriptor_limit()
        asyncio.run(_upgrade_schema(settings))
        if when_ready is not None:
            threading.Thread(target=_call_when_ready, args=(settings, when_ready), daemon=True).start()
        _run_uvicorn(settings)


async def _upgrade_schema(settings: Settings) -> None:
    """Upgrade the schema before any process serves. Raises `InvalidSetting`."""
    database = Database(settings.url)
    try:
        await database.upgrade()
    except (CommandError, SQLAlchemyError, OSError) as error:
        reason = driver_message(error) or "no answer"
        raise InvalidSetting(f"cannot upgrade the database to the newest schema: {reason}") from None
    finally:
        await database.close()


def _run_uvicorn(settings: Settings) -> None:
    uvicorn.run(
        FACTORY,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers if settings.workers > 1 else None,
        **{**UVICORN_OPTIONS, "http": partial(HttpProtocol, connections=_connection_limits(settings))},
    )


def _connection_limits(settings: Settings) -> ConnectionLimits:
    per_network = CONNECTIONS_FROM_ADDRESS if settings.rate_limits else None
    return ConnectionLimits(max_connections(), per_network, TrustedProxies(settings.proxies))


def app() -> object:
    """Return the application. Uvicorn calls this in each worker process."""
    from .app import make_app

    settings = Settings.from_environment()
    _exit_with_parent()
    configure_logging(settings.log_level)
    return make_app(settings)


def _exit_with_parent() -> None:
    """Exit this worker process when its parent ends, for any reason.

    Acknowledged moves are in the database, so nothing is lost. A worker without a parent would keep the port
    in use.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def local_url(settings: Settings) -> str:
    """Return the address of the page for a browser on this machine."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"


def open_browser(url: str) -> None:
    """Open `url` in the default browser, if there is one."""
    webbrowser.open(url)


def _call_when_ready(settings: Settings, when_ready: Callable[[str], None]) -> None:
    url = local_url(settings)
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}health", timeout=1):
                when_ready(url)
                return
        except OSError:
            time.sleep(0.1)


# ------------------------------------------------------------ logging


class JsonFormatter(logging.Formatter):
    """Formats each record as one line of JSON with time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logging(level: str) -> None:
    """Log everything of at least `level` to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Below this level Uvicorn logs client addresses, and every message with its hidden tiles and tokens.
    for name in ("alembic", "aiosqlite", "sqlalchemy", "markdown_it", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
