"""Trusted proxies, the address of a client, and the network that limits are kept for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

MOST_HOPS = 20  # of X-Forwarded-For that are looked at, from the right
SITE_BITS = 64  # what one customer has of IPv6, at least
MAPPED_BITS = 96  # of an IPv6 address, before those of the IPv4 address that is mapped to it

Address = IPv4Address | IPv6Address


def parse_address(text: str) -> Address | None:
    """Return an IP address without zone; an IPv4 address that is mapped to IPv6 counts as IPv4.

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
    """Return the name of the network that limits are kept for: an IPv4 address, or the /64 of an IPv6 one.

    >>> network_of("192.0.2.1"), network_of("2001:db8:1:2:aaaa::1")
    ('192.0.2.1', '2001:db8:1:2::/64')
    """
    found = parse_address(address)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((found, SITE_BITS), strict=False))
    return str(found) if found else address


class TrustedProxies:
    """Proxies whose word on the address and scheme of a client is taken."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = tuple(parse_network(text) for text in networks)

    def trusts(self, address: str) -> bool:
        """Whether an address is one of a trusted proxy."""
        found = parse_address(address) if self._networks else None
        return found is not None and self._trusts(found)

    def client(self, peer: str, forwarded: str) -> str:
        """Return the address of a client from the one that connects and its X-Forwarded-For.

        That is the rightmost hop that is no trusted proxy: what stands left of it was written by anybody.

        >>> TrustedProxies(["10.0.0.0/8"]).client("10.0.0.1", "192.0.2.66, 192.0.2.7, 10.0.0.2")
        '192.0.2.7'
        >>> TrustedProxies(["10.0.0.0/8"]).client("192.0.2.7", "192.0.2.66")
        '192.0.2.7'
        """
        found = parse_address(peer)
        if found is None or not self._trusts(found):
            return peer
        for hop in reversed(forwarded.rsplit(",", MOST_HOPS)[-MOST_HOPS:]):
            before = parse_address(_without_port(hop.strip()))
            if before is None:  # a proxy that does not tell
                break
            found = before
            if not self._trusts(found):
                break
        return str(found)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def parse_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network that an address or CIDR text names. Raises `ValueError`, also for everybody.

    As with `parse_address`, IPv4 addresses that are mapped to IPv6 count as IPv4.
    """
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is not None and network.prefixlen >= MAPPED_BITS:
        network = IPv4Network((mapped, network.prefixlen - MAPPED_BITS))
    if network.prefixlen == 0:
        raise ValueError(f"{text} is everybody")
    return network


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
