"""One politeness for many crawls in one process: a host does not care which of them asks.

Each crawl has a `View`, which it uses like a `Politeness` of its own; what the views know of hosts and addresses, they
know together. Of a host's delays the largest counts, one request at a time is sent to it, and what one crawl learned
(robots.txt, Crawl-delay, Retry-After, silence) holds for all. Crawls that want the same host take turns (`Turns`): who
was served longest ago comes first, and nobody waits long for someone who does not come.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count

from lycosa.core.protocols import NEVER, Clock
from lycosa.web.politeness import AGAIN, Host, Politeness

MOST_HOSTS = 50_000
"""Hosts to remember; beyond that, those that no crawl uses are forgotten when a crawl ends."""

MOST_RULES, LONGEST_RULES = 2_000, 50_000
"""Robots rules that are kept for other crawls, the newest, and their bytes at most."""

RULES_KEEP = 3600.0
"""Seconds that they are good for another crawl: less than the day for which one may go by its own."""

SHARE = 0.1
"""Seconds until a crawl looks again that has its share of all requests in flight."""

GRACE = 0.25
"""Seconds that a turn is kept for someone who could have taken it."""

NEW = -(2**62)
"""What sets newcomers apart."""


class Authority:
    """What is known of hosts and addresses, for all crawls of a process."""

    def __init__(self, clock: Clock, *, began: float = 0.0, most: int = 0) -> None:
        self.clock = clock
        self.began = began
        """When the process began, if an earlier one may have asked any host just before: each rests once from then."""
        self.most = most
        """Requests in flight over all crawls, in equal shares; 0: no limit."""
        self.hosts: dict[str, Host] = {}
        self.addresses: dict[str, float] = {}
        self.rules: dict[str, tuple[bytes, float]] = {}
        """What robots.txt files said, and when: one crawl's request is enough for all."""
        self.turns = Turns()
        self.views: set[View] = set()

    def view(
        self,
        clock: Clock | None = None,
        *,
        delay: float = 1.0,
        address_delay: float = 0.25,
        free: Callable[[str], bool] = lambda address: False,
    ) -> View:
        """The politeness of one more crawl."""
        view = View(self, clock or self.clock, delay=delay, address_delay=address_delay, free=free)
        self.views.add(view)
        return view

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer now."""
        return sum(len(view.flying) for view in self.views)

    def share(self) -> float:
        """How many requests one crawl may have in flight."""
        return max(1, self.most // max(1, len(self.views))) if self.most else NEVER

    def leave(self, view: View) -> None:
        """A crawl is over."""
        self.views.discard(view)
        self.turns.leave(view)
        if len(self.hosts) > MOST_HOSTS:
            now = self.clock()
            for name, host in list(self.hosts.items()):
                if not host.in_flight and max(host.ready_at, host.held) <= now and not self.turns.has(name):
                    del self.hosts[name]


class View(Politeness):
    """The politeness of one crawl among several. Where it is the only one, it does what `Politeness` does."""

    def __init__(
        self,
        authority: Authority,
        clock: Clock,
        *,
        delay: float = 1.0,
        address_delay: float = 0.25,
        free: Callable[[str], bool] = lambda address: False,
    ) -> None:
        super().__init__(clock, delay=delay, address_delay=address_delay, free=free)
        self.authority = authority
        self.flying: dict[tuple[str, str], float] = {}
        """Requests in flight, by host and name: since when."""
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
            until, why = now + max(AGAIN, self._pause(state)), "answering another crawl"
        else:
            until, why = super().ready(host, address)
        if until > now:
            turns.told(host, self, until)
            return until, why
        if len(self.flying) >= self.authority.share():
            return now + SHARE, "other crawls' requests"
        if not turns.may(host, self, now):
            turns.told(host, self, now + AGAIN)
            return now + AGAIN, "another crawl's turn"
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
        return rules if rules is not None and self.clock() < rules[1] + RULES_KEEP else None

    def pass_on(self, robots: str, body: bytes, at: float) -> None:
        """Keep it for the other crawls, in place of the oldest if there are many."""
        rules = self.authority.rules
        rules.pop(robots, None)
        if len(body) <= LONGEST_RULES:
            rules[robots] = body, at
        if len(rules) > MOST_RULES:
            del rules[next(iter(rules))]

    def close(self) -> None:
        """The crawl is over: its requests will not be answered any more, its turns are others'."""
        for (host, request), since in list(self.flying.items()):
            self.end(host, self.clock() - since, request)
        self.authority.leave(self)


@dataclass(slots=True)
class _Place:
    """Someone's place in a line."""

    served: int
    """The lower, the sooner it's their turn."""
    due: float | None = None
    """When they could have come, or will be able to; None: they do not wait."""


class Turns:
    """Lines by name, each with those who were ever in it.

    >>> turns = Turns()
    >>> turns.served("mill", "Ann")
    >>> turns.told("mill", "Ann", 5.0), turns.told("mill", "Bob", 5.0)
    (None, None)
    >>> turns.may("mill", "Ann", 5.0), turns.may("mill", "Bob", 5.0)
    (False, True)
    >>> turns.may("mill", "Ann", 5.3)
    True
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[Hashable, _Place]] = {}
        self._numbers = count(1)

    def told(self, name: str, who: Hashable, until: float) -> None:
        """They asked, and were told to come again then."""
        self._place(name, who).due = until

    def may(self, name: str, who: Hashable, now: float) -> bool:
        """Whether it is their turn, the thing being free. Whoever let a turn pass goes to the end of the line."""
        own = self._place(name, who)
        for other, place in self._lines[name].items():
            if other is who or place.due is None or place.served > own.served:
                continue
            if now <= place.due + GRACE:
                return False
            place.due, place.served = None, next(self._numbers)
        if own.due is None or own.due > now:
            own.due = now
        return True

    def served(self, name: str, who: Hashable) -> None:
        """They had their turn."""
        place = self._place(name, who)
        place.due, place.served = None, next(self._numbers)

    def has(self, name: str) -> bool:
        """Whether anyone stands in the line."""
        return name in self._lines

    def leave(self, who: Hashable) -> None:
        """They won't come again."""
        for name in [name for name, line in self._lines.items() if line.pop(who, None) is not None and not line]:
            del self._lines[name]

    def _place(self, name: str, who: Hashable) -> _Place:
        """Their place; newcomers, one after the other, come before those who were served already."""
        line = self._lines.setdefault(name, {})
        if who not in line:
            line[who] = _Place(NEW + next(self._numbers))
        return line[who]
