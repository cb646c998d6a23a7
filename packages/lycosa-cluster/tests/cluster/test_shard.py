"""Shards without a cluster: links, leases and grants, on a simulated transport and clock."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from cluster_here import Together
from crawl_helpers import hits_of, sim_engine, state_of
from lycosa import zstd
from lycosa.core.budget import EXHAUSTED, PAGES_SPENT, Budget
from lycosa.core.protocols import Judge
from lycosa.core.types import InboundLinks, Label, LinkBatch, Links, Seed, Visit
from lycosa.judges.probability import Probability
from lycosa.spaces.web_space import WebSpace
from lycosa.store.codec import DECODE_ERRORS, pack_batch, unpack_batch
from lycosa.store.log import NAME, MemoryLog, SqliteLog
from lycosa.testweb import Web
from lycosa.testweb.simulation import ADDRESS, EPOCH, clock, run_virtual
from lycosa_cluster.coordinator import LEASE_SECONDS, Coordinator
from lycosa_cluster.driving import Superseded
from lycosa_cluster.owning import Owners
from lycosa_cluster.shard import LEASE, PROMISES, Shard, add_new_labels
from lycosa_cluster.splitting import Merger, make_shards, previous_shard_count, shard_count, shard_path, split
from stored import exact, stored

TOPIC = "marine biology/coral reefs"
SHARDS, PAUSE = 3, 0.2
OWNERS = Owners(SHARDS)


@pytest.fixture(scope="module")
def web() -> Web:
    """Return a web with redirects and dead links."""
    return Web(pages=150, hosts=20, traps=("redirects", "dead", "robots"))


class SingleAddress:
    """Resolver that maps every name to one address."""

    def first_cached(self, name: str) -> str:
        return ADDRESS

    def prefetch(self, name: str) -> None:
        pass

    async def close(self) -> None:
        pass


def shard_on(
    web: Web, number: int, log: Any, owners: Owners = OWNERS, topic: Judge | None = None, address_delay: float = 0.0
) -> Shard:
    """Return a shard with its log replayed, new or resumed; with `address_delay` all hosts share an address."""
    engine = sim_engine(
        web, topic or web.query(TOPIC), log, strategy="scent", words="coral reefs", vectors="false", delay=0.5,
        probability=topic is not None,
    )  # fmt: skip
    if address_delay:
        assert isinstance(engine.space, WebSpace)
        engine.space.names = SingleAddress()  # type: ignore[assignment]
        engine.space.politeness.free, engine.space.politeness.address_delay = lambda address: False, address_delay
    engine.owns = lambda node: owners.of(node) == number
    engine.table.scope = lambda node, depth: owners.of(node) == number
    events = list(log)
    engine.replay(events)
    for node in [] if events else web.seeds(TOPIC):
        if engine.owns(node):
            engine.log.append(Seed(node, clock()))
            engine.fold(Seed(node, clock()))
    return Shard(number, owners, engine)


async def run_to_end(together: Together, shard: Shard, max_visits: int = 10**9) -> Shard:
    """Run a shard until the crawl ends, or kill it after `max_visits`."""
    visits = together.run(shard)
    async for _ in visits:
        max_visits -= 1
        if max_visits <= 0:
            break
    await visits.aclose()
    await shard.engine.space.close()
    return shard


def pages_of(logs: Any) -> Counter[str]:
    """Count final fetches by node over all logs."""
    return Counter(
        event.node
        for log in logs
        for event in log
        if isinstance(event, Visit) and event.kind in ("page", "redirect") and not event.retry_at
    )


@pytest.fixture(scope="module")
def all_pages(web: Web) -> Counter[str]:
    """Return the pages of a complete crawl by one shard."""
    alone = MemoryLog()

    async def one() -> None:
        shard = shard_on(web, 0, alone, Owners(1))
        await run_to_end(Together(Coordinator(1, Budget(), clock)), shard)
        assert shard.engine.ending == EXHAUSTED

    run_virtual(one())
    found = pages_of([alone])
    assert len(found) > 120
    return found


def test_shards_fetch_pages_of_one_crawl_despite_failures(web: Web, all_pages: Counter[str], tmp_path: Path) -> None:
    logs = [SqliteLog(tmp_path / f"{n}.sqlite") for n in range(SHARDS)]
    chance, last, asked = random.Random(5), {}, list[Any]()

    async def many() -> None:
        together = Together(
            Coordinator(SHARDS, Budget(), clock), delay=0.02,
            lost=lambda: chance.choices(("", "there", "back"), (6, 1, 1))[0],
        )  # fmt: skip

        async def keep_up(number: int) -> None:
            for life in range(4):
                shard = shard_on(web, number, logs[number], address_delay=PAUSE)
                assert shard.epoch == life + 1
                last[number] = await run_to_end(together, shard, chance.randint(5, 12) if life < 3 else 10**9)
                hits = hits_of(shard.engine)
                asked.extend(hits)
                assert all(EPOCH + hit.started >= shard.free_from for hit in hits)
                if shard.allowance.over:
                    break

        async def lose_the_coordinator() -> None:
            await asyncio.sleep(15)
            together.coordinator = Coordinator(SHARDS, Budget(), clock)

        await asyncio.gather(*map(keep_up, range(SHARDS)), lose_the_coordinator())
        assert together.coordinator.over == EXHAUSTED

    run_virtual(many())
    assert pages_of(logs) == dict.fromkeys(all_pages, 1)
    for host in {hit.host for hit in asked}:
        hits = sorted((hit for hit in asked if hit.host == host), key=lambda hit: hit.started)
        assert all(after.started - before.ended >= 0.5 for before, after in pairwise(hits)), host
    starts = sorted(hit.started for hit in asked)
    assert min(later - start for start, later in zip(starts, starts[SHARDS:], strict=False)) > PAUSE - 1e-6
    assert min(later - start for start, later in zip(starts, starts[20:], strict=False)) > (20 - SHARDS) * PAUSE
    for log in logs:
        names = [(page.sender, page.number) for event in log if isinstance(event, LinkBatch) for page in event.pages]
        assert len(names) == len(set(names)) > 5
        leases = [event.value["epoch"] for event in log if getattr(event, "key", "") == LEASE]
        assert leases == sorted(leases)
        assert leases[-1] > 1

    async def replayed() -> None:
        for number, shard in last.items():
            again = shard_on(web, number, logs[number])
            assert state_of(again.engine) == state_of(shard.engine)
            assert again.engine.inbox == shard.engine.inbox
            assert again.outbox.cursors == shard.outbox.cursors
            await again.engine.space.close()

    run_virtual(replayed())


def check_level(shard: Shard) -> None:
    """Check that reported priorities do not depend on the offset of learned weights."""
    weights = shard.engine.strategy.estimator.weights_
    assert weights.pages > 0
    shard.engine.frontier.promises = lambda n, now, at_once: [0.9] * n
    for more in (0.0, 1.0):
        weights.learned, weights.uses_learned = weights.fixed + more, True
        assert (weights.offset > 0.1) == (more > 0.0)
        assert shard.report().promises == pytest.approx([0.9 - weights.offset] * PROMISES)


def test_shards_share_page_budget(web: Web) -> None:
    logs = [MemoryLog() for _ in range(SHARDS)]

    async def many() -> None:
        together = Together(Coordinator(SHARDS, Budget(pages=60), clock, slots=4), delay=0.01)
        judges = [Probability("coral reefs") for _ in range(SHARDS)]
        shards = [shard_on(web, n, logs[n], topic=judge, address_delay=PAUSE) for n, judge in enumerate(judges)]
        await asyncio.gather(*(run_to_end(together, shard) for shard in shards))
        assert {shard.engine.ending for shard in shards} == {PAGES_SPENT}
        starts = sorted(hit.started for shard in shards for hit in hits_of(shard.engine))
        assert min(later - start for start, later in pairwise(starts)) > PAUSE - 1e-6
        for number, shard in enumerate(shards):
            judge, own = shard.engine.judge, shard.engine.tally.pages
            assert isinstance(judge, Probability)
            assert len(judge.relevances_now()) == own
            again = shard_on(web, number, logs[number], topic=Probability("coral reefs"))
            assert state_of(again.engine) == state_of(shard.engine)
            # A label given while the shard is stopped is learned once, when it is resumed.
            own_page = next(event.node for event in logs[number] if isinstance(event, Visit) and event.is_page)
            labels = [Label(own_page, False, 5.0, "ann"), Label("http://elsewhere.test/", False, 6.0, "ann")]
            assert [add_new_labels(again.engine, labels) for _ in range(2)] == [2, 0]
            assert [event for event in logs[number] if isinstance(event, Label)] == labels
            batches = again.engine.judge.relevances_now()
            assert batches[0] != judge.relevances_now()[0], (batches[0], judge.relevances_now()[0])
            check_level(shard)
            await again.engine.space.close()

    run_virtual(many())
    assert sum(event.is_page for log in logs for event in log if isinstance(event, Visit)) == 60
    for number, log in enumerate(logs):
        assert {OWNERS.of(event.node) for event in log if isinstance(event, Visit)} == {number}


def test_crawl_resumes_with_other_number_of_shards(web: Web, all_pages: Counter[str], tmp_path: Path) -> None:
    everywhere, logs = SqliteLog(tmp_path / NAME), list[SqliteLog]()
    make_shards(tmp_path, 2)

    def make(path: Path) -> SqliteLog:
        path.mkdir(parents=True)
        return SqliteLog(path / NAME)

    def run(shards: int, pages: int) -> str:
        owners = Owners(shards)
        logs[:] = [SqliteLog(shard_path(tmp_path, number) / NAME) for number in range(shards)]

        async def together() -> str:
            carrier = Together(Coordinator(shards, Budget(pages=pages), clock), delay=0.02)
            parts = [shard_on(web, number, logs[number], owners) for number in range(shards)]
            known = sum(part.engine.tally.pages for part in parts)
            await asyncio.gather(*(run_to_end(carrier, part) for part in parts))
            return f"{known}: {carrier.coordinator.over}"

        ended: str = run_virtual(together())
        Merger(tmp_path, everywhere, shards).merge_new()
        for log in logs:
            log.close()
        return ended

    assert run(2, 40) == f"0: {PAGES_SPENT}"
    split(tmp_path, everywhere, 3, lambda node, depth: True, make)
    assert run(3, 80) == f"40: {PAGES_SPENT}"
    split(tmp_path, everywhere, 0, lambda node, depth: True, make)
    assert (shard_count(tmp_path), previous_shard_count(tmp_path)) == (0, 3), "a plain crawl, for the time being"
    split(tmp_path, everywhere, 1, lambda node, depth: True, make)
    assert run(1, 0) == f"80: {EXHAUSTED}"
    assert pages_of([everywhere]) == all_pages
    assert not [name for name in os.listdir(tmp_path) if name.startswith("shards.")]


def test_superseded_shard_stops(web: Web) -> None:
    async def twice() -> None:
        together = Together(Coordinator(1, Budget(), clock))
        log = MemoryLog()
        old = shard_on(web, 0, log, Owners(1))
        running = asyncio.ensure_future(run_to_end(together, old))
        await asyncio.sleep(2)
        until = old.allowance.until
        assert clock() < until <= clock() + LEASE_SECONDS
        new = shard_on(web, 0, log, Owners(1))
        assert (new.epoch, new.free_from) == (old.epoch + 1, until)
        together.coordinator.report(new.report())
        with pytest.raises(Superseded):
            await running
        await new.engine.space.close()
        await old.engine.space.close()

    run_virtual(twice())


def test_link_batches_survive_encoding() -> None:
    visit = Visit("http://a.test/", "page", "ok", pick=3, relevance=0.25)
    links = Links.to("http://b.test/x", "http://b.test/y", anchors=["x", "\udc80"])
    links.paths, links.facets = ["html a", "html p a"], {"url": np.array([0.5, 0.25], np.float32)}
    more = Visit("http://a.test/b", "page", "ok", pick=4, data={"sources": ["http://b.test/feed"]}, links=links)
    single = InboundLinks(2, 7, visit, 3, 1, True, [1.0, 0.5])
    for batch in (LinkBatch([single]), LinkBatch([single, InboundLinks(2, 9, more)])):
        again = unpack_batch(pack_batch(batch))
        assert exact(again) == exact(batch)
        assert exact(batch) == exact(stored([batch])[0])
        assert again.packed == pack_batch(batch)
        again.packed = b""
        assert pack_batch(again) == pack_batch(batch)
    for number in (0, 6, 7, 8, 9):
        new = LinkBatch([InboundLinks(2, 7, visit), InboundLinks(2, 9, more)]).after(number)
        assert ([page.number for page in new.pages] if new else []) == [n for n in (7, 9) if n > number]
    sound = [2, ["html a"], [[*encoded(more), 9, 0, 0, False, [], ["u"], [""], [""], [""], [0], b"", {}, [0]]]]
    assert isinstance(unpack_batch(packed_batch(sound)), LinkBatch)
    wrong: dict[int, Any] = {1: "no kind", 3: "x", 19: [1], 32: [3], 33: [], 36: ["x"], 37: b"\0" * 8, 39: [1]}
    for at, value in wrong.items():
        damaged = [2, ["html a"], [[*sound[2][0][:at], value, *sound[2][0][at + 1 :]]]]
        with pytest.raises(DECODE_ERRORS):
            unpack_batch(packed_batch(damaged))
    for damaged in ([2, ["html a"], []], [2, [3], sound[2]], ["2", ["html a"], sound[2]], [2, ["html a"], [3]], 7):
        with pytest.raises(DECODE_ERRORS):
            unpack_batch(packed_batch(damaged))


def encoded(visit: Visit) -> list[Any]:
    """Return the fields of a visit that a batch contains."""
    return [getattr(visit, part.name) for part in fields(Visit)][:27]


def packed_batch(values: Any) -> bytes:
    """Pack values like a batch."""
    return zstd.compress(msgpack.packb(values))


def test_receive_batches_equals_single_pages(web: Web, tmp_path: Path) -> None:
    pages = sorted(web.seeds(TOPIC))
    sent = [
        InboundLinks(
            1, number, Visit(f"http://z.test/{number}", "page", "ok", 1, relevance=0.5, links=Links.to(*to)), 1
        )
        for number, to in enumerate((pages, pages[:1], [], pages[1:], pages[::-1]), 3)
    ]

    async def ways() -> None:
        found = []
        for way, ends in {"pages": (), "batches": (2, 4, 3, 4, 5), "both": (5, 1, 5)}.items():
            shard = shard_on(web, 0, log := SqliteLog(tmp_path / way), Owners(1))
            if way != "batches":
                single = [LinkBatch([page]) for page in sent]
                shard.engine.add_events_from_shards(single[: 5 if way == "pages" else 2])
            begin = 0
            for end in ends:
                packed = pack_batch(LinkBatch(sent[min(begin, end - 1) : end]))
                assert shard.receive(packed) == sent[end - 1].number
                begin = 0 if end == 4 else end - 1
            again = shard_on(web, 0, log, Owners(1))
            assert again.engine.inbox == shard.engine.inbox == {1: 7}
            assert state_of(again.engine) == state_of(shard.engine)
            batches = [event.pages for event in log if isinstance(event, LinkBatch)]
            assert [page.number for pages in batches for page in pages] == [3, 4, 5, 6, 7]
            found.append(state_of(shard.engine))
            await shard.engine.space.close()
            await again.engine.space.close()
        assert found[0] == found[1] == found[2]

    run_virtual(ways())


def test_address_delay_may_be_longer_than_lease(web: Web) -> None:
    logs, pause = [MemoryLog() for _ in range(SHARDS)], 1.5 * LEASE_SECONDS

    async def many() -> None:
        together = Together(Coordinator(SHARDS, Budget(pages=6), clock, slots=6), delay=0.8)
        shards = [shard_on(web, n, logs[n], address_delay=pause) for n in range(SHARDS)]
        await asyncio.gather(*(run_to_end(together, shard) for shard in shards))
        starts = sorted(hit.started for shard in shards for hit in hits_of(shard.engine))
        assert min(later - start for start, later in pairwise(starts)) > pause - 1e-6
        assert sum(bool(hits_of(shard.engine)) for shard in shards) > 1
        assert sum(shard.engine.tally.pages for shard in shards) == 6
        again = shard_on(web, 0, logs[0], address_delay=pause)
        assert again.leases.ledger.since == again.free_from + pause
        await again.engine.space.close()

    run_virtual(many())
