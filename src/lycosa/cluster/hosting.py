"""Shards of many crawls in the same few processes, for those who run many: `lycosa serve`.

A process hosts the shards of one number, of whatever crawls there are. As all crawls have as many shards, a domain
belongs to the same number in each of them: its hosts are asked by one process, in which the crawls take turns
(`web/politeness.py`); and so does an address that hosts of several numbers share, of which one process has a lease for
all crawls. One more process hosts the coordinators. All of them are started once, not once a crawl. A
*session* is one run of a crawl: when it is opened again, that is another one.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from lycosa.cluster import running
from lycosa.cluster.driving import Unreachable
from lycosa.cluster.leasing import Ledger
from lycosa.cluster.on_ray import COORDINATOR, CoordinatorActor, ShardActor, Start
from lycosa.cluster.reaching import Where
from lycosa.cluster.running import ClusterCrawl
from lycosa.cluster.splitting import Merger
from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.core.types import Label
from lycosa.crawling.request import Request
from lycosa.spaces.making import wall_clock
from lycosa.store.log import append_labels
from lycosa.web.politeness import Authority

ENDED = "it was ended"


class Hosts(Protocol):
    """The processes, as the crawls of a server reach them."""

    count: int  # host shards; 0 until they are open

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
        while len(self._over) > 1_000:
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


# -- one of the crawls -------------------------------------------------------------------------------------

# A crawl whose shards are hosted beside those of other crawls, seen from where it was started.

T = TypeVar("T")
PATIENCE = 5.0  # seconds that a host has to answer


class HostedCrawl(ClusterCrawl):
    """One crawl of many. Its log is read and written in a thread of its own: the others don't wait for it."""

    def __init__(self, request: Request, hosts: Hosts) -> None:
        self.hosts = hosts
        super().__init__(request, Where("hosts"))
        self.session = f"{self.path.name} {uuid.uuid4().hex}"
        self._thread = ThreadPoolExecutor(1, "log")
        self._terms: Terms | None = None
        self._told: list[Label] = []
        self._heard: dict[int, int] = {}  # of each shard: how many of them it has
        self._merger: Merger | None = None

    async def _on_files(self, work: Callable[..., T], *given: Any) -> T:
        doing = asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:  # a thread can't be: it writes in the directory until it is done
            await asyncio.wait({doing})
            raise

    # -- what people want of it while it runs ------------------------------------------------------------------

    async def hear(self, labels: Sequence[Label]) -> bool:
        """Record labels: first in the crawl's own log, then in those of the shards, each of which is told until it has
        them. False while there is no log to write to."""
        if self._merger is None:
            return False
        self._told += await self._on_files(append_labels, self._merger.log, labels)
        return True

    async def tell(self, tell: Callable[[Engine], T]) -> list[T]:
        """What a function tells of the shards' engines, of those that run."""
        return [told for told in await self._each("ask", tell) if told is not None]

    # -- on hosts ----------------------------------------------------------------------------------------------

    def _load(self) -> None:
        pass  # whoever made the hosts has

    async def _join(self) -> None:
        await self.hosts.open()

    def _count(self) -> int:
        return self.hosts.count

    async def _start(self, start: Start) -> None:
        self._terms = Terms(start.shards, self.budget, start.slots, start.options["choosy"])
        await self._ask(stop=False)
        self._heard = dict.fromkeys(range(start.shards), 0)
        self.shards = list(range(start.shards))
        self._running = [
            asyncio.ensure_future(self.hosts.call(number, "run", self.session, start)) for number in self.shards
        ]

    async def _watch(self, merger: Merger) -> AsyncGenerator[dict[str, Any], None]:
        self._merger = merger
        try:
            async with aclosing(super()._watch(merger)) as turns:
                async for progress in turns:
                    yield progress
                    await self._teach(merger)
        finally:
            self._merger = None

    async def _ended(self) -> list[dict[str, Any]]:
        done, left = await asyncio.wait(self._running, timeout=running.EVERY)
        self._running = list(left)
        told: list[dict[str, Any]] = []
        for run in done:
            try:
                told.append(run.result())
            except Unreachable as error:
                told.append({"error": f"the cluster is gone: {' '.join(str(error).split())[:200]}"})
        return told

    async def _ask(self, *, stop: bool) -> dict[str, Any]:
        assert self._terms is not None
        terms = replace(self._terms, budget=self.budget, stop=stop)
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                return dict(await self.hosts.call(COORDINATOR, "look", self.session, terms))
        return {}

    async def _each(self, method: str, *given: Any) -> list[Any]:
        """Ask all shards; None is the answer of those that can't be reached now."""

        async def one(number: int) -> Any:
            with suppress(Unreachable, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    return await self.hosts.call(number, method, self.session, *given)

        return await asyncio.gather(*map(one, self.shards))

    async def _teach(self, merger: Merger) -> None:
        """Tell shards what people have said meanwhile; what pages are worth once all have heard it is brought over."""
        behind = [number for number, heard in self._heard.items() if heard < len(self._told)]
        for number in behind:
            with suppress(Unreachable, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    upto = len(self._told)
                    news = self._told[self._heard[number] :]
                    if await self.hosts.call(number, "call", self.session, "hear", news):
                        self._heard[number] = upto
        if behind and all(heard == len(self._told) for heard in self._heard.values()):
            await self._on_files(merger.settle)

    async def _leave(self) -> None:
        """Have all shards end, however they are: nobody writes in the directory afterwards."""
        while self._running:
            await self._each("end")
            done, left = await asyncio.wait(self._running, timeout=PATIENCE)
            self._running = list(left)
            for run in done:
                run.exception()  # looked at, or asyncio complains
        with suppress(Unreachable, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.hosts.call(COORDINATOR, "end", self.session)

    def _close(self) -> None:
        self._thread.shutdown(wait=False)
