"""Tests of the harvest lost to traps: almost nothing with a trap filter, almost half without."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

import lycosa
from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.types import Seed, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.making import PROBE_AFTER
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.testweb import Web, serve
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.testweb.traps import ENDLESS
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa.web.politeness import Politeness

HUNTS = (
    (7, "marine biology/coral reefs"),
    (3, "railways/night trains"),
)

BUDGET = 150


def steps(web: Web, topic: str, *, trap_filter: bool) -> list[Visit]:
    """Run a best-first crawl over a simulated transport, with or without trap filter."""

    async def run() -> list[Visit]:
        politeness = Politeness(clock, delay=0.01, free=lambda address: True)
        transport = SimTransport(web, seed=1, latency=(0.001, 0.01))
        space = WebSpace(transport, politeness, clock, probe_after=PROBE_AFTER if trap_filter else 0)
        query = VectorJudge(web.query(topic))
        engine = Engine(
            space, query, Greedy(estimator("best-first", seed=1), "best-first"), MemoryLog(), clock=clock,
            budget=Budget(pages=BUDGET), reader=Vocabulary(), concurrency=4, choosy=0.7,
            trap_filter=SectionTrapFilter(query.threshold) if trap_filter else None,
        )  # fmt: skip
        for node in web.seeds(topic):
            engine.fold(Seed(node, clock()))
        return [visit async for visit in engine.run()]

    return run_virtual(run())


@cache
def harvest(seed: int, topic: str, *, traps: bool, trap_filter: bool) -> int:
    """Return the number of distinct relevant pages fetched."""
    web = Web(seed=seed, traps="all" if traps else (), slowness=0.05)
    pages = [visit.node for visit in steps(web, topic, trap_filter=trap_filter) if visit.is_page]
    assert BUDGET == len(pages)
    return len({web.canonical(node) for node in pages} & set(web.relevant(topic)))


def total(*, traps: bool, trap_filter: bool) -> int:
    return sum(harvest(seed, topic, traps=traps, trap_filter=trap_filter) for seed, topic in HUNTS)


def test_traps_cost_little_with_trap_filter(capsys: pytest.CaptureFixture[str]) -> None:
    clean, guarded = total(traps=False, trap_filter=False), total(traps=True, trap_filter=True)
    unguarded = total(traps=True, trap_filter=False)
    with capsys.disabled():
        print(
            f"\nfound with traps, of {clean} without: {guarded} ({guarded / clean:.0%}), "
            f"unguarded {unguarded} ({unguarded / clean:.0%})"
        )
    assert guarded >= 0.95 * clean
    assert unguarded < 0.75 * clean


def test_trap_filter_costs_little_without_traps() -> None:
    assert total(traps=False, trap_filter=True) >= 0.95 * total(traps=False, trap_filter=False)


def test_crawl_leaves_mazes() -> None:
    topic = "marine biology/coral reefs"
    # One request at a time, so that the order does not depend on the load of the machine.
    options: dict[str, Any] = {"delay": 0.0, "concurrency": 1, "allow_network": ["127.0.0.0/8"], "budget": 80}
    options |= {"judge": "vector", "strategy": "best-first"}
    web = Web(pages=400, hosts=12, traps=("calendar", "loops", "facets", "soft404"))
    lost, kinds = {}, {}
    with serve(web):
        for traps in (True, False):
            visits = list(lycosa.crawl(web.query(topic), web.seeds(topic), traps=traps, **options))
            assert 80 == sum(visit.is_page for visit in visits)
            kinds[traps] = Counter(visit.kind for visit in visits)
            lost[traps] = sum(web.trap(visit.node) in ENDLESS for visit in visits if visit.is_page)
    assert 0 == kinds[False]["probe"] < kinds[True]["probe"]
    assert 2 * lost[True] < lost[False]
