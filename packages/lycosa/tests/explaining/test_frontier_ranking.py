"""Terms of priorities: they add up for each strategy that explains itself, and are stored with each visit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lycosa
from lycosa.core.types import Links, Visit
from lycosa.explaining import Reasons
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.strategies.regression import Regression
from teaching import see, seeded

LINKS = {"a": ["b", "c", "d"], "b": ["c", "e"], "c": ["e", "f", "g"], "d": ["h"]}
SCORES = {"a": 0.5, "b": 1.0, "c": 0.25}
PROMISE = {("a", "b"): 0.5, ("a", "c"): 0.25, ("b", "e"): 1.0, ("b", "c"): 0.5, ("c", "e"): 0.5, ("c", "f"): 0.25}
EXPLAINING = (
    "scent breadth-first random opic-alpha lr_fl lr_sl link-score personalised,levels=9 crawl4ai,batch=1 disco "
    "sb-classifier tres tres,start=1,switch=1 deep-deep deep-deep,switch=1 mab_epsilon,arms=scent+lr_fl"
).split()
OTHERS = "best-first n-best-first,n=1 link-context fish-search opic otie fl_deg pagerank soft-focus nb-links".split()


def space() -> GraphSpace:
    return GraphSpace(LINKS, relevance=SCORES, alpha=PROMISE)


def crawled(strategy: str, path: Path) -> list[Visit]:
    """Crawl three pages; return the visits of the last two, as the first is a seed."""
    crawl = lycosa.crawl(SpaceJudge(), ["a"], space=space(), strategy=strategy, out=path, budget=3, concurrency=1)
    return list(crawl)[1:]


@pytest.mark.parametrize("strategy", EXPLAINING)
def test_terms_of_strategy_add_up(strategy: str, tmp_path: Path) -> None:
    visits = crawled(strategy, tmp_path / "crawl")
    with Reasons(tmp_path / "crawl", judge=SpaceJudge(), space=space()) as reasons:
        for view in reasons.best(1)[0].views:
            assert view.explains
            assert pytest.approx(view.priority, abs=1e-6) == sum(view.terms.values())
        for visit in visits:
            fetched = reasons.why(visit.node).fetched
            assert fetched is not None
            assert pytest.approx(visit.priority_terms, abs=1e-4) == fetched.terms
            assert pytest.approx(fetched.priority, abs=1e-3) == sum(fetched.terms.values())
            sizes = [abs(term) for term in fetched.terms.values()]
            assert sorted(sizes, reverse=True) == sizes
    assert any(visit.priority_terms for visit in visits)


@pytest.mark.parametrize("strategy", OTHERS)
def test_strategy_without_explanation_has_no_terms(strategy: str, tmp_path: Path) -> None:
    visits = crawled(strategy, tmp_path / "crawl")
    assert [{}, {}] == [visit.priority_terms for visit in visits]
    with Reasons(tmp_path / "crawl", judge=SpaceJudge(), space=space()) as reasons:
        assert [(False, {})] == [(view.explains, view.terms) for view in reasons.best(1)[0].views]
        fetched = reasons.why(visits[0].node).fetched
    assert fetched is not None
    assert {} == fetched.terms


def page(node: str, *links: str, **more: Any) -> Visit:
    return Visit(node, "page", "ok", 1, links=Links.to(*links), **more)


def test_terms_of_regression_are_features() -> None:
    table, lr = seeded("a"), Regression("fl", smooth=False)
    for visit in (
        page("a", "b", "c", relevance=1.0),
        page("b", "c", "x", relevance=0.5),
        page("c", "x", relevance=0.9),
    ):
        see(lr, table, visit)
    terms = lr.explain(table.row_of["x"], table)
    weights = dict(zip(("pages that link to it", "their relevance"), lr.weights.tolist(), strict=False))
    assert pytest.approx(2 * weights["pages that link to it"]) == terms["pages that link to it"]  # b and c
    assert pytest.approx(1.4 * weights["their relevance"]) == terms["their relevance"]  # .5 + .9
    assert pytest.approx(lr.intercept) == terms["constant"]
