"""When a host may be asked again. One request at a time and a pause after it; longer if the host asks, or is slow.

Per host (a name with its port): `delay` seconds from the end of one answer to the next request, or from request to
request where several at once are allowed. The pause grows to twice the host's own answering time, and to its
Crawl-delay. Per address, apart from that, a smaller pause of its own, since many hosts share one; not applied inside a
network that the user has allowed by name. Where several crawls share the addresses, turns are had by leases.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from lycosa.core.protocols import NEVER, Clock

SLOWNESS = 2.0  # a host rests this many times as long as its answer took
MAX_SLOW_PAUSE = 60.0  # seconds, for slowness; a Crawl-delay may be longer
RECHECK_SECONDS = 0.02  # seconds until a host is looked at again whose request is still on its way out


@dataclass(slots=True)
class HostState:
    """What is known of a host."""

    in_flight: int = 0
    sending: str = ""
    ready_at: float = 0.0
    why: str = ""
    held: float = 0.0
    why_held: str = ""
    latency: float = 0.0
    crawl_delay: float = 0.0
    delay: float = 0.0  # the largest that any crawl wants, see `SharedPoliteness`


class AddressLeases(Protocol):
    """Who gives out the turns of addresses that others ask as well."""

    def ready(self, address: str, at: float) -> float:
        """When a request could be begun, not before `at`; it may have to wait for its turn then."""
        ...

    def turn(self, address: str, at: float, name: str) -> tuple[float, float, float]:
        """When a request may be sent, not before `at`; until when it may be late; how long the address rests then. What
        may not be late at all is no turn: the moment is one to look again."""
        ...


class Politeness:
    """Keeps the pauses of all hosts and addresses."""

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
        self.free = free  # whether the user allowed the network of an address
        self.resumed_at = 0.0  # requests in flight before a resume are unknown: every host rests once from here
        self._hosts: dict[str, HostState] = {}
        self._addresses: dict[str, float] = {}
        self._turns: dict[str, tuple[float, float]] = {}
        self.leases: AddressLeases | None = None  # turns of addresses that other processes ask, too

    def ready(self, host: str, address: str = "") -> tuple[float, str]:
        """When the host may be asked next, and what it waits for."""
        state = self._hosts.get(host)
        until, why = 0.0, ""
        if self.resumed_at:
            until, why = self.resumed_at + (self.delay if state is None else self._pause(state)), "pause after resuming"
        if state is not None:
            if state.in_flight >= self.at_once:
                return NEVER, "answering"
            if state.sending:  # several at once, and the last one is not on the wire yet: look again soon
                return max(until, self.clock() + RECHECK_SECONDS), "sending"
            if state.ready_at > until:
                until, why = state.ready_at, state.why
            if state.held > until:
                until, why = state.held, state.why_held
        if address and (shared := self._shared(address)) > until:
            until, why = shared, f"pause of address {address}"
        return until, why

    def _shared(self, address: str) -> float:
        at = self._addresses.get(address, 0.0)
        if self.leases is None or not self.address_delay or self.free(address):
            return at
        return self.leases.ready(address, at)

    def begin(self, host: str, request: str = "", address: str = "") -> None:
        """A request (by any name of its own) is about to be sent, to this address if that is known already."""
        if address and self.address_delay and not self.free(address):
            self._turns[request] = self._turn(address, request)
        state = self._host(host)
        state.in_flight += 1
        if self.at_once > 1 and self.delay:
            state.sending = request or " "

    def sent(self, host: str) -> None:
        """The request is on the wire: where several at once are allowed, the pause counts from here."""
        state = self._host(host)
        state.sending = ""
        state.ready_at, state.why = self.clock() + self._pause(state), self._reason(state)

    def end(self, host: str, seconds: float, request: str = "") -> None:
        """The answer is complete (or will not come); it took so long."""
        state = self._host(host)
        state.in_flight -= 1
        self._turns.pop(request, None)  # it may have failed before its turn came
        if state.sending == (request or " "):  # it never got that far
            self.sent(host)
        state.latency = seconds if not state.latency else 0.7 * state.latency + 0.3 * seconds
        if self.at_once == 1:
            state.ready_at, state.why = self.clock() + self._pause(state), self._reason(state)

    async def enter(self, address: str, request: str = "") -> None:
        """Wait for the address's turn. Ready hosts have hardly ever to wait here: `ready` has looked already."""
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
        """The next free moment of an address, taken, and until when it is good; or a moment to look again."""
        now = self.clock()
        if len(self._addresses) > 100_000:
            for other in [other for other, at in self._addresses.items() if at <= now]:
                del self._addresses[other]  # others may look at the same ones
        turn, latest, pause = max(now, self._addresses.get(address, 0.0)), NEVER, self.address_delay
        if self.leases is not None:
            turn, latest, pause = self.leases.turn(address, turn, name)
        if latest >= turn:
            self._addresses[address] = turn + pause
        return turn, latest

    def hold(self, host: str, until: float, why: str) -> None:
        """The host wants to be left alone (Retry-After), or should be (it does not answer)."""
        state = self._host(host)
        if until > state.held:
            state.held, state.why_held = until, why

    def obey(self, host: str, crawl_delay: float) -> None:
        """The host's robots.txt names a Crawl-delay: the larger of ours and theirs counts."""
        state = self._host(host)
        if crawl_delay <= state.crawl_delay:
            return
        state.crawl_delay = crawl_delay
        if state.ready_at:  # its robots.txt was only just received
            state.ready_at = max(state.ready_at, self.clock() + self._pause(state))

    def heard(self, robots: str) -> tuple[bytes, float] | None:
        """What another crawl was told by this robots.txt, and when; None: ask it."""
        return None

    def pass_on(self, robots: str, body: bytes, at: float) -> None:
        """The rules were read: whoever else wants them need not ask."""

    def close(self) -> None:
        """The crawl is over."""

    def _host(self, host: str) -> HostState:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = HostState()
        return state

    def _pause(self, known: HostState) -> float:
        delay = max(self.delay, known.delay)
        slow = min(SLOWNESS * known.latency / self.at_once, MAX_SLOW_PAUSE) if delay else 0.0
        return max(delay, known.crawl_delay, slow)

    def _reason(self, known: HostState) -> str:
        pause = self._pause(known)
        if pause > max(self.delay, known.delay):
            return "crawl-delay" if pause == known.crawl_delay else "slow host"
        return "delay"


