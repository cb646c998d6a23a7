"""Shards of many crawls in the same few processes, for those who run many: `lycosa serve`.

A process hosts the shards of one number, of whatever crawls there are. As all crawls have as many shards, a domain
belongs to the same number in each of them: its hosts are asked by one process, in which the crawls take turns
(`web/authority.py`); and so does an address that hosts of several numbers share, of which one process has a lease for
all crawls. One more process hosts the coordinators. All of them are started once, not once a crawl. A
*session* is one run of a crawl: when it is opened again, that is another one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from lycosa.cluster.driving import Unreachable
from lycosa.cluster.leasing import Ledger
from lycosa.cluster.on_ray import COORDINATOR, CoordinatorActor, ShardActor, Start
from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.spaces.making import wall_clock
from lycosa.web.authority import Authority

ENDED = "it was ended"

REMEMBERED = 1_000
"""Sessions that are known to be over."""


class Hosts(Protocol):
    """The processes, as the crawls of a server reach them."""

    count: int
    """How many host shards; 0 until they are open."""

    async def open(self) -> None:
        """Start them, unless they run; an error says why that can't be done."""

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Have a host do something; `Unreachable` if that fails."""

    async def close(self) -> None:
        """End them."""


@dataclass(frozen=True)
class Terms:
    """What the host of a coordinator is told of a crawl, again and again: it may be a new one."""

    shards: int
    budget: Budget
    slots: int
    choosy: float
    stop: bool = False


class ShardHost:
    """Hosts the shards of one number. `most` requests are in flight at once."""

    def __init__(self, number: int, hosts: Any, most: int = 0) -> None:
        self.number, self.hosts = number, hosts
        self.clock = wall_clock()
        self.authority = Authority(self.clock, began=self.clock(), most=most)
        self.ledger = Ledger(made=self.clock())
        self._held: dict[str, tuple[ShardActor, asyncio.Task[dict[str, Any]]]] = {}
        self._over: OrderedDict[str, None] = OrderedDict()

    async def ready(self) -> int:
        """Answers once it runs: its number."""
        return self.number

    async def run(self, session: str, start: Start) -> dict[str, Any]:
        """Run a shard to the end of its crawl. Asked again, it waits for the same."""
        if session not in self._held and session not in self._over:
            shard = ShardActor(self.number, session, start)
            shard.call, shard.authority, shard.clock = partial(self._reach, session), self.authority, self.clock
            shard.ledger = self.ledger
            self._held[session] = shard, asyncio.create_task(shard.run(), name=f"shard of {session}")
        if session not in self._held:
            return {"error": ENDED}
        task = self._held[session][1]
        await asyncio.wait({task})
        self._held.pop(session, None)
        if task.cancelled():
            return {"error": ENDED}
        if (bug := task.exception()) is not None:  # of one crawl: the others go on
            return {"error": f"{type(bug).__name__}: {bug}"}
        return task.result()

    async def _reach(self, session: str, number: int, method: str, *given: Any) -> Any:
        """Have another shard of the same crawl, or its coordinator, do something."""
        return await self.hosts.call(number, "call", session, method, *given)

    async def call(self, session: str, method: str, *given: Any) -> Any:
        """Have a shard do something."""
        if (held := self._held.get(session)) is None:
            raise Unreachable(f"shard {self.number} does not run")
        return await getattr(held[0], method)(*given)

    async def ask(self, session: str, tell: Callable[[Engine], Any]) -> Any:
        """What a function tells of the engine of a shard; None while there is none."""
        held = self._held.get(session)
        return None if held is None or held[0].shard is None else tell(held[0].shard.engine)

    async def end(self, session: str) -> None:
        """End a shard at once; when this returns it writes nothing more."""
        self._over[session] = None
        while len(self._over) > REMEMBERED:
            self._over.popitem(last=False)
        if (held := self._held.get(session)) is not None:
            held[1].cancel()
            await asyncio.wait({held[1]})


class CoordinatorHost:
    """Hosts the coordinators of all crawls."""

    def __init__(self) -> None:
        self._held: dict[str, CoordinatorActor] = {}

    async def ready(self) -> int:
        """Answers once it runs."""
        return COORDINATOR

    async def look(self, session: str, terms: Terms) -> dict[str, Any]:
        """How a crawl is getting on; its coordinator is made, if there is none, and told what has changed."""
        if (held := self._held.get(session)) is None:
            held = CoordinatorActor(terms.shards, terms.budget, terms.slots, terms.choosy)
            self._held[session] = held
        held.coordinator.budget = terms.budget
        if terms.stop:
            await held.stop()
        return await held.progress()

    async def call(self, session: str, method: str, *given: Any) -> Any:
        """Have a coordinator do something."""
        if (held := self._held.get(session)) is None:
            raise Unreachable("there is no coordinator yet")
        return await getattr(held, method)(*given)

    async def end(self, session: str) -> None:
        """A crawl is over."""
        self._held.pop(session, None)


class HostsHere:
    """All hosts in this process: for tests."""

    def __init__(self, shards: int, most: int = 0) -> None:
        self.count = shards
        self.places: dict[int, Any] = {number: ShardHost(number, self, most) for number in range(shards)}
        self.places[COORDINATOR] = CoordinatorHost()

    async def open(self) -> None:
        """They run already."""

    async def call(self, number: int, method: str, *given: Any) -> Any:
        """Have a host do something."""
        return await getattr(self.places[number], method)(*given)

    async def close(self) -> None:
        """Nothing is left of them."""
