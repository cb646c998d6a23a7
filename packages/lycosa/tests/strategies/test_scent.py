"""Scent as a whole: each term of a score by hand, who hears of a page, what is scored again, and odd pages."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import (
    a_crawl_can_be_resumed,
    other_priorities_stay,
)
from lycosa.checks.failing import passed
from lycosa.core.errors import InputError
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Rows, Step, Terms, Visit
from lycosa.strategies import estimator
from lycosa.strategies.scent import TERMS, Scent
from lycosa.strategies.scent.estimator import ANY, RISK, WEIGHTS
from lycosa.strategies.scent.link_words import slot_of
from lycosa.strategies.scent.mixing import PATIENCE, SLICE, TOP, Elite
from lycosa.strategies.scent.trails import (
    BYTES,
    DIRECTORY,
    HOST,
    NEIGHBOUR_WEIGHT,
    NEIGHBOURS,
    OF_ANCHOR,
    Lines,
    Trails,
)

SEED = "http://seed.test/"
SALMON, TROUT, HERON = "http://b.test/fish/salmon", "http://b.test/fish/trout", "http://b.test/bird/heron"
OTHER = "http://other.test/tern"


class Crawl:
    """A table and a scent that learns what is visited. By default outcomes are betas."""

    def __init__(self, scent: Scent | None = None, seeds: Sequence[str] = (SEED,)) -> None:
        self.scent = scent or Scent(vectors=False, exact=True)
        self.table = Table()
        self.ids: dict[str, int] = {}
        for seed in seeds:
            self.table.add_seed(seed)

    def visit(self, node: str, beta: float = 0.0, links: Links | None = None, words: str = "", **more: Any) -> Rows:
        """The rows that were scored again after a page with these links and words."""
        visit = Visit(
            node, "page", "ok", 1, relevance=beta, links=links or Links.to(), terms=self.terms_of(words), **more
        )
        return self.absorb(visit)

    def redirect(self, node: str, target: str) -> Rows:
        return self.absorb(Visit(node, "redirect", "redirect", 1, links=Links.to(target)))

    def absorb(self, visit: Visit) -> Rows:
        step = self.table.absorb(visit)
        assert step is not None
        return self.scent.learn(step, self.table)

    def terms_of(self, words: str) -> Terms:
        """The words of a page, by numbers that count up over the crawl."""
        known, each = len(self.ids), words.split()
        ids = sorted({self.ids.setdefault(word, len(self.ids)) for word in each})
        names = list(self.ids)
        counts = [each.count(names[number]) for number in ids]
        return Terms(np.array(ids, np.uint32), np.array(counts, np.uint16), names[known:])

    def row(self, node: str) -> int:
        return self.table.row_of[node]

    def term(self, term: str, node: str) -> float:
        """What a term is for a node, not weighted."""
        return float(self.scent.terms(np.array([self.row(node)]), self.table)[term][0]) / WEIGHTS[term]

    def score(self, node: str) -> float:
        return float(self.scent.priority(np.array([self.row(node)]), self.table)[0])


def linked(*links: tuple[str, str, str], link_relevances: Sequence[float] = (), **facets: Sequence[float]) -> Links:
    """Links of (url, anchor, context)."""
    made = Links.to(*(url for url, _, _ in links), anchors=[anchor for _, anchor, _ in links])
    made.contexts = [context for _, _, context in links]
    made.link_relevances[: len(link_relevances)] = link_relevances
    made.facets = {name: np.array(column, np.float32) for name, column in facets.items()}
    return made


def close(value: float) -> Any:
    """Columns have single precision."""
    return pytest.approx(value, rel=2e-5, abs=1e-7)


def two_pages() -> Crawl:
    """A seed worth .5 with links to salmon, trout and heron, and the page on salmon, worth .3.

    s = (.5 + .3 + .05) / (2 + .5) = .34, m0 = (.5 + .3) / (2 + 5) = .8 / 7.
    """
    crawl = Crawl()
    links = linked(
        (SALMON, "coral reefs", "sea"),
        (TROUT, "coral caves", "caves under water"),
        (HERON, "", ""),
        link_relevances=(0.8, 0.6, 0.0),
        context=(0.0, 0.25, 0.0),
        url=(0.0, 0.125, 0.0),
    )
    crawl.visit(SEED, 0.5, links, "cave coral")
    crawl.visit(SALMON, 0.3, None, "reef")
    return crawl


S, M0 = 0.85 / 2.5, 0.8 / 7


# -- terms -----------------------------------------------------------------------------------------------------


def test_what_the_first_page_says_of_its_links() -> None:
    """One page of .5: s = .55 / 1.5; each term of a link with alpha .8, context .4 and address .2."""
    crawl = Crawl()
    crawl.visit(SEED, 0.5, linked((SALMON, "", ""), link_relevances=(0.8,), context=(0.4,), url=(0.2,)))
    s = (0.5 + 0.05) / (1 + 0.5)
    assert close(s) == crawl.scent.scale_
    assert close((0.5 / s) / (1 + 2)) == crawl.term("pages", SALMON)
    assert close(math.log(1 + 1)) == crawl.term("popularity", SALMON)
    assert close(math.log(1 + 0.8 * 0.5 / s)) == crawl.term("promise", SALMON)
    assert close(0.8) == crawl.term("anchor", SALMON)
    assert close(0.4) == crawl.term("context", SALMON)
    assert close(0.2) == crawl.term("address", SALMON)
    assert 0 == crawl.term("neighbours", SALMON)


def test_the_score_of_a_link_by_hand() -> None:
    """The same link: the weighted sum, with m0 = .5 / 6 for its directory and curiosity after one find."""
    crawl = Crawl()
    crawl.visit(SEED, 0.5, linked((SALMON, "", ""), link_relevances=(0.8,), context=(0.4,), url=(0.2,)))
    s, m0 = 0.55 / 1.5, 0.5 / 6
    curiosity = (0.5 * (1 + 1) + 1 - 2 / 8) / (1 + 1 / 3)
    expected = (
        ANY
        + 0.4 * (0.5 / s) / 3
        - 0.1 * math.log(2)
        + 0.15 * math.log(1 + 0.4 / s)
        + 0.3 * 0.8 + 0.3 * 0.4 + 0.5 * 0.2
        + 0.3 * m0 / s
        + 0.6 * curiosity
    )  # fmt: skip
    assert close(expected) == crawl.priority(SALMON)


def test_a_second_parent_adds_up() -> None:
    """Parents of .5 and .3, alphas .6 and .2: sums over both, and the larger of what the topic said."""
    crawl = two_pages()
    crawl.visit(HERON, 0.1, linked((TROUT, "x", ""), link_relevances=(0.2,), context=(0.5,), url=(0.0,)))
    s = (0.5 + 0.3 + 0.1 + 0.05) / 3.5
    assert close(((0.5 + 0.1) / s) / (2 + 2)) == crawl.term("pages", TROUT)
    assert close(math.log(1 + 2)) == crawl.term("popularity", TROUT)
    assert close(math.log(1 + (0.6 * 0.5 + 0.2 * 0.1) / s)) == crawl.term("promise", TROUT)
    assert close(0.6) == crawl.term("anchor", TROUT)
    assert close(0.5) == crawl.term("context", TROUT)
    assert close(0.125) == crawl.term("address", TROUT)


def test_neighbours_count_less_with_distance() -> None:
    """.6 for the next link, .36 for the one after it, each shrunk by .7."""
    crawl = two_pages()
    assert close(0.6 * 0.3 / (0.6 + 0.7) / S) == crawl.term("neighbours", TROUT)
    assert close(0.36 * 0.3 / (0.36 + 0.7) / S) == crawl.term("neighbours", HERON)


def test_neighbours_end_after_four_places() -> None:
    """Of 40 links the first is fetched: which others hear of it, and how loudly."""
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(40)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    crawl.visit(urls[0], 0.3)
    known = crawl.scent.trails_.known[[crawl.row(url) for url in urls]]
    assert [0, *(0.6**d for d in range(1, 5)), *(35 * [0])] == pytest.approx(known[:, NEIGHBOUR_WEIGHT].tolist())
    assert [0, *(0.3 * 0.6**d for d in range(1, 5)), *(35 * [0])] == pytest.approx(known[:, NEIGHBOURS].tolist())


@pytest.mark.parametrize("fetched", [0, 1, 2])
def test_each_neighbour_hears_of_a_page_once(fetched: int) -> None:
    """Also at the beginning and at the end of all edges, where fewer than four stand on one side."""
    crawl = Crawl()
    urls = [SALMON, TROUT, HERON]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    crawl.visit(urls[fetched], 0.3)
    known = crawl.scent.trails_.known
    for place, url in enumerate(urls):
        apart = abs(place - fetched)
        assert close(0.6**apart if apart else 0.0) == known[crawl.row(url), NEIGHBOUR_WEIGHT]


def test_links_of_another_page_are_no_neighbours() -> None:
    """Edges of two pages stand side by side: what the first one's last link leads to says nothing of the next."""
    crawl = Crawl(seeds=(SEED, "http://seed.test/2"))
    crawl.visit(SEED, 0.5, Links.to(SALMON))
    crawl.visit("http://seed.test/2", 0.5, Links.to(TROUT))
    crawl.visit(SALMON, 0.3)
    assert 0 == crawl.term("neighbours", TROUT)


