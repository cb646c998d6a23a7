"""The address guard: only global unicast addresses may be dialled, unless the user names a network.

Links come from strangers. A link to `http://127.0.0.1/`, to a router's page or to the metadata service of a cloud must
never be followed, whatever its spelling and whatever a name server returns. So the guard checks the socket address
itself, right before the connection. It hooks into the connector, not the resolver: literal addresses skip the resolver,
and a name may resolve differently each time.

The lists are written out, after the IANA special-purpose registries, because `ipaddress.is_global` differs
between Python versions. IPv6 addresses that carry an IPv4 address are judged as follows:

1. IPv4-mapped (`::ffff:a.b.c.d`): the same host as a.b.c.d, judged as that, also by the allowed networks.
2. NAT64 (`64:ff9b::a.b.c.d`): how an IPv6-only network reaches the IPv4 web; passes when a.b.c.d is global.
3. ISATAP (`...:[02]00:5efe:a.b.c.d` as the interface part): passes when a.b.c.d is global and the prefix too.
4. 6to4, Teredo, IPv4-compatible, IPv4-translated, local NAT64: obsolete or local, always refused.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from lycosa.core.errors import FetchError
from lycosa.core.protocols import Clock

_MAX_CACHED_REASONS = 65_536
_REFUSED_TEXT = "refused to connect to"

_REFUSED_V4 = [
    (IPv4Network(network), why)
    for network, why in [
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud platform service"),  # Azure's, on a public address
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "IETF protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
    ]
]

_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_GLOBAL_V6 = IPv6Network("2000::/3")

# Networks outside 2000::/3 are refused anyway and listed for their descriptions; the others are exceptions in it.
_REFUSED_V6 = [
    (IPv6Network(network), why)
    for network, why in [
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/64", "discard"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("2001::/32", "Teredo"),
        ("2001:2::/48", "benchmarking"),
        ("2001:10::/28", "ORCHID"),
        ("2001:20::/28", "ORCHID"),
        ("2001::/23", "IETF protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
    ]
]


class AddressRefused(OSError):
    """Raised for a refused address; the message says which address, why, and how to allow it."""

    def __init__(self, address: str, why: str, hint: str = "") -> None:
        self.address = address
        self.why = why
        self.hint = hint
        # With an errno and a text, the message survives the wrapping of HTTP clients.
        super().__init__(errno.EACCES, f"{_REFUSED_TEXT} {address}: {why}" + (f"; {hint}" if hint else ""))

    def __reduce__(self) -> tuple[type[AddressRefused], tuple[str, str, str]]:
        return type(self), (self.address, self.why, self.hint)


def is_refusal(error: BaseException | None) -> bool:
    """Return True if an error, or one that it was raised from, comes from the guard."""
    seen = 0
    while error is not None and seen < 16:
        # If several addresses of a name are refused, one plain OSError joins their texts.
        if isinstance(error, OSError) and error.errno == errno.EACCES and _REFUSED_TEXT in str(error):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


class Guard:
    """Refuses connections to non-global addresses; `allow` lists additional networks (CIDR or single addresses)."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self.allow = tuple(_network(text) for text in allow)
        self._reasons: dict[str, tuple[str, str] | None] = {}

    def check(self, address: str) -> None:
        try:
            reason = self._reasons[address]
        except KeyError:
            reason = self._reason_to_refuse(address)
            if len(self._reasons) >= _MAX_CACHED_REASONS:
                self._reasons.clear()
            self._reasons[address] = reason
        if reason is not None:
            raise AddressRefused(address, *reason)

    def allows(self, address: str) -> bool:
        try:
            self.check(address)
        except AddressRefused:
            return False
        return True

    def in_allowed_network(self, address: str) -> bool:
        """Return True if the address is in a network that the user has allowed, global or not."""
        try:
            ip = _parse(address)
        except ValueError:
            return False
        return any(ip in network for network in self.allow)

    def socket_factory(self, addr_info: tuple[Any, ...]) -> socket.socket:
        """Check the socket address, then create its socket (for `aiohttp.TCPConnector(socket_factory=...)`)."""
        family, kind, proto, _, sockaddr = addr_info
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise AddressRefused(str(sockaddr), "not an IP address")
        self.check(sockaddr[0])
        connection = socket.socket(family=family, type=kind, proto=proto)
        connection.setblocking(False)
        return connection

    def _reason_to_refuse(self, address: str) -> tuple[str, str] | None:
        try:
            ip = _parse(address)
        except ValueError:
            # Fail closed: the system might parse as an address a string that Python rejects (`0177.0.0.1`, `127.1`).
            return "not an IP address in its usual form", ""
        if any(ip in network for network in self.allow):
            return None
        refused = _refused_v4(ip) if isinstance(ip, IPv4Address) else _refused_v6(ip)
        if refused is None:
            return None
        network, why = refused
        return f"{why} address", f"allow it with --allow-network {network}"


def _refused_v4(ip: IPv4Address) -> tuple[IPv4Network, str] | None:
    return next((entry for entry in _REFUSED_V4 if ip in entry[0]), None)


