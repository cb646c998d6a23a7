"""The revisit scheduler in whole runs in virtual time: watched pages, requests, and learned state."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import lycosa
from crawl_helpers import state_of
from input_errors import raises_input_error
from lycosa.core.engine import Engine
from lycosa.core.errors import LockedError
from lycosa.core.options import Options
from lycosa.core.table import Table
from lycosa.core.types import Links, Task, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.revisit.change import change_of
from lycosa.revisit.rates import _COLUMNS
from lycosa.revisit.revisit_scheduler import ROUND, STALE, RevisitPlan, RevisitScheduler
from lycosa.revisit.validators import Honesty
from lycosa.spaces.graph import GraphSpace
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb.changing import ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness
from lycosa.web.urls import host_key
from scripted_web import BLEACHED, DAY, GONE, OTHER, PAGE, Says, Script, Told, crawl, html, refresh, run

HOUR = 3_600.0
FRONT, COOKING, SITEMAP = "http://reef.test/", "http://reef.test/soup", "http://reef.test/sitemap.xml"
SELDOM = "fixed,every=100d"


def keeper_of(told: Told) -> RevisitScheduler:
    """Return the scheduler of a run."""
    assert told.crawl.engine is not None
    assert isinstance(told.crawl.engine.scheduler, RevisitScheduler)
    return told.crawl.engine.scheduler


def reefs(number: int, **more: str) -> dict[str, list[Says]]:
    """Return a front page that links to a number of pages about coral, and these pages."""
    urls = [f"http://reef.test/coral-{i}" for i in range(number)]
    pages = {url: [Says(html(f"The coral reef of coast {url}."), etag='"1"')] for url in urls}
    return {FRONT: [Says(html("Coral reefs of all coasts.", links=[*urls, *more.values()]))], **pages}


def watch(path: Path, script: Script, start: float, seconds: float, **options: Any) -> Told:
    """Watch the pages for a number of seconds of virtual time."""
    given: dict[str, Any] = {"clock": clock, "max_time": seconds, **options}
    return run(lambda: lycosa.watch(path, space=script.space(sitemaps=True), **given), start=start)


def small() -> Script:
    """Return an irrelevant seed, a relevant page, an irrelevant page, and a sitemap."""
    listed = f"<urlset><url><loc>{PAGE}</loc></url></urlset>"
    return Script(
        {
            FRONT: [Says(html("Welcome to the coast.", title="Home", links=[PAGE, COOKING]))],
            PAGE: [Says(html())],
            COOKING: [Says(html("Soup of carrots and leeks, with a spoon of cream.", title="Soup"))],
            SITEMAP: [Says(listed, type="application/xml")],
            "http://reef.test/robots.txt": [Says(f"Sitemap: {SITEMAP}\n", type="text/plain")],
        }
    )


def test_watched_pages_are_relevant_pages_seeds_and_sitemaps(tmp_path: Path) -> None:
    script = small()
    crawl(tmp_path / "c", script, (FRONT,), space={"sitemaps": True}, threshold=0.3)
    for moment, (all_of_them, more) in enumerate([(False, set()), (True, {COOKING})], 1):
        told = refresh(tmp_path / "c", script, moment, space={"sitemaps": True}, watch_all=all_of_them)
        assert {FRONT, PAGE, SITEMAP} | more == set(keeper_of(told).watched)
        assert {FRONT, PAGE, SITEMAP} | more == {visit.node for visit in told.visits if visit.follows}


def test_refresh_of_crawl_without_pages_ends_at_once(tmp_path: Path) -> None:
    script = Script({PAGE: [GONE]})
    crawl(tmp_path / "c", script)
    told = refresh(tmp_path / "c", script, 1)
    assert ([], "nothing more is due") == (told.visits, told.crawl.engine.ending if told.crawl.engine else "")
    assert math.inf == keeper_of(told).soonest(0.0)
    assert [] == watch(tmp_path / "c", script, 3 * DAY, DAY).visits


def test_refresh_of_graph_is_refused(tmp_path: Path) -> None:
    space = GraphSpace({"a": ["b"]}, relevance={"b": 1})
    list(lycosa.crawl(SpaceJudge(), ["a"], space=space, strategy="breadth-first", out=tmp_path / "c"))
    with raises_input_error("not-a-web-crawl", "not a crawl"):
        list(lycosa.refresh(tmp_path / "c", topic=SpaceJudge(), space=space))


def test_watch_locks_directory(tmp_path: Path) -> None:
    script = Script({PAGE: [Says(html())]})
    crawl(tmp_path / "c", script)

    async def both() -> None:
        async with lycosa.watch(tmp_path / "c", space=script.space(), clock=clock, now=["."]) as first:
            async for _ in first:
                break
            with pytest.raises(LockedError):
                async for _ in lycosa.watch(tmp_path / "c", space=script.space(), clock=clock):
                    pass

    run_virtual(both(), start=DAY)


def test_refresh_follows_behaviours(tmp_path: Path) -> None:
    script = Script(reefs(6))
    crawl(tmp_path / "c", script, (FRONT,))
    wanted = {"always": ["coral-1$"], "frequently": ["coral-2$"], "infrequently": ["coral-3$"], "now": ["coral-4$"]}
    given = {"everything": False, "schedule": SELDOM, "infrequent": "30d"}
    first = refresh(tmp_path / "c", script, 1, **given, **wanted)  # two days after the crawl
    seen = [visit.node[-1] for visit in first.visits if visit.follows]
    assert "4" == seen[0]
    assert ["1", "2", "4"] == sorted(seen)
    script.moment = 0
    again = run(lambda: lycosa.refresh(tmp_path / "c", space=script.space(), clock=clock), start=2 * DAY + HOUR)
    assert ["1"] == [visit.node[-1] for visit in again.visits if visit.follows]
    uncached = {"Cache-Control": "no-cache"}
    assert [{}, uncached, uncached] == script.asked("http://reef.test/coral-1")
    late = refresh(tmp_path / "c", script, 16, everything=False)  # 32 days after the crawl
    assert ["1", "2", "3"] == sorted(visit.node[-1] for visit in late.visits if visit.follows)


def test_refresh_visits_due_pages_up_to_limits(tmp_path: Path) -> None:
    script = Script(reefs(5))
    crawl(tmp_path / "c", script, (FRONT,))
    none = refresh(tmp_path / "c", script, 1, everything=False, schedule=SELDOM)
    assert [] == none.visits
    some = refresh(tmp_path / "c", script, 2, requests=3)
    assert 3 == len(script.requests) - 7 == len(some.visits)  # the crawl has requested robots.txt and six pages
    assert some.crawl.engine is not None
    assert "request budget spent" == some.crawl.engine.ending
    rest = refresh(tmp_path / "c", script, 3, now=["coral-3$"])  # pages of `now` come first, even with `everything`
    looks = [visit.node for visit in rest.visits if visit.follows]
    assert ([1] * 6, "http://reef.test/coral-3") == (list(Counter(looks).values()), looks[0])


def test_refresh_retries_timeouts(tmp_path: Path) -> None:
    answers = iter([Says(html()), Says(fails="timeout"), Says(html(BLEACHED))])
    script = Script({PAGE: lambda moment: next(answers)})
    script.address = _anywhere  # type: ignore[method-assign]
    crawl(tmp_path / "c", script)
    told = refresh(tmp_path / "c", script, 1)
    assert ["timeout", "ok"] == [visit.outcome for visit in told.of(PAGE)]
    assert [1, 2] == [visit.attempt for visit in told.of(PAGE)]


async def _anywhere(url: str) -> str:
    return "192.0.2.7"


def test_refresh_skips_host_with_unreadable_robots(tmp_path: Path) -> None:
    lost = Says(fails="unknown-host")
    pages = {PAGE: [Says(html()), lost, Says(html())], OTHER.replace("reef", "sea"): [Says(html(BLEACHED))]}
    script = Script({**pages, "http://reef.test/robots.txt": [Says(b"", 404), lost, Says(b"", 404)]})
    crawl(tmp_path / "c", script, tuple(pages))
    told = refresh(tmp_path / "c", script, 1)
    assert [("robots", "unknown-host")] == [(v.kind, v.outcome) for v in told.visits if "//reef." in v.node]
    assert [OTHER.replace("reef", "sea")] == [visit.node for visit in told.visits if visit.follows]
    assert told.ended - EPOCH - 2 * DAY < HOUR
    assert ["unchanged"] == [visit.outcome for visit in refresh(tmp_path / "c", script, 2).of(PAGE)]


def test_watch_keeps_pace_across_restarts(tmp_path: Path) -> None:
    script = Script(reefs(60))
    crawl(tmp_path / "c", script, (FRONT,))
    before = len(script.requests)
    start = 10 * DAY
    for _ in range(4):  # stop and restart every forty minutes
        watch(tmp_path / "c", script, start, 2_400, per_hour=30.0, schedule="fixed,every=1h")
        start += 2_401
    times = [at for at, _, _ in script.requests[before:]]
    caught_up = 300 / (HOUR / 30)  # visits of five minutes
    for begin in times:
        assert len([at for at in times if begin <= at < begin + HOUR]) <= 30 + caught_up + 1
    assert len(times) >= 2.66 * 30 - 10


def endless(script: Script) -> None:
    """Return pages in a chain, each with a link to the next."""
    for i in range(150):
        links = [f"http://wing{(i + 1) % 7}.test/{i + 1}"]
        script.pages[f"http://wing{i % 7}.test/{i}"] = [
            Says(html(f"Coral reef number {i}, and what grows on it.", links=links))
        ]


@pytest.mark.paper("gouriten-refreshing")
def test_explore_share_limits_new_pages(tmp_path: Path) -> None:
    script = Script(reefs(20, wing="http://wing0.test/0"))
    endless(script)
    crawl(tmp_path / "c", script, (FRONT,), budget=21)
    told = refresh(tmp_path / "c", script, 1, explore=0.25)
    kinds = Counter("look" if visit.follows else visit.kind for visit in told.visits)
    assert 21 == kinds["look"]
    assert 0.1 < kinds["page"] / (kinds["page"] + kinds["look"]) < 0.4
    told = watch(tmp_path / "c", script, 4 * DAY, 2 * HOUR, per_hour=40.0, explore=0.5, schedule="fixed,every=30m")
    kinds = Counter("look" if visit.follows else visit.kind for visit in told.visits)
    assert 0.4 < kinds["page"] / (kinds["page"] + kinds["look"]) < 0.6
    assert {visit.node for visit in told.visits if visit.is_page} <= set(keeper_of(told).watched)
    assert all(change_of(visit) is not None for visit in told.visits if visit.is_page)


def test_explore_follows_links_of_changed_pages(tmp_path: Path) -> None:
    script = Script({PAGE: [Says(html()), Says(html(links=[OTHER]))], OTHER: [Says(html(BLEACHED))]})
    crawl(tmp_path / "c", script)
    assert [] == refresh(tmp_path / "c", script, 1).of(OTHER)
    told = watch(tmp_path / "c", script, 3 * DAY, 2 * HOUR, explore=0.5)
    assert ["ok"] == [visit.outcome for visit in told.of(OTHER) if not visit.follows]


def test_moved_pages_are_watched_at_target(tmp_path: Path) -> None:
    away = [Says(b"", 301, more={"Location": url}) for url in (OTHER, "http://sea.test/coral")]
    answers = iter([Says(fails="timeout"), Says(html())])
    pages: dict[str, Any] = {PAGE: [Says(html()), away[0]], OTHER: [away[1]]}
    script = Script({**pages, "http://sea.test/coral": lambda moment: next(answers)})
    script.address = _anywhere  # type: ignore[method-assign]
    crawl(tmp_path / "c", script)
    told = refresh(tmp_path / "c", script, 1)
    assert ["timeout", "ok"] == [visit.outcome for visit in told.of("http://sea.test/coral")]
    assert {PAGE, "http://sea.test/coral"} == set(keeper_of(told).watched)
    assert bool(keeper_of(told).histories.dropped[keeper_of(told).watched[PAGE].number])


def test_pick_skips_targets_in_flight() -> None:
    scheduler, table = made(2)
    table.row_of["http://new.test/"] = len(table)
    moved = look("http://h0.test/0", 1e6, "redirect", status=301)
    moved.links = type(moved.links).to("http://new.test/")
    table.absorb(moved)
    scheduler.learn(moved, table)
    task = scheduler.pick(1, 1e6)
    assert task is not None
    assert ("http://new.test/", "moved") == (task.node, task.arm)
    scheduler.give_back(task, 1e6 + 60)
    assert "http://new.test/" != getattr(scheduler.pick(1, 1e6), "node", "")
    assert task == scheduler.pick(1, 1e6 + 61)


def listed(pages: int, date: Callable[[int], str]) -> str:
    """Return a sitemap of the pages, with dates."""
    urls = (f"<url><loc>http://reef.test/coral-{i}</loc><lastmod>{date(i)}</lastmod></url>" for i in range(pages))
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(urls)}</urlset>'


def day(number: int) -> str:
    """Format noon of a day of virtual time."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(EPOCH + (number + 0.5) * DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def hinted(tmp_path: Path, dates: list[Callable[[int], str]], changed: int) -> tuple[Script, list[Told]]:
    """Return a script of pages with a sitemap that is read at each moment; some pages change at moment 1."""
    pages: dict[str, Any] = reefs(12)
    for i in range(changed):
        url = f"http://reef.test/coral-{i}"
        pages[url] = [*pages[url], Says(html(f"{BLEACHED} So on coast {i}."), etag='"2"')]
    pages[SITEMAP] = [Says(listed(12, date), type="application/xml") for date in dates]
    pages["http://reef.test/robots.txt"] = [Says(f"Sitemap: {SITEMAP}\n", type="text/plain")]
    script = Script(pages)
    crawl(tmp_path / "c", script, (FRONT,), space={"sitemaps": True})
    given: dict[str, Any] = {"everything": False, "schedule": SELDOM, "space": {"sitemaps": True}}
    return script, [refresh(tmp_path / "c", script, moment, **given) for moment in range(1, len(dates))]


