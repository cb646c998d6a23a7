"""Tests of interclass rules as a strategy."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa.checks import check_estimator
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.protocols import Estimator
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Seed, Visit
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies.best_first import BestFirst
from lycosa.strategies.interclass_rules import InterclassRules
from lycosa.strategies.rulebook import RuleBook
from paper_rules import paper_rules

CLASSES = {"S": "PH", "URL 1": "CH", "URL 2": "DH", "URL 3": "PH", "URL 4": "SP", "URL 5": "PH"}
"""Figure 3 of the paper: a seed with four links, the first of which is a course page (CH) that links to URL 5."""

SOFT = {"PH": 1.0, "CH": 0.3, "DH": 0.2, "SP": 0.1}
"""Relevance that a classifier might give to each class for the target PH: 1 for PH, as in step 1 of the paper."""


@pytest.fixture
def paper() -> RuleBook:
    """Return the rules of the paper's table 2."""
    return paper_rules()


class Classes:
    """Judge that assigns classes to nodes by name."""

    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        name = CLASSES[page.data["node"]]
        return Judgement(SOFT[name], np.zeros(len(page.links), np.float32), {"classes": [[name, 0.9]]})

    def learn(self, visit: Visit) -> None: ...


class Named(GraphSpace):
    """Graph whose page titles are the node names."""

    async def visit(self, task: Any) -> Page:
        page = await super().visit(task)
        page.data["node"] = task.node
        return page


def order(estimator: Estimator) -> list[str]:
    """Return the order in which the pages of figure 3 are fetched."""
    space = Named({"S": ["URL 1", "URL 2", "URL 3", "URL 4"], "URL 1": ["URL 5"]})
    engine = Engine(space, Classes(), Greedy(estimator), MemoryLog(), clock=lambda: 0.0, concurrency=1)

    async def crawl() -> list[str]:
        engine.fold(Seed("S"))
        return [visit.node async for visit in engine.run()]

    return asyncio.run(crawl())


@pytest.mark.paper("rules-figure-3")
def test_crawl_order_figure_3_rules(paper: RuleBook) -> None:
    """After URL 1 is classified as a course page, its link URL 5 (.4) comes before URLs 2 to 4 (.3)."""
    rules = InterclassRules(paper, ("PH",), depth=1)
    assert ["S", "URL 1", "URL 5", "URL 2", "URL 3", "URL 4"] == order(rules)


@pytest.mark.paper("rules-figure-3-baseline")
def test_crawl_order_figure_3_baseline() -> None:
    """Soft focus fetches URL 5 after URLs 2 to 4, which have the seed's relevance of 1."""
    assert ["S", "URL 1", "URL 2", "URL 3", "URL 4", "URL 5"] == order(BestFirst(page=1.0, anchor=0.0))


def learn(
    rules: InterclassRules, table: Table, node: str, targets: list[str], name: str, relevance: float = 0.05
) -> list[float]:
    """Feed a page of a class and return the priorities of its links."""
    if table.row_of.get(node) is None:
        table.add_seed(node)
    data = {"classes": [[name, 0.9]]} if name else {}
    step = table.absorb(Visit(node, "page", "ok", 1, relevance=relevance, links=Links.to(*targets), data=data))
    assert step is not None
    return [round(score, 9) for score in rules.priority(rules.learn(step, table), table).tolist()]


@pytest.mark.paper("rules-figure-4")
def test_priority_equals_paper_example(paper: RuleBook) -> None:
    """At depth 2: DH .1 + .8 * .4 = .42, CH .4 + .2 * .1 = .42, PH .3; SP, which has no rule, its relevance."""
    scores = {}
    for name in ("DH", "CH", "PH", "SP"):
        rules = InterclassRules(paper, ("PH",), depth=2)
        scores[name] = learn(rules, Table(), "page", ["link"], name, relevance=0.07)[0]
    assert {"DH": 0.42, "CH": 0.42, "PH": 0.3, "SP": 0.07} == scores


def test_page_without_class_uses_its_relevance(paper: RuleBook) -> None:
    assert [0.6] == learn(InterclassRules(paper, ("PH",)), Table(), "page", ["link"], "", relevance=0.6)


@pytest.mark.paper("rules-precomputed")
def test_several_targets_are_merged() -> None:
    """Relevances of targets are added: P1 .3 and P2 .3 outweigh C .4. Of 5 links of target pages 2 lead to targets."""
    book = RuleBook()
    for source, to, cases in (("P1", "P2", 2), ("P1", "C", 1), ("P2", "C", 2), ("C", "P1", 9), ("C", "C", 1)):
        book.add(source, to, cases)
    rules, table = InterclassRules(book, ("P1", "P2"), depth=1), Table()
    table.add_seed("page")
    data = {"classes": [["C", 0.4], ["P1", 0.3], ["P2", 0.3]], "target": True}
    step = table.absorb(Visit("page", "page", "ok", 1, relevance=0.6, links=Links.to("link"), data=data))
    assert step is not None
    assert [2 / 5] == rules.priority(rules.learn(step, table), table).tolist()


@pytest.mark.paper("rules-refine")
def test_refine_updates_rules_during_crawl() -> None:
    """A -> T is 1 of 10 links; after ten more A pages that link to T pages it is 11 of 20."""
    book = RuleBook()
    book.add("A", "T", 1)
    book.add("A", "B", 9)
    rules, table = InterclassRules(book, ("T",), refine=True, period=1), Table()
    assert [0.1] == learn(rules, table, "first", ["somewhere"], "A")
    for number in range(10):
        learn(rules, table, f"a{number}", [f"t{number}"], "A")
        learn(rules, table, f"t{number}", [], "T")
    assert [0.55] == learn(rules, table, "last", ["elsewhere"], "A")


def test_target_without_rules_adds_note() -> None:
    book = RuleBook()
    book.add("T", "A")
    rules = InterclassRules(book, ("T",))
    assert ["no rule leads to T: links get the relevance of their page"] == rules.notes
    assert [0.3] == learn(rules, Table(), "page", ["link"], "A", relevance=0.3)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"targets": ("Phys",)}, "no rule has the class Phys; similar classes: Science/Physics"),
        ({"targets": ()}, "say which class is wanted with --target"),
        ({"depth": 0}, "'depth' is 0: it must be 1 to 5"),
        ({"period": 0}, "at least 1 page"),
        ({"file": ""}, "lycosa train rules"),
        ({"file": "nowhere.tsv"}, "cannot read the rules"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: dict[str, Any], complaint: str) -> None:
    book = RuleBook()
    book.add("Science/Physics", "Science/Chemistry")
    with pytest.raises((InputError, ValueError), match=complaint):
        InterclassRules(**{"file": book, "targets": ("Science",), **arguments})


def test_rules_pass_estimator_checks(tmp_path: Path) -> None:
    book = RuleBook()
    book.add("A", "T", 3)
    book.add("B", "A", 3)
    book.save(tmp_path / "rules.tsv")
    check_estimator(lambda: InterclassRules(str(tmp_path / "rules.tsv"), ("T",), merge="last", refine=True))
