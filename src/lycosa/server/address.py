"""From where a request comes. Only a reverse proxy that the operator trusts is believed about it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from fastapi import Request

from lycosa.core.errors import InputError
from lycosa.server.site import site_of


def address_of(request: Request) -> str:
    """The address of the browser or program that asks."""
    peer = request.client.host if request.client else ""
    told = ",".join(request.headers.getlist("x-forwarded-for"))
    return client_address(peer, told, site_of(request).settings.trusted_proxies)


def client_address(peer: str, told: str, trusted: Sequence[str]) -> str:
    """The last address that a trusted proxy saw: X-Forwarded-For is read from its end, past the proxies we trust. What
    stands before it, anyone may have written.

    >>> client_address("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", ["10.0.0.0/8"])
    '198.51.100.7'
    >>> client_address("203.0.113.5", "198.51.100.7", ["10.0.0.0/8"])
    '203.0.113.5'
    """
    address = peer
    for hop in reversed([part.strip() for part in told.split(",")]):
        if not _within(address, trusted) or _read(hop) is None:
            break
        address = str(_read(hop))
    return address


def check_proxies(trusted: Sequence[str]) -> None:
    """See at the start that each is an address or a network: a name could be anyone's tomorrow."""
    for given in trusted:
        try:
            ipaddress.ip_network(given, strict=False)
        except ValueError:
            raise InputError(
                f"{given!r} is no address of a proxy: give one such as 127.0.0.1, or a network such as 10.0.0.0/8"
            ) from None


def _within(address: str, networks: Sequence[str]) -> bool:
    read = _read(address)
    if read is None:
        return False
    return any(read in ipaddress.ip_network(network, strict=False) for network in networks)


def _read(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return None
    return read.ipv4_mapped or read if isinstance(read, ipaddress.IPv6Address) else read
