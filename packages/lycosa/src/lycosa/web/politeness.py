"""Politeness: when the next request may be sent to each host.

A host (name and port) gets one request at a time, and a pause of `delay` seconds between the end of a response and the
next request; with several requests at once the delay is the time between their starts. The delay grows to twice the
host's own response time, and to its Crawl-delay. Each IP address has a smaller delay of its own, since many hosts share
one; it does not apply inside networks that the user has allowed. Crawls in several processes share addresses by leases.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from lycosa.core.protocols import NEVER, Clock

SLOW_HOST_FACTOR = 2.0  # minimum delay of a host, as a multiple of its response time
MAX_SLOW_PAUSE = 60.0  # seconds, for slow hosts; a Crawl-delay may be longer
RECHECK_SECONDS = 0.02  # seconds until a host is checked again while its request is being sent


@dataclass(slots=True)
class HostState:
    in_flight: int = 0
    sending: str = ""
    ready_at: float = 0.0
    reason: str = ""
    hold_until: float = 0.0
    hold_reason: str = ""
    latency: float = 0.0
    crawl_delay: float = 0.0
    delay: float = 0.0  # the largest of all crawls, see `SharedPoliteness`


class AddressLeases(Protocol):
    """Leases of IP addresses that several processes use."""

    def ready(self, address: str, at: float) -> float:
        """Return when a request could start, not before `at`; it may still have to wait for its turn."""

    def turn(self, address: str, at: float, name: str) -> tuple[float, float, float]:
        """Return when a request may be sent (not before `at`), its latest start, and the pause of the address after it.
        A latest start before the first means that it is not its turn yet: call again at that time.
        """


class Politeness:
    """Delays of all hosts and addresses for one crawl."""

    def __init__(
        self,
        clock: Clock,
        *,
        delay: float = 1.0,
        at_once: int = 1,
        address_delay: float = 0.25,
        free: Callable[[str], bool] = lambda address: False,
    ) -> None:
        self.clock = clock
        self.delay = delay
        self.at_once = at_once
        self.address_delay = min(address_delay, delay)
        self.free = free  # True for addresses in networks that the user allowed
        self.resumed_at = 0.0  # requests in flight before a resume are unknown, so every host pauses once from here
        self._hosts: dict[str, HostState] = {}
        self._addresses: dict[str, float] = {}
        self._turns: dict[str, tuple[float, float]] = {}
        self.leases: AddressLeases | None = None  # turns at addresses that other processes use, too

    def ready(self, host: str, address: str = "") -> tuple[float, str]:
        """Return when the next request may be sent to the host, and the reason for waiting."""
        state = self._hosts.get(host)
        until, why = 0.0, ""
        if self.resumed_at:
            until, why = self.resumed_at + (self.delay if state is None else self._delay(state)), "pause after resuming"
        if state is not None:
            if state.in_flight >= self.at_once:
                return NEVER, "request in flight"
            if state.sending:  # the last request is not sent yet: check again soon
                return max(until, self.clock() + RECHECK_SECONDS), "sending"
            if state.ready_at > until:
                until, why = state.ready_at, state.reason
            if state.hold_until > until:
                until, why = state.hold_until, state.hold_reason
        if address and (shared := self._address_ready_at(address)) > until:
            until, why = shared, f"pause of address {address}"
        return until, why

    def _address_ready_at(self, address: str) -> float:
        at = self._addresses.get(address, 0.0)
        if self.leases is None or not self.address_delay or self.free(address):
            return at
        return self.leases.ready(address, at)

    def begin(self, host: str, request: str = "", address: str = "") -> None:
        """Register a request that is about to be sent, with its address if that is known already."""
        if address and self.address_delay and not self.free(address):
            self._turns[request] = self._turn(address, request)
        state = self._host(host)
        state.in_flight += 1
        if self.at_once > 1 and self.delay:
            state.sending = request or " "

    def sent(self, host: str) -> None:
        """Record that the request was sent; with several requests at once, the delay counts from here."""
        state = self._host(host)
        state.sending = ""
        state.ready_at, state.reason = self.clock() + self._delay(state), self._delay_reason(state)

    def end(self, host: str, seconds: float, request: str = "") -> None:
        """Record that the response is complete or has failed, and how many seconds it took."""
        state = self._host(host)
        state.in_flight -= 1
        self._turns.pop(request, None)  # the request may have failed before its turn
        if state.sending == (request or " "):  # the request was never sent
            self.sent(host)
        state.latency = seconds if not state.latency else 0.7 * state.latency + 0.3 * seconds
        if self.at_once == 1:
            state.ready_at, state.reason = self.clock() + self._delay(state), self._delay_reason(state)

    async def wait_for_address(self, address: str, request: str = "") -> None:
        """Wait for the address's turn. Ready hosts hardly ever wait here, since `ready` has checked the address."""
        if not self.address_delay or self.free(address):
            return
        taken = self._turns.pop(request) if request in self._turns else None
        turn, latest = taken or self._turn(address, request)
        while True:
            while (wait := turn - self.clock()) > 0:
                await asyncio.sleep(wait)
            if self.clock() <= latest:
                return
            turn, latest = self._turn(address, request)

    def _turn(self, address: str, name: str) -> tuple[float, float]:
        """Reserve the next free moment of an address and return it with its latest start; or a time to try again."""
        now = self.clock()
        if len(self._addresses) > 100_000:
            for other in [other for other, at in self._addresses.items() if at <= now]:
                del self._addresses[other]  # deleted in place because views share this dictionary
        turn, latest, pause = max(now, self._addresses.get(address, 0.0)), NEVER, self.address_delay
        if self.leases is not None:
            turn, latest, pause = self.leases.turn(address, turn, name)
        if latest >= turn:
            self._addresses[address] = turn + pause
        return turn, latest

    def hold(self, host: str, until: float, why: str) -> None:
        """Pause the host, because it requested a pause (Retry-After) or does not respond."""
        state = self._host(host)
        if until > state.hold_until:
            state.hold_until, state.hold_reason = until, why

    def apply_crawl_delay(self, host: str, crawl_delay: float) -> None:
        """Apply the Crawl-delay of a host's robots.txt; the larger of ours and theirs counts."""
        state = self._host(host)
        if crawl_delay <= state.crawl_delay:
            return
        state.crawl_delay = crawl_delay
        if state.ready_at:  # the robots.txt of the host was just received
            state.ready_at = max(state.ready_at, self.clock() + self._delay(state))

    def shared_robots(self, robots: str) -> tuple[bytes, float] | None:
        """Return a robots.txt that another crawl has fetched, and when; None if it has to be fetched."""
        return None

    def share_robots(self, robots: str, body: bytes, at: float) -> None:
        """Share a robots.txt with other crawls."""

    def close(self) -> None:
        """Release the hosts of this crawl."""

    def _host(self, host: str) -> HostState:
        return self._hosts.setdefault(host, HostState())

    def _delay(self, known: HostState) -> float:
        delay = max(self.delay, known.delay)
        slow = min(SLOW_HOST_FACTOR * known.latency / self.at_once, MAX_SLOW_PAUSE) if delay else 0.0
        return max(delay, known.crawl_delay, slow)

    def _delay_reason(self, known: HostState) -> str:
        pause = self._delay(known)
        if pause > max(self.delay, known.delay):
            return "crawl-delay" if pause == known.crawl_delay else "slow host"
        return "delay"


