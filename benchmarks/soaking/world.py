"""The changing web with failures: hosts that are down for hours, DNS failures, busy hosts, changing robots.txt rules.

Everything is a function of the seed and of the simulated time, so that successive processes see the same web. Requests
and responses are reported to a journal outside of the process, which survives a kill.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cached_property
from itertools import count
from typing import Any

from lycosa.core.errors import FetchError
from lycosa.core.protocols import Clock
from lycosa.testweb import Web
from lycosa.testweb.chance import roll, stir
from lycosa.testweb.changing import ChangingWeb
from lycosa.testweb.reply import ServedResponse as Reply
from lycosa.testweb.simulation import EPOCH, SimTransport, clock
from lycosa.web.fetch import FetchLimits, Response
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness
from lycosa.web.robots import RobotsRules
from lycosa.web.urls import host_key

HOUR, DAY = 3600.0, 86_400.0
CRAWL_DELAY = 4
FAILURE_SECONDS = 6 * HOUR
"""Duration of a failure."""

RULES_LAST = 3 * DAY
"""Seconds for which a host's robots.txt stays the same."""

CRAWL: ContextVar[str] = ContextVar("crawl", default="watch")
"""Name of the crawl that sends the current requests."""

Report = Callable[[list[Any]], None]


class World(ChangingWeb):
    """Changing web with rules in robots.txt, and with failures."""

    def __init__(self, seed: int, pages: int, hosts: int) -> None:
        super().__init__(
            Web(seed=seed, pages=pages, hosts=hosts, traps=("redirects", "dead", "duplicates")), clock, seed=seed
        )
        self.chance = seed
        self.has_failures = True

    def response(self, url: str, *, headers: Mapping[str, str] | None = None, version: int = 0) -> Reply:
        reply = super().response(url, headers=headers or {}, version=version)
        if url.endswith("/robots.txt") and reply.status == 200:
            more = self.rules(host_key(url), clock())
            return Reply(200, [("Content-Type", "text/plain")], reply.body + more.encode())
        return reply

    def rules(self, host: str, t: float) -> str:
        """Return additional robots.txt rules: a third of the hosts forbid some directories, which change; some set a
        crawl delay.
        """
        rules = ""
        if stir(self.chance, "shy", host) % 3 == 0:
            period = int((t - EPOCH) // RULES_LAST)
            closed = [
                name for name in self.directories.get(host, []) if roll(self.chance, "closed", host, name, period) < 0.3
            ]
            rules += "".join(f"Disallow: /{name}/\n" for name in closed)
        if stir(self.chance, "slow", host) % 5 == 0:
            rules += f"Crawl-delay: {CRAWL_DELAY}\n"
        return rules

    @cached_property
    def directories(self) -> dict[str, list[str]]:
        """First parts of the paths of each host's pages."""
        found: dict[str, set[str]] = {}
        for url in self.urls():
            parts = url.split("/")
            if len(parts) > 4:
                found.setdefault(host_key(url), set()).add(parts[3])
        return {host: sorted(names) for host, names in found.items()}

    def allowed(self, url: str, t: float, since: float) -> bool:
        """Return True if robots.txt allowed a URL at any time from `since` to `t`."""
        host = host_key(url)
        if stir(self.chance, "shy", host) % 3:
            return True
        times = [t]
        while times[-1] > since:
            times.append(max(since, times[-1] - RULES_LAST / 2))
        return any(
            RobotsRules.parse(f"User-agent: *\n{self.rules(host, at)}".encode(), "Lycosa").allowed(url) for at in times
        )

    def delay(self, host: str) -> float:
        """Return the crawl delay of a host in seconds."""
        return float(CRAWL_DELAY) if stir(self.chance, "slow", host) % 5 == 0 else 0.0

    def failure(self, host: str, t: float) -> str:
        """Return the failure of a host at a time; empty if it works."""
        if not self.has_failures:
            return ""
        period = int((t - EPOCH) // FAILURE_SECONDS)
        dice = roll(self.chance, "weather", host, period)
        for share, what in ((0.03, "dead"), (0.05, "no name"), (0.07, "names away"), (0.09, "busy"), (0.10, "broken")):
            if dice < share:
                return what
        return "flaky" if dice > 0.95 else ""


_numbers = count()


class Wire(SimTransport):
    """Transport of a crawl with the interface of `HttpTransport`, over the simulated web."""

    world: World
    report: Report
    on_response: Callable[[], None] | None = None
    """Called after the next response, if set."""

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        names: DnsCache,
        politeness: Politeness,
        limits: FetchLimits | None = None,
        *rest: Any,
        **more: Any,
    ) -> None:
        super().__init__(self.world, seed=self.world.chance, latency=(0.02, 0.6), limits=limits)
        self.names = names
        self.log: deque[Any] = deque(maxlen=0)  # type: ignore[assignment]

    async def address(self, url: str) -> str:
        """Return the only IP address, unless DNS fails at this time."""
        found = await super().address(url)
        match self.world.failure(host_key(url), clock()):
            case "no name":
                raise FetchError("unknown-host", f"no such host: {host_key(url)}")
            case "names away":
                await asyncio.sleep(15.0)
                raise FetchError("timeout", f"no answer from DNS for {host_key(url)}", again=True)
        return found

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        """GET a URL, and report the request and the response to the journal."""
        key = next(_numbers)
        now = asyncio.get_running_loop().time
        self.report(["sent", key, CRAWL.get(), url, now()])
        status, digest = -1, ""
        try:
            response = await self._fetch(url, headers, wanted)
            status, digest = response.status, hashlib.sha256(response.body).hexdigest()
            return response
        except FetchError:
            status = 0
            raise
        finally:
            self.report(["done", key, now(), status, digest])
            if Wire.on_response is not None:
                act, Wire.on_response = Wire.on_response, None
                act()

    async def _fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response:
        failure = self.world.failure(host_key(url), clock())
        if failure == "flaky" and roll(self.world.chance, "flaky", url, clock()) < 0.3:
            failure = "dead"
        if failure == "dead":
            await asyncio.sleep(3.0)
            raise FetchError("unreachable", "no route to host", again=True)
        if failure in ("busy", "broken"):
            await asyncio.sleep(0.1)
            status = 503 if failure == "busy" else 500
            more = [("Retry-After", "900")] if failure == "busy" else []
            return self._respond(Reply(status, [("Content-Type", "text/html"), *more], b"not now"), wanted)
        return await super().fetch(url, headers, wanted)

    async def close(self) -> None:
        await self.names.close()