def test_links_beside_one_that_we_have_know_at_once() -> None:
    """Heron links to trout, to salmon, which turned out .3, and to tern: both others have it for a neighbour."""
    crawl = two_pages()
    crawl.visit(HERON, 0.0, Links.to(OTHER, "http://b.test/eel", SALMON))
    assert close(0.36 * 0.3 / (0.36 + 0.7) / S) == crawl.term("neighbours", OTHER)
    assert close(0.6 * 0.3 / (0.6 + 0.7) / S) == crawl.term("neighbours", "http://b.test/eel")


def test_a_directory_is_backed_off_to_its_host_and_that_to_all() -> None:
    """One page of .3 in fish: h = (.3 + 3 m0) / 4 for the host, (.3 + 3 h) / 4 for fish, h for birds."""
    crawl = two_pages()
    crawl.visit(TROUT, 0.0, Links.to(OTHER, "http://b.test/fish/eel"))
    m0 = 0.8 / 8  # three pages by now, and two in the host
    host = (0.3 + 3 * m0) / (2 + 3)
    assert close((0.3 + 3 * host) / (2 + 3) / S) == crawl.term("directory", "http://b.test/fish/eel")
    assert close(host / S) == crawl.term("directory", HERON)
    assert close(m0 / S) == crawl.term("directory", OTHER)


