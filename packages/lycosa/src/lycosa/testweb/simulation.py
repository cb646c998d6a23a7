"""Crawls in virtual time: an event loop whose clock jumps, and a transport without sockets.

Nothing sleeps and all chance is seeded, so a crawl of hours runs in a moment and always in the same way; responses may
still overtake each other.
"""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from lycosa.core.errors import FetchError
from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.chance import roll
from lycosa.testweb.reply import ServedResponse as Reply
from lycosa.testweb.server import ServedRequest
from lycosa.web.fetch import FetchLimits, Response
from lycosa.web.politeness import Politeness
from lycosa.web.urls import host_key

EPOCH = 1_700_000_000.0  # time of day at virtual time 0
ADDRESS = "127.0.0.1"

T = TypeVar("T")


class _Leap(selectors.DefaultSelector):
    """Selector that never waits but advances the loop's clock by the timeout."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return ready events; advance the clock if there are none and no other process is awaited."""
        events = super().select(0)
        if not events and self.loop.watched:
            events = super().select(60.0)  # real seconds
        if not events:
            if timeout is None:  # nothing is scheduled and no process is awaited: the real loop would hang
                raise RuntimeError("deadlock in virtual time: every task waits, and no event is scheduled")
            self.loop.now += timeout
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """Event loop that jumps to the next timer when nothing can run; `now` is its time in seconds."""

    def __init__(self, start: float = 0.0) -> None:
        selector = _Leap()
        selector.loop = self
        self.now = start
        self.watched: set[Any] = set()
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """Run at once; virtual time stands still during work in threads."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def add_reader(self, fd: Any, callback: Callable[..., Any], *args: Any) -> None:  # type: ignore[override]
        """Watch a file descriptor; virtual time stands still while another process is awaited."""
        self.watched.add(fd)
        super().add_reader(fd, callback, *args)

    def remove_reader(self, fd: Any) -> bool:
        self.watched.discard(fd)
        return super().remove_reader(fd)


def run_virtual(main: Coroutine[Any, Any, T], *, start: float = 0.0) -> T:
    """Run a coroutine in virtual time from `start` seconds on, for instance the end of an earlier run."""
    results: list[T] = []

    async def run() -> None:  # returns None because the runner formats the results of its tasks
        results.append(await main)

    with asyncio.Runner(loop_factory=lambda: VirtualLoop(start)) as runner:
        runner.run(run())
    return results[0]


def clock() -> float:
    """Return the time of day of the running loop; the epoch without a loop."""
    try:
        return EPOCH + asyncio.get_running_loop().time()
    except RuntimeError:
        return EPOCH


class WebProtocol(Protocol):
    """The part of `Web` that a simulated transport needs."""

    def response(self, url: str, *, headers: Mapping[str, str] = ..., version: int = 0) -> Reply: ...

    def counts(self, url: str) -> bool: ...


class SimTransport:
    """Transport of a web in memory; response times are drawn from (seed, url, attempt).

    `log` holds every request as a server would see it, in virtual seconds and in order of completion, for `gaps` and
    `max_in_flight`. Hosts outside `.localhost` are unknown.
    """

    def __init__(
        self,
        web: WebProtocol,
        *,
        seed: int,
        latency: tuple[float, float] = (0.05, 2.0),
        limits: FetchLimits | None = None,
        politeness: Politeness | None = None,
    ) -> None:
        self.web = web
        self.politeness = politeness  # notified of each request; required if a host gets several at once
        self.seed = seed
        self.latency = latency
        self.limits = limits or FetchLimits()
        self.request_counts: Counter[str] = Counter()  # number of requests by URL
        self.log: list[ServedRequest] = []

    async def address(self, url: str) -> str:
        name, _ = AddressBook.split(url)
        if name != "localhost" and not name.endswith(".localhost"):
            raise FetchError("unknown-host", f"no such host: {name}")
        return ADDRESS

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        """GET a URL; fails and truncates in the same ways as the real transport."""
        await self.address(url)
        name, path = AddressBook.split(url)
        attempt = self.request_counts[url]
        self.request_counts[url] += 1
        reply = self.web.response(url, headers=headers, version=attempt if self.web.counts(url) else 0)
        started, status = asyncio.get_running_loop().time(), 0
        if self.politeness is not None:
            self.politeness.sent(host_key(url))
        try:
            await self._wait(url, attempt, reply.delay)
            if reply.cut is not None and reply.cut <= 0:
                raise FetchError("unreachable", "the connection was dropped", again=True, address=ADDRESS)
            status = reply.status
        finally:
            ended = asyncio.get_running_loop().time()
            agent = headers.get("User-Agent", "")
            self.log.append(ServedRequest(name, path, status, started, ended, "GET", agent, len(self.log)))
        return self._respond(reply, wanted)

    async def close(self) -> None:
        pass

    async def _wait(self, url: str, attempt: int, delay: float) -> None:
        low, high = self.latency
        seconds = delay + low + (high - low) * roll(self.seed, "latency", url, attempt)
        patience = min(self.limits.seconds, self.limits.connect_seconds)
        await asyncio.sleep(min(seconds, patience))
        if seconds > patience:
            raise FetchError("timeout", f"no data for {patience:.0f} s", again=True, address=ADDRESS)

    def _respond(self, reply: Reply, wanted: frozenset[str]) -> Response:
        headers = [*reply.headers, ("Content-Length", str(len(reply.body)))]
        fields = {key.lower(): value for key, value in headers}
        reason = HTTPStatus(reply.status).phrase
        response = Response(
            status=reply.status,
            status_line=f"HTTP/1.1 {reply.status} {reason}".encode(),
            headers=[(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers],
            body=reply.body if reply.cut is None else reply.body[: reply.cut],
            address=ADDRESS,
            fields=fields,
        )
        kind = fields.get("content-type", "").partition(";")[0].strip().lower()
        if wanted and kind and kind not in wanted and 200 <= reply.status < 300:
            response.body, response.truncated = b"", "unwanted"
        elif len(response.body) > self.limits.body:
            response.body, response.truncated = response.body[: self.limits.body], "length"
        elif reply.cut is not None:
            response.truncated = "disconnect"
        return response
