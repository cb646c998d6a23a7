"""When a host may be asked again. One request at a time and a pause after it; longer if the host asks, or is slow.

Per host (a name with its port): `delay` seconds from the end of one answer to the next request, or from request to
request where several at once are allowed. The pause grows to twice the host's own answering time, and to its
Crawl-delay. Per address, apart from that, a smaller pause of its own, since many hosts share one; not applied inside a
network that the user has allowed by name. Where several crawls share the addresses, turns are had by leases.

Paper items:
    batsakis-load: `--delay`. Test: web/test_politeness.py::test_the_pause_counts_from_the_end_of_the_answer.
    gouriten-rates: `--delay`, `--budget`. Test: spaces/test_social.py::test_a_crawl_keeps_to_the_limit.
    rules-politeness: `--delay`. Test: web/test_politeness.py::test_one_request_at_a_time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lycosa.core.protocols import NEVER, Clock

SLOWNESS = 2.0
"""A host rests for this many times what its answer took."""

LONGEST_PAUSE = 60.0
"""What slowness can ask for at most; a Crawl-delay may be as long as it likes."""

AGAIN = 0.02
"""Seconds until a host is looked at again whose request is still on its way out."""


@dataclass(slots=True)
class Host:
    """What is known of a host."""

    in_flight: int = 0
    sending: str = ""
    ready_at: float = 0.0
    why: str = ""
    held: float = 0.0
    why_held: str = ""
    latency: float = 0.0
    crawl_delay: float = 0.0
    delay: float = 0.0
    """What the others want who ask it, see authority.py."""


class Leases(Protocol):
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
        self.free = free
        """Whether an address lies in a network the user has allowed by name."""
        self.resumed_at = 0.0
        """A resumed crawl does not know what was in flight: every host rests once from this moment."""
        self._hosts: dict[str, Host] = {}
        self._addresses: dict[str, float] = {}
        self._turns: dict[str, tuple[float, float]] = {}
        self.leases: Leases | None = None
        """Whom to ask for turns of addresses; None: nobody else asks them."""

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
                return max(until, self.clock() + AGAIN), "sending"
            if state.ready_at > until:
                until, why = state.ready_at, state.why
            if state.held > until:
                until, why = state.held, state.why_held
        if address and (shared := self._shared(address)) > until:
            until, why = shared, f"pause of address {address}"
        return until, why

    def _shared(self, address: str) -> float:
        """When an address may be asked next."""
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

    def _host(self, host: str) -> Host:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = Host()
        return state

    def _pause(self, known: Host) -> float:
        delay = max(self.delay, known.delay)
        slow = min(SLOWNESS * known.latency / self.at_once, LONGEST_PAUSE) if delay else 0.0
        return max(delay, known.crawl_delay, slow)

    def _reason(self, known: Host) -> str:
        pause = self._pause(known)
        if pause > max(self.delay, known.delay):
            return "crawl-delay" if pause == known.crawl_delay else "slow host"
        return "delay"