def test_a_query_is_no_part_of_a_directory() -> None:
    """Slashes behind the question mark cut nothing, and a host without a path has a directory of its own."""
    trails = Trails()
    trails.fit(5)
    addresses = [
        "http://b.test/a/b",
        "http://b.test/a/c?d=e/f",
        "http://b.test/a/",
        "http://b.test",
        "http://b.test/?a/b",
    ]
    for row, url in enumerate(addresses):
        trails.place(row, url)
    a, b, c, bare, query = trails.words[:5, DIRECTORY].tolist()
    assert a == b == c != bare == query
    assert 1 == len(set(trails.words[:5, HOST].tolist()))


def test_lift_of_anchor_words() -> None:
    """Coral has led to one page of .3, caves to none: (.3 - m0) / (1 + 3) and 0, over the root of two words."""
    assert close((0.3 - M0) / 4 / math.sqrt(2) / S) == two_pages().term("anchor words", TROUT)


def test_lifts_by_pages_that_have_the_words() -> None:
    """Cave and coral were on the page of .5, pages have .4 in the mean: (.5 - .4) / (1 + 3) each; water on none."""
    crawl = two_pages()
    lift = (0.5 - 0.4) / (1 + 3)
    assert close(2 * lift / math.sqrt(2) / S) == crawl.term("anchor in pages", TROUT)
    assert close(lift / math.sqrt(2) / S) == crawl.term("context in pages", TROUT)


def test_no_words_have_no_lift() -> None:
    """A link without anchor and context."""
    crawl = two_pages()
    for term in ("anchor words", "anchor in pages", "context in pages"):
        assert 0 == crawl.term(term, HERON)


def test_new_places_by_hand() -> None:
    """After two finds, with one page of the host and of fish, none of birds, and none of the other host."""
    crawl = two_pages()
    assert 2 == crawl.scent.relevant_
    curiosity = 1 / (1 + 2 / 3)
    assert close(curiosity * ((1 / math.sqrt(2) + 1 / math.sqrt(2)) / 2 + 1 - 2 / 8)) == crawl.term("new places", TROUT)
    assert close(curiosity * ((1 / math.sqrt(2) + 1) / 2 + 1 - 2 / 8)) == crawl.term("new places", HERON)
    crawl.visit(TROUT, 0.0, Links.to(OTHER))
    assert close(curiosity * (1 + 1 - 1 / 8)) == crawl.term("new places", OTHER)


@pytest.mark.parametrize(("beta", "finds"), [(0.0, 0), (0.05, 0), (0.1, 9), (0.9, 9)])
def test_curiosity_falls_with_finds(beta: float, finds: int) -> None:
    """A place never seen is worth (1 + 7 / 8) / (1 + finds / 3); pages below the threshold are no finds."""
    seeds = [f"http://seed.test/{number}" for number in range(9)]
    crawl = Crawl(seeds=seeds)
    for seed in seeds:
        crawl.visit(seed, beta, Links.to(OTHER))
    assert close((1 + 1 - 1 / 8) / (1 + finds / 3)) == crawl.term("new places", OTHER)


def test_terms_sum_to_the_score() -> None:
    """Right after learning, of all rows that were scored again, whatever weights are in force."""
    crawl = Crawl(Scent(words="coral reef", vectors=False))
    for number in range(60):
        links = linked(*((f"http://b.test/{chr(97 + k)}/{number + k}", "coral reef"[: k + 3], "sea") for k in range(4)))
        links.link_relevances[:] = (0.5, 0.1, 0.3, 0.0)
        node = SEED if number == 0 else crawl.table.nodes[int(crawl.table.rows()[0])]
        rows = crawl.visit(node, number % 3 / 4, links, ("coral reef sea", "coral", "fish")[number % 3])
        summed = sum(crawl.scent.terms(rows, crawl.table).values())
        assert pytest.approx(crawl.scent.priority(rows, crawl.table), abs=1e-5) == summed


# -- explain ------------------------------------------------------------------------------


