"""Crawls of the changing web, and revisits of their pages by the real engine with one schedule and budget."""

from __future__ import annotations

import asyncio
import shutil
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.core.errors import LycosaError
from lycosa.core.options import Options
from lycosa.core.protocols import Space
from lycosa.crawling import Crawl, crawl
from lycosa.crawling.request import CrawlRequest
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.spaces.web_space import WebSpace
from lycosa.store.directory import Directory
from lycosa.testweb.changing import ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.version import SOFTWARE
from lycosa.web.politeness import Politeness
from lycosa_lab.papers import cached
from lycosa_lab.papers.freshness.upkeep import DAY, PageCheck, Upkeep, measure, timeline

AUTOMATIC = "automatic"
SCHEDULES = ("fixed", AUTOMATIC)


@dataclass(frozen=True)
class FreshnessScenario:
    """A changing web, and the size of the crawl for its largest topic."""

    seed: int
    pages: int
    hosts: int
    crawled: int
    days: float

    @property
    def key(self) -> str:
        return f"{self.seed}-{self.pages}-{self.hosts}-{self.crawled}-{self.days:g}"

    def grow(self) -> ChangingWeb:
        plain = Web(seed=self.seed, pages=self.pages, hosts=self.hosts, traps=())
        return ChangingWeb(plain, clock, seed=self.seed, days=self.days)

    def space(self, web: ChangingWeb) -> Space:
        transport = SimTransport(web, seed=self.seed, latency=(0.01, 0.05))
        return WebSpace(transport, Politeness(clock, delay=1.0), clock, probe_after=3, sitemaps=False)


@dataclass(frozen=True)
class RevisitTrial:
    """A watch; `every` is the budget in seconds between two checks of a page if all were checked equally often."""

    world: FreshnessScenario
    schedule: str
    every: float

    @property
    def key(self) -> str:
        return f"{self.world.key}-{self.schedule}-{self.every:g}"


class CrawledPages(NamedTuple):
    """Relevant pages and seeds of a crawl, which a watch keeps fresh: fetch time and weight of each."""

    ended: float  # end of the crawl in virtual seconds
    pages: dict[str, tuple[float, float]]


def crawl_scenario(world: FreshnessScenario, out: Path) -> CrawledPages:
    place = out / "crawls" / world.key
    pages = cached(place / "watched.json", {"world": asdict(world)}, lambda: _crawl(world, place / "crawl")._asdict())
    return CrawledPages(**pages)


def _crawl(world: FreshnessScenario, place: Path) -> CrawledPages:
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    web = world.grow()
    topic = max(web.topics, key=lambda name: sum(1 for _ in web.relevant(name)))
    seeds = web.seeds(topic, 3)
    pages: dict[str, tuple[float, float]] = {}

    async def run() -> float:
        running = crawl(
            web.query(topic), seeds, out=place, space=world.space(web), clock=clock, budget=world.crawled,
            strategy="best-first", sitemaps=False,
        )  # fmt: skip
        async for visit in running:
            assert running.engine is not None
            least = running.engine.judge.threshold
            # same choice of pages and same weights as the RevisitScheduler
            if visit.is_page and (visit.node in seeds or visit.was_relevant(least)):
                weight = max(visit.relevance, least) if visit.node in seeds else visit.relevance
                pages[visit.node] = visit.started, max(weight, 1e-3)
        return asyncio.get_running_loop().time()

    return CrawledPages(run_virtual(run()), pages)


def run_revisit_trial(trial: RevisitTrial, out: Path) -> Upkeep:
    of = {"software": SOFTWARE, "trial": asdict(trial)}
    return Upkeep(**cached(out / "watches" / f"{trial.key}.json", of, lambda: asdict(_watch(trial, out))))


def _watch(trial: RevisitTrial, out: Path) -> Upkeep:
    world = trial.world
    crawled = crawl_scenario(world, out)
    web = world.grow()
    place = out / "running" / trial.key
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(out / "crawls" / world.key / "crawl", place)
    changes: dict[str, Any] = {
        "schedule": trial.schedule,
        "per_hour": len(crawled.pages) * 3600.0 / trial.every,
        "max_time": world.days * DAY,
        "feeds": False,  # not needed here; they would double the run time
    }
    options = Options.from_mapping({**vars(Directory.read_options(place)), **changes}, "freshness")
    checks: dict[str, list[PageCheck]] = {url: [] for url in crawled.pages}
    sent: defaultdict[str, int] = defaultdict(int)

    async def run() -> str:
        resumed = CrawlRequest(
            options, place, space=world.space(web), clock=clock, resuming=True, revisit_plan=RevisitPlan()
        )
        running = Crawl(resumed)
        async for visit in running:
            if visit.node not in checks or visit.kind != "revisit":
                sent["other"] += bool(visit.address)
                continue
            checks[visit.node].append(PageCheck(visit.started, visit.outcome, visit.status))
        return running.engine.ending if running.engine is not None else ""

    ending = run_virtual(run(), start=crawled.ended)
    if "time" not in ending:
        raise LycosaError(f"the revisit trial {trial.key} ended early: {ending}")
    start = EPOCH + crawled.ended
    end = start + world.days * DAY
    pages = [timeline(web, url, weight, at, start, end) for url, (at, weight) in crawled.pages.items()]
    upkeep = measure(pages, [checks[page.url] for page in pages], start, end, sent["other"])
    shutil.rmtree(place, ignore_errors=True)
    return upkeep
