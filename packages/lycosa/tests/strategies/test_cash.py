"""Tests of the cash flow of OPIC and OTIE: cash is conserved in every sequence of visits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Step, Visit
from lycosa.strategies.cash import BLOCK, UNIT, CashFlow, Opic
from lycosa.strategies.otie import Otie


class Crawl:
    """Table and cash flow, with helpers that feed visits."""

    def __init__(
        self, flow: CashFlow, *seeds: str, scope: Callable[[str, int], bool] = lambda node, depth: True
    ) -> None:
        self.flow, self.table = flow, Table(scope=scope)
        for seed in seeds:
            self.table.add_seed(seed)

    def visit(self, node: str, *links: str, kind: Any = "page", outcome: Any = "ok", **more: Any) -> list[str]:
        """Feed a visit; return the nodes whose priority may have changed."""
        step = self.table.absorb(Visit(node, kind, outcome, 1, links=Links.to(*links), **more))
        assert step is not None
        return [self.table.nodes[row] for row in self.flow.learn(step, self.table).tolist()]

    def redirect(self, node: str, *target: str) -> list[str]:
        """Feed a redirect."""
        return self.visit(node, *target, kind="redirect", outcome="redirect")

    def cash(self, *nodes: str) -> list[Any]:
        """Return the cash of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return [pytest.approx(value) for value in self.flow.priority(rows, self.table).tolist()]

    def balance(self) -> None:
        """Assert that rows and pool hold the cash of the seeds plus the revisions, and that none is negative."""
        flow, size = self.flow, len(self.table)
        held = float(flow.cash_.sum()) + flow.pool_
        assert pytest.approx(held, rel=1e-9, abs=1e-9 * flow.created_) == flow.created_ + flow.revised_
        assert np.isfinite(flow.cash_).all()
        assert (flow.cash_ >= 0).all()
        assert flow.pool_ >= 0
        assert not flow.cash_[size:].any()


@pytest.mark.paper("otie-seed-cash")
def test_seeds_have_equal_shares_in_any_order() -> None:
    """Each of three seeds has 1 / 3 of all cash, including one added after the others gave theirs away."""
    crawl = Crawl(Opic(), "a", "b")
    rows = np.array([0, 1], np.int32)
    assert [0.5, 0.5] == crawl.flow.share(rows, crawl.table).tolist()
    crawl.visit("b", "x")
    crawl.table.add_seed("c")
    crawl.visit("c", "y")
    assert [1.0, 1.0, 1.0] == crawl.cash("a", "x", "y")
    everything = np.arange(len(crawl.table), dtype=np.int32)
    # in the order a, b, x, c, y
    assert pytest.approx([1 / 3, 0, 1 / 3, 0, 1 / 3]) == crawl.flow.share(everything, crawl.table).tolist()


def test_known_page_becomes_seed() -> None:
    crawl = Crawl(Opic(), "a")
    crawl.visit("a", "x", "y")
    crawl.table.add_seed("x")
    assert [1 / 2 + 1, 1 / 2] == crawl.cash("x", "y")
    assert pytest.approx(2.0) == crawl.flow.total(crawl.table)


def test_redirect_moves_all_cash() -> None:
    crawl = Crawl(Opic(), "a", "b")
    crawl.visit("a", "old", "new")
    assert ["new"] == crawl.redirect("old", "new")
    assert [0.0, 1 / 2 + 1 / 2] == crawl.cash("old", "new")
    assert "new" in crawl.visit("b", "old")
    assert [0.0, 2.0] == crawl.cash("old", "new")


def test_seeds_redirecting_to_one_page_share_once() -> None:
    crawl = Crawl(Opic(), "http", "https", "other")
    crawl.redirect("http", "https")
    assert [0.0, 1.0, 1.0] == crawl.cash("http", "https", "other")
    crawl.visit("https", "x")
    crawl.table.add_seed("www")
    crawl.redirect("www", "https")
    assert [1.0, 0.0] == crawl.cash("x", "https")
    assert pytest.approx(2.0) == crawl.flow.total(crawl.table)


