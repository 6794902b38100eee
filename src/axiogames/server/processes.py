"""Starting the server's processes."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import socket
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from .domain.refusals import Unavailable
from .logs import set_up_logs
from .private_files import make_private_folder
from .settings import FINGERPRINT, BadSetting, Settings, check_fingerprint, secret_keys, sqlite_file
from .storage.database import Database, reason
from .storage.inspection import check_schema, inspect_file
from .storage.schema import read_fact
from .transport.connections import (
    CONNECTIONS_FROM_ADDRESS,
    ConnectionLimits,
    most_connections,
    raise_descriptor_limit,
)
from .transport.hosts import TrustedProxies
from .transport.http_protocol import HttpProtocol

try:
    import fcntl
except ImportError:  # not on Windows; there two servers are told apart by their port only
    fcntl = None  # type: ignore[assignment]

LOCK_SUFFIX = ".lock"


class AlreadyRunning(BadSetting):
    """Something else uses this database; `url` is where it is found, if it is a server."""

    def __init__(self, file: Path, url: str) -> None:
        who = f"a server at {url}" if "://" in url else url or "another program"
        super().__init__(f"{file} is in use by {who}")
        self.url = url


def lock_file(database: Path) -> Path:
    """The file that is locked by whoever uses a database: beside it, whatever path names it."""
    real = Path(os.path.realpath(database))
    return real.with_name(real.name + LOCK_SUFFIX)


@contextmanager
def alone(settings: Settings, url: str) -> Iterator[None]:
    """Be the only server of a database; `url` tells others who that is.

    Raises `AlreadyRunning`, or `BadSetting` for a file of several names. The lock goes with the process,
    however it ends.
    """
    file = sqlite_file(settings.url)
    if settings.on_postgresql or file is None or fcntl is None:
        yield
        return
    path = lock_file(file)
    make_private_folder(path.parent)
    if file.exists() and file.stat().st_nlink > 1:  # SQLite would keep a journal for each
        raise BadSetting(f"{file} has {file.stat().st_nlink} names (hard links): remove all but one")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(file, lock.read().strip()) from None
        lock.truncate(0)
        lock.write(url)
        lock.flush()
        yield


FACTORY = f"{__package__}.processes:app"
LARGEST_MESSAGE = 16_000
FIRST_PORT, PORTS_TRIED = 8000, 20
OPTIONS: dict[str, Any] = {
    "interface": "asgi3",  # its guess takes a function for ASGI 2 unless it is a coroutine function
    "loop": "uvloop",
    "http": f"{__package__}.transport.http_protocol:HttpProtocol",
    "ws": f"{__package__}.transport.websocket_protocol:LeanSocket",
    "ws_max_size": LARGEST_MESSAGE,
    "ws_per_message_deflate": False,  # a compressor for each client would take more memory than the game
    "ws_ping_interval": 30.0,
    "ws_ping_timeout": 60.0,
    "access_log": False,
    "server_header": False,
    "log_config": None,
    "proxy_headers": False,  # the gate looks at them
    "timeout_keep_alive": 20,
    "timeout_graceful_shutdown": 3,
}


class NoSuchHost(BadSetting):
    """The address to listen on is none."""


def app() -> object:
    """The application, made in each worker process from what it inherits."""
    from .app import make_app

    settings = Settings.from_environment()
    _end_with_parent()
    set_up_logs(settings.logs)
    return make_app(settings)


def _end_with_parent() -> None:
    """Let a worker process end when the process that started it is gone, however that has ended.

    What was acknowledged is in the database. A worker that went on alone would keep the port.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def check(settings: Settings) -> None:
    """See whether a server can be started this way. Raises `BadSetting`."""
    settings.check()
    _check_port(settings.host, settings.port)
    for port in settings.metrics_ports:
        _check_port(settings.metrics_host, port, "--metrics-port")
    known = asyncio.run(_reach(settings)) if settings.on_postgresql else inspect_file(settings.url)
    if not settings.accept_new_key:
        check_fingerprint(known, secret_keys(settings.folder), settings.folder)


async def _reach(settings: Settings) -> str | None:
    database = Database(settings.url)
    logging.disable(logging.WARNING)  # what is wrong is said in one sentence
    try:
        async with database.reading() as connection:
            await connection.run_sync(check_schema)
            return await connection.run_sync(read_fact, FINGERPRINT)
    except (Unavailable, SQLAlchemyError, OSError, UnicodeError) as error:
        why = reason(error.__cause__ or error) or "it does not answer"
        raise BadSetting(f"the database cannot be reached: {why}") from None
    finally:
        await database.close()
        logging.disable(logging.NOTSET)


def serve(settings: Settings, *, when_ready: Callable[[str], None] | None = None) -> None:
    """Serve until it is interrupted, what `check` has found good. Raises `AlreadyRunning`."""
    with alone(settings, address(settings)):
        settings.to_environment()
        set_up_logs(settings.logs)
        raise_descriptor_limit()
        asyncio.run(_upgrade(settings))
        if when_ready is not None:
            threading.Thread(target=_wait, args=(settings, when_ready), daemon=True).start()
        _run(settings)


async def _upgrade(settings: Settings) -> None:
    """Bring the database to the newest schema before any process serves. Raises `BadSetting`."""
    database = Database(settings.url)
    try:
        await database.upgrade()
    except (CommandError, SQLAlchemyError, OSError) as error:
        why = reason(error) or "it does not answer"
        raise BadSetting(f"the database cannot be brought to the newest schema: {why}") from None
    finally:
        await database.close()


def _run(settings: Settings) -> None:
    uvicorn.run(
        FACTORY,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers if settings.workers > 1 else None,
        **{**OPTIONS, "http": partial(HttpProtocol, connections=_connection_limits(settings))},
    )


def _connection_limits(settings: Settings) -> ConnectionLimits:
    each = CONNECTIONS_FROM_ADDRESS if settings.limits else None
    return ConnectionLimits(most_connections(), each, TrustedProxies(settings.proxies))


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
            _check_port(host, port)
            return port
        except NoSuchHost:
            raise
        except BadSetting:
            continue
    raise BadSetting(f"no port from {first} to {first + PORTS_TRIED - 1} is free: choose one with --port")


def _check_port(host: str, port: int, option: str = "--port") -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (socket.gaierror, TypeError, ValueError) as error:  # a NUL, a label that is too long
            raise NoSuchHost(
                f"host {host[:80]!r} cannot be listened on ({error}): name one of this machine's"
            ) from None
        except OSError as error:
            raise BadSetting(
                f"port {port} of {host} cannot be used ({error.strerror}): choose another with {option}"
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
