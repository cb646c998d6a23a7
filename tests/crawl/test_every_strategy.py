"""Every strategy by name crawls the embedded web, several requests in flight, and goes on from its log as if alone."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from crawl.helpers import (
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
from lycosa.estimators import BROWSING, MODEL, STRATEGIES, TAXONOMY
from lycosa.estimators import WORDS as MEANING
from lycosa.store.log import NAME, MemoryLog, SqliteLog
from lycosa.testing import Web
from lycosa.testing.simulation import EPOCH, clock, run_virtual
from lycosa.topics.classified import Classified
from lycosa.topics.query import Query

TOPIC = "marine biology/coral reefs"
PAGES = 60
NEEDED = {"rules": "file={rules}", "oracle": "scores={truth}"} | {
    name: "file={browsing}" for name, entry in STRATEGIES.items() if entry.needs == BROWSING
}
"""What a strategy can't be made without."""

VARIANTS = (
    "best-first,batch=5",
    "best-first,batch=20,dry=random",
    "best-first,q=.7,zeta=.5",
    "best-first,merge=sum,ties=random",
    "breadth-first,ties=random",
    "lr_sl,batch=5,q=.7,zeta=.5",
    "nr,batch=5,ties=random",
    "pagerank,q=.7,zeta=.5",
    "opic,ties=random,q=.7,zeta=.5,batch=5",
    "n-best-first,n=5",
    "shark-search,batch=5",
    "mab_epsilon,arms=best-first+opic+backlink",
    "mab_var,arms=fl_n+lr_sl+sl_n+random",
    "mab_window,arms=otie+link-context",
    "soft-focus,distiller=yes",
    "soft-focus,apprentice=yes",
    "soft-focus,distiller=yes,apprentice=yes,batch=5",
    "ehrig,measure=any-1,merge=sum",
    "ssrm,measure=depth,batch=5",
    "hmm,file={browsing},merge=last,epsilon=0",
    "hybrid,file={browsing},clusters=xmeans,k=1",
    "context-graph,file={browsing},layers=1,ties=random",
    "rules,file={rules},refine=yes,period=10",
    "rules,file={rules},depth=3,paths=max,merge=mean,q=.7,zeta=.5",
)
PRUNING = ("hard-focus", "url-optimisation", "personalised", "fish-search", "shark-search")
"""These may run out of links that they are willing to follow."""

EVERY = (*(f"{name},{NEEDED[name]}" if name in NEEDED else name for name in STRATEGIES), *VARIANTS)


