"""Tests of each kind of strategy on the embedded web, with several requests in flight and after resuming."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from crawl_helpers import (
    ONTOLOGY,
    Remembered,
    browsed,
    go_on,
    plant,
    sim_engine,
    sim_space,
    state_of,
    taught,
    visits_of,
)
from lycosa.core.engine import Engine
from lycosa.core.types import Event, Visit
from lycosa.judges.model_judge import ModelJudge
from lycosa.judges.vector_judge import VectorJudge
from lycosa.store.log import NAME, MemoryLog, SqliteLog
from lycosa.strategies import MODEL, STRATEGIES, TAXONOMY
from lycosa.strategies import WORDS as MEANING
from lycosa.testweb import Web
from lycosa.testweb.simulation import EPOCH, clock, run_virtual

TOPIC = "marine biology/coral reefs"
KINDS = (
    "scent",
    "best-first,merge=sum,ties=random",
    "opic,ties=random,q=.7,zeta=.5,batch=5",
    "lr_sl,batch=5,q=.7,zeta=.5",
    "pagerank,q=.7,zeta=.5",
    "mab_var,arms=fl_n+lr_sl+sl_n+random",
    "soft-focus,distiller=yes,apprentice=yes,batch=5",
    "ehrig,measure=any-1,merge=sum",
    "hybrid,file={browsing},clusters=xmeans,k=1",
    "rules,file={rules},refine=yes,period=10",
)
"""One strategy for each kind of frontier (heaps, batches, scans, arms) and each kind of required knowledge."""

VARIANTS = (
    "mab_discounted",
    "hybrid-anchor,file={browsing}",
    "best-first,batch=20,dry=random",
    "nr,batch=5,ties=random",
    "n-best-first,n=5",
    "mab_epsilon,epsilon=.5,arms=best-first+opic+backlink",
    "hmm,file={browsing},merge=last,epsilon=0",
    "context-graph,file={browsing},layers=1,ties=random",
    "rules,file={rules},depth=3,paths=max,merge=mean,q=.7,zeta=.5",
)
PRUNING = ("hard-focus", "url-optimisation", "personalised", "fish-search", "shark-search")
"""Strategies that may run out of links to follow."""

PAGES = {strategy: 45 if strategy.startswith("mab_") else 27 for strategy in (*KINDS, *VARIANTS)}
"""Pages before the interruption, which is not a multiple of a batch."""


class World:
    """Web, files learned from it, and crawls of it."""

    def __init__(self, place: Path) -> None:
        self.web = Web(pages=300, hosts=20, traps=("redirects", "dead", "failing", "duplicates"))
        model, rules = taught(self.web, place)
        truth = place / "truth.tsv"
        truth.write_text("".join(f"{url}\t{int(self.web.topic(url) == TOPIC)}\n" for url in self.web.urls()))
        ontology = place / "ontology.tsv"
        ontology.write_text(ONTOLOGY)
        browsing = browsed(Web(seed=8, pages=300, hosts=20, traps=()), TOPIC, place)
        self.files = {"model": model, "rules": rules, "truth": truth, "browsing": browsing, "ontology": ontology}
        self.replies = Remembered(self.web)
        self.model = ModelJudge.load(model, [TOPIC]).model

    def engine(self, strategy: str, log: Any = None, pages: int = 0) -> Engine:
        entry = STRATEGIES[strategy.partition(",")[0]]
        by_class = entry.needs in (MODEL, TAXONOMY)
        topic = ModelJudge(self.model, [TOPIC]) if by_class else VectorJudge(self.web.query(TOPIC))
        text = strategy.format(**self.files)
        facts = {"targets": (TOPIC,), "words": self.web.query(TOPIC), "ontology": str(self.files["ontology"])}
        return sim_engine(self.replies, topic, log, strategy=text, pages=pages, **facts)

    def seeds(self, strategy: str) -> list[str]:
        on_topic = sorted(self.web.relevant(TOPIC))[:2] if strategy.partition(",")[0] in PRUNING else []
        return [*self.web.seeds(TOPIC), *on_topic]

    async def crawl(self, strategy: str, pages: int) -> Engine:
        engine = self.engine(strategy)
        plant(engine, self.seeds(strategy))
        async for _ in engine.run():
            if engine.tally.pages == pages:
                break
        return engine


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def pages_of(events: Sequence[Event]) -> list[Visit]:
    return [visit for visit in visits_of(events) if visit.is_page]


@pytest.mark.parametrize("strategy", PAGES)
def test_log_restores_strategy(world: World, strategy: str, tmp_path: Path) -> None:
    async def lived() -> tuple[list[Event], dict[str, Any]]:
        engine = await world.crawl(strategy, PAGES[strategy])
        return list(engine.log), state_of(engine)

    events, state = run_virtual(lived())
    pages = pages_of(events)
    assert len(pages) == PAGES[strategy] or (len(pages) > 5 and strategy.partition(",")[0] in PRUNING)
    final = Counter(v.node for v in visits_of(events) if v.kind in ("page", "redirect") and not v.retry_at)
    assert {1} == set(final.values())
    for visit in visits_of(events):
        assert np.isfinite(visit.priority) or visit.priority == np.inf  # a seed
        assert np.isfinite(visit.relevance)
        assert np.isfinite(visit.links.link_relevances).all()
    if strategy.startswith("mab_"):
        assert len({visit.arm for visit in pages}) > 1

    async def resumed(log: Any) -> tuple[dict[str, Any], Any]:
        engine = world.engine(strategy, log)
        engine.replay(events if isinstance(log, MemoryLog) else log)
        return state_of(engine), await go_on(engine, 12)

    log = SqliteLog(tmp_path / "crawl.sqlite")
    with log.batch():
        for event in events:
            log.append(event)
    log.close()
    log = SqliteLog(tmp_path / "crawl.sqlite")
    start = max(visit.ended for visit in visits_of(events)) - EPOCH + 7.0
    folded, replayed = (run_virtual(resumed(log), start=start) for log in (MemoryLog(), log))
    log.close()
    assert state == folded[0] == replayed[0]
    assert folded[1] == replayed[1]
    assert len(folded[1][0]) > 0


@pytest.mark.parametrize("strategy", [*KINDS[::3], "fish-search", "oracle,scores={truth}"])
def test_resume_continues_in_directory(world: World, strategy: str, tmp_path: Path) -> None:
    entry = STRATEGIES[strategy.partition(",")[0]]
    by_class = entry.needs in (MODEL, TAXONOMY)
    topic = (
        {"model": str(world.files["model"]), "targets": [TOPIC]}
        if by_class
        else {"topic": world.web.query(TOPIC), "judge": "" if strategy == "scent" else "vector"}
    )

    async def first() -> list[Visit]:
        crawl = lycosa.crawl(
            seeds=world.seeds(strategy),
            out=tmp_path / "crawl",
            strategy=strategy.format(**world.files),
            budget=24,
            concurrency=8,
            archive=False,
            space=sim_space(world.replies),
            clock=clock,
            **topic,
            **({"ontology": str(world.files["ontology"])} if entry.needs == MEANING else {}),
        )
        visits = []
        async with crawl:
            async for visit in crawl:
                visits.append(visit)
                if len(visits) == 17:
                    break
        return visits

    async def second() -> tuple[list[Visit], list[str]]:
        crawl = lycosa.resume(tmp_path / "moved", space=sim_space(world.replies), clock=clock)
        return [visit async for visit in crawl], crawl.notes

    before = run_virtual(first())
    (tmp_path / "crawl").rename(tmp_path / "moved")
    after, notes = run_virtual(second(), start=3600.0)
    assert [] == notes
    pages = [visit.node for visit in (*before, *after) if visit.is_page]
    assert len(set(pages)) == len(pages)
    assert {len(pages)} <= (set(range(6, 25)) if strategy.partition(",")[0] in PRUNING else {24})
    assert [visit.node for visit in (*before, *after)] == logged(tmp_path / "moved")


def logged(path: Path) -> list[str]:
    log = SqliteLog(path / NAME, readonly=True)
    try:
        return [visit.node for visit in visits_of(list(log))]
    finally:
        log.close()


@pytest.mark.paper("batsakis-priority", "gouriten-right-system")
def test_strategy_finds_more_than_breadth_first(world: World) -> None:
    def on_topic(strategy: str) -> int:
        engine = run_virtual(world.crawl(strategy, 60))
        return sum(world.web.topic(visit.node) == TOPIC for visit in pages_of(list(engine.log)))

    by_chance = on_topic("breadth-first")
    for strategy in ("oracle,scores={truth}", "best-first", "soft-focus", "rules,file={rules}"):
        assert on_topic(strategy) > by_chance, strategy