def test_explain_has_the_largest_first() -> None:
    """By size, whatever the sign, and last what all links have; the values are those of terms."""
    crawl = two_pages()
    row = crawl.row(TROUT)
    explained = crawl.scent.explain(row, crawl.table)
    assert list(explained)[-1] == "any link"
    sizes = [abs(value) for value in explained.values()][:-1]
    assert sorted(sizes, reverse=True) == sizes
    assert {*TERMS, "any link"} == set(explained)
    terms = crawl.scent.terms(np.array([row]), crawl.table)
    assert {name: column[0] for name, column in terms.items()} == explained
    assert explained["popularity"] < 0


def test_a_row_that_is_not_known_yet_is_explained_by_nothing() -> None:
    """Before the first page, and of a row that joined after the last one."""
    crawl = Crawl()
    assert {0.0, ANY} == set(crawl.scent.explain(0, crawl.table).values())
    crawl.visit(SEED, 0.5, Links.to(SALMON))
    late = [crawl.table.add(f"http://late.test/{number}", 1) for number in range(1100)][-1]
    assert {0.0, ANY} == set(crawl.scent.explain(late, crawl.table).values())
    assert [0.0] == crawl.scent.priority(np.array([late]), crawl.table).tolist()


# -- who hears of a page ---------------------------------------------------------------------------------------


def test_three_pages_on_the_way_get_credit() -> None:
    """Seed, a, b, c, d, e, of which e is worth 1: e has 1, d .3, c .09, b .027, and a nothing."""
    crawl = Crawl()
    names = ["alpha", "beta", "gamma", "delta", "epsilon"]
    nodes = [SEED, *(f"http://{name}.test/" for name in names)]
    for node, following, name in zip(nodes, nodes[1:], names, strict=False):
        crawl.visit(node, 0.0, linked((following, name, "")))
    crawl.visit(nodes[-1], 1.0)
    stems = [slot_of(stem) for stem in ("alpha", "beta", "gamma", "delta", "epsilon")]
    assert [[0, 1], [0.027, 1], [0.09, 1], [0.3, 1], [1, 1]] == [
        pytest.approx(line) for line in crawl.scent.groups_[stems].tolist()
    ]
    hosts = crawl.scent.groups_[crawl.scent.trails_.words[[crawl.row(node) for node in nodes[1:]], HOST]]
    assert [0, 0.027, 0.09, 0.3, 1] == pytest.approx(hosts[:, 0].tolist())


def test_a_copy_is_worth_nothing() -> None:
    """Its judge says .9, but we have it already: neighbours and words hear 0, and it is no find."""
    crawl = Crawl(Scent(vectors=False))
    crawl.visit(SEED, 0.5, linked((SALMON, "coral", ""), (TROUT, "coral", "")), "coral")
    crawl.visit(SALMON, 0.9, None, "coral", same_as=SEED)
    assert 0 == crawl.term("neighbours", TROUT)
    assert [0, 1] == crawl.scent.groups_[slot_of("coral")].tolist()
    assert [0.5, 1] == crawl.scent.sharpening_.lifts[slot_of("coral")].tolist()
    assert (1, 2, 0.5) == (crawl.scent.relevant_, crawl.scent.pages_, crawl.scent.sum_)


def test_a_failure_teaches_nothing() -> None:
    """A page that is gone has no outcome: neither count nor sum moves."""
    crawl = two_pages()
    before = crawl.scent.groups_.copy()
    crawl.absorb(Visit(TROUT, "page", "gone", 3, status=404))
    assert [2, 0.8] == pytest.approx([crawl.scent.pages_, crawl.scent.sum_])
    assert np.array_equal(before, crawl.scent.groups_)


def test_a_page_fetched_twice_has_one_outcome() -> None:
    """The second visit adds its links, but does not turn out again."""
    crawl = two_pages()
    crawl.visit(SALMON, 0.3, Links.to(OTHER))
    assert [2, 0.8] == pytest.approx([crawl.scent.pages_, crawl.scent.sum_])
    assert close((0.3 / S) / 3) == crawl.term("pages", OTHER)


def test_a_redirect_hands_on_score_and_words() -> None:
    """The target is worth what its source was; what it turns out to be, the words of the link to the source hear."""
    crawl = two_pages()
    worth = crawl.priority(TROUT)
    assert crawl.table.row_of.get(OTHER) is None
    rows = crawl.redirect(TROUT, OTHER)
    assert crawl.row(OTHER) in rows.tolist()
    assert crawl.row(TROUT) not in rows.tolist()
    assert worth == crawl.priority(OTHER)
    crawl.visit(OTHER, 0.7)
    assert [0.7, 1] == pytest.approx(crawl.scent.groups_[slot_of("cave")].tolist())
    heard = (0.6 * 0.7 + 0.36 * 0.3) / (0.6 + 0.36 + 0.7)
    assert close(heard / crawl.scent.scale_) == crawl.term("neighbours", HERON)