def test_correct_sitemap_makes_pages_due(tmp_path: Path) -> None:
    dates = [lambda i: day(-9), lambda i: day(1 if i < 3 else -9)]
    _, (told,) = hinted(tmp_path, dates, changed=3)
    seen = {visit.node: visit.outcome for visit in told.visits if visit.follows and visit.kind == "revisit"}
    assert {f"http://reef.test/coral-{i}": "ok" for i in range(3)} == seen


def test_incorrect_sitemap_is_ignored(tmp_path: Path) -> None:
    dates = [lambda i, n=n: day(2 * n - 1) for n in range(8)]  # type: ignore[misc]
    _, told = hinted(tmp_path, dates, changed=0)
    looks = [sum(visit.kind == "revisit" for visit in run.visits) for run in told]
    assert looks[0] == 8
    assert [0] * 4 == looks[-4:]


@pytest.mark.parametrize("outcome", ["gone", "redirect", "timeout", "refused"])
def test_hint_of_unavailable_page_is_not_retried(outcome: str) -> None:
    scheduler, table = made(20)
    node, now = "http://h0.test/0", 1e6
    scheduler.learn(look(node, now), table)
    source = Visit("http://h0.test/map", "sitemap", "ok", 1, started=now + 1_000, ended=now + 1_000)
    source.links, source.data = Links.to(node), {"modified": [now + 900.0]}
    scheduler.learn(source, table)
    end, looks = now + 6 * HOUR, 0
    while now < end:
        task = scheduler.pick(1, now)
        if task is None:
            now = max(now + 1.0, scheduler.next_due(now))
            continue
        seen = look(task.node, now)
        if task.node == node and now >= source.ended:
            looks, seen.outcome, seen.links = looks + 1, outcome, Links.to("http://h1.test/1")  # type: ignore[assignment]
        scheduler.learn(seen, table)
        scheduler.give_back(task)
        now += 60.0
    # Retries after one, two and four hours, unless the page has vanished.
    assert (1 if outcome == "gone" else 3) == looks


