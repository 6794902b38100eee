"""Limits for connections: their number, the rate of new ones, and the minimum throughput of a peer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from .hosts import TrustedProxies, network_of
from .rate_limits import CONNECTIONS, Quota, RateLimits

RESERVED_DESCRIPTORS = 100  # for the database, files and pipes
MAX_DESCRIPTORS = 65_536
CONNECTIONS_FROM_ADDRESS = 600

CLOSING_SECONDS = 10.0  # to send the remaining output when a connection is closed
STALLED_SECONDS = 20.0  # between two measurements of the throughput
MIN_THROUGHPUT = 1_000  # bytes per second that a peer has to read

Release = Callable[[], None]


def raise_descriptor_limit() -> None:
    """Raise the limit of open files of this process to `MAX_DESCRIPTORS`, or as far as permitted."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def max_connections() -> int:
    """Return the maximum number of connections that leaves enough descriptors for everything else."""
    if sys.platform == "win32":
        return MAX_DESCRIPTORS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_DESCRIPTORS
    return max(soft - RESERVED_DESCRIPTORS, soft // 4)


class ConnectionLimits:
    """Counts the connections of one process, in total and by network."""

    def __init__(
        self,
        total: int = MAX_DESCRIPTORS,
        per_network: int | None = CONNECTIONS_FROM_ADDRESS,
        proxies: TrustedProxies | None = None,
    ) -> None:
        self._available = total
        self._networks = Quota(min(per_network, max(total // 2, 1)) if per_network else total)
        self._rates = RateLimits(active=per_network is not None)
        self._proxies = proxies or TrustedProxies()

    def admits(self, peer: str) -> bool:
        """Return whether a peer is within the rate of new connections. Trusted proxies always are.

        The cost of a connection before its first request is charged to nobody. Therefore a peer that exceeds
        the rate gets no response at all.
        """
        return self._proxies.trusts(peer) or self._rates.allow(CONNECTIONS, network_of(peer))

    def take(self, peer: str) -> Release | None:
        """Count a connection and return a function that releases it, `None` if the limits are reached.

        Connections of trusted proxies count in total only, since they carry the requests of many networks.
        """
        name = "" if self._proxies.trusts(peer) else network_of(peer)
        if self._available <= 0 or (name and not self._networks.take(name)):
            return None
        self._available -= 1

        def release() -> None:
            self._available += 1
            if name:
                self._networks.release(name)

        return release


def _discard(data: bytes | bytearray | memoryview[Any]) -> None:
    """Ignore a write to an aborted connection."""


class PromptTransport:
    """A transport whose `close` does not wait forever for a peer that stops reading."""

    __slots__ = ("_loop", "_transport", "is_closing", "pause_reading", "resume_reading", "write")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        # Copied, as they are used for every message: `__getattr__` would take longer.
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def abort(self) -> None:
        """Close at once, and ignore later writes, on which uvloop would raise an error."""
        self.write = _discard
        self._transport.abort()

    def close(self) -> None:
        """Close when all output is sent, at the latest after `CLOSING_SECONDS`."""
        if not self._transport.is_closing():
            self._transport.close()
            if self._transport.get_write_buffer_size():
                self._loop.call_later(CLOSING_SECONDS, self.abort)


class StallWatch:
    """Aborts the connection of a peer that reads more slowly than `MIN_THROUGHPUT`."""

    __slots__ = ("_before", "_loop", "_timer", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._before = transport.get_write_buffer_size()
        self._timer = loop.call_later(STALLED_SECONDS, self._check)

    def stop(self) -> None:
        """Stop watching, since the peer has caught up or the connection has ended."""
        self._timer.cancel()

    def _check(self) -> None:
        pending = self._transport.get_write_buffer_size()
        if pending > self._before - MIN_THROUGHPUT * STALLED_SECONDS:
            self._transport.abort()
            return
        self._before = pending
        self._timer = self._loop.call_later(STALLED_SECONDS, self._check)
