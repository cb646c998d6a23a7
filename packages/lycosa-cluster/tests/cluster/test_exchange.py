"""Shards without a cluster: links, leases and grants, on a simulated transport and clock."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from contextlib import closing
from dataclasses import fields, replace
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
from lycosa.core.options import Options
from lycosa.core.protocols import Judge
from lycosa.core.types import InboundLinks, Label, LinkBatch, Links, Seed, Setting, Terms, Visit
from lycosa.judges.probability import Probability
from lycosa.spaces.web_space import WebSpace
from lycosa.store.codec import DECODE_ERRORS, EVENT_KINDS, decode_other, encode_other, encode_visit
from lycosa.store.log import NAME, VISITS, MemoryLog, SqliteLog
from lycosa.testweb import Web
from lycosa.testweb.simulation import ADDRESS, EPOCH, clock, run_virtual
from lycosa_cluster.coordinator import SECONDS, Coordinator
from lycosa_cluster.driving import Superseded
from lycosa_cluster.leasing import Leases, Ledger
from lycosa_cluster.messages import ShardReport
from lycosa_cluster.owning import Owners
from lycosa_cluster.running import ClusterCrawl
from lycosa_cluster.shard import LEASE, PROMISES, Shard, add_new_labels
from lycosa_cluster.splitting import Merger, join, make_shards, shard_path, shards_before, shards_in, split

TOPIC = "marine biology/coral reefs"
SHARDS, PAUSE = 3, 0.2
OWNERS = Owners(SHARDS)


@pytest.fixture(scope="module")
def web() -> Web:
    """A web with redirects and dead links across its hosts."""
    return Web(pages=150, hosts=20, traps=("redirects", "dead", "robots"))


class OneAddress:
    """Where all names lead."""

    def first_cached(self, name: str) -> str:
        return ADDRESS

    def prefetch(self, name: str) -> None:
        pass

    async def close(self) -> None:
        pass


def shard_on(
    web: Web, number: int, log: Any, owners: Owners = OWNERS, topic: Judge | None = None, address_delay: float = 0.0
) -> Shard:
    """A shard as its log says, a new one or one that goes on; inside a virtual loop. With an `address_delay`, all hosts
    are known to have one address."""
    engine = sim_engine(
        web, topic or web.query(TOPIC), log, strategy="scent", words="coral reefs", vectors="false", delay=0.5,
        probability=topic is not None,
    )  # fmt: skip
    if address_delay:
        assert isinstance(engine.space, WebSpace)
        engine.space.names = OneAddress()  # type: ignore[assignment]
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


async def run_to_end(together: Together, shard: Shard, most: int = 10**9) -> Shard:
    """Run it until the crawl is over, or it has done so many visits: then it is killed."""
    visits = together.run(shard)
    async for _ in visits:
        most -= 1
        if most <= 0:
            break
    await visits.aclose()
    await shard.engine.space.close()
    return shard


def pages_of(logs: Any) -> Counter[str]:
    """What was fetched for good, over all logs, and how often."""
    return Counter(
        event.node
        for log in logs
        for event in log
        if isinstance(event, Visit) and event.kind in ("page", "redirect") and not event.retry_at
    )


@pytest.fixture(scope="module")
def everything(web: Web) -> Counter[str]:
    """What one crawl fetches, to the end."""
    alone = MemoryLog()

    async def one() -> None:
        shard = shard_on(web, 0, alone, Owners(1))
        await run_to_end(Together(Coordinator(1, Budget(), clock)), shard)
        assert shard.engine.ending == EXHAUSTED

    run_virtual(one())
    found = pages_of([alone])
    assert len(found) > 120
    return found


def test_a_cluster_fetches_what_one_crawl_does(web: Web, everything: Counter[str], tmp_path: Path) -> None:
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
    assert pages_of(logs) == dict.fromkeys(everything, 1)
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


def levelled(shard: Shard) -> None:
    """What its rows promise is the same whatever the weights of terms add to all of them."""
    weights = shard.engine.strategy.estimator.weights_
    assert weights.pages > 0
    shard.engine.frontier.promises = lambda n, now, at_once: [0.9] * n
    for more in (0.0, 1.0):
        weights.learned, weights.uses_learned = weights.fixed + more, True
        assert (weights.offset > 0.1) == (more > 0.0)
        assert shard.report().promises == pytest.approx([0.9 - weights.offset] * PROMISES)


def test_a_budget_is_spent_together(web: Web) -> None:
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
            # What people say while it rests is heard when it is resumed, once, and has its effect.
            own_page = next(event.node for event in logs[number] if isinstance(event, Visit) and event.is_page)
            labels = [Label(own_page, False, 5.0, "ann"), Label("http://elsewhere.test/", False, 6.0, "ann")]
            assert [add_new_labels(again.engine, labels) for _ in range(2)] == [2, 0]
            assert [event for event in logs[number] if isinstance(event, Label)] == labels
            told = again.engine.judge.relevances_now()
            assert told[0] != judge.relevances_now()[0], (told[0], judge.relevances_now()[0])
            levelled(shard)
            await again.engine.space.close()

    run_virtual(many())
    assert sum(event.is_page for log in logs for event in log if isinstance(event, Visit)) == 60
    for number, log in enumerate(logs):
        assert {OWNERS.of(event.node) for event in log if isinstance(event, Visit)} == {number}


def test_a_crawl_goes_on_with_more_shards(web: Web, everything: Counter[str], tmp_path: Path) -> None:
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
        Merger(tmp_path, everywhere, shards).bring_over()
        for log in logs:
            log.close()
        return ended

    assert run(2, 40) == f"0: {PAGES_SPENT}"
    split(tmp_path, everywhere, 3, lambda node, depth: True, make)
    assert run(3, 80) == f"40: {PAGES_SPENT}"
    split(tmp_path, everywhere, 0, lambda node, depth: True, make)
    assert (shards_in(tmp_path), shards_before(tmp_path)) == (0, 3), "a plain crawl, for the time being"
    split(tmp_path, everywhere, 1, lambda node, depth: True, make)
    assert run(1, 0) == f"80: {EXHAUSTED}"
    assert pages_of([everywhere]) == everything
    assert not [name for name in os.listdir(tmp_path) if name.startswith("shards.")]


def test_pages_of_two_shards_that_say_the_same(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(60)]

    def page(node: str, digest: int, at: float, new: list[str], simhash: int = 0b1111) -> Visit:
        terms = Terms(np.arange(60, dtype=np.uint32), np.ones(60, np.uint16), new)
        return Visit(node, "page", "ok", 1, size=9, digest=bytes([digest] * 32), simhash=simhash, terms=terms, ended=at)

    def merged(directory: Path, traps: bool, twice: int) -> dict[str, str]:
        log = SqliteLog(directory / NAME)
        merger = Merger(directory, log, 2, traps)
        merger.bring_over()
        assert merger.counted_twice() == Merger(directory, log, 2, traps).counted_twice() == (twice if traps else 0)
        copies = {visit.node: visit.same_as for visit in log.visits(VISITS)}
        log.close()
        return copies

    for traps in (True, False):
        directory = tmp_path / str(traps)
        make_shards(directory, 2)
        for number in range(2):
            shard_path(directory, number).mkdir(parents=True, exist_ok=True)
        one, other = (SqliteLog(shard_path(directory, number) / NAME) for number in range(2))
        one.append(page("http://a.test/", 1, 1.0, words))
        other.append(page("http://b.test/", 1, 2.0, words[::-1]))
        assert merged(directory, traps, twice=0) == {
            "http://a.test/": "",
            "http://b.test/": "http://a.test/" if traps else "",
        }
        other.append(page("http://c.test/", 3, 3.0, [], 0b0111))
        other.append(replace(page("http://e.test/", 1, 3.5, []), same_as="http://b.test/"))  # as its shard saw it
        one.append(page("http://d.test/", 4, 4.0, [], ~0b1111 & 2**64 - 1))
        one.append(Setting("threshold", 0.0))
        later = merged(directory, traps, twice=2)  # b and c: that e is a copy its shard knows
        assert (later["http://c.test/"], later["http://d.test/"]) == ("http://a.test/" if traps else "", "")
        assert later["http://e.test/"] == ("http://a.test/" if traps else "http://b.test/"), "not of what is a copy"
        with closing(SqliteLog(directory / NAME)) as log, log.batch():  # pages lost their words
            for number, visit in list(log.numbered("kind = 'page'")):
                assert isinstance(visit, Visit)
                log._db.execute("DELETE FROM event WHERE seq = ?", (number,))
                without = replace(visit, terms=Terms())
                log._db.execute("DELETE FROM relevance_now WHERE seq = ?", (number,))
                log.put(number, without, encode_visit(without), visit.relevance_now)
        one.append(page("http://f.test/", 5, 5.0, [], 0b1111 << 20))
        merged(directory, traps, twice=2)
        with closing(SqliteLog(directory / NAME, readonly=True)) as log:
            known = [stem for visit in log.visits(VISITS) for stem in visit.terms.new]
            last = next(log.visits("node = 'http://f.test/'"))
        assert [known[word] for word in last.terms.ids.tolist()] == words
        one.close()
        other.close()


def test_shards_of_nothing_and_shards_that_were_broken_off(tmp_path: Path) -> None:
    log, running = SqliteLog(tmp_path / NAME), ClusterCrawl.__new__(ClusterCrawl)
    running.path, running.notes = tmp_path, []
    for shards in (2, 3, 2):
        running._share_out(log, shards, Options())
        assert shards_in(tmp_path) == shards
        split(tmp_path, log, 0, lambda node, depth: True, SqliteLog)
    (tmp_path / "shards").rename(tmp_path / "shards.new")
    (tmp_path / "shards.old" / "000").mkdir(parents=True)
    join(tmp_path)
    assert (shards_in(tmp_path), shards_before(tmp_path), (tmp_path / "shards.old").exists()) == (0, 2, False)


def test_grants_go_where_the_best_rows_are() -> None:
    def asks(boss: Coordinator, shard: int, *promises: float, pages: int = 0, granted: int = 0, **more: Any) -> int:
        report = ShardReport(
            shard, more.pop("epoch", 1), pages, pages, 0, granted, 10**6, list(promises), busy=True, **more
        )
        return boss.report(report).pages - max(granted, pages)

    boss = Coordinator(2, Budget(pages=10), lambda: 0.0, slots=3)
    assert asks(boss, 0, 0.9, 0.8, 0.1) == 0, "before it has heard of everyone"
    assert asks(boss, 1, 0.5, 0.4) == 1
    assert asks(boss, 0, 0.9, 0.8, 0.1) == 2
    assert asks(boss, 1, 0.5, 0.4, granted=1) == 0, "no slot is free"
    assert asks(boss, 1, 0.5, 0.4, pages=1, granted=1) == 1
    assert asks(boss, 0, 0.9, 0.9, pages=2, granted=2) == 2
    assert asks(boss, 0, *[0.9] * 9, pages=7, granted=7) == 1, "of the budget two are the other's"
    assert asks(boss, 1, pages=1, epoch=2) == 0
    assert asks(boss, 0, 0.9, 0.9, pages=8, granted=8) == 1
    choosy = Coordinator(2, Budget(), lambda: 0.0, choosy=0.7)
    asks(choosy, 0, soon=1.0)
    assert asks(choosy, 1, 0.8, 0.6) == 1
    # By hand: the best score is -.1 with .6 taken out of it, so .5, of which .7 are .35: .15 less, -.25. And so on.
    for soon, level, proportional, claims, granted in (
        (-0.1, 0.6, True, (-0.2, -0.24, -0.26), 2),
        (0.0, 0.5, True, (-0.1, -0.14, -0.16), 2),
        (0.8, -0.3, True, (0.66, 0.64), 1),
        (0.2, -0.3, True, (0.18, 0.16), 1),  # -.1 by itself: .03 less, as for one crawl
        (-100.0, 0.0, False, (-150.0, -160.0), 2),
    ):
        choosy = Coordinator(2, Budget(), lambda: 0.0, choosy=0.7)
        asks(choosy, 0, soon=soon, level=level, proportional=proportional)
        assert asks(choosy, 1, *claims, level=9.9, proportional=proportional) == granted, (soon, level)
    plain = Coordinator(2, Budget(), lambda: 0.0, slots=1, grants=False)
    asks(plain, 0, 0.9)
    assert asks(plain, 1, 0.1) == 1
    now = [0.0]
    boss = Coordinator(2, Budget(pages=10), lambda: now[0], slots=5, choosy=0.7)
    asks(boss, 1, 0.1, 0.1)
    assert asks(boss, 0, 0.9, 0.9, 0.9, soon=0.9) == 3
    for now[0], before, granted in ((2.9, 0, 0), (3.0, 0, 2), (9.9, 2, 0), (10.0, 2, 2)):
        assert asks(boss, 1, 0.1, 0.1, granted=before) == granted, "whoever is silent may be dead: the others go on"
    large = Coordinator(1, Budget(), lambda: 0.0, slots=2)
    assert [asks(large, 0, *[0.5] * 20, pages=pages) for pages in (1_999, 2_199, 2_350, 11_000)] == [2, 3, 5, 8]


def test_one_who_was_replaced_stops(web: Web) -> None:
    async def twice() -> None:
        together = Together(Coordinator(1, Budget(), clock))
        log = MemoryLog()
        old = shard_on(web, 0, log, Owners(1))
        running = asyncio.ensure_future(run_to_end(together, old))
        await asyncio.sleep(2)
        until = old.allowance.until
        assert clock() < until <= clock() + SECONDS
        new = shard_on(web, 0, log, Owners(1))
        assert (new.epoch, new.free_from) == (old.epoch + 1, until)
        together.coordinator.report(new.report())
        with pytest.raises(Superseded):
            await running
        await new.engine.space.close()
        await old.engine.space.close()

    run_virtual(twice())


def test_messages_come_back_as_they_were() -> None:
    visit = Visit("http://a.test/", "page", "ok", pick=3, relevance=0.25)
    links = Links.to("http://b.test/x", "http://b.test/y", anchors=["x", "\udc80"])
    links.paths, links.facets = ["html a", "html p a"], {"url": np.array([0.5, 0.25], np.float32)}
    more = Visit("http://a.test/b", "page", "ok", pick=4, data={"sources": ["http://b.test/feed"]}, links=links)
    for event in (
        InboundLinks(2, 7, visit, 3, 1, True, [1.0, 0.5]),
        LinkBatch([InboundLinks(2, 7, visit, 3, 1, True, [1.0, 0.5]), InboundLinks(2, 9, more)]),
    ):
        kind = EVENT_KINDS[type(event)]
        again = decode_other(kind, encode_other(event))
        assert repr(again) == repr(event)
        assert isinstance(again, InboundLinks | LinkBatch)
        assert again.packed == encode_other(event)
        again.packed = b""
        assert encode_other(again) == encode_other(event)
        for other in {"inbound_links", "link_batch"} - {kind}:
            with pytest.raises(DECODE_ERRORS):
                decode_other(other, encode_other(event))
    for number in (0, 6, 7, 8, 9):
        new = LinkBatch([InboundLinks(2, 7, visit), InboundLinks(2, 9, more)]).after(number)
        assert ([page.number for page in new.pages] if new else []) == [n for n in (7, 9) if n > number]
    sound = [2, ["html a"], [[*encoded(more), 9, 0, 0, False, [], ["u"], [""], [""], [""], [0], b"", {}, [0]]]]
    assert isinstance(decode_other("link_batch", parcel_of(sound)), LinkBatch)
    wrong: dict[int, Any] = {1: "no kind", 3: "x", 19: [1], 32: [3], 33: [], 36: ["x"], 37: b"\0" * 8, 39: [1]}
    for at, value in wrong.items():
        damaged = [2, ["html a"], [[*sound[2][0][:at], value, *sound[2][0][at + 1 :]]]]
        with pytest.raises(DECODE_ERRORS):
            decode_other("link_batch", parcel_of(damaged))
    for damaged in ([2, ["html a"], []], [2, [3], sound[2]], ["2", ["html a"], sound[2]], [2, ["html a"], [3]], 7):
        with pytest.raises(DECODE_ERRORS):
            decode_other("link_batch", parcel_of(damaged))


def encoded(visit: Visit) -> list[Any]:
    """The fields of a visit that a parcel has."""
    return [getattr(visit, part.name) for part in fields(Visit)][:27]


def parcel_of(values: Any) -> bytes:
    """Bytes as somebody might send them."""
    return zstd.compress(msgpack.packb(values))


def test_parcels_are_learned_as_pages_are(web: Web, tmp_path: Path) -> None:
    pages = sorted(web.seeds(TOPIC))
    sent = [
        InboundLinks(
            1, number, Visit(f"http://z.test/{number}", "page", "ok", 1, relevance=0.5, links=Links.to(*to)), 1
        )
        for number, to in enumerate((pages, pages[:1], [], pages[1:], pages[::-1]), 3)
    ]

    async def ways() -> None:
        found = []
        for way, ends in {"pages": (), "parcels": (2, 4, 3, 4, 5), "both": (5, 1, 5)}.items():
            shard = shard_on(web, 0, log := SqliteLog(tmp_path / way), Owners(1))
            if way != "parcels":
                shard.engine.add_events_from_shards(sent[: 5 if way == "pages" else 2])
            begin = 0
            for end in ends:
                packed = encode_other(LinkBatch(sent[min(begin, end - 1) : end]))
                assert shard.receive(packed) == sent[end - 1].number
                begin = 0 if end == 4 else end - 1
            again = shard_on(web, 0, log, Owners(1))
            assert again.engine.inbox == shard.engine.inbox == {1: 7}
            assert state_of(again.engine) == state_of(shard.engine)
            told = [
                event.pages if isinstance(event, LinkBatch) else [event] for event in log if not isinstance(event, Seed)
            ]
            assert [page.number for pages in told for page in pages] == [3, 4, 5, 6, 7]
            found.append(state_of(shard.engine))
            await shard.engine.space.close()
            await again.engine.space.close()
        assert found[0] == found[1] == found[2]

    run_virtual(ways())


def test_an_address_is_leased_to_one_at_a_time() -> None:
    now = [100.0]
    owners, leases = Owners(4), list[Leases]()
    leases += [Leases(number, owners, lambda: now[0], Ledger(0.25)) for number in range(4)]
    owner = owners.of(ADDRESS)
    boss, (one, two, three) = leases[owner], [leases[number] for number in range(4) if number != owner]

    def ask(who: Leases, *, answered: bool = True) -> float:
        at, latest, _ = who.turn(ADDRESS, now[0], "request")
        if latest < 0 and who is not boss:
            wants = who.wants(owner)
            who.heard(owner, wants, boss.lease(who.number, wants) if answered else [], now[0])
            at, latest, _ = who.turn(ADDRESS, now[0], "request")
        return round(at - now[0], 3) if latest > 0 else -1.0

    assert ask(one) == -1.0, "the owner has no lease itself"
    boss.until = 110.0
    assert ask(boss) == 0.0
    assert ask(one) == 0.3
    assert ask(two) == 0.6
    assert one.ready(ADDRESS, 0.0) == 100.3
    now[0] = 105.0
    assert ask(one) == 0.0, "a new span"
    assert [ask(two), ask(three)] == [0.3, 0.6]
    now[0] = 109.97
    assert ask(boss) == -1.0, "nothing is leased beyond"
    boss.over = True
    assert ask(boss) == 0.0, "but what is in flight at the end of a crawl is sent"
    boss.over = False
    now[0], boss.until = 200.0, 210.0
    assert ask(one) == 0.0
    now[0] = 202.0
    assert ask(one) == 0.0, "alone: as long as the owner's lease"
    now[0] = 209.7
    assert ask(one) == 0.0
    assert ask(two) == -1.0
    now[0] = 300.0
    for seconds in (0.0, 5.0, 10.2):
        now[0] = 300.0 + seconds
        assert ask(three, answered=False) == -1.0, "the owner is dead: what it leased may be in use"
    assert three.turn(ADDRESS, now[0], "request")[1] < 0
    now[0] = 310.25
    assert ask(three, answered=False) == 0.0
    assert three.turn(ADDRESS, now[0], "request")[2] == 4 * 0.25
    for request in ("a", "b"):
        one.turn(ADDRESS, now[0], request)
    assert one.ready(ADDRESS, now[0]) > now[0], "two requests wait already"
    now[0] = 320.0
    assert one.ready(ADDRESS, now[0]) == now[0], "whoever has gone does not count"


def test_crawls_of_one_process_share_its_leases() -> None:
    now, owners = [100.0], Owners(4)
    ledgers = [Ledger(made=100.0) for _ in range(4)]
    crawls = [[Leases(number, owners, lambda: now[0], ledgers[number]) for number in range(4)] for _ in range(2)]
    owner = owners.of(ADDRESS)
    one, two = [number for number in range(4) if number != owner][:2]
    for leases, free_from in zip(crawls, (0.0, 500.0), strict=True):
        leases[owner].until = 120.0
        for each in leases:
            each.ledger.open(0.25, free_from)

    def ask(leases: list[Leases], number: int) -> tuple[float, float]:
        wants = [(ADDRESS, 1, 0.05)]
        ((wait, seconds),) = leases[owner].lease(number, wants)
        return round(now[0] + wait, 3), round(now[0] + wait + seconds, 3)

    first, other = crawls
    assert ask(first, one) == (110.25, 110.55), "leases from before the process began have run out then"
    now[0] = 111.0
    assert ask(first, one) == (111.0, 120.25), "alone"
    assert ask(other, one) == (111.0, 120.25), "the same process: its crawls take turns there"
    assert ask(other, two)[1] == 111.0, "another one waits"
    now[0], other[owner].until = 120.3, 130.0
    assert ask(other, two) == (120.3, 120.6)


def test_a_pause_of_an_address_may_be_longer_than_a_lease(web: Web) -> None:
    logs, pause = [MemoryLog() for _ in range(SHARDS)], 1.5 * SECONDS

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