# -- several crawls ----------------------------------------------------------------------------------------

# Each crawl has a `PolitenessView`, which it uses like a `Politeness` of its own; what the views know of hosts and addresses,
# they know together. Of a host's delays the largest counts, one request at a time is sent to it, and what one crawl
# learned (robots.txt, Crawl-delay, Retry-After, silence) holds for all. Crawls that want the same host take turns
# (`TurnQueues`): who was served longest ago comes first, and nobody waits long for someone who does not come.

MOST_HOSTS = 50_000  # beyond, those that no crawl uses are forgotten when a crawl ends
MOST_RULES = 2_000  # robots.txt files that are kept, the newest
TURN_GRACE = 0.25  # seconds that a turn is kept


class SharedPoliteness:
    """What is known of hosts and addresses, for all crawls of a process."""

    def __init__(self, clock: Clock, *, began: float = 0.0, most: int = 0) -> None:
        self.clock = clock
        self.began = began  # an earlier process may have asked any host just before: each rests once from here
        self.most = most  # requests in flight over all crawls, in equal shares; 0: no limit
        self.hosts: dict[str, HostState] = {}
        self.addresses: dict[str, float] = {}
        self.rules: dict[str, tuple[bytes, float]] = {}  # robots.txt files and when they came, for all crawls
        self.turns = TurnQueues()
        self.views: set[PolitenessView] = set()

    def view(
        self,
        clock: Clock | None = None,
        *,
        delay: float = 1.0,
        address_delay: float = 0.25,
        free: Callable[[str], bool] = lambda address: False,
    ) -> PolitenessView:
        view = PolitenessView(self, clock or self.clock, delay=delay, address_delay=address_delay, free=free)
        self.views.add(view)
        return view

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer now."""
        return sum(len(view.flying) for view in self.views)

    def share(self) -> float:
        """How many requests one crawl may have in flight."""
        return max(1, self.most // max(1, len(self.views))) if self.most else NEVER

    def leave(self, view: PolitenessView) -> None:
        self.views.discard(view)
        self.turns.leave(view)
        if len(self.hosts) > MOST_HOSTS:
            now = self.clock()
            for name, host in list(self.hosts.items()):
                if not host.in_flight and max(host.ready_at, host.held) <= now and not self.turns.has(name):
                    del self.hosts[name]


class PolitenessView(Politeness):
    """The politeness of one crawl among several. Where it is the only one, it does what `Politeness` does."""

    def __init__(
        self,
        authority: SharedPoliteness,
        clock: Clock,
        *,
        delay: float = 1.0,
        address_delay: float = 0.25,
        free: Callable[[str], bool] = lambda address: False,
    ) -> None:
        super().__init__(clock, delay=delay, address_delay=address_delay, free=free)
        self.authority = authority
        self.flying: dict[tuple[str, str], float] = {}  # start of each request in flight, by host and name
        self._hosts, self._addresses = authority.hosts, authority.addresses

    @property
    def resumed_at(self) -> float:
        """Hosts rest when the process has begun, not when one of its crawls is opened: from then on all is known."""
        return self.authority.began

    @resumed_at.setter
    def resumed_at(self, at: float) -> None:
        pass

    def ready(self, host: str, address: str = "") -> tuple[float, str]:
        """When this crawl may ask the host next, and what it waits for."""
        now, turns = self.clock(), self.authority.turns
        if any(name == host for name, _ in self.flying):
            return NEVER, "answering"  # the crawl looks again when its own answer has come
        state = self._host(host)
        state.delay = max(state.delay, self.delay)
        if state.in_flight:  # at the earliest, the answer is complete now
            until, why = now + max(RECHECK_SECONDS, self._pause(state)), "answering another crawl"
        else:
            until, why = super().ready(host, address)
        if until > now:
            turns.told(host, self, until)
            return until, why
        if len(self.flying) >= self.authority.share():
            return now + 0.1, "other crawls' requests"
        if not turns.may(host, self, now):
            turns.told(host, self, now + RECHECK_SECONDS)
            return now + RECHECK_SECONDS, "another crawl's turn"
        return until, why

    def begin(self, host: str, request: str = "", address: str = "") -> None:
        """A request is about to be sent: the host is this crawl's until its end."""
        super().begin(host, request, address)
        self.flying[host, request] = self.clock()
        self.authority.turns.served(host, self)

    def end(self, host: str, seconds: float, request: str = "") -> None:
        """The answer is complete. One that is told after the crawl was closed has been counted then."""
        if self.flying.pop((host, request), None) is not None:
            super().end(host, seconds, request)

    def heard(self, robots: str) -> tuple[bytes, float] | None:
        """What any crawl was told by this robots.txt not long ago."""
        rules = self.authority.rules.get(robots)
        # An hour: less than the day that a crawl keeps its own.
        return rules if rules is not None and self.clock() < rules[1] + 3600.0 else None

    def pass_on(self, robots: str, body: bytes, at: float) -> None:
        """Keep it for the other crawls, in place of the oldest if there are many."""
        rules = self.authority.rules
        rules.pop(robots, None)
        if len(body) <= 50_000:
            rules[robots] = body, at
        if len(rules) > MOST_RULES:
            del rules[next(iter(rules))]

    def close(self) -> None:
        """The crawl is over: its requests will not be answered any more, its turns are others'."""
        for (host, request), since in list(self.flying.items()):
            self.end(host, self.clock() - since, request)
        self.authority.leave(self)


