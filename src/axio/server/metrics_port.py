"""The port on which metrics are served: a minimal HTTP server beside the real one, in the same event loop."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST

from .metrics import exposition
from .supervisor import BackgroundTask

if TYPE_CHECKING:
    from .running import Server

PATIENCE = 10.0  # seconds for a whole request
LONGEST_HEAD = 8_000
MOST_AT_ONCE = 8

log = logging.getLogger(__name__)


async def serve_metrics(server: Server, task: BackgroundTask) -> None:
    """Serve metrics for as long as the server runs. Raises `OSError` if no port is free.

    Workers take one port each, the first that is free of as many as there are workers.
    """
    settings = server.settings
    answering = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answering
        answering += 1
        try:
            if answering <= MOST_AT_ONCE:
                async with asyncio.timeout(PATIENCE):
                    await _answer(server, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked is gone, too slow, or does not speak HTTP
        except Exception:
            log.exception("the metrics could not be served")
        finally:
            answering -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    for port in settings.metrics_ports:
        try:
            listener = await asyncio.start_server(answer, settings.metrics_host, port, limit=LONGEST_HEAD)
        except OSError:
            if port == settings.metrics_ports[-1]:
                raise
        else:
            break
    log.info("metrics are served on port %d", port)
    task.succeeded()
    async with listener:
        await listener.serve_forever()


async def _answer(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path != b"/metrics":
        status, kind, body = b"404 Not Found", "text/plain", b"metrics are at /metrics\n"
    elif method not in (b"GET", b"HEAD"):
        status, kind, body = b"405 Method Not Allowed", "text/plain", b"metrics are for GET\n"
    else:
        status, kind, body = b"200 OK", CONTENT_TYPE_LATEST, await exposition(server)
    lines = [
        b"HTTP/1.1 " + status,
        b"content-type: " + kind.encode(),
        b"content-length: %d" % len(body),
        b"cache-control: no-store",
        b"connection: close",
    ]
    writer.write(b"\r\n".join([*lines, b"", b""]) + (b"" if method == b"HEAD" else body))
    await writer.drain()
