"""Leases of IP addresses that hosts of several shards share; each address is owned by one shard.

The holder of a lease may send requests to the address at a fixed pace for a period. The owner grants consecutive
periods to the shards that request them, itself included, and a long one if there is no competition. The last request
under a lease is sent within the owner's own lease (`coordinator.LEASE_SECONDS`), so a successor that waits for that
time and one delay knows that all leases have expired. If an owner cannot be reached, a shard waits as long, and then
uses its share of the pace, which is safe if all shards do so.

A lease is requested when a request is about to be sent, which then waits for it. Few requests wait for one address at a
time, and its other hosts are not ready meanwhile, so an address in demand does not block all requests of a shard.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from lycosa.core.protocols import NEVER, Clock
from lycosa_cluster.coordinator import LEASE_SECONDS
from lycosa_cluster.owning import Owners

LeaseRequest = tuple[str, int, float]  # address, turns wanted, round-trip seconds
LeaseTerm = tuple[float, float]  # seconds until a lease begins, and its length; 0: no lease now
INTEREST_SECONDS = 30.0  # seconds after its last lease request in which a shard counts as interested in an address
# intervals of checks by a waiting request, and by a host whose address others wait for
RECHECK_SECONDS, BUSY_RECHECK_SECONDS = 0.05, 0.25
RETRY_SECONDS = 1.0  # pause before a repeated lease request, after no response or no lease
REPLY_TIMEOUT_SECONDS = 2.0  # timeout of a lease request
MAX_ADDRESSES = 100_000  # maximum number of addresses remembered without a lease


@dataclass(slots=True)
class _Address:
    """The owner's state of an address."""

    holder: int = -1
    begin: float = 0.0
    end: float = 0.0  # end of the last lease
    requested_at: dict[int, float] = field(default_factory=dict)  # time of each shard's last request
    next: int = -1  # shard refused as too early, which gets the next lease as long as it repeats its request


class Ledger:
    """Leases of the addresses that a shard owns: one request every `pause` seconds over all shards.

    Shards of several crawls in one process share a ledger. Leases granted before `created` are unknown to it.

    >>> ledger = Ledger(0.5)  # one request every half a second
    >>> ledger.lease(1, ("192.0.2.1", 2, 0.25), 0.0, 9.0), ledger.lease(2, ("192.0.2.1", 1, 0.25), 0.0, 9.0)
    ((0.0, 1.25), (1.25, 0.75))
    """

    def __init__(self, pause: float = 0.0, created: float = NEVER) -> None:
        self.pause, self.created = pause, created
        self.since = 0.0  # earliest start of the first lease, as a previous owner may have granted some
        self._known: dict[str, _Address] = {}

    def open(self, pause: float, free_from: float) -> None:
        """Register a crawl whose previous process had a lease until `free_from`; the longest delay applies."""
        self.pause = max(self.pause, pause)
        self.since = max(self.since, min(free_from, self.created + LEASE_SECONDS) + self.pause)

    def lease(self, shard: int, request: LeaseRequest, now: float, until: float) -> LeaseTerm:
        """Lease an address to a shard, at most until `until`."""
        address, turns, slack = request
        if len(self._known) > MAX_ADDRESSES:
            self._known = {name: one for name, one in self._known.items() if one.end > now}
        known = self._known.setdefault(address, _Address())
        others = any(other != shard and at > now - INTEREST_SECONDS for other, at in known.requested_at.items())
        alone = not others and known.requested_at.get(shard, -NEVER) > now - INTEREST_SECONDS
        known.requested_at[shard] = now
        patience = REPLY_TIMEOUT_SECONDS + 2 * RETRY_SECONDS
        if known.next not in (-1, shard) and known.requested_at[known.next] > now - patience:
            return 0.0, 0.0
        # A holder that requests another lease has used up its own.
        begin = max(now, self.since, known.begin if known.holder == shard else known.end)
        if begin + slack > until:
            known.next = shard
            return 0.0, 0.0
        latest = until + self.pause  # the last request is sent one pause before that
        end = latest if alone else min(latest, begin + min(turns, 8) * self.pause + slack)
        if known.holder == shard:  # another crawl of this shard may still use the lease
            end = max(end, known.end)
        known.holder, known.begin, known.end, known.next = shard, begin, end, -1
        return begin - now, end - begin


@dataclass(slots=True)
class _Lease:
    begin: float
    last: float  # when the last request may be sent
    end: float
    pause: float


