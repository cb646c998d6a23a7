"""Traps and pages that are visited again: what has become a soft 404, what is no copy, what is not counted."""

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


class Hunt:
    """A crawl told visit by visit, as the engine tells it: read, recognised, absorbed, learned."""

    def __init__(self) -> None:
        self.words, self.table, self.trap_filter = Vocabulary(), Table(host_key), SectionTrapFilter(0.1)
        self.frontier = Frontier(self.table)
        self.table.add_seed(f"{A}/")

    def visit(
        self, node: str, text: str, *links: str, kind: Kind = "page", outcome: Outcome = "ok", **more: Any
    ) -> Visit:
        """One visit."""
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
        """A revisit."""
        return self.visit(node, text, *links, kind="revisit", **more)

    def counts(self) -> list[tuple[int, int, int]]:
        """Of each section its pages, finds and waste."""
        return [(part.pages, part.relevant, part.waste) for part in self.trap_filter.sections]


def test_a_page_that_has_become_a_soft_404() -> None:
    """A page that now has the face of the host's answer to nonsense is flagged; it and its links promise nothing."""
    hunt = Hunt()
    hunt.visit(PROBE, SORRY, kind="probe")
    assert [] == hunt.visit(f"{A}/corals.html", CORAL).flags
    visit = hunt.again(f"{A}/corals.html", SORRY, f"{A}/home.html")
    assert (["soft-404"], 0.0, [0.0]) == (visit.flags, visit.relevance, visit.links.link_relevances.tolist())


def test_a_title_that_says_so() -> None:
    """Also without a probe, a version whose title says that there is nothing is no page."""
    hunt = Hunt()
    hunt.visit(f"{A}/corals.html", CORAL)
    assert ["soft-404"] == hunt.again(f"{A}/corals.html", SORRY, title="404 Not Found").flags


def test_a_version_is_no_copy_of_the_one_before() -> None:
    """A page with a word changed is itself, also when it is as it was at first; another one with it is a copy."""
    hunt = Hunt()
    hunt.visit(f"{A}/corals.html", CORAL)
    assert "" == hunt.again(f"{A}/corals.html", f"{CORAL} Today.").same_as
    assert "" == hunt.again(f"{A}/corals.html", CORAL).same_as
    assert f"{A}/corals.html" == hunt.visit(f"{A}/mirror.html", CORAL).same_as


def test_a_version_that_repeats_another_page() -> None:
    """What a page says now may be what another one said first, and what it said first is known to others."""
    hunt = Hunt()
    hunt.visit(f"{A}/corals.html", CORAL)
    hunt.visit(f"{A}/other.html", SORRY)
    assert f"{A}/corals.html" == hunt.again(f"{A}/other.html", CORAL).same_as
    news = " ".join(f"word{number}" for number in range(60))
    assert "" == hunt.again(f"{A}/corals.html", news).same_as
    assert f"{A}/corals.html" == hunt.visit(f"{A}/third.html", news).same_as


def test_a_page_that_moved_is_no_copy_of_what_it_was() -> None:
    """Where it is now it says the same; its section and host are not blamed for it, and it may move on."""
    hunt = Hunt()
    hunt.visit(f"{A}/old.html", CORAL)
    hunt.again(f"{A}/old.html", "", f"{A}/new.html", outcome="redirect")
    assert "" == hunt.visit(f"{A}/new.html", CORAL).same_as
    hunt.again(f"{A}/new.html", "", f"{A}/newer.html", outcome="redirect")
    assert "" == hunt.visit(f"{A}/newer.html", CORAL).same_as
    assert [0] == list({waste for _, _, waste in hunt.counts()})
    assert f"{A}/old.html" == hunt.visit(f"{A}/mirror.html", CORAL).same_as


def test_a_revisit_counts_for_nobody() -> None:
    """Pages, finds and waste of sections and host stay as they were, whatever has become of the page."""
    hunt = Hunt()
    hunt.visit(f"{A}/reefs/corals.html", CORAL)
    before, pages, host = hunt.counts(), hunt.trap_filter.pages, hunt.trap_filter.hosts["a.test"].pages
    for text, more in ((f"{CORAL} Today.", {}), (SORRY, {"title": "Not found"}), ("", {"outcome": "gone"})):
        hunt.again(f"{A}/reefs/corals.html", text, **more)
    assert (before, pages, host) == (hunt.counts(), hunt.trap_filter.pages, hunt.trap_filter.hosts["a.test"].pages)


def test_new_links_of_a_revisit_are_judged_as_addresses() -> None:
    """One that repeats itself is held back at once, as it is on a first visit."""
    hunt = Hunt()
    hunt.visit(f"{A}/", CORAL)
    looping, plain = f"{A}/x/y/x/y/x/y/x/y/x/y/", f"{A}/reefs/fish.html"
    hunt.again(f"{A}/", f"{CORAL} Today.", looping, plain)
    levels = {node: int(hunt.frontier.level[hunt.table.row_of[node]]) for node in (looping, plain)}
    assert {looping: HELD, plain: 0} == levels


def test_a_page_that_changes_all_the_time_is_remembered_twice() -> None:
    """Its first version and its last: what others said is not driven out by it."""
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
    """The vocabulary of a crawl gets to know the words of a new version, but a page is one document."""
    hunt = Hunt()
    hunt.visit(f"{A}/corals.html", "coral reef")
    hunt.again(f"{A}/corals.html", "coral bleaching")
    words = hunt.words
    assert (1, [1, 0]) == (words.pages, [int(words.frequency[words.id_of[word]]) for word in ("coral", "bleach")])