# Several crawls in one process share their knowledge of hosts and addresses; each has a `PolitenessView`, used like a
# `Politeness` of its own. The largest delay of a host counts, one request at a time is sent to it, and everything
# learned of it (robots.txt, Crawl-delay, Retry-After, timeouts) holds for all crawls. Crawls that want the same host
# take turns (`TurnQueues`): the one served longest ago comes first, and a turn that is not used soon expires.

MAX_HOSTS = 50_000  # above this, hosts that no crawl uses are dropped when a crawl ends
MAX_ROBOTS_FILES = 2_000  # robots.txt files kept, newest last
TURN_GRACE = 0.25  # seconds that a turn is kept


class SharedPoliteness:
    """Timing state of hosts and addresses, shared by all crawls of a process."""

    def __init__(self, clock: Clock, *, started_at: float = 0.0, max_in_flight: int = 0) -> None:
        self.clock = clock
        self.started_at = started_at  # requests of an earlier process are unknown, so each host pauses once from here
        self.max_in_flight = max_in_flight  # requests in flight over all crawls, in equal shares; 0: no limit
        self.hosts: dict[str, HostState] = {}
        self.addresses: dict[str, float] = {}
        self.robots_files: dict[str, tuple[bytes, float]] = {}  # robots.txt files and their time of arrival
        self.turns = TurnQueues()
        self.views: set[PolitenessView] = set()

    def view(self, clock: Clock | None = None, **options: Any) -> PolitenessView:
        view = PolitenessView(self, clock or self.clock, **options)
        self.views.add(view)
        return view

    @property
    def in_flight(self) -> int:
        return sum(len(view.requests) for view in self.views)

    def share(self) -> float:
        return max(1, self.max_in_flight // max(1, len(self.views))) if self.max_in_flight else NEVER

    def leave(self, view: PolitenessView) -> None:
        self.views.discard(view)
        self.turns.leave(view)
        if len(self.hosts) > MAX_HOSTS:
            now = self.clock()
            for name, host in list(self.hosts.items()):
                if not host.in_flight and max(host.ready_at, host.hold_until) <= now and not self.turns.has(name):
                    del self.hosts[name]


class PolitenessView(Politeness):
    """The politeness of one crawl among several; a single view behaves like `Politeness`."""

    def __init__(self, authority: SharedPoliteness, clock: Clock, **options: Any) -> None:
        super().__init__(clock, **options)
        self.authority = authority
        self.requests: dict[tuple[str, str], float] = {}  # start of each request in flight, by host and name
        self._hosts, self._addresses = authority.hosts, authority.addresses

    @property
    def resumed_at(self) -> float:
        """Return the start of the process, not of the crawl: requests since then are known."""
        return self.authority.started_at

    @resumed_at.setter
    def resumed_at(self, at: float) -> None:
        pass

    def ready(self, host: str, address: str = "") -> tuple[float, str]:
        now, turns = self.clock(), self.authority.turns
        if any(name == host for name, _ in self.requests):
            return NEVER, "request in flight"  # the crawl checks again after its own response
        state = self._host(host)
        state.delay = max(state.delay, self.delay)
        if state.in_flight:  # the other response could be complete now at the earliest
            until, why = now + max(RECHECK_SECONDS, self._delay(state)), "request of another crawl"
        else:
            until, why = super().ready(host, address)
        if until > now:
            turns.set_due(host, self, until)
            return until, why
        if len(self.requests) >= self.authority.share():
            return now + 0.1, "other crawls' requests"
        if not turns.is_turn(host, self, now):
            turns.set_due(host, self, now + RECHECK_SECONDS)
            return now + RECHECK_SECONDS, "another crawl's turn"
        return until, why

    def begin(self, host: str, request: str = "", address: str = "") -> None:
        """Register a request; the host belongs to this crawl until `end`."""
        super().begin(host, request, address)
        self.requests[host, request] = self.clock()
        self.authority.turns.mark_served(host, self)

    def end(self, host: str, seconds: float, request: str = "") -> None:
        """Record that the response is complete; after `close` this does nothing."""
        if self.requests.pop((host, request), None) is not None:
            super().end(host, seconds, request)

    def shared_robots(self, robots: str) -> tuple[bytes, float] | None:
        """Return a robots.txt that any crawl has fetched in the last hour."""
        rules = self.authority.robots_files.get(robots)
        # An hour, well below the day for which a crawl keeps its own.
        return rules if rules is not None and self.clock() < rules[1] + 3600.0 else None

    def share_robots(self, robots: str, body: bytes, at: float) -> None:
        """Keep a robots.txt of at most 50 kB for the other crawls, dropping the oldest above MAX_ROBOTS_FILES."""
        rules = self.authority.robots_files
        rules.pop(robots, None)
        if len(body) <= 50_000:
            rules[robots] = body, at
        if len(rules) > MAX_ROBOTS_FILES:
            del rules[next(iter(rules))]

    def close(self) -> None:
        """End all requests of this crawl, and release its turns."""
        for (host, request), since in list(self.requests.items()):
            self.end(host, self.clock() - since, request)
        self.authority.leave(self)


@dataclass(slots=True)
class _Waiter:
    served: int  # the lowest is next
    due: float | None = None  # time at which it can use a turn; None if it is not waiting


class TurnQueues:
    """Queues of clients by host; the client served longest ago comes first."""

    def __init__(self) -> None:
        self._queues: dict[str, dict[Hashable, _Waiter]] = {}
        self._numbers = count(1)

    def set_due(self, name: str, client: Hashable, until: float) -> None:
        self._waiter(name, client).due = until

    def is_turn(self, name: str, client: Hashable, now: float) -> bool:
        """Return True if it is the client's turn. A client that misses its turn goes to the end of the queue."""
        own = self._waiter(name, client)
        for other, waiter in self._queues[name].items():
            if other is client or waiter.due is None or waiter.served > own.served:
                continue
            if now <= waiter.due + TURN_GRACE:
                return False
            waiter.due, waiter.served = None, next(self._numbers)
        if own.due is None or own.due > now:
            own.due = now
        return True

    def mark_served(self, name: str, client: Hashable) -> None:
        waiter = self._waiter(name, client)
        waiter.due, waiter.served = None, next(self._numbers)

    def has(self, name: str) -> bool:
        return name in self._queues

    def leave(self, client: Hashable) -> None:
        for name in [name for name, queue in self._queues.items() if queue.pop(client, None) is not None and not queue]:
            del self._queues[name]

    def _waiter(self, name: str, client: Hashable) -> _Waiter:
        queue = self._queues.setdefault(name, {})
        if client not in queue:
            queue[client] = _Waiter(next(self._numbers) - 2**62)  # before all clients that were served
        return queue[client]