def test_watch_restores_state_from_log(tmp_path: Path) -> None:
    web = ChangingWeb(Web(seed=7, pages=120, hosts=6, traps=()), clock, seed=1)
    topic = web.topics[0]

    def space() -> WebSpace:
        transport = SimTransport(web, seed=1, latency=(0.01, 0.05))
        return WebSpace(transport, Politeness(clock, delay=1.0), clock, probe_after=3, sitemaps=True)

    def first() -> lycosa.Crawl:
        given = {"out": tmp_path / "c", "clock": clock, "budget": 30, "sitemaps": True, "strategy": "best-first"}
        # A model update during a watch affects the scheduler only in the next run.
        return lycosa.crawl(web.query(topic), web.seeds(topic, 2), space=space(), judge="vector", **given)

    run(first)
    given: dict[str, Any] = {"clock": clock, "per_hour": 20.0, "explore": 0.1}
    live = run(lambda: lycosa.watch(tmp_path / "c", space=space(), max_time=DAY, **given), start=DAY)
    assert {"ok", "unchanged"} <= {visit.outcome for visit in live.visits if visit.follows}

    async def opened(crawl: Callable[[], lycosa.Crawl]) -> Engine:
        made = crawl()
        engine = await made.open()
        await made.close()
        return engine

    replayed = run_virtual(opened(lambda: lycosa.watch(tmp_path / "c", space=space(), **given)), start=4 * DAY)
    assert live.crawl.engine is not None
    assert isinstance(replayed.scheduler, RevisitScheduler)
    assert learned(keeper_of(live)) == learned(replayed.scheduler)
    assert known(live.crawl.engine) == known(replayed)
    pages = live.crawl.engine.tally.pages
    resumed = run(lambda: lycosa.resume(tmp_path / "c", space=space(), clock=clock, budget=pages + 7), start=5 * DAY)
    assert 7 == sum(visit.is_page for visit in resumed.visits)
    assert not any(visit.follows for visit in resumed.visits)