def test_a_redirect_to_a_page_that_is_known_changes_nothing_of_it() -> None:
    """Heron keeps its own line of words and parents."""
    crawl = two_pages()
    heron = crawl.row(HERON)
    before = crawl.scent.trails_.known[heron].copy()
    crawl.redirect(TROUT, HERON)
    assert np.array_equal(before, crawl.scent.trails_.known[heron])
    assert 0 == crawl.scent.trails_.words[heron, OF_ANCHOR.start]


# -- which rows are scored again, and what it takes ------------------------------------------------------------


class Counting(Scent):
    """Counts the rows that are scored."""

    scored: int = 0

    def _features(self, lines: Lines, table: Table) -> Any:
        self.scored += len(lines.rows)
        return super()._features(lines, table)


def test_a_large_frontier_is_never_scored_as_a_whole() -> None:
    """At 20,000 rows, a page with 10 links: those, 8 neighbours, the best 64 and 32 more at most."""
    counting = Counting(vectors=False)
    crawl = Crawl(counting)
    urls = [f"http://b.test/{number}" for number in range(20_000)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    counted = []
    for number in range(100, 6_000, 200):
        counting.scored = 0
        crawl.visit(urls[number], number % 7 / 7, Links.to(*(f"{urls[number]}/{k}" for k in range(10))))
        counted.append(counting.scored)
    assert max(counted) <= 1 + 10 + 8 + TOP + SLICE  # and the page itself, as it was when it was picked
    assert min(counted) > TOP


def test_every_open_row_is_scored_again_in_turn() -> None:
    """Of 1,000 rows, 32 with each page: all that are open after 32 pages."""
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(999)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    again: set[int] = set()
    for url in urls[:32]:
        again.update(crawl.visit(url, 0.1).tolist())
    assert set(crawl.table.rows().tolist()) <= again


def test_only_open_rows_are_scored() -> None:
    """Whatever was fetched is out of the running."""
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(99)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    for url in urls[:50]:
        rows = crawl.visit(url, 0.1, Links.to(*urls))
        assert (crawl.table.state[rows] == OPEN).all()


@pytest.mark.parametrize(("rows", "period"), [(5_000, 16), (17 * 4096, 17)])
def test_the_best_rows_are_found_again_at_the_period(rows: int, period: int) -> None:
    """A row that scored 9 once, and is not among the best since, is due after 16 pages; with many rows later then."""
    table, elite = Table(), Elite()
    for number in range(rows):
        table.add(str(number), 0)
    elite.fit(rows)
    due = []
    for _ in range(16 + period):
        elite.priority[rows - 1000] = 9.0
        again = np.unique(elite.due(table))
        due.append(rows - 1000 in again.tolist())
        elite.note(again, np.where(again == rows - 1000, -5.0, -1.0), again[:0])
    assert [15, 15 + period] == np.flatnonzero(due).tolist()


def test_a_row_that_nobody_fetches_makes_room() -> None:
    """The best of 9,000 rows is due with each of 128 pages, and then no longer: something holds it back."""
    table, elite = Table(), Elite()
    for number in range(9000):
        table.add(str(number), 0)
    elite.fit(9000)
    due = []
    for page in range(150):
        again = np.unique(np.append(elite.due(table), 8999 if page == 0 else 0))
        due.append(8999 in elite._best.tolist())
        elite.note(again, np.where(again == 8999, 9.0, 0.0), again[:0])
    assert due.index(True) == 1
    assert PATIENCE <= sum(due) <= PATIENCE + 1
    assert not any(due[PATIENCE + 2 :])


def test_a_change_that_nobody_notices_is_left_alone() -> None:
    """.005 more changes nothing, .02 does; a row that has to be told of is, whatever it scores."""
    elite = Elite()
    elite.fit(3)
    rows = np.arange(3)
    elite.note(rows, np.array([1.0, 1.0, 1.0]), rows)
    changed = elite.note(rows, np.array([1.005, 1.02, 1.005]), np.array([2]))
    assert [1, 2] == changed.tolist()
    assert [1.0, 1.02, 1.005] == pytest.approx(elite.priority[:3].tolist())


def test_the_best_are_kept() -> None:
    """Of the rows that were scored, the 64 with the highest scores are due with the next page, and a slice."""
    table, elite = Table(), Elite()
    for number in range(1000):
        table.add(str(number), 0)
    elite.fit(1000)
    elite.due(table)
    elite.note(np.arange(500), np.arange(500, dtype=np.float64), np.arange(0))
    assert {*range(500 - TOP, 500), *range(SLICE, 2 * SLICE)} == set(elite.due(table).tolist())


def test_bytes_of_a_row() -> None:
    """The columns of a line, and its score, take as much as is said."""
    trails, elite = Trails(), Elite()
    trails.fit(1)
    elite.fit(1)
    columns = [*trails.columns().values(), elite.priority, elite._until]
    assert 223 == BYTES == sum(column.nbytes // len(column) for column in columns)


# -- requests that give no page ---------------------------------------------------------------------------------


def gallery(dead: int = 3) -> Crawl:
    """A seed that links to pictures and to articles by turns; some pictures were asked for and are not there."""
    crawl = Crawl()
    links = [
        link
        for number in range(20)
        for link in (
            (f"http://a.test/images/{number}/fig.png", f"figure {number}", ""),
            (f"http://a.test/wiki/{chr(97 + number)}/", f"reef {chr(97 + number)}", ""),
        )
    ]
    crawl.visit(SEED, 0.5, linked(*links))
    for number in range(dead):
        crawl.absorb(Visit(f"http://a.test/images/{number}/fig.png", "page", "gone", 1))
    return crawl


PICTURE, ARTICLE = "http://a.test/images/19/fig.png", "http://a.test/wiki/t/"


def risk(crawl: Crawl, node: str) -> float:
    return float(crawl.scent.risk_.of(crawl.scent.trails_.lines(np.array([crawl.row(node)])))[0])


def test_dead_links_teach() -> None:
    """Links with the words and in the places of dead ones are at risk, others hardly; pages put it right again."""
    assert (0.0, 0.0) == (risk(gallery(0), PICTURE), risk(gallery(0), ARTICLE))
    risks = [risk(gallery(dead), PICTURE) for dead in range(5)]
    assert risks == sorted(risks)
    crawl = gallery(5)
    for name in "abcde":
        crawl.visit(f"http://a.test/wiki/{name}/", 0.1)
    assert risk(crawl, PICTURE) > 0.45
    assert risk(crawl, ARTICLE) < 0.2
    assert crawl.priority(PICTURE) < crawl.priority(ARTICLE)


def test_a_score_is_multiplied_by_the_chance_of_a_page() -> None:
    """The terms still add up to the score, and one of them says what is lost."""
    crawl = gallery()
    terms = crawl.scent.explain(crawl.row(PICTURE), crawl.table)
    promised = sum(value for name, value in terms.items() if name != RISK)
    assert terms[RISK] == pytest.approx(-promised * (1.0 - (1.0 - risk(crawl, PICTURE)) ** 0.5))
    assert RISK not in gallery(0).scent.explain(crawl.row(PICTURE), crawl.table)


def test_one_dead_link_condemns_nobody() -> None:
    """Of what shares all its words and its directory most is kept; five of them in a row weigh more than the words."""
    lost = {dead: 1.0 - (1.0 - risk(gallery(dead), PICTURE)) ** 0.5 for dead in (1, 5)}
    assert 0.0 < lost[1] < 0.2
    assert lost[5] > 2 * lost[1]


def test_where_a_redirect_leads_there_is_a_page() -> None:
    """The target of a redirect loses nothing, however many links with its words were dead."""
    crawl = gallery(5)
    target = "http://a.test/images/20/fig.png"
    crawl.redirect("http://a.test/images/10/fig.png", target)
    assert crawl.scent.explain(crawl.row(target), crawl.table)[RISK] == 0.0
    assert crawl.scent.explain(crawl.row(PICTURE), crawl.table)[RISK] < 0.0


def test_neighbours_of_dead_links_are_at_risk() -> None:
    """Of two links with nothing known of their words, the one beside a dead link is at greater risk."""
    crawl = Crawl()
    crawl.visit(SEED, 0.5, Links.to(*(f"http://{letter}.test/" for letter in "abcdefghijkl")))
    crawl.absorb(Visit("http://a.test/", "page", "unreachable", 1))
    assert risk(crawl, "http://b.test/") > risk(crawl, "http://d.test/") > risk(crawl, "http://l.test/")
    crawl.visit("http://l.test/", 0.1, Links.to("http://a.test/", "http://new.test/", "http://far.test/"))
    assert risk(crawl, "http://new.test/") > risk(crawl, "http://far.test/"), "on a later page, too"


@pytest.mark.parametrize("outcome", ["gone", "broken", "unwanted", "loop", "invalid", "timeout", "unknown-host"])
def test_whatever_gives_no_page_counts(outcome: Any) -> None:
    """But not what will be tried again, nor what was never sent."""
    crawl = gallery(0)
    crawl.absorb(Visit(PICTURE, "page", outcome, 1, retry_at=99.0))
    assert not crawl.scent.risk_.failures
    crawl.absorb(Visit(PICTURE, "page", outcome, 1))
    assert crawl.scent.risk_.failures == 1
    assert crawl.scent.pages_ == 1, "the mean worth of pages is not that of requests"


@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_what_was_not_sent_is_no_failure(outcome: Any) -> None:
    """robots.txt and the address guard say nothing of whether there is a page."""
    crawl = gallery(0)
    crawl.absorb(Visit(PICTURE, "page", outcome, 1))
    assert not crawl.scent.risk_.failures


@pytest.mark.parametrize("flag", ["soft-404", "maze"])
def test_hollow_pages_are_none(flag: str) -> None:
    """A page with nothing on it is worth nothing, whatever its words, and teaches as a dead link does."""
    crawl = gallery(0)
    crawl.visit(PICTURE, 0.0, None, "coral reef", flags=[flag])
    assert (1, 1) == (crawl.scent.risk_.failures, crawl.scent.pages_)


def test_redirects_to_nowhere_new_are_failures() -> None:
    """One that leads to a page which was there already has cost a request; one to a new address will have an end."""
    crawl = gallery(0)
    crawl.redirect("http://a.test/images/0/fig.png", SEED)
    assert crawl.scent.risk_.failures == 1
    crawl.redirect("http://a.test/images/1/fig.png", "http://new.test/")
    assert crawl.scent.risk_.failures == 1
    crawl.absorb(Visit("http://new.test/", "page", "gone", 2))
    assert crawl.scent.risk_.failures == 2


def test_stuffed_pages_are_worth_nothing() -> None:
    """What the judge says of a page's text counts for the outcome, too: our own reading would fall for it."""
    worth: list[float] = []
    for data in ({}, {"quality": 0.1}):
        crawl = Crawl(Scent(words="coral", vectors=False))
        crawl.visit(SEED, 0.5, None, "coral coral", data=data)
        worth.append(float(crawl.scent.trails_.outcome[crawl.row(SEED)]))
    assert worth[1] == close(0.1 * worth[0])


# -- replay, and without vectors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("scent", {"stems": {"coral": 2.0, "reef": 1.0, "korall": 0.5}}),
        ("scent,vectors=false", {"words": "coral"}),
        ("scent", {"exact": True}),
    ],
)
def test_checks_pass(text: str, known: dict[str, Any]) -> None:
    """With the stems of examples, and with parts of it switched off: also that a replay is exact."""
    for check in (other_priorities_stay, a_crawl_can_be_resumed):
        assert check.__name__ == passed(check, lambda: estimator(text, **known))


