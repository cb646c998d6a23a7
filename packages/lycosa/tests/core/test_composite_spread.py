"""Tests of `spread`, which discounts hosts with many pages."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.checks.failing import run_check
from lycosa.checks.strategy_checks import (
    failures_and_redirects,
    pick_is_pure,
    revisited_pages,
    strategy_can_be_resumed,
)
from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy, Spread
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.table import Table
from lycosa.core.types import Links, Seed, Visit
from lycosa.crawling.request import CrawlRequest
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import strategy
from lycosa.strategies.baselines import UrlDepth
from lycosa.strategies.best_first import BestFirst

A, B, C = "http://a.test", "http://b.test", "http://c.test:81"


class FixedPriorities:
    def __init__(self, **priorities: float) -> None:
        self.priorities = priorities

    def learn(self, step: object, table: Table) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.zeros(0, np.int32)

    def priority(self, rows: object, table: Table) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([self.priorities[table.nodes[row][-1]] for row in np.asarray(rows).tolist()])


def test_priority_by_hand() -> None:
    table, spread = Table(), Spread(FixedPriorities(x=8.0, y=-8.0, z=8.0), 0.5)
    nodes = [f"{A}/1", f"{A}/2", f"{A}/3", f"{A}/x", f"{A}/y", f"{C}/z"]
    rows = np.array([table.add_seed(node) for node in nodes], np.int32)[3:]
    assert [8.0, -8.0, 8.0] == spread.priority(rows, table).tolist()
    for node in nodes[:3]:
        step = table.absorb(Visit(node, "page", "ok", 1))
        assert step is not None
        changed = spread.learn(step, table).tolist()
        assert {*rows[:2].tolist()} <= {*changed}
        assert rows[2] not in changed
    assert [4.0, -12.0, 8.0] == spread.priority(rows, table).tolist()
    failed = table.absorb(Visit(f"{C}/z", "page", "gone", 4))
    assert failed is not None
    assert [] == spread.learn(failed, table).tolist()


def test_explain_adds_discount() -> None:
    table, spread = Table(), Spread(UrlDepth(), 1.0)
    table.add_seed(f"{A}/")
    step = table.absorb(Visit(f"{A}/", "page", "ok", 1, links=Links.to(f"{A}/x/y")))
    assert step is not None
    spread.learn(step, table)
    row = table.row_of[f"{A}/x/y"]
    terms = spread.explain(row, table)
    assert terms["spread"] < 0
    assert sum(terms.values()) == pytest.approx(spread.priority(np.array([row], np.int32), table)[0])
    assert not hasattr(Spread(FixedPriorities(), 1.0), "explain")


def test_spread_can_be_resumed_and_replayed() -> None:
    for check in (strategy_can_be_resumed, failures_and_redirects, revisited_pages, pick_is_pure):
        assert check.__name__ == run_check(check, lambda: strategy("best-first,spread=.5"))


def picks(name: str) -> list[str]:
    """Return the picks after a page whose five links to host a are better than those to b and c."""
    links = {"http://s.test/": [f"{A}/1", f"{A}/2", f"{A}/3", f"{A}/4", f"{B}/1", f"{C}/1"]}
    link_relevances = dict(zip(links["http://s.test/"], [0.9, 0.8, 0.7, 0.6, 0.5, 0.45], strict=True))
    space = GraphSpace(links, alpha={("http://s.test/", node): value for node, value in link_relevances.items()})
    log = MemoryLog()
    engine = Engine(
        space, SpaceJudge(), strategy(name), log, clock=lambda: 0.0, concurrency=1, budget=Budget(pages=7)
    )  # fmt: skip
    engine.fold(Seed("http://s.test/"))

    async def run() -> list[str]:
        return [visit.node async for visit in engine.run()]

    return asyncio.run(run())[1:]


def test_spread_changes_picks() -> None:
    assert [f"{A}/1", f"{A}/2", f"{A}/3", f"{A}/4", f"{B}/1", f"{C}/1"] == picks("fl_e")
    assert [f"{A}/1", f"{B}/1", f"{C}/1", f"{A}/2", f"{A}/3", f"{A}/4"] == picks("fl_e,spread=1")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("best-first,spread=-1", "it must be from 0"),
        ("best-first,spread=5", "it must be from 0"),
        ("lr_fl,spread=.5", "cannot be used with a regression"),
        ("mab_var,spread=.5", "has no parameter 'spread'"),
    ],
)
def test_spread_refuses_unsuitable_strategies(name: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        strategy(name)


def test_spread_accepts_name_or_estimator() -> None:
    options = Options(topic="coral", seeds=["http://a.test/"], spread=0.25, strategy="best-first")
    assert "best-first,spread=0.25" == getattr(CrawlRequest(options).make_strategy(), "name", "")
    named = replace(options, strategy="best-first,spread=1")
    assert "best-first,spread=1" == getattr(CrawlRequest(named).make_strategy(), "name", "")
    own = CrawlRequest(options, strategy=BestFirst()).make_strategy()
    assert isinstance(own, Greedy)
    assert isinstance(own.estimator, Spread)
    with raises_input_error("conflicting-options", "picks by itself"):
        CrawlRequest(options, strategy=strategy("mab_var"))
    with raises_input_error("out-of-range", "--spread is -1"):
        CrawlRequest(replace(options, spread=-1))
