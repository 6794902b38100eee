"""Under which addresses the page is served, and from where it may be written to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

from .proxies import parse_address

LONGEST = 300
EVERYWHERE = ("", "0.0.0.0", "::")  # to listen on all addresses
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]{1,253}))(?::(\d{0,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Host:
    """The host of an address: a name or an IP address, in one spelling."""

    name: str
    port: int | None = None

    @property
    def is_address(self) -> bool:
        """Whether it is an IP address, which no name server can point elsewhere."""
        return parse_address(self.name) is not None

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine for whoever asks."""
        found = parse_address(self.name)
        if found is not None:
            return found.is_loopback
        return self.name == "localhost" or self.name.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page comes from. The port is always given."""

    scheme: str
    host: Host


def parse_host(text: str) -> Host | None:
    """Return the host of a `Host` header, `None` if it cannot be one.

    >>> parse_host("Play.Example:8000")
    Host(name='play.example', port=8000)
    >>> parse_host("[::0001]")
    Host(name='::1', port=None)
    >>> parse_host("http://["), parse_host("a b"), parse_host("x:99999")
    (None, None, None)
    """
    return _host(text) if len(text) <= LONGEST else None


@lru_cache(512)
def _host(text: str) -> Host | None:
    found = _HOST.fullmatch(text)
    if found is None:
        return None
    address, name, digits = found.groups()
    port = int(digits) if digits else None
    if port is not None and port > 65535:
        return None
    if address is not None:
        try:
            return Host(str(ip_address(address)), port)
        except ValueError:
            return None
    name = name.lower().removesuffix(".")
    last = name.rpartition(".")[2]
    if not last or (last.isdecimal() and parse_address(name) is None):
        return None  # browsers write an IPv4 address with four numbers only
    return Host(name, port)


def parse_origin(text: str) -> Origin | None:
    """Return the origin of an `Origin` header, `None` if it cannot be one.

    >>> parse_origin("https://play.example")
    Origin(scheme='https', host=Host(name='play.example', port=443))
    >>> parse_origin("null"), parse_origin("http://["), parse_origin("https://play.example/x")
    (None, None, None)
    """
    scheme, found, rest = text.partition("://")
    scheme = scheme.lower()
    host = parse_host(rest) if found and scheme in ("http", "https") else None
    return Origin(scheme, _with_port(host, scheme)) if host else None


def parse_page_address(text: str) -> Origin | None:
    """Return the origin that a host of the server has written; a slash at the end and umlauts are fine.

    >>> parse_page_address("https://müller.example/")
    Origin(scheme='https', host=Host(name='xn--mller-kva.example', port=443))
    """
    scheme, found, rest = text.strip().rstrip("/").partition("://")
    return parse_origin(f"{scheme}://{_ascii(rest)}") if found else None


def parse_host_name(text: str) -> Host | None:
    """Return a host that a host of the server has written; umlauts and IPv6 without brackets are fine."""
    text = text.strip()
    return parse_host(f"[{text}]" if text.count(":") > 1 and "[" not in text else _ascii(text))


def _ascii(text: str) -> str:
    try:
        return text if text.isascii() else text.encode("idna").decode("ascii")
    except UnicodeError:
        return text


def _with_port(host: Host, scheme: str) -> Host:
    return host if host.port is not None else Host(host.name, PORTS[scheme])


class Site:
    """The names and origins of a server.

    A name that anybody can point at this server (DNS rebinding) is none of its own: a page that came under
    such a name could read and write here as if it were ours. An IP address cannot be pointed elsewhere.
    """

    def __init__(self, bound: str = "", origins: Iterable[str] = (), allowed: Iterable[str] = ()) -> None:
        self.origins = frozenset(origin for text in origins if (origin := parse_page_address(text)))
        listed = [parse_host_name(text) for text in (bound, *allowed) if text not in EVERYWHERE]
        self._names = {host.name for host in listed if host} | {origin.host.name for origin in self.origins}
        schemes = {(origin.host.name, origin.scheme) for origin in self.origins}
        self._plain = {name for name, scheme in schemes if scheme == "http"}
        self._secure = {name for name, scheme in schemes if scheme == "https"}

    def knows(self, host: Host, local: str = "") -> bool:
        """Whether a request may be for a host; `local` is the address that the connection came in at."""
        if host.name in self._names or host.is_loopback:
            return True
        if not self.origins:
            return host.is_address
        return host.is_address and parse_address(host.name) == parse_address(local)

    def may_write(self, origin: str, host: Host, scheme: str) -> bool:
        """Whether a page that comes from an origin may write through a request for a host."""
        found = parse_origin(origin)
        if found is None:
            return False
        if found in self.origins:
            return True
        same = found == Origin(scheme.replace("ws", "http"), _with_port(host, scheme))
        return same and (host.is_loopback or not self.origins)

    def is_secure(self, host: Host | None, scheme: str) -> bool:
        """Whether a browser has asked over HTTPS, as far as this is known."""
        if scheme in ("https", "wss"):
            return True
        if not self._plain:
            return bool(self._secure)
        return host is not None and host.name in self._secure - self._plain