def test_without_vectors_it_goes_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """It works, says nothing of meaning, and scores like one whose vectors are switched off."""

    def missing(texts: Sequence[str], language: str = "en") -> Any:
        raise InputError("no vectors here")

    monkeypatch.setattr("lycosa.text.embeddings.vectors", missing)
    scores = []
    for scent in (Scent(words="coral reef"), Scent(words="coral reef", vectors=False)):
        assert scent.meaning_ is None
        crawl = Crawl(scent)
        crawl.visit(SEED, 0.5, linked((SALMON, "coral reefs", "sea"), (TROUT, "trains", "sea")), "coral sea")
        crawl.visit(SALMON, 0.3, Links.to(OTHER), "coral")
        assert 0 == crawl.term("anchor meaning", TROUT)
        scores.append([crawl.priority(node) for node in (TROUT, OTHER)])
    assert scores[0] == scores[1]


def test_meaning_smells_what_words_do_not_say() -> None:
    """Nothing of the topic is in either anchor, but one of them means something like it."""
    crawl = Crawl(Scent(words="marine biology"))
    crawl.visit(SEED, 0.0, linked((SALMON, "ocean fish", "underwater life"), (TROUT, "parliament", "general election")))
    assert crawl.term("anchor meaning", SALMON) > 0.2 > crawl.explain_links("anchor meaning", TROUT)
    assert crawl.priority(SALMON) > crawl.priority(TROUT)