@dataclass(slots=True)
class _Waiter:
    """Someone's place in a line."""

    served: int  # the lowest is next
    due: float | None = None  # when they could have come, or will be able to; None: not waiting


class TurnQueues:
    """Lines by name, each with those who were ever in it.

    >>> turns = TurnQueues()
    >>> turns.served("mill", "Ann")
    >>> turns.told("mill", "Ann", 5.0), turns.told("mill", "Bob", 5.0)
    (None, None)
    >>> turns.may("mill", "Ann", 5.0), turns.may("mill", "Bob", 5.0)
    (False, True)
    >>> turns.may("mill", "Ann", 5.3)
    True
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[Hashable, _Waiter]] = {}
        self._numbers = count(1)

    def told(self, name: str, who: Hashable, until: float) -> None:
        self._place(name, who).due = until

    def may(self, name: str, who: Hashable, now: float) -> bool:
        """Whether it is their turn, the thing being free. Whoever let a turn pass goes to the end of the line."""
        own = self._place(name, who)
        for other, place in self._lines[name].items():
            if other is who or place.due is None or place.served > own.served:
                continue
            if now <= place.due + TURN_GRACE:
                return False
            place.due, place.served = None, next(self._numbers)
        if own.due is None or own.due > now:
            own.due = now
        return True

    def served(self, name: str, who: Hashable) -> None:
        place = self._place(name, who)
        place.due, place.served = None, next(self._numbers)

    def has(self, name: str) -> bool:
        return name in self._lines

    def leave(self, who: Hashable) -> None:
        for name in [name for name, line in self._lines.items() if line.pop(who, None) is not None and not line]:
            del self._lines[name]

    def _place(self, name: str, who: Hashable) -> _Waiter:
        """Their place; newcomers, one after the other, come before those who were served already."""
        line = self._lines.setdefault(name, {})
        if who not in line:
            line[who] = _Waiter(next(self._numbers) - 2**62)  # before all who were served
        return line[who]
