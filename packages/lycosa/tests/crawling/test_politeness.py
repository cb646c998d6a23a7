"""Tests of politeness, measured at the server."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crawl_helpers import hits_of, leave, plant, sim_engine, state_of, visits_of
from lycosa.core.engine import Engine
from lycosa.core.types import Visit
from lycosa.crawling import crawl, resume
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import ServedRequest, ServedResponse, Web, gaps, max_in_flight, serve
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.web.fetch import HttpTransport
from lycosa.web.fetch import Response as Fetched
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import MAX_SLOW_PAUSE, Politeness

TOPIC = "marine biology/coral reefs"
ROUNDING = 1e-5  # the current time as float has steps of a quarter of a microsecond
TRAPS = ("redirects", "failing", "robots", "dead")


def _too_close(hits: Iterable[ServedRequest], delay: float) -> dict[str, float]:
    return {host: gap for host, gap in gaps(hits).items() if gap < delay - ROUNDING}


def _too_many(hits: Iterable[ServedRequest], limit: int) -> dict[str, int]:
    return {host: most for host, most in max_in_flight(hits).items() if most > limit}


def _seen(web: Web, **options: Any) -> tuple[list[ServedRequest], list[Visit]]:
    """Return requests to a real server during a crawl with 64 requests in flight, and the visits of the crawl."""
    more = {"concurrency": 64, "patience": 1.0, "choosy": 0.0, "judge": "vector", "strategy": "best-first", **options}
    with serve(web, latency=0.01) as server:  # URLs created later contain its port
        traps = [url for trap in ("failing", "robots", "redirects") if trap in web.traps for url in web.trap_urls(trap)]
        by_host = {host: [url for url in traps if host in url] for host in {url.split("/")[2] for url in traps}}
        seeds = [*web.seeds(TOPIC), *(url for host in sorted(by_host) for url in by_host[host][:3])]
        visits = list(crawl(web.query(TOPIC), seeds, allow_network=["127.0.0.0/8"], **more))
        return list(server.log), visits


def test_requests_are_sequential_with_delay() -> None:
    web = Web(pages=400, hosts=8, traps=TRAPS)
    hits, visits = _seen(web, delay=0.05, budget=150)
    assert not _too_close(hits, 0.05)
    assert not _too_many(hits, 1)
    asked = Counter(hit.host for hit in hits)
    assert len(hits) > 150
    assert set(web.hosts) <= set(asked)
    assert any(300 <= hit.status < 400 for hit in hits)
    # A broken connection is not retried at once, so the crawl has recorded each request.
    hung_up = [visit for visit in visits if "//hang-up.localhost" in visit.node]
    requests = sum(visit.outcome not in ("denied", "refused") for visit in hung_up)
    assert 2 <= requests <= asked["hang-up.localhost"] <= requests + 1


def test_per_host_limits_concurrent_requests() -> None:
    hits, visits = _seen(Web(pages=200, hosts=3, traps=("redirects",)), budget=60, per_host=3, delay=0.0)
    assert not _too_many(hits, 3)
    # A fast server handles requests in sequence if the crawl is delayed; those started together always overlap.
    sent = [visit for visit in visits if visit.outcome not in ("denied", "refused")]
    spans = [ServedRequest(visit.node.split("/")[2], "", 0, visit.started, visit.ended, "", "", 0) for visit in sent]
    assert max(max_in_flight(spans).values()) == 3


async def _crawled(web: Any, seeds: Iterable[str], query: str = "coral reef", **options: Any) -> Engine:
    engine = sim_engine(web, query, **options)
    plant(engine, list(seeds))
    async for _ in engine.run():
        pass
    return engine


def test_many_hosts_are_fetched_in_parallel() -> None:
    web = Web(pages=900, hosts=200, traps=("redirects", "dead"))
    hits = hits_of(run_virtual(_crawled(web, web.seeds(TOPIC), web.query(TOPIC), concurrency=64, pages=150)))
    assert not _too_close(hits, 1.0)
    assert not _too_many(hits, 1)
    assert sum(hit.path == "/robots.txt" for hit in hits) >= 50
    assert max_in_flight([replace(hit, host="all") for hit in hits])["all"] > 30


def test_host_is_requested_sequentially() -> None:
    hits = hits_of(run_virtual(_crawled(Plain(pages=25), ["http://a.localhost/"], concurrency=64)))
    assert len(hits) > 25
    assert not _too_close(hits, 1.0)
    assert not _too_many(hits, 1)


@pytest.mark.parametrize("per_host", [1, 3])
def test_retries_and_redirects_keep_delay(per_host: int) -> None:
    web = Web(pages=200, hosts=12, traps=(*TRAPS, "slow"))
    seeds = [*web.seeds(TOPIC), *web.trap_urls("failing"), *web.trap_urls("robots"), *web.trap_urls("slow")]
    engine = run_virtual(_crawled(web, seeds, concurrency=64, per_host=per_host, pages=500))
    hits = hits_of(engine)
    assert not _too_close(hits, 1.0)
    assert not _too_many(hits, per_host)
    visits = list(visits_of(list(engine.log)))
    assert sum(visit.attempt > 1 for visit in visits) > 5
    assert sum(visit.kind == "redirect" for visit in visits) > 20
    assert {"busy", "unreachable", "denied"} <= {visit.outcome for visit in visits}


def test_per_host_requests_are_concurrent() -> None:
    options: dict[str, Any] = {"delay": 0.05, "per_host": 3, "latency": (0.3, 0.3)}
    hits = hits_of(run_virtual(_crawled(Plain(pages=20), ["http://a.localhost/"], **options)))
    assert not _too_close(hits, 0.05)
    assert not _too_many(hits, 3)
    assert max_in_flight(hits)["a.localhost"] > 1


def test_crawl_delay_is_kept() -> None:
    web = Web(pages=300, hosts=10, traps=("robots",))
    seeds = [url for url in web.trap_urls("robots") if "slow-lane" in url]
    assert len(seeds) > 3
    engine = run_virtual(_crawled(web, [*seeds, *web.seeds(TOPIC)], delay=0.2, pages=150, latency=(0.01, 0.05)))
    closest = gaps(hits_of(engine))
    assert closest["slow-lane.localhost"] >= 1.0 - ROUNDING
    assert not _too_close(hits_of(engine), 0.2)
    assert min(closest.values()) < 0.4, "the others are not asked as often as they may be"


class Plain:
    """Web of one-word hosts under .localhost, with a few interlinked pages each."""

    def __init__(
        self, pages: int = 5, robots: str = "", busy: Mapping[str, str] | None = None, delay: float = 0.0
    ) -> None:
        self.pages, self.robots, self.busy, self.delay = pages, robots, busy or {}, delay

    def counts(self, url: str) -> bool:
        return True

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        if url.endswith("/robots.txt"):
            return ServedResponse(200, [("Content-Type", "text/plain")], self.robots.encode())
        path = "/" + url.split("/", 3)[3]
        if path in self.busy and version == 0:
            return ServedResponse(503, [("Retry-After", self.busy[path])], b"")
        links = "".join(f"<a href='/{number}'>coral reef {number}</a>\n" for number in range(self.pages))
        page = f"<title>coral reef</title><p>coral reef</p>{links}".encode()
        return ServedResponse(200, [("Content-Type", "text/html")], page, self.delay)


def test_retry_after_in_seconds_is_respected() -> None:
    engine = run_virtual(_crawled(Plain(busy={"/2": "77"}), ["http://a.localhost/"]))
    hits = hits_of(engine)
    at = next(number for number, hit in enumerate(hits) if hit.status == 503)
    assert hits[at + 1].started - hits[at].ended >= 77.0 - ROUNDING
    assert [hit.status for hit in hits if hit.path == "/2"] == [503, 200]


def test_retry_after_as_date_is_respected() -> None:
    web = Plain(busy={"/2": "Tue, 14 Nov 2023 22:15:00 GMT"})
    hits = hits_of(run_virtual(_crawled(web, ["http://a.localhost/"])))
    at = next(number for number, hit in enumerate(hits) if hit.status == 503)
    assert hits[at].ended < 50.0
    assert hits[at + 1].started >= 100.0 - ROUNDING


def test_retry_after_beyond_patience_ends_run() -> None:
    engine = run_virtual(_crawled(Plain(busy={"/2": "3600"}), ["http://a.localhost/"]))
    assert engine.ending == "the remaining hosts asked to be left alone for now"
    assert engine.table.open_rows > 0


def test_slow_host_gets_longer_delays() -> None:
    slow = hits_of(run_virtual(_crawled(Plain(delay=4.0), ["http://a.localhost/"], latency=(0.0, 0.0))))
    rests = [later.started - earlier.ended for earlier, later in pairwise(slow)]
    assert rests[-1] > rests[1] > 2.0  # the average rises towards twice the response time of four seconds
    assert max(rests) <= 8.0 + 0.01
    quick = hits_of(run_virtual(_crawled(Plain(), ["http://a.localhost/"], latency=(0.1, 0.1))))
    rests = [later.started - earlier.ended for earlier, later in pairwise(quick)]
    assert rests == pytest.approx([1.0] * len(rests), abs=0.01)


def _space(web: Any) -> WebSpace:
    transport = SimTransport(web, seed=1, latency=(0.2, 0.6))
    return WebSpace(transport, Politeness(clock, delay=1.0, free=lambda address: True), clock)


def _hits(space: WebSpace) -> list[ServedRequest]:
    assert isinstance(space.transport, SimTransport)
    return space.transport.log


def _broken_and_resumed(path: Path, web: Any, seeds: list[str], turns: int, pause: float) -> tuple[float, Any, Any]:
    """Crawl for some visits, break off, and resume after a pause; return the time and the requests before and after."""

    async def first() -> tuple[float, list[ServedRequest]]:
        space = _space(web)
        running = aiter(crawl("coral reef", seeds, out=path, space=space, clock=clock, archive=False))
        if turns:
            for _ in range(turns):
                await anext(running)
            await leave(running)
        else:  # break off while the very first requests are in flight
            step = asyncio.ensure_future(anext(running))  # type: ignore[arg-type]
            await asyncio.sleep(0.1)
            step.cancel()
            await asyncio.gather(step, return_exceptions=True)
            await leave(running)
        return clock() - EPOCH, _hits(space)

    async def second() -> list[ServedRequest]:
        space = _space(web)
        running = aiter(resume(path, space=space, clock=clock))
        for _ in range(12):
            await anext(running)
        await leave(running)
        return _hits(space)

    ended, before = run_virtual(first())
    return ended + pause, before, run_virtual(second(), start=ended + pause)


SEEDS = [f"http://{name}.localhost/" for name in "abcdef"]


@pytest.mark.parametrize(
    ("turns", "pause"),
    [
        (25, 0.0),
        (25, 0.4),
        (25, 500.0),
        (0, 0.0),
        (25, -3600.0),
    ],
    ids=["at once", "soon", "later", "before anything is recorded", "with the clock set back"],
)
def test_resumed_crawl_starts_with_delay(tmp_path: Path, turns: int, pause: float) -> None:
    start, before, after = _broken_and_resumed(tmp_path / "crawl", Plain(), SEEDS, turns, pause)
    assert before
    assert min(hit.started for hit in after) >= start + 1.0 - ROUNDING
    if pause >= 0:
        assert not _too_close([*before, *after], 1.0)


def test_resumed_crawl_keeps_crawl_delay(tmp_path: Path) -> None:
    web = Plain(robots="User-agent: *\nCrawl-delay: 10\n")
    _, before, after = _broken_and_resumed(tmp_path / "crawl", web, SEEDS, 20, 0.0)
    assert before
    assert after
    assert not _too_close([*before, *after], 10.0)


class OverAddresses(HttpTransport):
    """Real transport with guard, name lookup and delays, but without the network exchange."""

    def __init__(self, web: Any, politeness: Politeness, addresses: Mapping[str, str], allow: Iterable[str] = ()):
        async def lookup(name: str) -> list[str]:
            await asyncio.sleep(0.01)
            return [addresses[name]]

        super().__init__(clock, Guard(allow), DnsCache(clock, lookup), politeness)
        self.web = web
        self.starts: dict[str, list[float]] = defaultdict(list)

    async def _exchange(self, url: str, headers: dict[str, str], wanted: frozenset[str], address: str) -> Fetched:
        self.starts[address].append(clock())
        await asyncio.sleep(0.1)
        reply = self.web.response(url)
        fields = {key.lower(): value for key, value in reply.headers}
        return Fetched(reply.status, b"HTTP/1.1 200 OK", [], reply.body, address, fields=fields)


async def _over_addresses(
    hosts: Mapping[str, str], *, allow: Iterable[str] = (), pages: int = 0, concurrency: int = 64
) -> tuple[OverAddresses, list[Visit]]:
    guard = Guard(allow)
    politeness = Politeness(clock, delay=1.0, address_delay=0.25, free=guard.in_allowed_network)
    transport = OverAddresses(Plain(pages=3), politeness, hosts, allow)
    engine = sim_engine(Plain(), "coral reef", concurrency=concurrency, pages=pages)
    space = WebSpace(transport, politeness, clock, transport.names)
    engine.space = space
    engine.table.host_key, engine.frontier.ready = space.host_key, space.ready
    plant(engine, [f"http://{host}/" for host in hosts])
    async for _ in engine.run():
        pass
    await space.close()
    return transport, list(visits_of(list(engine.log)))


def _smallest(starts: list[float]) -> float:
    return min(later - earlier for earlier, later in pairwise(sorted(starts)))


def test_address_delay_is_shared_by_hosts() -> None:
    hosts = {f"site{number}.example": "93.184.216.34" for number in range(50)}
    transport, visits = run_virtual(_over_addresses(hosts))
    assert _smallest(transport.starts["93.184.216.34"]) >= 0.25 - ROUNDING
    assert sum(visit.is_page for visit in visits) == 50 * 4
    assert {visit.outcome for visit in visits} == {"ok"}


def test_address_delay_is_per_address() -> None:
    one = run_virtual(_over_addresses({f"s{n}.example": "93.184.216.34" for n in range(40)}))
    ten = run_virtual(_over_addresses({f"s{n}.example": f"93.184.216.{n % 10}" for n in range(40)}))
    lasted = [max(max(times) for times in transport.starts.values()) - EPOCH for transport, _ in (one, ten)]
    assert lasted[0] > 3 * lasted[1]
    for times in ten[0].starts.values():
        assert _smallest(times) >= 0.25 - ROUNDING


def test_allowed_network_has_no_address_delay() -> None:
    hosts = {f"s{number}.intern": "10.0.0.7" for number in range(40)}
    transport, visits = run_virtual(_over_addresses(hosts, allow=["10.0.0.0/8"]))
    assert _smallest(transport.starts["10.0.0.7"]) < 0.25
    assert {visit.outcome for visit in visits} == {"ok"}


def test_waiting_for_address_is_not_a_timeout() -> None:
    hosts = {f"s{number}.example": "93.184.216.34" for number in range(200)}
    _, visits = run_virtual(_over_addresses(hosts, concurrency=150, pages=200))
    assert Counter(visit.outcome for visit in visits).keys() == {"ok"}


def test_waiting_for_address_does_not_slow_host() -> None:
    hosts = {f"s{number}.example": "93.184.216.34" for number in range(64)}

    async def pauses() -> list[float]:
        transport, _ = await _over_addresses(hosts)
        return [known.latency for known in transport.politeness._hosts.values()]

    assert max(run_virtual(pauses())) < 0.5  # a response takes 0.1 s


def test_requests_to_address_are_spaced() -> None:
    async def wait_for_address() -> list[tuple[float, int]]:
        politeness = Politeness(clock, delay=1.0, address_delay=0.25)
        entered: list[tuple[float, int]] = []

        async def one(number: int) -> None:
            await politeness.wait_for_address("93.184.216.34")
            entered.append((clock() - EPOCH, number))

        await asyncio.gather(*(one(number) for number in range(8)))
        assert politeness.ready("other", "93.184.216.34") == (
            pytest.approx(EPOCH + 2.0),
            "pause of address 93.184.216.34",
        )
        assert politeness.ready("other", "93.184.216.35")[0] <= clock()
        return entered

    entered = run_virtual(wait_for_address())
    assert [number for _, number in entered] == list(range(8))
    assert [at for at, _ in entered] == pytest.approx([0.25 * number for number in range(8)], abs=ROUNDING)


def test_longest_delay_is_used() -> None:
    async def pauses() -> None:
        def politeness() -> Politeness:
            made = Politeness(clock, delay=1.0)
            made.begin("h")
            assert made.ready("h") == (float("inf"), "request in flight")
            return made

        plain = politeness()
        plain.end("h", 0.1)
        assert plain.ready("h") == (clock() + 1.0, "delay")
        slow = politeness()
        slow.end("h", 5.0)
        assert slow.ready("h") == (clock() + 10.0, "slow host")
        very = politeness()
        very.end("h", 500.0)
        assert very.ready("h")[0] == clock() + MAX_SLOW_PAUSE
        asked = politeness()
        asked.end("h", 5.0)
        asked.apply_crawl_delay("h", 30.0)
        assert asked.ready("h")[0] == clock() + 30.0
        asked.hold("h", clock() + 40.0, "asked to come back later")
        asked.hold("h", clock() + 20.0, "an older request")
        assert asked.ready("h") == (clock() + 40.0, "asked to come back later")

    run_virtual(pauses())


def test_per_host_requests_are_spaced() -> None:
    async def start() -> None:
        politeness = Politeness(clock, delay=1.0, at_once=3)
        for number in range(3):
            politeness.begin("h")
            assert politeness.ready("h")[0] > clock()  # not sent yet
            politeness.sent("h")
            if number < 2:
                assert politeness.ready("h")[0] == clock() + 1.0
                await asyncio.sleep(1.0)
        assert politeness.ready("h") == (float("inf"), "request in flight")
        politeness.end("h", 0.2)
        assert politeness.ready("h")[0] == clock() + 1.0

    run_virtual(start())


def test_waiting_host_continues_after_resume() -> None:
    engine = run_virtual(_crawled(Plain(pages=30), ["http://a.localhost/"]))
    assert engine.ending == "nothing left to fetch"
    assert engine.tally.pages == 31
    assert state_of(engine)["open"] == b""