# -- odd pages -------------------------------------------------------------------------------------------------

ODD = [
    "x", "mailto:a", "http://", "://", "http://b.test", "http://b.test/" + "a/" * 3000, "http://b.test/サンゴ礁/白化",
    "http://b.test/\ud800\udfff", "http://xn--mnchen-3ya.test/?q=%FF%00", "ftp://b.test/\x01/\x02", "http://[::1]:80/a",
    "HTTP://B.TEST/CamelCase2016", " ", "http://b.test/?", "javascript:void(0)", "http://b.test/#a",
]  # fmt: skip
TEXTS = [
    "",
    " ",
    "coral reefs",
    "サンゴ礁の白化",
    "\x01",
    "a\x01b\x02c",
    "\ud800",
    "الشعاب",
    "word " * 500,
    "x" * 5000,
    "1 2 3",
]


def odd_stream(seed: int, scent: Scent, pages: int = 60) -> Crawl:
    """Pages of all kinds, at random; after each, every score and term is a finite number."""
    chance = random.Random(seed)
    crawl = Crawl(scent, seeds=("x", "http://b.test/"))
    vocabulary = [f"w{number}" for number in range(30)] + ["coral", "reef", "サンゴ", "\ud800"]
    for pick in range(pages):
        known = crawl.table.nodes
        node = known[chance.randrange(len(known))]
        targets = [
            chance.choice((*ODD, *known, node, f"http://h{pick}.test/{pick}")) for _ in range(chance.choice((0, 1, 9)))
        ]
        if chance.random() < 0.15:
            visit = Visit(node, "redirect", "redirect", pick, links=Links.to(*targets[:1]))
        else:
            links = Links.to(*targets, anchors=[chance.choice(TEXTS) for _ in targets])
            links.contexts = [chance.choice(TEXTS) for _ in targets]
            links.link_relevances = np.array([chance.choice((0, 0.5, 1, 7, -1)) for _ in targets], np.float32)
            if chance.random() < 0.5:
                links.facets = {chance.choice(("context", "url")): links.link_relevances[::-1].copy()}
            words = " ".join(chance.choices(vocabulary, k=chance.choice((0, 0, 1, 30))))
            visit = Visit(node, "page", chance.choice(("ok", "ok", "ok", "gone")), pick, links=links)
            visit.relevance = chance.choice((0.0, 0.0, 0.3, 1.0, 1e-30, 1e6, -0.5))
            visit.terms = crawl.terms_of(words)
            visit.same_as = chance.choice(("", "", "", "x"))
            visit.language = chance.choice(("en", "", "de-AT", "ja", "tr", "{{lang}}"))
            visit.retry_at = chance.choice((0.0, 0.0, 1.0)) if visit.outcome == "gone" else 0.0
        rows = crawl.absorb(visit)
        everything = np.arange(len(crawl.table))
        assert np.isfinite(crawl.scent.priority(everything, crawl.table)).all()
        assert all(np.isfinite(column).all() for column in crawl.scent.terms(rows, crawl.table).values())
    return crawl


