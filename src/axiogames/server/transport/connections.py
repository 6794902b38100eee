"""Connections that end: how many there may be, and how long one may take to be read or written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from .hosts import TrustedProxies, network_of
from .rate_limits import CONNECTIONS, Limits, Quota

RESERVED = 100  # descriptors for the database, files and pipes
MOST_DESCRIPTORS = 65_536
CONNECTIONS_FROM_ADDRESS = 600

CLOSING_SECONDS = 10.0  # for what is still to be sent when a connection is closed
STALLED_SECONDS = 20.0
SLOWEST = 1_000  # bytes a second that a client takes while we wait for it

Release = Callable[[], None]


def raise_descriptor_limit() -> None:
    """Allow this process as many open files as it may ask for."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """Return how many connections leave enough descriptors for what they need inside."""
    if sys.platform == "win32":
        return MOST_DESCRIPTORS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_DESCRIPTORS
    return max(soft - RESERVED, soft // 4)


class ConnectionLimits:
    """Counts the connections of one process, in all and for each address."""

    def __init__(
        self,
        total: int = MOST_DESCRIPTORS,
        each: int | None = CONNECTIONS_FROM_ADDRESS,
        proxies: TrustedProxies | None = None,
    ) -> None:
        self._left = total
        self._each = Quota(min(each, max(total // 2, 1)) if each else total)
        self._paces = Limits(active=each is not None)
        self._proxies = proxies or TrustedProxies()

    def admits(self, peer: str) -> bool:
        """Return whether a peer opens connections at a pace that can be served; a trusted proxy always does.

        What a connection costs before its first request is charged to nobody. So whoever is cut off and comes
        back again and again is not even answered.
        """
        return self._proxies.trusts(peer) or self._paces.allow(CONNECTIONS, network_of(peer))

    def take(self, peer: str) -> Release | None:
        """Count a connection. Return what counts it out again, `None` if there is no room for it.

        Everybody comes through a trusted proxy, so its own connections are only counted in all.
        """
        name = "" if self._proxies.trusts(peer) else network_of(peer)
        if self._left <= 0 or (name and not self._each.take(name)):
            return None
        self._left -= 1

        def release() -> None:
            self._left += 1
            if name:
                self._each.release(name)

        return release


def _discard(data: bytes | bytearray | memoryview[Any]) -> None:
    """Write to a connection that was cut off."""


class PromptTransport:
    """A transport whose `close` does not wait forever for a peer that reads nothing."""

    __slots__ = ("_loop", "_transport", "is_closing", "pause_reading", "resume_reading", "write")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        # Asked for with every message: found without a detour.
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def abort(self) -> None:
        """Close at once. What is still being answered goes nowhere; uvloop would raise an error for it."""
        self.write = _discard
        self._transport.abort()

    def close(self) -> None:
        """Close when everything is sent, or soon without."""
        if not self._transport.is_closing():
            self._transport.close()
            if self._transport.get_write_buffer_size():
                self._loop.call_later(CLOSING_SECONDS, self.abort)


class StallWatch:
    """Cuts off a peer that takes what waits for it more slowly than `SLOWEST`."""

    __slots__ = ("_before", "_loop", "_timer", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._before = transport.get_write_buffer_size()
        self._timer = loop.call_later(STALLED_SECONDS, self._look)

    def stop(self) -> None:
        """It has taken enough."""
        self._timer.cancel()

    def _look(self) -> None:
        waits = self._transport.get_write_buffer_size()
        if waits > self._before - SLOWEST * STALLED_SECONDS:
            self._transport.abort()
            return
        self._before = waits
        self._timer = self._loop.call_later(STALLED_SECONDS, self._look)