def test_seed_redirecting_to_fetched_page_pays_once() -> None:
    crawl = Crawl(Opic(), "a")
    crawl.visit("a", "b", "c")
    crawl.visit("b", "x")
    crawl.redirect("c", "b")
    crawl.table.add_seed("s")
    crawl.redirect("s", "b")
    assert [1 / 2 + 1, 1 / 2] == crawl.cash("b", "x")
    crawl.table.add_seed("t")
    crawl.redirect("t", "b")
    assert pytest.approx(2.0) == crawl.flow.total(crawl.table)


@pytest.mark.parametrize("outcome", ["gone", "denied", "timeout"])
def test_failures_pay_into_pool(outcome: Any) -> None:
    crawl = Crawl(Opic(period=0), "a", "b")
    crawl.visit("a", "x", "y")
    crawl.visit("x", outcome=outcome)
    assert pytest.approx(1 / 2) == crawl.flow.pool_
    crawl.visit("b", "x", "y")
    assert pytest.approx(1 / 2 + 1 / 2) == crawl.flow.pool_


def test_dead_ends_pay_into_pool() -> None:
    crawl = Crawl(Opic(period=0), "a", scope=lambda node, depth: not node.startswith("out"))
    crawl.visit("a", "x", "y", "z", "w")
    crawl.visit("x")
    crawl.visit("y", "out 1", "out 2")
    crawl.redirect("z", "out 3")
    assert pytest.approx(3 / 4) == crawl.flow.pool_
    assert [0.0, 0.0, 0.0, 1 / 4] == crawl.cash("x", "y", "z", "w")


def test_retried_visit_moves_nothing() -> None:
    crawl = Crawl(Opic(), "a", "s")
    crawl.visit("a", "x")
    before = crawl.cash("x", "s")
    crawl.visit("x", outcome="busy", retry_at=9.0)
    crawl.visit("s", outcome="busy", retry_at=9.0)
    assert before == crawl.cash("x", "s")
    crawl.visit("s", "x")
    assert [2.0] == crawl.cash("x")


def test_refetched_page_gives_its_income() -> None:
    crawl = Crawl(Opic(period=0), "a", "b")
    crawl.visit("a", "x")
    crawl.visit("b", "a")
    crawl.visit("a", "y")
    assert [0.0, 1.0, 1.0] == crawl.cash("a", "x", "y")


def test_redirect_cycle_pays_into_pool() -> None:
    crawl = Crawl(Opic(period=0), "a")
    crawl.visit("a", "x")
    crawl.redirect("x", "y")
    crawl.redirect("y", "x")
    assert pytest.approx(1.0) == crawl.flow.pool_


@pytest.mark.paper("otie-recrawl")
def test_second_giving_pays_pool_and_richest_page() -> None:
    """At step 4 the period ends: the pool is divided among the seeds, and the richest page gives its cash again.

    Step 1: a gives x, y 1/2 each. Step 2: b gives a 1. Step 3: y gives b 1/2. Step 4: x fails, so its 1/2 is pooled and
    divided: a has 1 + 1/4, b has 1/2 + 1/4. The richest is a: its 5/8 for x is pooled, as x is dead, and y gets 5/8.
    """
    crawl = Crawl(Opic(period=4), "a", "b")
    crawl.visit("a", "x", "y")
    crawl.visit("b", "a")
    crawl.visit("y", "b")
    assert {"a", "b", "y"} <= set(crawl.visit("x", outcome="gone"))
    assert [0.0, 1 / 2 + 1 / 4, 5 / 8] == crawl.cash("a", "b", "y")
    assert pytest.approx(5 / 8) == crawl.flow.pool_