class World:
    """A web, what was learned of it, and the crawls that were made there."""

    def __init__(self, place: Path) -> None:
        self.web = Web(pages=500, hosts=30, traps=("redirects", "dead", "failing", "duplicates"))
        model, rules = taught(self.web, place)
        truth = place / "truth.tsv"
        truth.write_text("".join(f"{url}\t{int(self.web.topic(url) == TOPIC)}\n" for url in self.web.urls()))
        ontology = place / "ontology.tsv"
        ontology.write_text(ONTOLOGY)
        browsing = browsed(Web(seed=8, pages=500, hosts=30, traps=()), TOPIC, place)
        self.files = {"model": model, "rules": rules, "truth": truth, "browsing": browsing, "ontology": ontology}
        self.replies = Remembered(self.web)
        self.model = Classified.load(model, [TOPIC]).model
        self.lived: dict[str, list[Event]] = {}

    def engine(self, strategy: str, log: Any = None, pages: int = PAGES) -> Engine:
        """An engine for this strategy; judged by a classifier if it wants to know classes, else by words."""
        entry = STRATEGIES[strategy.partition(",")[0]]
        by_class = entry.needs in (MODEL, TAXONOMY)
        topic = Classified(self.model, [TOPIC]) if by_class else Query(self.web.query(TOPIC))
        text = strategy.format(**self.files)
        facts = {"targets": (TOPIC,), "words": self.web.query(TOPIC), "ontology": str(self.files["ontology"])}
        return sim_engine(self.replies, topic, log, strategy=text, pages=pages, **facts)

    def crawl(self, strategy: str) -> list[Event]:
        """The log of a crawl to its budget; each strategy crawls once."""
        if strategy not in self.lived:
            self.lived[strategy] = run_virtual(self._crawl(strategy))
        return self.lived[strategy]

    async def _crawl(self, strategy: str) -> list[Event]:
        engine = self.engine(strategy)
        on_topic = sorted(self.web.relevant(TOPIC))[:2] if strategy.partition(",")[0] in PRUNING else []
        plant(engine, [*self.web.seeds(TOPIC), *on_topic])  # a portal alone leads nowhere for those who prune
        async for _ in engine.run():
            pass
        return list(engine.log)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One web for all strategies."""
    return World(tmp_path_factory.mktemp("world"))


def pages_of(events: Sequence[Event]) -> list[Visit]:
    """The pages that were read."""
    return [visit for visit in visits_of(events) if visit.is_page]


@pytest.mark.parametrize("strategy", EVERY)
def test_it_crawls(world: World, strategy: str) -> None:
    """It spends its budget, fetches nothing twice, and every number that it gave is one."""
    events = world.crawl(strategy)
    pages = pages_of(events)
    if strategy.partition(",")[0] in PRUNING:
        assert 5 < len(pages) <= PAGES
    else:
        assert PAGES == len(pages)
    final = Counter(v.node for v in visits_of(events) if v.kind in ("page", "redirect") and not v.retry_at)
    assert {1} == set(final.values())
    for visit in visits_of(events):
        assert np.isfinite(visit.score) or visit.score == np.inf  # a seed's
        assert np.isfinite(visit.beta)
        assert np.isfinite(visit.links.alphas).all()
    if strategy.startswith("mab_"):
        assert len({visit.arm for visit in pages}) > 1


@pytest.mark.parametrize("strategy", EVERY)
def test_it_goes_on_from_its_log(world: World, strategy: str, tmp_path: Path) -> None:
    """From the middle of the log, one read back from SQLite picks what one folded in process picks."""
    events = world.crawl(strategy)
    cut = len(events) * 2 // 3
    start = max(visit.ended for visit in visits_of(events[:cut])) - EPOCH + 7.0

    async def resumed(log: Any) -> tuple[Any, Any]:
        engine = world.engine(strategy, log, pages=0)
        engine.replay(events[:cut] if isinstance(log, MemoryLog) else log)
        before = state_of(engine)
        return before, await go_on(engine, 20)

    with_log = SqliteLog(tmp_path / "log.sqlite")
    with with_log.together():
        for event in events[:cut]:
            with_log.append(event)
    with_log.close()
    log = SqliteLog(tmp_path / "log.sqlite")
    assert cut == sum(1 for _ in log)
    folded, replayed = (run_virtual(resumed(log), start=start) for log in (MemoryLog(), log))
    log.close()
    assert folded[0] == replayed[0]
    assert folded[1] == replayed[1]
    assert len(folded[1][0]) > 0


@pytest.mark.parametrize("strategy", EVERY)
def test_what_it_knows_is_in_its_log(world: World, strategy: str) -> None:
    """When a crawl stops in the middle, a replay of its log gives the same scores, bit for bit."""

    async def compare() -> tuple[dict[str, Any], dict[str, Any]]:
        engine = world.engine(strategy)
        plant(engine, world.web.seeds(TOPIC))
        turns = 0
        async for _ in engine.run():
            turns += 1
            if turns == 41:  # no multiple of a batch
                break
        fresh = world.engine(strategy)
        fresh.replay(list(engine.log))
        return state_of(engine), state_of(fresh)

    lived, replayed = run_virtual(compare())
    assert lived == replayed


@pytest.mark.parametrize("strategy", EVERY)
def test_it_resumes_in_its_directory(world: World, strategy: str, tmp_path: Path) -> None:
    """Put together as a user's crawl is, with traps and a choosy frontier: broken off, moved, and resumed."""
    entry = STRATEGIES[strategy.partition(",")[0]]
    by_class = entry.needs in (MODEL, TAXONOMY)
    topic = {"model": str(world.files["model"]), "targets": [TOPIC]} if by_class else {"topic": world.web.query(TOPIC)}
    on_topic = sorted(world.web.relevant(TOPIC))[:2] if strategy.partition(",")[0] in PRUNING else []

    async def first() -> list[Visit]:
        crawl = lycosa.crawl(
            seeds=[*world.web.seeds(TOPIC), *on_topic],
            out=tmp_path / "crawl",
            strategy=strategy.format(**world.files),
            budget=40,
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
                if len(visits) == 31:
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
    assert {len(pages)} <= (set(range(6, 41)) if strategy.partition(",")[0] in PRUNING else {40})
    assert [visit.node for visit in (*before, *after)] == logged(tmp_path / "moved")


def logged(path: Path) -> list[str]:
    """Where the visits of a crawl's log went."""
    log = SqliteLog(path / NAME, readonly=True)
    try:
        return [visit.node for visit in visits_of(list(log))]
    finally:
        log.close()


@pytest.mark.parametrize("strategy", ["oracle,scores={truth}", "best-first", "soft-focus", "rules,file={rules}"])
def test_it_finds_its_topic(world: World, strategy: str) -> None:
    """What aims hits: more pages on the topic than in order of discovery, though there are only a few in this web."""

    def found(strategy: str) -> int:
        return sum(world.web.topic(visit.node) == TOPIC for visit in pages_of(world.crawl(strategy)))

    assert found(strategy) > found("breadth-first")