def known(engine: Engine) -> dict[str, Any]:
    return {name: value for name, value in state_of(engine).items() if name != "settings"}


def learned(scheduler: RevisitScheduler) -> dict[str, Any]:
    """Return the learned state of the scheduler, exactly."""
    memory, n = scheduler.memory, len(scheduler.histories)
    return {
        "histories": {name: getattr(memory.histories, name)[:n].tolist() for name in _COLUMNS},
        "watched": {node: asdict(page) for node, page in memory.watched.items()},
        "columns": (memory.behaviour[:n].tolist(), memory.is_source[:n].tolist()),
        "honesty": {host: asdict(honesty) for host, honesty in memory.honesty.items() if honesty != Honesty()},
        "hints": (memory.hints._announced, memory.hints._seen, memory.hints._open, memory.news),
        "hosts": {host: asdict(said) for host, said in memory.hints._hosts.items()},
        "targets": memory.targets,
        "retries": list(memory.retries),
    }


def made(pages: int, **how: Any) -> tuple[RevisitScheduler, Table]:
    """Return a scheduler of pages on 20 hosts, visited long before the run starts at time 1,000,000."""
    space: Any = SimpleNamespace(ready=lambda host_key: (0.0, ""), host_key=host_key)
    options = Options(schedule="automatic", per_hour=3600, explore=0.0)
    scheduler = RevisitPlan(**how).scheduler(options, cast(Any, None), space, threshold=0.1, now=1e6)
    table = Table(host_key)
    for i in range(pages):
        node = f"http://h{i % 20}.test/{i}"
        table.add(node, 1)
        visit = Visit(node, "page", "ok", i, started=i * 0.01, ended=i * 0.01, relevance=0.2 + 0.006 * (i % 100))
        table.absorb(visit)
        scheduler.learn(visit, table)
    return scheduler, table