def test_second_giving_requires_links() -> None:
    crawl = Crawl(Opic(period=1), "a", "b")
    crawl.visit("a", outcome="gone")
    assert [0.0, 1.0] == crawl.cash("a", "b")
    assert 1.0 == crawl.flow.pool_


@pytest.mark.paper("otie-no-graph")
def test_period_0_disables_second_givings() -> None:
    crawl = Crawl(Opic(period=0), "a", "b")
    crawl.visit("a", "x")
    for _ in range(20):
        crawl.visit("b", "a")
    assert [1.0] == crawl.cash("a")


def test_richest_page_among_many_blocks() -> None:
    chance = np.random.default_rng(5)
    flow, table = Opic(), Table()
    names = [f"n{n}" for n in range(5 * BLOCK)]
    for name in names:
        table.add_seed(name)
    step = table.absorb(Visit("n0", "page", "ok", 1, links=Links.to("n1")))
    assert step is not None
    flow.learn(step, table)
    flow.giver_[: len(names)] = chance.random(len(names)) < 0.5
    flow.giver_[:3] = True
    table.state[: len(names)] = 1
    for _ in range(50):
        rows = chance.choice(np.flatnonzero(flow.giver_).astype(np.int32), 40, replace=False)
        flow._receive(rows, chance.random(40), table)
        richest = flow._richest()
        assert int((flow.cash_ * flow.giver_).argmax()) == richest
        flow.cash_[richest] = 0.0


NAMES = st.integers(0, 14).map(lambda n: f"n{n}")
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["page", "page", "page", "page", "failure", "retry", "redirect", "again", "seed", "sitemap"]),
        st.integers(0, 14),
        st.lists(NAMES, max_size=5),
        st.floats(0, 1),
        st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5),
    ),
    max_size=60,
)
FLOWS = st.one_of(
    st.builds(Opic, period=st.integers(0, 4)),
    st.builds(
        Otie,
        a=st.sampled_from([0.85, 1.0, 7.0]),
        d=st.sampled_from([1.0, 2.5, 3.0]),
        page=st.floats(0, 1),
        scale=st.sampled_from(["running", "none"]),
        period=st.integers(0, 4),
    ),
)


@pytest.mark.paper("otie-priority")
@settings(max_examples=50, deadline=None)
@given(FLOWS, st.lists(NAMES, min_size=1, max_size=4), EVENTS)
def test_cash_is_conserved_in_any_sequence(flow: CashFlow, seeds: list[str], events: list[Any]) -> None:
    crawl = Crawl(flow, *seeds)
    table = crawl.table
    for what, number, targets, relevance, link_relevances in events:
        rows = np.flatnonzero((table.state[: len(table)] == OPEN) != (what == "again"))
        if what == "seed":
            table.add_seed(f"n{number}")
        elif len(rows):
            node = table.nodes[int(rows[number % len(rows)])]
            links = Links.to(*targets)
            links.link_relevances = np.array(link_relevances[: len(targets)], np.float32)
            visit = {
                "failure": Visit(node, "page", "gone", 1),
                "retry": Visit(node, "page", "timeout", 1, retry_at=1.0),
                "redirect": Visit(node, "redirect", "redirect", 1, links=Links.to(*targets[:1])),
                "sitemap": Visit(node, "sitemap", "ok", 1, links=links),
            }.get(what, Visit(node, "page", "ok", 1, relevance=relevance, links=links))
            before = flow.priority(np.arange(len(table), dtype=np.int32), table)
            step = table.absorb(visit)
            assert step is not None
            changed = flow.learn(step, table)
            after = flow.priority(np.arange(len(table), dtype=np.int32), table)
            differ = set(np.flatnonzero(before != after[: len(before)]).tolist())
            assert differ <= {step.row, *changed.tolist()}
        crawl_is_sound(crawl)
    if isinstance(flow, Opic):
        assert 0.0 == flow.revised_