class Leases:
    """The leases that a shard holds, and those it requests."""

    def __init__(self, number: int, owners: Owners, clock: Clock, ledger: Ledger | None = None) -> None:
        self.number, self.owners, self.clock = number, owners, clock
        self.ledger = ledger or Ledger()
        self.until = 0.0  # end of this shard's own lease, after which no request is sent
        self.over = False  # no more picks, and the lease is not renewed
        self.wanted = {owner: asyncio.Event() for owner in range(owners.shards) if owner != number}
        self._requests: dict[int, dict[str, set[str]]] = {owner: {} for owner in self.wanted}
        self._held: dict[str, _Lease] = {}
        self._waiting: dict[str, dict[str, float]] = {}  # by address: last check of each waiting request
        self._slack: dict[int, float] = {}  # by owner: round-trip time
        self._failing_since: dict[int, float] = {}  # by owner: time of its first failure in a row
        self.requests_sent = 0

    @property
    def pause(self) -> float:
        return self.ledger.pause

    def ready(self, address: str, at: float) -> float:
        """Return when a request to an address could start, not before `at`."""
        held, now = self._held.get(address), self.clock()
        if held is not None and (begin := max(at, now, held.begin)) <= held.last:
            return begin
        waiting = self._waiting.get(address, {})
        is_busy = sum(checked > now - RETRY_SECONDS for checked in waiting.values()) >= 2
        return now + BUSY_RECHECK_SECONDS if is_busy else at

    def turn(self, address: str, at: float, name: str) -> tuple[float, float, float]:
        """Return when a request may be sent, the latest time for it, and how long the address must then pause.

        Without a lease, request one and return the time of the next check, with no tolerance.
        """
        held = self._held.get(address)
        if held is None or max(at, held.begin) > held.last:
            held = self._lease_or_request(address, name)
            if held is None or max(at, held.begin) > held.last:
                return self._wait(address, name) + RECHECK_SECONDS, -NEVER, 0.0
        if (waiting := self._waiting.get(address)) is not None:
            waiting.pop(name, None)
            if not waiting:
                del self._waiting[address]
        return max(at, held.begin), held.end, held.pause

    def _wait(self, address: str, name: str) -> float:
        """Register a waiting request and return the current time; drop requests that have stopped checking."""
        now = self.clock()
        waiting = {other: at for other, at in self._waiting.get(address, {}).items() if at > now - RETRY_SECONDS}
        self._waiting[address] = {**waiting, name: now}
        return now

    def _lease_or_request(self, address: str, name: str) -> _Lease | None:
        """Lease our own address at once; note a request to another owner and return None."""
        owner = self.owners.of(address)
        if owner != self.number:
            self._requests[owner].setdefault(address, set()).add(name)
            self.wanted[owner].set()
            return None
        now = self.clock()
        term = self.ledger.lease(self.number, (address, 1, RECHECK_SECONDS), now, self._until(now))
        return self._hold(address, now, now, term)

    def _hold(self, address: str, sent_at: float, now: float, term: LeaseTerm) -> _Lease | None:
        """Store a granted lease.

        It begins when the response arrives and ends as if it had begun with our request, so it is always within the
        owner's period.
        """
        wait, seconds = term
        if not seconds:
            return None
        if len(self._held) > MAX_ADDRESSES:
            self._held = {name: one for name, one in self._held.items() if one.end > now}
        begin, end = now + wait, sent_at + wait + seconds
        self._held[address] = _Lease(begin, end - self.pause, end - self.pause / 2, self.pause)
        return self._held[address]

    def _until(self, now: float) -> float:
        return now + LEASE_SECONDS if self.over else self.until

    def lease(self, shard: int, requests: list[LeaseRequest]) -> list[LeaseTerm]:
        """Grant leases of our addresses to another shard; none while we have no lease of our own."""
        now = self.clock()
        until = self._until(now)
        return [self.ledger.lease(shard, request, now, until) for request in requests] if now < until else []

    def take_requests(self, owner: int) -> list[LeaseRequest]:
        """Return the noted lease requests to an owner."""
        self.wanted[owner].clear()
        requests, self._requests[owner] = self._requests[owner], {}
        self.requests_sent += 1
        slack = self._slack.get(owner, RECHECK_SECONDS)
        return [(address, len(names), slack) for address, names in requests.items()]

    def handle_response(self, owner: int, requests: list[LeaseRequest], terms: list[LeaseTerm], sent_at: float) -> bool:
        """Process an owner's response to a request sent at `sent_at`; return whether all leases were granted."""
        now = self.clock()
        self._slack[owner] = min(REPLY_TIMEOUT_SECONDS, 2.0 * (now - sent_at) + RECHECK_SECONDS)
        if not terms:
            self.handle_failure(owner, requests)
            return False
        self._failing_since.pop(owner, None)
        for (address, _, _), term in zip(requests, terms, strict=True):
            self._hold(address, sent_at, now, term)
            self._requests[owner].pop(address, None)  # waiting requests check the leases, and request others
        if not self._requests[owner]:
            self.wanted[owner].clear()
        return all(seconds > 0.0 for _, seconds in terms)

    def handle_failure(self, owner: int, requests: list[LeaseRequest]) -> None:
        """Process a failure of an owner to grant leases.

        Its earlier leases may still be in use; after they have expired, use our share of the pace until the next
        attempt.
        """
        now = self.clock()
        if now < self._failing_since.setdefault(owner, now) + LEASE_SECONDS + self.pause:
            return
        for address, _, _ in requests:
            self._held[address] = _Lease(now, now + RETRY_SECONDS, now + RETRY_SECONDS, self.pause * self.owners.shards)
