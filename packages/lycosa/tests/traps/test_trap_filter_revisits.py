"""Tests of traps on revisited pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from lycosa.core.frontier import HELD, Frontier
from lycosa.core.table import Table
from lycosa.core.types import Kind, Links, Outcome, Page, Terms, Visit
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.copies import MAX_BUCKET, DuplicateIndex
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa.web.urls import host_key

A = "http://a.test"
PROBE = f"{A}/no-such-page-0123456789ab.html"
SORRY = (
    "Sorry, the page you are looking for could not be found on this server. Perhaps it has moved to another place, "
    "or the address was misspelt. Search our collection, or write to the keeper of these pages, who will gladly help."
)
CORAL = (
    "Corals are animals, though they look like plants. Each polyp builds a skeleton of limestone around itself, and "
    "over centuries the skeletons of countless polyps grow into a reef that shelters fish, crabs and sea urchins."
)


class CrawlSteps:
    """Crawl that is run visit by visit, in the order of the engine: read, detect copies, absorb, learn."""

    def __init__(self) -> None:
        self.words, self.table, self.trap_filter = Vocabulary(), Table(host_key), SectionTrapFilter(0.1)
        self.frontier = Frontier(self.table)
        self.table.add_seed(f"{A}/")

    def visit(
        self, node: str, text: str, *links: str, kind: Kind = "page", outcome: Outcome = "ok", **more: Any
    ) -> Visit:
        if kind == "page":
            self.table.add(node, 1)
        page = Page("ok", title=more.pop("title", ""), marked=text)
        visit = Visit(node, kind, outcome, 1, title=page.title, size=len(text), links=Links.to(*links), **more)
        visit.data = {"follows": 1.0} if kind == "revisit" else {}
        if outcome == "ok":
            reading = self.words.read(page)
            visit.terms, visit.simhash, visit.digest = reading.terms, reading.simhash, text.encode()
            visit.relevance = 0.8
            visit.links.link_relevances = np.full(len(links), 0.5, np.float32)
            self.trap_filter.recognise(visit, reading)
        self.words.learn(visit)
        step = self.table.absorb(visit)
        self.frontier.hold(*self.trap_filter.learn(visit, step, self.table))
        return visit

    def again(self, node: str, text: str, *links: str, **more: Any) -> Visit:
        return self.visit(node, text, *links, kind="revisit", **more)

    def counts(self) -> list[tuple[int, int, int]]:
        return [(part.pages, part.relevant, part.waste) for part in self.trap_filter.sections]


def test_page_that_becomes_soft404_is_flagged() -> None:
    steps = CrawlSteps()
    steps.visit(PROBE, SORRY, kind="probe")
    assert [] == steps.visit(f"{A}/corals.html", CORAL).flags
    visit = steps.again(f"{A}/corals.html", SORRY, f"{A}/home.html")
    assert (["soft-404"], 0.0, [0.0]) == (visit.flags, visit.relevance, visit.links.link_relevances.tolist())


def test_version_with_soft404_title_is_flagged() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/corals.html", CORAL)
    assert ["soft-404"] == steps.again(f"{A}/corals.html", SORRY, title="404 Not Found").flags


def test_version_is_no_copy_of_earlier_version() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/corals.html", CORAL)
    assert "" == steps.again(f"{A}/corals.html", f"{CORAL} Today.").same_as
    assert "" == steps.again(f"{A}/corals.html", CORAL).same_as
    assert f"{A}/corals.html" == steps.visit(f"{A}/mirror.html", CORAL).same_as


def test_version_may_copy_another_page() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/corals.html", CORAL)
    steps.visit(f"{A}/other.html", SORRY)
    assert f"{A}/corals.html" == steps.again(f"{A}/other.html", CORAL).same_as
    news = " ".join(f"word{number}" for number in range(60))
    assert "" == steps.again(f"{A}/corals.html", news).same_as
    assert f"{A}/corals.html" == steps.visit(f"{A}/third.html", news).same_as


def test_moved_page_is_no_copy() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/old.html", CORAL)
    steps.again(f"{A}/old.html", "", f"{A}/new.html", outcome="redirect")
    assert "" == steps.visit(f"{A}/new.html", CORAL).same_as
    steps.again(f"{A}/new.html", "", f"{A}/newer.html", outcome="redirect")
    assert "" == steps.visit(f"{A}/newer.html", CORAL).same_as
    assert [0] == list({waste for _, _, waste in steps.counts()})
    assert f"{A}/old.html" == steps.visit(f"{A}/mirror.html", CORAL).same_as


def test_revisits_are_not_counted() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/reefs/corals.html", CORAL)
    before, pages, host = steps.counts(), steps.trap_filter.pages, steps.trap_filter.hosts["a.test"].pages
    for text, more in ((f"{CORAL} Today.", {}), (SORRY, {"title": "Not found"}), ("", {"outcome": "gone"})):
        steps.again(f"{A}/reefs/corals.html", text, **more)
    assert (before, pages, host) == (steps.counts(), steps.trap_filter.pages, steps.trap_filter.hosts["a.test"].pages)


def test_new_links_of_revisits_are_classified() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/", CORAL)
    looping, plain = f"{A}/x/y/x/y/x/y/x/y/x/y/", f"{A}/reefs/fish.html"
    steps.again(f"{A}/", f"{CORAL} Today.", looping, plain)
    levels = {node: int(steps.frontier.level[steps.table.row_of[node]]) for node in (looping, plain)}
    assert {looping: HELD, plain: 0} == levels


def test_changing_page_has_two_digests() -> None:
    copies = DuplicateIndex()

    def version(node: str, number: int, again: bool) -> Visit:
        ids = np.arange(number, number + 40, dtype=np.uint32)
        data = {"follows": 1.0} if again else {}
        return Visit(
            node, "revisit" if again else "page", "ok", 1, size=9, digest=b"%s %d" % (node.encode(), number),
            simhash=7, terms=Terms(ids, np.ones(40, np.uint16)), data=data,
        )  # fmt: skip

    copies.learn(version("quiet", 5000, False))
    copies.learn(version("loud", 0, False))
    for number in range(100, 100 + 2 * MAX_BUCKET):
        copies.learn(version("loud", number, True))
    asked = [version("quiet", 5000, False), version("loud", 0, False), version("loud", 99 + 2 * MAX_BUCKET, False)]
    for visit in asked:
        visit.node, visit.digest = "new", b"another"
    assert ["quiet", "loud", "loud"] == [copies.original(visit) for visit in asked]
    asked[0].digest, asked[0].terms = b"loud 300", Terms()  # a version in between
    assert "" == copies.original(asked[0])


def test_words_of_versions_are_counted_once() -> None:
    steps = CrawlSteps()
    steps.visit(f"{A}/corals.html", "coral reef")
    steps.again(f"{A}/corals.html", "coral bleaching")
    words = steps.words
    assert (1, [1, 0]) == (words.pages, [int(words.frequency[words.id_of[word]]) for word in ("coral", "bleach")])