def crawl_is_sound(crawl: Crawl) -> None:
    """Assert that cash is conserved, and that no seed received more than its share."""
    if len(crawl.flow.cash_):
        crawl.balance()
    seeds = np.count_nonzero(crawl.table.is_seed[: len(crawl.table)])
    assert crawl.flow.created_ <= seeds * crawl.flow.unit_ + 1e-9


def endless(flow: CashFlow, steps: int, relevance: Callable[[random.Random], float]) -> Crawl:
    """Visit a graph of 400 pages repeatedly."""
    chance = random.Random(2)
    crawl = Crawl(flow, "n0", "n1", "n2")
    names = [f"n{n}" for n in range(400)]
    learned: list[Step] = []
    for name in names:
        links = Links.to(*chance.sample(names, chance.choice([0, 1, 2, 3, 8])))
        links.link_relevances = np.array([chance.random() for _ in links.urls], np.float32)
        crawl.table.add(name, 1)
        step = crawl.table.absorb(Visit(name, "page", "ok", 1, relevance=relevance(chance), links=links))
        assert step is not None
        learned.append(step)
    for n in range(steps):
        flow.learn(learned[n % len(learned)], crawl.table)
    return crawl


def test_cash_does_not_drift() -> None:
    """OPIC's cash of three seeds is still 3 after 4,000 steps; OTIE's is conserved with good and bad pages."""
    crawl = endless(Opic(), 4_000, lambda chance: chance.random())
    assert pytest.approx(3.0, rel=1e-9) == crawl.flow.total(crawl.table)
    endless(Otie(scale="none"), 4_000, lambda chance: chance.random()).balance()


def test_growing_cash_is_rescaled() -> None:
    """A chain of pages with relevance 1 multiplies cash by 1.85 per page, so it is rescaled to stay finite."""
    crawl = Crawl(Otie(scale="none", period=0), "n0")
    for n in range(2000):
        crawl.visit(f"n{n}", f"n{n + 1}", relevance=1.0)
        assert 0 < crawl.flow.cash_[n + 1] <= 2 * UNIT
    assert 4 == crawl.flow.rescaled_  # 1.85^2000 = 2^1775, and each rescaling divides by 2^400
    crawl.balance()


def test_vanishing_cash_reaches_0() -> None:
    """A chain of irrelevant pages keeps .15 of the cash per page: 0 after 1,000 pages, never negative."""
    crawl = Crawl(Otie(scale="none", period=3), "n0")
    for n in range(1000):
        crawl.visit(f"n{n}", f"n{n + 1}", relevance=0.0)
    assert [0.0] == crawl.cash("n1000")
    crawl.balance()


@pytest.mark.paper("otie-opic")
def test_opic_first_four_steps_by_hand() -> None:
    opic, table = Opic(period=0), Table()
    for name in "asbcd":
        if name in "as":
            table.add_seed(name)
        else:
            table.add(name, 1)
    for node, links, a, s, b, c, d in (
        ("a", "bcd", 0, 1, 1 / 3, 1 / 3, 1 / 3),
        ("s", "b", 0, 0, 1 / 3 + 1, 1 / 3, 1 / 3),
        ("b", "ac", (4 / 3) / 2, 0, 0, 1 / 3 + (4 / 3) / 2, 1 / 3),
        ("d", "b", 2 / 3, 0, 1 / 3, 1, 0),
    ):
        step = table.absorb(Visit(node, "page", "ok", 1, relevance=0.9, links=Links.to(*links)))
        assert step is not None
        assert list(links) == [table.nodes[row] for row in opic.learn(step, table).tolist()]
        scores = opic.priority(np.arange(5, dtype=np.int32), table)
        assert pytest.approx([a, s, b, c, d]) == scores.tolist()
        assert (
            pytest.approx([x / 2 for x in (a, s, b, c, d)]) == opic.share(np.arange(5, dtype=np.int32), table).tolist()
        )
