"""Clients and sites: addresses, networks and trusted proxies; hosts and origins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

MAX_HOPS = 20  # of X-Forwarded-For, from the right
SITE_BITS = 64  # prefix length of IPv6 networks; a customer has at least one of these
MAPPED_BITS = 96  # prefix length of IPv4-mapped IPv6 addresses

Address = IPv4Address | IPv6Address


def parse_address(text: str) -> Address | None:
    """Return an IP address without its zone. IPv4-mapped IPv6 addresses are returned as IPv4.

    >>> str(parse_address("::ffff:192.0.2.1")), parse_address("example.org")
    ('192.0.2.1', None)
    """
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found


@lru_cache(4096)
def network_of(address: str) -> str:
    """Return the network for which limits are counted: an IPv4 address, or the /64 of an IPv6 address.

    >>> network_of("192.0.2.1"), network_of("2001:db8:1:2:aaaa::1")
    ('192.0.2.1', '2001:db8:1:2::/64')
    """
    found = parse_address(address)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((found, SITE_BITS), strict=False))
    return str(found) if found else address


class TrustedProxies:
    """Proxies that are trusted to report the address and scheme of a client."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = tuple(parse_network(text) for text in networks)

    def trusts(self, address: str) -> bool:
        """Return whether an address belongs to a trusted proxy."""
        found = parse_address(address) if self._networks else None
        return found is not None and self._trusts(found)

    def client(self, peer: str, forwarded: str) -> str:
        """Return the address of a client from the peer's address and the value of X-Forwarded-For.

        It is the rightmost hop that is not a trusted proxy. The hops to the left of it can be forged.

        >>> TrustedProxies(["10.0.0.0/8"]).client("10.0.0.1", "192.0.2.66, 192.0.2.7, 10.0.0.2")
        '192.0.2.7'
        >>> TrustedProxies(["10.0.0.0/8"]).client("192.0.2.7", "192.0.2.66")
        '192.0.2.7'
        """
        found = parse_address(peer)
        if found is None or not self._trusts(found):
            return peer
        for hop in reversed(forwarded.rsplit(",", MAX_HOPS)[-MAX_HOPS:]):
            address = parse_address(_without_port(hop.strip()))
            if address is None:  # the proxy does not report it
                break
            found = address
            if not self._trusts(found):
                break
        return str(found)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def parse_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network of an address or CIDR text. IPv4-mapped addresses are returned as IPv4.

    Raises:
        ValueError: the text is invalid, or the network contains all addresses.
    """
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= MAPPED_BITS:
        network = IPv4Network((mapped, network.prefixlen - MAPPED_BITS))
    if network.prefixlen == 0:
        raise ValueError(f"{text} contains all addresses")
    return network


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


MAX_HOST_LENGTH = 300  # characters
WILDCARDS = ("", "0.0.0.0", "::")  # to listen on all addresses
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]{1,253}))(?::(\d{0,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Host:
    """Host of a URL: a name or an IP address in canonical form, and a port."""

    name: str
    port: int | None = None

    @property
    def is_address(self) -> bool:
        """Whether it is an IP address, which DNS cannot point elsewhere."""
        return parse_address(self.name) is not None

    @property
    def is_loopback(self) -> bool:
        """Whether it is a loopback address or `localhost`."""
        found = parse_address(self.name)
        if found is not None:
            return found.is_loopback
        return self.name == "localhost" or self.name.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a page. Its host always has a port."""

    scheme: str
    host: Host


def parse_host(text: str) -> Host | None:
    """Return the host of a `Host` header, `None` if it is invalid.

    >>> parse_host("Play.Example:8000")
    Host(name='play.example', port=8000)
    >>> parse_host("[::0001]")
    Host(name='::1', port=None)
    >>> parse_host("http://["), parse_host("a b"), parse_host("x:99999")
    (None, None, None)
    """
    return _host(text) if len(text) <= MAX_HOST_LENGTH else None


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
        return None  # browsers convert other notations of an IPv4 address to four numbers
    return Host(name, port)


def parse_origin(text: str) -> Origin | None:
    """Return the origin of an `Origin` header, `None` if it is invalid.

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
    """Return the origin of a URL in the settings. A trailing slash and non-ASCII names are accepted.

    >>> parse_page_address("https://müller.example/")
    Origin(scheme='https', host=Host(name='xn--mller-kva.example', port=443))
    """
    scheme, found, rest = text.strip().rstrip("/").partition("://")
    return parse_origin(f"{scheme}://{_ascii(rest)}") if found else None


def parse_host_name(text: str) -> Host | None:
    """Return a host in the settings. Non-ASCII names and IPv6 addresses without brackets are accepted."""
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
    """Names and origins of a server.

    Other names are refused, even if they resolve to this server (DNS rebinding). Otherwise a page loaded
    under such a name could read and write as if it were ours. An IP address cannot be redirected like that.
    """

    def __init__(self, bound: str = "", origins: Iterable[str] = (), allowed: Iterable[str] = ()) -> None:
        self.origins = frozenset(origin for text in origins if (origin := parse_page_address(text)))
        listed = [parse_host_name(text) for text in (bound, *allowed) if text not in WILDCARDS]
        self._names = {host.name for host in listed if host} | {origin.host.name for origin in self.origins}
        schemes = {(origin.host.name, origin.scheme) for origin in self.origins}
        self._plain = {name for name, scheme in schemes if scheme == "http"}
        self._secure = {name for name, scheme in schemes if scheme == "https"}

    def knows(self, host: Host, local: str = "") -> bool:
        """Return whether a host is this server; `local` is the address that accepted the connection."""
        if host.name in self._names or host.is_loopback:
            return True
        if not self.origins:
            return host.is_address
        return host.is_address and parse_address(host.name) == parse_address(local)

    def may_write(self, origin: str, host: Host, scheme: str) -> bool:
        """Return whether a page of an origin may send requests that change something to a host."""
        found = parse_origin(origin)
        if found is None:
            return False
        if found in self.origins:
            return True
        same = found == Origin(scheme.replace("ws", "http"), _with_port(host, scheme))
        return same and (host.is_loopback or not self.origins)

    def is_secure(self, host: Host | None, scheme: str) -> bool:
        """Return whether the browser uses HTTPS, as far as the server can know."""
        if scheme in ("https", "wss"):
            return True
        if not self._plain:
            return bool(self._secure)
        return host is not None and host.name in self._secure - self._plain
