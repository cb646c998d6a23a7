"""Names to addresses, remembered: answers for five minutes, failures for one.

`localhost` and everything below it is loopback without asking anyone (RFC 6761); whether loopback may be dialled is
the guard's business. Literal addresses answer for themselves.

Paper items:
    rules-dns: `lycosa crawl`. Test: web/test_dns.py::test_ahead_and_peek. Departs: in memory for five minutes, not in a
        database.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

from aiohttp.abc import AbstractResolver, ResolveResult

from lycosa.core.errors import FetchError
from lycosa.core.protocols import Clock

KEEP = 300.0
KEEP_FAILURE = 60.0
PATIENCE = 15.0
MOST_NAMES = 100_000

Lookup = Callable[[str], Awaitable[list[str]]]


async def system_lookup(name: str) -> list[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    # Threads of its own: a few dead names must not keep other work, or other names, waiting.
    ask = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
    answers = await loop.run_in_executor(_threads(), ask)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(32, thread_name_prefix="dns")


class Names:
    """A cache in front of a lookup; concurrent questions for one name are asked once."""

    def __init__(self, clock: Clock, lookup: Lookup = system_lookup, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._clock = clock
        self._lookup = lookup
        self._known: dict[str, tuple[float, list[str], str]] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def resolve(self, name: str) -> list[str]:
        """The addresses of a host; FetchError if it has none."""
        if literal := _literal(name):
            return literal
        answer = self._fresh(name)
        while answer is None:
            try:
                async with asyncio.timeout(self._patience):
                    await asyncio.shield(self._ask(name))
            except TimeoutError as error:
                raise FetchError("timeout", f"no answer from DNS for {name}", again=True) from error
            answer = self._fresh(name)
        _, addresses, failure = answer
        if not addresses:
            raise FetchError("unknown-host", failure, again=failure.endswith("(temporary)"))
        return addresses

    def peek(self, name: str) -> str:
        """The host's first address if it is known without asking, else empty."""
        answer = self._known.get(name)
        return answer[1][0] if answer is not None and answer[1] else ""

    def known(self, name: str) -> list[str]:
        """All addresses of a host that are known without asking."""
        answer = self._known.get(name)
        return _literal(name) or (answer[1] if answer is not None else [])

    def ahead(self, name: str) -> None:
        """Start resolving a name that will be needed soon."""
        if name and name not in self._asking and self._fresh(name) is None and not _literal(name):
            self._ask(name)

    async def close(self) -> None:
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _fresh(self, name: str) -> tuple[float, list[str], str] | None:
        answer = self._known.get(name)
        return answer if answer is not None and answer[0] > self._clock() else None

    def _ask(self, name: str) -> asyncio.Task[None]:
        task = self._asking.get(name)
        if task is None:
            task = self._asking[name] = asyncio.ensure_future(self._answer(name))
        return task

    async def _answer(self, name: str) -> None:
        try:
            addresses, failure, keep = await self._lookup(name.rstrip(".")), "", KEEP
            if not addresses:
                failure, keep = f"{name} has no address", KEEP_FAILURE
        except (OSError, UnicodeError) as error:
            temporary = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            addresses, keep = [], KEEP_FAILURE
            failure = f"no such host: {name}" + (" (temporary)" if temporary else "")
        finally:
            self._asking.pop(name, None)
        if len(self._known) >= MOST_NAMES:
            self._known.clear()
        self._known[name] = (self._clock() + keep, addresses, failure)


def _literal(name: str) -> list[str]:
    """The address that a name spells out, or loopback for localhost names; empty for others."""
    if name.rstrip(".") == "localhost" or name.endswith((".localhost", ".localhost.")):
        return ["127.0.0.1"]
    if name[:1] == "[" or name[-1:].isdigit():
        try:
            return [str(ipaddress.ip_address(name.strip("[]")))]
        except ValueError:
            return []
    return []


class Resolver(AbstractResolver):
    """The same names for the HTTP client."""

    def __init__(self, names: Names) -> None:
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
        """The names outlive the client."""
