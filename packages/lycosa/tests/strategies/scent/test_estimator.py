"""Tests of scent: terms by hand, credit for pages, rescored rows, and unusual pages."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lycosa.checks.estimators import (
    crawl_can_be_resumed,
    other_priorities_stay,
)
from lycosa.checks.failing import run_check
from lycosa.core.errors import InputError
from lycosa.core.table import OPEN, SpilledTable, Table
from lycosa.core.types import Links, Step, Visit
from lycosa.strategies import estimator
from lycosa.strategies.scent import WEIGHTS, Scent
from lycosa.strategies.scent.estimator import ANY_LINK
from lycosa.strategies.scent.known_links import LinkRows
from lycosa.strategies.scent.link_words import slot_of
from lycosa.strategies.scent.ranking import BEST, SLICE
from scent_crawl import HERON, OTHER, SALMON, SEED, TROUT, Crawl, close, make_links, two_pages

S, M0 = 0.85 / 2.5, 0.8 / 7


def test_terms_of_one_page_by_hand() -> None:
    """The typical outcome s is (.5 + .05) / (1 + .5); terms that depend on outcomes are divided by it."""
    crawl = Crawl()
    crawl.visit(SEED, 0.5, make_links((SALMON, "", ""), link_relevances=(0.8,), context=(0.4,), url=(0.2,)))
    s = (0.5 + 0.05) / (1 + 0.5)
    assert close(s) == crawl.scent.typical_outcome_
    assert close((0.5 / s) / (1 + 2)) == crawl.term("parents", SALMON)
    assert close(math.log(1 + 1)) == crawl.term("popularity", SALMON)
    assert close(math.log(1 + 0.8 * 0.5 / s)) == crawl.term("promise", SALMON)
    assert close(0.8) == crawl.term("anchor", SALMON)
    assert close(0.4) == crawl.term("context", SALMON)
    assert close(0.2) == crawl.term("address", SALMON)
    assert 0 == crawl.term("neighbours", SALMON)


def test_priority_by_hand() -> None:
    """Priority is the weighted sum of the terms of the previous test, with m0 = .5 / 6 for the directory."""
    crawl = Crawl()
    crawl.visit(SEED, 0.5, make_links((SALMON, "", ""), link_relevances=(0.8,), context=(0.4,), url=(0.2,)))
    s, m0 = 0.55 / 1.5, 0.5 / 6
    curiosity = (0.5 * (1 + 1) + 1 - 2 / 8) / (1 + 1 / 3)
    expected = (
        ANY_LINK
        + 0.4 * (0.5 / s) / 3
        - 0.1 * math.log(2)
        + 0.15 * math.log(1 + 0.4 / s)
        + 0.3 * 0.8 + 0.3 * 0.4 + 0.5 * 0.2
        + 0.3 * m0 / s
        + 0.6 * curiosity
    )  # fmt: skip
    assert close(expected) == crawl.priority(SALMON)


def test_terms_of_two_parents_by_hand() -> None:
    """Outcomes (.5, .1) and link relevances (.6, .2) of two parents are summed; of each relevance the larger counts."""
    crawl = two_pages()
    crawl.visit(HERON, 0.1, make_links((TROUT, "x", ""), link_relevances=(0.2,), context=(0.5,), url=(0.0,)))
    s = (0.5 + 0.3 + 0.1 + 0.05) / 3.5
    assert close(((0.5 + 0.1) / s) / (2 + 2)) == crawl.term("parents", TROUT)
    assert close(math.log(1 + 2)) == crawl.term("popularity", TROUT)
    assert close(math.log(1 + (0.6 * 0.5 + 0.2 * 0.1) / s)) == crawl.term("promise", TROUT)
    assert close(0.6) == crawl.term("anchor", TROUT)
    assert close(0.5) == crawl.term("context", TROUT)
    assert close(0.125) == crawl.term("address", TROUT)


def test_neighbours_decay_with_distance() -> None:
    """Outcomes of neighbours count .6 per position: .6 for the next link, .36 for the one after it; shrink is .7."""
    crawl = two_pages()
    assert close(0.6 * 0.3 / (0.6 + 0.7) / S) == crawl.term("neighbours", TROUT)
    assert close(0.36 * 0.3 / (0.36 + 0.7) / S) == crawl.term("neighbours", HERON)


def test_neighbours_not_of_another_page() -> None:
    crawl = Crawl(seeds=(SEED, "http://seed.test/2"))
    crawl.visit(SEED, 0.5, Links.to(SALMON))
    crawl.visit("http://seed.test/2", 0.5, Links.to(TROUT))
    crawl.visit(SALMON, 0.3)
    assert 0 == crawl.term("neighbours", TROUT)


def test_neighbours_fetched_before_they_were_linked() -> None:
    """Links found later get credit of neighbours that were already fetched: salmon, with the outcome .3."""
    crawl = two_pages()
    crawl.visit(HERON, 0.0, Links.to(OTHER, "http://b.test/eel", SALMON))
    assert close(0.36 * 0.3 / (0.36 + 0.7) / S) == crawl.term("neighbours", OTHER)
    assert close(0.6 * 0.3 / (0.6 + 0.7) / S) == crawl.term("neighbours", "http://b.test/eel")


def test_directory_term_backs_off_to_host_and_mean() -> None:
    """Means shrink to the wider one: h = (.3 + 3 m0) / 5 for the host, (.3 + 3 h) / 5 for 'fish', h for 'birds'."""
    crawl = two_pages()
    crawl.visit(TROUT, 0.0, Links.to(OTHER, "http://b.test/fish/eel"))
    m0 = 0.8 / 8  # three fetched pages, two of them on this host
    host = (0.3 + 3 * m0) / (2 + 3)
    assert close((0.3 + 3 * host) / (2 + 3) / S) == crawl.term("directory", "http://b.test/fish/eel")
    assert close(host / S) == crawl.term("directory", HERON)
    assert close(m0 / S) == crawl.term("directory", OTHER)


def test_anchor_words_by_hand() -> None:
    """The lift of a word is (sum - n * m0) / (n + 3), over the root of their number: coral (.3 - m0) / 4, cave 0."""
    assert close((0.3 - M0) / 4 / math.sqrt(2) / S) == two_pages().term("anchor words", TROUT)


def test_words_in_pages_by_hand() -> None:
    """Lift of a word on pages is (sum - n * mean) / (n + 3): cave and coral have (.5 - .4) / 4; water on none."""
    crawl = two_pages()
    lift = (0.5 - 0.4) / (1 + 3)
    assert close(2 * lift / math.sqrt(2) / S) == crawl.term("anchor in pages", TROUT)
    assert close(lift / math.sqrt(2) / S) == crawl.term("context in pages", TROUT)


def test_words_of_empty_texts_have_lift_0() -> None:
    crawl = two_pages()
    for term in ("anchor words", "anchor in pages", "context in pages"):
        assert 0 == crawl.term(term, HERON)


def test_new_places_by_hand() -> None:
    crawl = two_pages()
    assert 2 == crawl.scent.relevant_pages_
    curiosity = 1 / (1 + 2 / 3)
    assert close(curiosity * ((1 / math.sqrt(2) + 1 / math.sqrt(2)) / 2 + 1 - 2 / 8)) == crawl.term("new places", TROUT)
    assert close(curiosity * ((1 / math.sqrt(2) + 1) / 2 + 1 - 2 / 8)) == crawl.term("new places", HERON)
    crawl.visit(TROUT, 0.0, Links.to(OTHER))
    assert close(curiosity * (1 + 1 - 1 / 8)) == crawl.term("new places", OTHER)


@pytest.mark.parametrize(("relevance", "relevant"), [(0.0, 0), (0.05, 0), (0.1, 9), (0.9, 9)])
def test_new_places_fall_with_relevant_pages(relevance: float, relevant: int) -> None:
    """Curiosity is 1 / (1 + relevant pages / 3), and an unknown place has (1 + 7 / 8) times that."""
    seeds = [f"http://seed.test/{number}" for number in range(9)]
    crawl = Crawl(seeds=seeds)
    for seed in seeds:
        crawl.visit(seed, relevance, Links.to(OTHER))
    assert close((1 + 1 - 1 / 8) / (1 + relevant / 3)) == crawl.term("new places", OTHER)


def test_new_places_have_no_bonus_after_relevant_seed() -> None:
    """A learning judge takes seeds on the topic as examples; a relevant page further on changes nothing."""
    crawl = Crawl(Scent(words="coral reef", probability=True, vectors=False))
    crawl.visit(SEED, 0.05, Links.to(OTHER, TROUT))
    crawl.visit(TROUT, 0.9)
    assert crawl.term("new places", OTHER) > 1.0
    crawl = Crawl(Scent(words="coral reef", probability=True, vectors=False))
    crawl.visit(SEED, 0.95, Links.to(OTHER))
    assert 0.0 == crawl.term("new places", OTHER)


def test_contributions_sum_to_priority() -> None:
    crawl = Crawl(Scent(words="coral reef", vectors=False))
    for number in range(60):
        links = make_links(
            *((f"http://b.test/{chr(97 + k)}/{number + k}", "coral reef"[: k + 3], "sea") for k in range(4))
        )
        links.link_relevances[:] = (0.5, 0.1, 0.3, 0.0)
        node = SEED if number == 0 else crawl.table.nodes[int(crawl.table.rows()[0])]
        rows = crawl.visit(node, number % 3 / 4, links, ("coral reef sea", "coral", "fish")[number % 3])
        summed = sum(crawl.scent.contributions(rows, crawl.table).values())
        assert pytest.approx(crawl.scent.priority(rows, crawl.table), abs=1e-5) == summed


def test_explain_lists_largest_terms_first() -> None:
    crawl = two_pages()
    row = crawl.row(TROUT)
    explained = crawl.scent.explain(row, crawl.table)
    assert list(explained)[-1] == "any link"
    sizes = [abs(value) for value in explained.values()][:-1]
    assert sorted(sizes, reverse=True) == sizes
    assert {*WEIGHTS, "any link"} == set(explained)
    terms = crawl.scent.contributions(np.array([row]), crawl.table)
    assert {name: column[0] for name, column in terms.items()} == explained
    assert explained["popularity"] < 0


def test_explain_unknown_row_is_zero() -> None:
    crawl = Crawl()
    assert {0.0, ANY_LINK} == set(crawl.scent.explain(0, crawl.table).values())
    crawl.visit(SEED, 0.5, Links.to(SALMON))
    late = [crawl.table.add(f"http://late.test/{number}", 1) for number in range(1100)][-1]
    assert {0.0, ANY_LINK} == set(crawl.scent.explain(late, crawl.table).values())
    assert [0.0] == crawl.scent.priority(np.array([late]), crawl.table).tolist()


def test_credit_reaches_three_ancestors() -> None:
    """Credit is passed to three ancestors, times .3 each: 1 for the page, .3, .09, .027, then 0."""
    crawl = Crawl()
    names = ["alpha", "beta", "gamma", "delta", "epsilon"]
    nodes = [SEED, *(f"http://{name}.test/" for name in names)]
    for node, following, name in zip(nodes, nodes[1:], names, strict=False):
        crawl.visit(node, 0.0, make_links((following, name, "")))
    crawl.visit(nodes[-1], 1.0)
    stems = [slot_of(stem) for stem in ("alpha", "beta", "gamma", "delta", "epsilon")]
    assert [[0, 1], [0.027, 1], [0.09, 1], [0.3, 1], [1, 1]] == [
        pytest.approx(line) for line in crawl.scent.groups_.totals[stems].tolist()
    ]
    hosts = crawl.scent.groups_.totals[crawl.scent.links_.groups["host"][[crawl.row(node) for node in nodes[1:]]]]
    assert [0, 0.027, 0.09, 0.3, 1] == pytest.approx(hosts[:, 0].tolist())


def test_learn_copy_has_no_outcome() -> None:
    crawl = Crawl(Scent(vectors=False))
    crawl.visit(SEED, 0.5, make_links((SALMON, "coral", ""), (TROUT, "coral", "")), "coral")
    crawl.visit(SALMON, 0.9, None, "coral", same_as=SEED)
    assert 0 == crawl.term("neighbours", TROUT)
    assert [0, 1] == crawl.scent.groups_.totals[slot_of("coral")].tolist()
    assert [0.5, 1] == crawl.scent.outcomes_.page_words.totals[slot_of("coral")].tolist()
    assert (1, 2, 0.5) == (crawl.scent.relevant_pages_, crawl.scent.pages_, crawl.scent.outcome_sum_)


def test_learn_failure_has_no_outcome() -> None:
    crawl = two_pages()
    before = crawl.scent.groups_.totals.copy()
    crawl.absorb(Visit(TROUT, "page", "gone", 3, status=404))
    assert [2, 0.8] == pytest.approx([crawl.scent.pages_, crawl.scent.outcome_sum_])
    assert np.array_equal(before, crawl.scent.groups_.totals)


def test_learn_counts_page_fetched_twice_once() -> None:
    crawl = two_pages()
    crawl.visit(SALMON, 0.3, Links.to(OTHER))
    assert [2, 0.8] == pytest.approx([crawl.scent.pages_, crawl.scent.outcome_sum_])
    assert close((0.3 / S) / 3) == crawl.term("parents", OTHER)


def test_redirect_target_inherits_priority_and_words() -> None:
    crawl = two_pages()
    priority = crawl.priority(TROUT)
    assert crawl.table.row_of.get(OTHER) is None
    rows = crawl.redirect(TROUT, OTHER)
    assert crawl.row(OTHER) in rows.tolist()
    assert crawl.row(TROUT) not in rows.tolist()
    assert priority == crawl.priority(OTHER)
    crawl.visit(OTHER, 0.7)
    assert [0.7, 1] == pytest.approx(crawl.scent.groups_.totals[slot_of("cave")].tolist())
    mean = (0.6 * 0.7 + 0.36 * 0.3) / (0.6 + 0.36 + 0.7)
    assert close(mean / crawl.scent.typical_outcome_) == crawl.term("neighbours", HERON)


def test_redirect_to_known_page_keeps_its_features() -> None:
    crawl = two_pages()
    heron = crawl.row(HERON)
    before = crawl.scent.links_.numbers[heron].copy()
    crawl.redirect(TROUT, HERON)
    assert np.array_equal(before, crawl.scent.links_.numbers[heron])
    assert 0 == crawl.scent.links_.groups["anchor"][heron, 0]


class Counting(Scent):
    scored: int = 0

    def terms(self, links: LinkRows, table: Table | SpilledTable) -> dict[str, Any]:
        self.scored += len(links.rows)
        return super().terms(links, table)


def test_learn_scores_few_rows_of_many() -> None:
    """Rescored per page are its 10 links, up to 8 neighbours, the best 64 rows and a slice of 32, of 20,000 rows."""
    counting = Counting(vectors=False)
    crawl = Crawl(counting)
    urls = [f"http://b.test/{number}" for number in range(20_000)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    counted = []
    for number in range(100, 6_000, 200):
        counting.scored = 0
        crawl.visit(urls[number], number % 7 / 7, Links.to(*(f"{urls[number]}/{k}" for k in range(10))))
        counted.append(counting.scored)
    assert max(counted) <= 1 + 10 + 8 + BEST + SLICE  # the 1 is the fetched page itself
    assert min(counted) > BEST


def test_learn_scores_all_rows_in_turn() -> None:
    """Each page rescores the next 32 of 1,000 rows, so 32 pages reach all open ones."""
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(999)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    again: set[int] = set()
    for url in urls[:32]:
        again.update(crawl.visit(url, 0.1).tolist())
    assert set(crawl.table.rows().tolist()) <= again


def test_learn_scores_open_rows_only() -> None:
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(99)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    for url in urls[:50]:
        rows = crawl.visit(url, 0.1, Links.to(*urls))
        assert (crawl.table.state[rows] == OPEN).all()


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("scent", {"stems": {"coral": 2.0, "reef": 1.0, "korall": 0.5}}),
        ("scent,vectors=false", {"words": "coral"}),
        ("scent", {"exact": True}),
    ],
)
def test_scent_passes_checks(text: str, known: dict[str, Any]) -> None:
    for check in (other_priorities_stay, crawl_can_be_resumed):
        assert check.__name__ == run_check(check, lambda: estimator(text, **known))


def test_scent_works_without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(texts: Sequence[str], language: str = "en") -> Any:
        raise InputError("missing-package", "no vectors here")

    monkeypatch.setattr("lycosa.text.embeddings.vectors", missing)
    scores = []
    for scent in (Scent(words="coral reef"), Scent(words="coral reef", vectors=False)):
        assert scent.meaning_ is None
        crawl = Crawl(scent)
        crawl.visit(SEED, 0.5, make_links((SALMON, "coral reefs", "sea"), (TROUT, "trains", "sea")), "coral sea")
        crawl.visit(SALMON, 0.3, Links.to(OTHER), "coral")
        assert 0 == crawl.term("anchor meaning", TROUT)
        scores.append([crawl.priority(node) for node in (TROUT, OTHER)])
    assert scores[0] == scores[1]


def test_anchor_meaning_is_high_for_related_words() -> None:
    crawl = Crawl(Scent(words="marine biology"))
    crawl.visit(
        SEED, 0.0, make_links((SALMON, "ocean fish", "underwater life"), (TROUT, "parliament", "general election"))
    )
    assert crawl.term("anchor meaning", SALMON) > 0.2 > crawl.term("anchor meaning", TROUT)
    assert crawl.priority(SALMON) > crawl.priority(TROUT)


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
    """Learn from random pages of all kinds, and check after each that all priorities and terms are finite."""
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
        assert all(np.isfinite(column).all() for column in crawl.scent.contributions(rows, crawl.table).values())
    return crawl


@pytest.mark.parametrize("seed", range(4))
def test_unusual_pages_have_finite_priorities(seed: int) -> None:
    made = [
        Scent(words="coral reef", vectors=False),
        Scent(stems={"coral": 1.0, "サンゴ": 0.5}),
        Scent(words="", exact=True),
        Scent(words="the"),
    ][seed % 4]
    crawl = odd_stream(seed, made)
    assert len(crawl.table) > 10


def test_unusual_pages_replay_exactly() -> None:
    one, other = (odd_stream(3, Scent(words="coral reef")) for _ in range(2))
    rows = np.arange(len(one.table))
    assert one.scent.priority(rows, one.table).tobytes() == other.scent.priority(rows, other.table).tobytes()


def test_learn_returns_no_rows_for_page_linking_to_itself() -> None:
    crawl = Crawl()
    assert [] == crawl.visit(SEED, 0.5, Links.to(SEED, SEED)).tolist()


def test_learn_redirect_without_target_returns_its_row() -> None:
    crawl = Crawl()
    step = Step(Visit(SEED, "redirect", "redirect", 1), 0, np.zeros(0, np.intp), np.zeros(0, np.float32))
    assert [0] == crawl.scent.learn(step, crawl.table).tolist()


def links_at(*places: tuple[str, str]) -> Links:
    """Return links with their tag paths."""
    links = Links.to(*(node for node, _ in places))
    links.paths = [path for _, path in places]
    return links


def test_place_lift_by_hand() -> None:
    """Lift of a place is its lift by tags and classes plus its lift by tags alone, weighted by 10 / (n + 10).

    One of two links in a list (.9) and one of two in a menu (0) were fetched, so m0 = .9 / 8. The list has one page:
    (.9 - m0) / 11. By tags alone, list and menu are one place with two pages: (.9 - 2 m0) / 12. Other tags have lift 0.
    """
    crawl = Crawl()
    nodes = [f"http://b.test/{number}" for number in range(6)]
    paths = ["ul.list li a", "ul.list li a", "ul.menu li a", "ul.menu li a", "ul li a", "p a"]
    crawl.visit(SEED, 0.0, links_at(*zip(nodes, paths, strict=True)))
    crawl.visit(nodes[0], 0.9)
    crawl.visit(nodes[2], 0.0)
    mean, scale = 0.9 / 8, (0.9 + 0.05) / 1.5
    tags = (0.9 - 2 * mean) / 12
    assert close((0.9 - mean) / 11 + tags * 10 / 11) == crawl.term("place", nodes[1]) * scale
    assert close((0.0 - mean) / 11 + tags * 10 / 11) == crawl.term("place", nodes[3]) * scale
    assert close(tags) == crawl.term("place", nodes[4]) * scale
    assert 0 == crawl.term("place", nodes[5])


def test_place_lift_is_per_host() -> None:
    crawl = Crawl(seeds=(SEED, OTHER))
    crawl.visit(SEED, 0.0, links_at((SALMON, "ul li a")))
    crawl.visit(SALMON, 0.9)
    crawl.visit(OTHER, 0.0, links_at((TROUT, "ul li a"), (HERON, "")))
    assert [0, 0] == [crawl.term("place", node) for node in (TROUT, HERON)]