def look(node: str, at: float, outcome: Any = "unchanged", **more: Any) -> Visit:
    return Visit(node, "revisit", outcome, 1, started=at, ended=at + 0.1, data={"follows": 1.0}, **more)


def work(pages: int, looks: int) -> tuple[int, int]:
    """Count plans for all pages and for single pages, during visits one second apart."""
    scheduler, table = made(pages)
    counted: Counter[bool] = Counter()
    times = scheduler._times

    def count(which: int | None) -> Any:
        counted[which is None] += 1
        return times(which)

    scheduler._times = count  # type: ignore[method-assign]
    now, done = 1e6, 0
    while done < looks:
        task = scheduler.pick(done, now)
        if task is None:
            now = max(now + 1e-3, scheduler.next_due(now))
            continue
        scheduler.learn(look(task.node, now), table)
        scheduler.give_back(task)
        done, now = done + 1, now + 1.0
    return counted[True], counted[False]


def test_visit_replans_single_page() -> None:
    looks = 3 * ROUND
    for pages in (300, 2_400):
        planned, single = work(pages, looks)
        assert planned <= looks / ROUND + looks / STALE + 1
        assert looks == single


def test_pick_returns_largest_claim_first() -> None:
    scheduler, _ = made(200, once=True, everything=True)
    tasks: list[Task] = []
    while (task := scheduler.pick(len(tasks), 1e6)) is not None:
        tasks.append(task)
    assert 200 == len({task.node for task in tasks})
    assert sorted((task.priority for task in tasks), reverse=True) == pytest.approx([task.priority for task in tasks])
    assert np.inf == scheduler.next_due(1e6)


def test_first_watch_ignores_requests_of_crawl(tmp_path: Path) -> None:
    script = Script(reefs(60))
    crawl(tmp_path / "c", script, (FRONT,))
    told = watch(tmp_path / "c", script, HOUR, 1_800, per_hour=10.0, schedule="fixed,every=1m")
    assert 4 <= len([visit for visit in told.visits if visit.follows]) <= 7
