"""Terms of priorities: they add up for each strategy, and equal the papers' formulas computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from lycosa.core.types import Links, Terms, Visit
from lycosa.explaining import Reasons
from lycosa.explaining.frontier_ranking import OTHER_PAGES, TermRecorder
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.strategies.cash import Opic
from lycosa.strategies.hmm import Hmm, Hybrid
from lycosa.strategies.interclass_rules import InterclassRules
from lycosa.strategies.regression import Regression
from lycosa.strategies.rulebook import RuleBook
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing
from teaching import see, seeded

LINKS = {"a": ["b", "c", "d"], "b": ["c", "e"], "c": ["e", "f", "g"], "d": ["h"]}
SCORES = {"a": 0.5, "b": 1.0, "c": 0.25}
PROMISE = {("a", "b"): 0.5, ("a", "c"): 0.25, ("b", "e"): 1.0, ("b", "c"): 0.5, ("c", "e"): 0.5, ("c", "f"): 0.25}
BY_ITSELF = (
    "scent best-first best-first,merge=sum best-first,merge=mean best-first-page best-first-anchor n-best-first,n=1 "
    "link-context fish-search shark-search breadth-first random backlink pagerank url-depth out-links soft-focus "
    "hard-focus,least=0 opic opic-alpha otie fl_deg fl_n fl_e fl_ne sl_n sl_e sl_ne lr_fl lr_sl nr link-score nb-links "
    "personalised,levels=9 mab_epsilon mab_discounted qfirst qmin crawl4ai,batch=1 disco "
    "sb-classifier tres tres,start=1,switch=1 deep-deep deep-deep,switch=1"
).split()


@pytest.mark.parametrize("strategy", BY_ITSELF)
def test_terms_of_every_strategy_add_up(strategy: str, tmp_path: Path) -> None:
    space = GraphSpace(LINKS, relevance=SCORES, alpha=PROMISE)
    list(
        lycosa.crawl(
            SpaceJudge(), ["a"], space=space, strategy=strategy, out=tmp_path / "crawl", budget=3, concurrency=1
        )
    )
    with Reasons(tmp_path / "crawl", judge=SpaceJudge(), space=space) as reasons:
        waiting = [reasons.engine.table.nodes[row] for row in reasons.rankings[0].waiting.tolist()]
    for node in waiting[:1]:
        with Reasons(tmp_path / "crawl", judge=SpaceJudge(), space=space) as reasons:
            for view in reasons.why(node).views:
                assert view.explains
                assert pytest.approx(view.priority, abs=1e-6) == sum(view.terms.values())
    fetched = next(node for node in "bcd" if node not in waiting)
    with Reasons(tmp_path / "crawl", judge=SpaceJudge(), space=space) as reasons:
        terms = reasons.why(fetched).fetched
        assert terms is not None
        assert pytest.approx(terms.priority, abs=1e-6) == sum(terms.terms.values())


def recorded_terms(estimator: Any, visits: list[Visit], node: str = "x") -> dict[str, float]:
    """Return the terms of a link after some visits."""
    recorder, table = TermRecorder([node]), seeded(*(visit.node for visit in visits))
    recorder.attach(estimator)
    for visit in visits:
        see(estimator, table, visit)
    terms = recorder.terms(estimator, node)
    assert terms is not None
    (score,) = estimator.priority(np.array([table.row_of[node]], np.int32), table).tolist()
    assert pytest.approx(score) == sum(terms.values())
    return terms


def page(node: str, *links: str, **more: Any) -> Visit:
    return Visit(node, "page", "ok", 1, links=Links.to(*links), **more)


def test_terms_of_rules_are_paths() -> None:
    """A DH page leads to PH with .1, and by way of CH with .8 * .4 = .32, as in the paper's example."""
    book = RuleBook()
    for rule in (("DH", "PH", 1), ("DH", "CH", 8), ("DH", "SP", 1), ("CH", "PH", 4), ("CH", "CH", 6)):
        book.add(*rule)
    dh = page("s", "x", relevance=0.05, data={"classes": [["DH", 0.9]], "target": False})
    assert {"DH > CH > PH": pytest.approx(0.32), "DH > PH": pytest.approx(0.1)} == recorded_terms(
        InterclassRules(book, ("PH",)), [dh]
    )
    assert {"DH > PH": pytest.approx(0.1)} == recorded_terms(InterclassRules(book, ("PH",), depth=1), [dh])
    sp = page("s", "x", relevance=0.05, data={"classes": [["SP", 0.9]], "target": False})
    assert {"its page, no rule leads from SP": 0.05} == recorded_terms(InterclassRules(book, ("PH",)), [sp])
    ph = page("s", "x", relevance=0.9, data={"classes": [["PH", 0.9]], "target": True})
    book.add("PH", "PH", 3)
    book.add("PH", "SP", 7)
    assert {"PH > PH": pytest.approx(0.3)} == recorded_terms(InterclassRules(book, ("PH",)), [ph])


def browsing_record() -> Browsing:
    """Return pages at distances 2, 1 and 0, the first two of one cluster, with steps 2 -> 1 (twice) and 1 -> 0."""
    return Browsing(
        ["list", "reef"],
        Bags.of([([0], [1]), ([0], [2]), ([1], [3])]),
        ["a", "b", "c"],
        np.array([False, False, True]),
        np.array([2, 1, 0]),
        np.array([[0, 1], [1, 2], [0, 1]]),
        {"kmeans": np.array([0, 0, 1])},
        states=3,
    )


def test_terms_of_hmm_are_states() -> None:
    """Terms are shares of the current states in the next state 0; pi is 1/3 each; 1 leads to 0, 2 to 1, 0 anywhere.

    One step on: 4/9 for 0, 4/9 for 1, 1/9 for 2. 'list' is of the first cluster, with smoothing .1 / 1.2 of the pages
    at 0 and 1.1 / 1.2 of the others: .1 * 4 : 1.1 * 4 : 1.1 * 1 = .4 : 4.4 : 1.1, of 5.9. Of that, 0 leads to 0 with
    1/3, and 1 with 1: .4 / 17.7 + 4.4 / 5.9 = .76836.
    """
    visit = page("s", "x", terms=Terms(np.array([0], np.uint32), np.array([1], np.uint16), ["list"]))
    visit.links.anchors[0] = "the reef"
    expected = {
        "its page is relevant": 0.4 / 17.7,
        "its page is 1 link away": 4.4 / 5.9,
        "its page is 2 links away": 0.0,
    }
    terms = recorded_terms(Hmm(browsing_record()), [visit])
    assert {name: pytest.approx(value) for name, value in expected.items()} == {name: terms[name] for name in expected}
    terms = recorded_terms(Hybrid(browsing_record(), anchors=True), [visit])  # (.76836 + (0 + 1) / 2) / 2
    assert pytest.approx(4.4 / 5.9 / 2) == terms["its page is 1 link away"]
    assert pytest.approx(1 / 4) == terms["similarity of the anchor"]


def test_terms_of_cash_are_payments_of_parents() -> None:
    """Terms are the payments of each page: s gives x 1/2 of its 1, t a third of its 1, and s as much.

    u is a dead end: its 1 is divided between s and t. At step 3, s is the richest, with 5/6, and gives half to x.
    """
    visits = [page("s", "x", "y", title="One"), page("t", "x", "z", "s", title="Other"), page("u", title="Last")]
    terms = recorded_terms(Opic(period=3), visits)
    assert {"by One": 0.5, "by Other": pytest.approx(1 / 3), OTHER_PAGES: pytest.approx(5 / 12)} == terms


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
