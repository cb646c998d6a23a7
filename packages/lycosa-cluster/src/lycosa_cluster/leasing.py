"""Addresses that hosts of several shards share: each belongs to one shard, which leases its turns to all of them.

Who has a lease of an address has it alone: it may send a request every so often, from one moment to another. The owner
leases one span after the other to those who ask, itself among them; where nobody else does, a long one. The last
request under what it leases is sent within its own lease (`coordinator.SECONDS`), so that whoever succeeds it, having
waited for that and for one pause, knows that nothing is leased. Where an owner can't be reached, a shard waits for as
long; from then on it takes its share of the pace, which is what is left if everybody else does so, too.

A lease is asked for when a request is about to be sent, which then waits for it: it is used when it comes. So that an
address in demand does not take all of a shard's requests, few wait at once; its other hosts are not ready meanwhile.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from lycosa.core.protocols import NEVER, Clock
from lycosa_cluster.coordinator import SECONDS
from lycosa_cluster.owning import Owners

Want = tuple[str, int, float]  # address, turns wanted, seconds that a question and its answer take
Term = tuple[float, float]  # seconds until a lease begins, seconds that it holds: 0 if there is none now
LATELY = 30.0  # seconds for which a shard that asked for an address counts as one that wants it
LOOK, LATER = 0.05, 0.25  # seconds until a waiting request looks again, and a host whose address others wait for
AGAIN = 1.0  # seconds until an owner is asked again that did not answer, or had nothing to lease
ANSWER = 2.0  # seconds that an owner has to answer
MOST = 100_000  # addresses remembered, beyond those leased now


@dataclass(slots=True)
class _Address:
    """What its owner knows of an address."""

    holder: int = -1
    begin: float = 0.0
    end: float = 0.0  # of the last lease
    asked: dict[int, float] = field(default_factory=dict)  # when each shard asked last
    next: int = -1  # the shard that was refused as too early: it gets the next lease, as long as it asks


class Ledger:
    """The addresses that a shard owns: one request every `pause` seconds, whoever sends it. Where a process hosts
    shards of several crawls they have one ledger; it was `made` then, and knows nothing of what was leased before.

    >>> ledger = Ledger(0.5)  # one request every half a second
    >>> ledger.lease(1, ("192.0.2.1", 2, 0.25), 0.0, 9.0), ledger.lease(2, ("192.0.2.1", 1, 0.25), 0.0, 9.0)
    ((0.0, 1.25), (1.25, 0.75))
    """

    def __init__(self, pause: float = 0.0, made: float = NEVER) -> None:
        self.pause, self.made = pause, made
        self.since = 0.0  # when the first lease may begin: an owner before us may have leased some
        self._known: dict[str, _Address] = {}

    def open(self, pause: float, free_from: float) -> None:
        """For one crawl, whose shard before this one had a lease until then: the longest pause counts."""
        self.pause = max(self.pause, pause)
        self.since = max(self.since, min(free_from, self.made + SECONDS) + self.pause)

    def lease(self, shard: int, want: Want, now: float, until: float) -> Term:
        """Lease an address to a shard, until some moment at the latest."""
        address, turns, slack = want
        if len(self._known) > MOST:
            self._known = {name: one for name, one in self._known.items() if one.end > now}
        known = self._known.setdefault(address, _Address())
        others = any(other != shard and at > now - LATELY for other, at in known.asked.items())
        alone = not others and known.asked.get(shard, -NEVER) > now - LATELY
        known.asked[shard] = now
        if known.next not in (-1, shard) and known.asked[known.next] > now - ANSWER - 2 * AGAIN:
            return 0.0, 0.0
        # Who holds it and asks again has nothing more to do with the lease it has.
        begin = max(now, self.since, known.begin if known.holder == shard else known.end)
        if begin + slack > until:
            known.next = shard
            return 0.0, 0.0
        latest = until + self.pause  # the last request is sent a pause before that
        end = latest if alone else min(latest, begin + min(turns, 8) * self.pause + slack)
        if known.holder == shard:  # another crawl there may use the lease that it has
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
    """The leases that a shard holds, and those that it wants."""

    def __init__(self, number: int, owners: Owners, clock: Clock, ledger: Ledger | None = None) -> None:
        self.number, self.owners, self.clock = number, owners, clock
        self.ledger = ledger or Ledger()
        self.until = 0.0  # end of this shard's own lease: no request is sent later
        self.over = False  # nothing more is picked, and the lease is not renewed
        self.wanted = {owner: asyncio.Event() for owner in range(owners.shards) if owner != number}
        self._wants: dict[int, dict[str, set[str]]] = {owner: {} for owner in self.wanted}
        self._held: dict[str, _Lease] = {}
        self._waiting: dict[str, dict[str, float]] = {}  # of each address: requests, and when each looked last
        self._slack: dict[int, float] = {}  # of each owner: what a question takes
        self._silent: dict[int, float] = {}  # owners that did not answer: since when
        self.asked = 0

    @property
    def pause(self) -> float:
        return self.ledger.pause

    # -- for those who fetch -----------------------------------------------------------------------------------

    def ready(self, address: str, at: float) -> float:
        """When a request to an address could be begun, not before `at`."""
        held, now = self._held.get(address), self.clock()
        if held is not None and (begin := max(at, now, held.begin)) <= held.last:
            return begin
        waiting = self._waiting.get(address, {})
        return at if sum(looked > now - AGAIN for looked in waiting.values()) < 2 else now + LATER

    def turn(self, address: str, at: float, name: str) -> tuple[float, float, float]:
        """When a request may be sent, not before `at`: the moment, until when it may be late, and how long the address
        rests then. Where we have no lease one is asked for, and the moment is one to look again: it may not be late."""
        held = self._held.get(address)
        if held is None or max(at, held.begin) > held.last:
            held = self._ask(address, name)
            if held is None or max(at, held.begin) > held.last:
                return self._wait(address, name) + LOOK, -NEVER, 0.0
        if (waiting := self._waiting.get(address)) is not None:
            waiting.pop(name, None)
            if not waiting:
                del self._waiting[address]
        return max(at, held.begin), held.end, held.pause

    def _wait(self, address: str, name: str) -> float:
        """Note that a request waits; now. Those that have not looked for long are gone."""
        now = self.clock()
        waiting = {other: at for other, at in self._waiting.get(address, {}).items() if at > now - AGAIN}
        self._waiting[address] = {**waiting, name: now}
        return now

    def _ask(self, address: str, name: str) -> _Lease | None:
        """A lease of our own address; others' are asked for."""
        owner = self.owners.of(address)
        if owner != self.number:
            self._wants[owner].setdefault(address, set()).add(name)
            self.wanted[owner].set()
            return None
        now = self.clock()
        term = self.ledger.lease(self.number, (address, 1, LOOK), now, self._until(now))
        return self._hold(address, now, now, term)

    def _hold(self, address: str, asked: float, now: float, term: Term) -> _Lease | None:
        """A lease that we got. It begins when we heard of it, and ends as if it had begun when we asked: whenever the
        owner counts from, it has not begun before, and ends later."""
        wait, seconds = term
        if not seconds:
            return None
        if len(self._held) > MOST:
            self._held = {name: one for name, one in self._held.items() if one.end > now}
        begin, end = now + wait, asked + wait + seconds
        self._held[address] = _Lease(begin, end - self.pause, end - self.pause / 2, self.pause)
        return self._held[address]

    def _until(self, now: float) -> float:
        return now + SECONDS if self.over else self.until

    # -- over the wire -----------------------------------------------------------------------------------------

    def lease(self, shard: int, wants: list[Want]) -> list[Term]:
        """What another shard gets of our addresses; nothing at all while we have no lease of our own."""
        now = self.clock()
        until = self._until(now)
        return [self.ledger.lease(shard, want, now, until) for want in wants] if now < until else []

    def wants(self, owner: int) -> list[Want]:
        """What to ask an owner for."""
        self.wanted[owner].clear()
        wants, self._wants[owner] = self._wants[owner], {}
        self.asked += 1
        slack = self._slack.get(owner, LOOK)
        return [(address, len(names), slack) for address, names in wants.items()]

    def heard(self, owner: int, wants: list[Want], terms: list[Term], asked: float) -> bool:
        """An owner's answer to what it was asked for, and when; whether all that was wanted can be had."""
        now = self.clock()
        self._slack[owner] = min(ANSWER, 2.0 * (now - asked) + LOOK)
        if not terms:
            self.failed(owner, wants)
            return False
        self._silent.pop(owner, None)
        for (address, _, _), term in zip(wants, terms, strict=True):
            self._hold(address, asked, now, term)
            self._wants[owner].pop(address, None)  # whoever waits looks at what we have, and asks again
        if not self._wants[owner]:
            self.wanted[owner].clear()
        return all(seconds > 0.0 for _, seconds in terms)

    def failed(self, owner: int, wants: list[Want]) -> None:
        """An owner did not answer, or leases nothing. What it leased before may still be in use; after that we take our
        share, until it is asked again."""
        now = self.clock()
        if now < self._silent.setdefault(owner, now) + SECONDS + self.pause:
            return
        for address, _, _ in wants:
            self._held[address] = _Lease(now, now + AGAIN, now + AGAIN, self.pause * self.owners.shards)