@pytest.mark.parametrize("seed", range(4))
def test_odd_pages_have_finite_scores(seed: int) -> None:
    """Pages without words, odd addresses, links to itself, copies, redirects to seeds, pages fetched again."""
    made = [
        Scent(words="coral reef", vectors=False),
        Scent(stems={"coral": 1.0, "サンゴ": 0.5}),
        Scent(words="", exact=True),
        Scent(words="the"),
    ][seed % 4]
    crawl = odd_stream(seed, made)
    assert len(crawl.table) > 10


def test_odd_pages_replay_exactly() -> None:
    """The same stream gives the same scores, to the last bit."""
    one, other = (odd_stream(3, Scent(words="coral reef")) for _ in range(2))
    rows = np.arange(len(one.table))
    assert one.scent.priority(rows, one.table).tobytes() == other.scent.priority(rows, other.table).tobytes()


def test_a_visit_without_rows_is_fine() -> None:
    """A page that links to nothing but itself."""
    crawl = Crawl()
    assert [] == crawl.visit(SEED, 0.5, Links.to(SEED, SEED)).tolist()


def test_a_step_without_links_of_its_own_is_fine() -> None:
    """A redirect with nowhere to go scores nothing and breaks nothing."""
    crawl = Crawl()
    step = Step(Visit(SEED, "redirect", "redirect", 1), 0, np.zeros(0, np.intp), np.zeros(0, np.float32))
    assert [0] == crawl.scent.learn(step, crawl.table).tolist()


# -- the place of a link ---------------------------------------------------------------------------------------


def placed(*places: tuple[str, str]) -> Links:
    """Links, each with the path of tags to it."""
    links = Links.to(*(node for node, _ in places))
    links.paths = [path for _, path in places]
    return links


def test_the_lift_of_a_place_by_hand() -> None:
    """Of two links that stand in a list one was fetched, .9, and one in the menu, 0. m0 = (0 + .9 + 0) / (3 + 5).

    Where the list is, one page: (.9 - m0) / (1 + 10); by tags alone the same list and the menu, two pages:
    (.9 - 2 m0) / (2 + 10), which counts 10 / (1 + 10). Other tags have led to nothing yet.
    """
    crawl = Crawl()
    nodes = [f"http://b.test/{number}" for number in range(6)]
    paths = ["ul.list li a", "ul.list li a", "ul.menu li a", "ul.menu li a", "ul li a", "p a"]
    crawl.visit(SEED, 0.0, placed(*zip(nodes, paths, strict=True)))
    crawl.visit(nodes[0], 0.9)
    crawl.visit(nodes[2], 0.0)
    mean, scale = 0.9 / 8, (0.9 + 0.05) / 1.5
    tags = (0.9 - 2 * mean) / 12
    assert close((0.9 - mean) / 11 + tags * 10 / 11) == crawl.term("place", nodes[1]) * scale
    assert close((0.0 - mean) / 11 + tags * 10 / 11) == crawl.term("place", nodes[3]) * scale
    assert close(tags) == crawl.term("place", nodes[4]) * scale
    assert 0 == crawl.term("place", nodes[5])


def test_places_are_those_of_a_host_and_none_where_nobody_knows() -> None:
    """What the lists of one host are worth says nothing of another's; a page without paths has no places."""
    crawl = Crawl(seeds=(SEED, OTHER))
    crawl.visit(SEED, 0.0, placed((SALMON, "ul li a")))
    crawl.visit(SALMON, 0.9)
    crawl.visit(OTHER, 0.0, placed((TROUT, "ul li a"), (HERON, "")))
    assert [0, 0] == [crawl.term("place", node) for node in (TROUT, HERON)]