def _refused_v6(ip: IPv6Address) -> tuple[IPv6Network, str] | None:
    value = int(ip)
    if ip in _NAT64:
        inner = _refused_v4(IPv4Address(value & 0xFFFFFFFF))
        return None if inner is None else (IPv6Network(ip), f"NAT64 of a {inner[1]}")
    for entry in _REFUSED_V6:
        if ip in entry[0]:
            return entry
    if ip not in _GLOBAL_V6:
        return IPv6Network(ip), "non-global"
    if (value >> 32) & 0xFFFFFFFF in {0x00005EFE, 0x02005EFE}:  # ISATAP
        inner = _refused_v4(IPv4Address(value & 0xFFFFFFFF))
        return None if inner is None else (IPv6Network(ip), f"ISATAP of a {inner[1]}")
    return None


def _parse(address: str) -> IPv4Address | IPv6Address:
    """Parse an address without its scope and brackets; an IPv4-mapped one becomes the IPv4 address."""
    if address.startswith("[") and address.endswith("]"):
        address = address[1:-1]
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address) and ip in _MAPPED:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(text.strip())
    except ValueError as error:
        try:
            meant = ip_network(text.strip(), strict=False)
        except ValueError:
            hint = "write it as 10.0.0.0/8, 127.0.0.1, fd00::/8 or ::1"
        else:
            hint = f"bits are set beyond the prefix, did you mean {meant}?"
        raise ValueError(f"not an IP network: {text!r}; {hint}") from error
    if isinstance(network, IPv6Network) and network.prefixlen >= 96 and network.subnet_of(_MAPPED):
        inner = IPv4Address(int(network.network_address) & 0xFFFFFFFF)
        return IPv4Network((inner, network.prefixlen - 96))
    return network


# DNS answers are cached for five minutes, failures for one.
#
# `localhost` and its subdomains are loopback without a lookup (RFC 6761); the guard decides whether loopback may be
# dialled. Literal addresses resolve to themselves.

CACHE_SECONDS = 300.0
FAILURE_CACHE_SECONDS = 60.0
LOOKUP_TIMEOUT = 15.0
MAX_NAMES = 100_000
Lookup = Callable[[str], Awaitable[list[str]]]


async def system_lookup(name: str) -> list[str]:
    loop = asyncio.get_running_loop()
    # A separate pool: slow name servers must not block other work.
    lookup = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
    answers = await loop.run_in_executor(_dns_threads(), lookup)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


@lru_cache(maxsize=1)
def _dns_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(32, thread_name_prefix="dns")


class DnsCache:
    """DNS cache in front of a lookup function; concurrent lookups of one name are merged."""

    def __init__(self, clock: Clock, lookup: Lookup = system_lookup, timeout: float = LOOKUP_TIMEOUT) -> None:
        self._timeout = timeout
        self._clock = clock
        self._lookup = lookup
        self._known: dict[str, tuple[float, list[str], str]] = {}
        self._pending: dict[str, asyncio.Task[None]] = {}

    async def resolve(self, name: str) -> list[str]:
        """Return the addresses of a host; raise FetchError if it has none."""
        if literal := _literal(name):
            return literal
        entry = self._unexpired(name)
        while entry is None:
            try:
                async with asyncio.timeout(self._timeout):
                    await asyncio.shield(self._start_lookup(name))
            except TimeoutError as error:
                raise FetchError("timeout", f"no answer from DNS for {name}", again=True) from error
            entry = self._unexpired(name)
        _, addresses, failure = entry
        if not addresses:
            raise FetchError("unknown-host", failure, again=failure.endswith("(temporary)"))
        return addresses

    def first_cached(self, name: str) -> str:
        entry = self._known.get(name)
        return entry[1][0] if entry is not None and entry[1] else ""

    def cached(self, name: str) -> list[str]:
        entry = self._known.get(name)
        return _literal(name) or (entry[1] if entry is not None else [])

    def prefetch(self, name: str) -> None:
        if name and name not in self._pending and self._unexpired(name) is None and not _literal(name):
            self._start_lookup(name)

    async def close(self) -> None:
        tasks = list(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _unexpired(self, name: str) -> tuple[float, list[str], str] | None:
        entry = self._known.get(name)
        return entry if entry is not None and entry[0] > self._clock() else None

    def _start_lookup(self, name: str) -> asyncio.Task[None]:
        task = self._pending.get(name)
        if task is None:
            task = self._pending[name] = asyncio.ensure_future(self._look_up(name))
        return task

    async def _look_up(self, name: str) -> None:
        try:
            addresses, failure, keep = await self._lookup(name.rstrip(".")), "", CACHE_SECONDS
            if not addresses:
                failure, keep = f"{name} has no address", FAILURE_CACHE_SECONDS
        except (OSError, UnicodeError) as error:
            temporary = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            addresses, keep = [], FAILURE_CACHE_SECONDS
            failure = f"no such host: {name}" + (" (temporary)" if temporary else "")
        finally:
            self._pending.pop(name, None)
        if len(self._known) >= MAX_NAMES:
            self._known.clear()
        self._known[name] = (self._clock() + keep, addresses, failure)


def _literal(name: str) -> list[str]:
    if name.rstrip(".") == "localhost" or name.endswith((".localhost", ".localhost.")):
        return ["127.0.0.1"]
    if name[:1] == "[" or name[-1:].isdigit():
        try:
            return [str(ipaddress.ip_address(name.strip("[]")))]
        except ValueError:
            return []
    return []


class Resolver(AbstractResolver):
    def __init__(self, names: DnsCache) -> None:
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            addresses = await self._names.resolve(host)
        except FetchError as error:
            raise OSError(str(error)) from error
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Do nothing, because the cache outlives the client."""
