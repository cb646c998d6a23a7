"""Tests of the trap filter: URLs that are held back, released, or never held."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.frontier import FREE, HELD, SHUT, Frontier
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Held, Kind, Links, Seed, Setting, Terms, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.simulation import SimTransport, WebProtocol, clock, run_virtual
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import (
    ALLOWANCE,
    FRUITLESS,
    FRUITLESS_SITE,
    MAX_WASTE,
    MIN_RELEVANT_ELSEWHERE,
    MIN_WASTE,
    MIRROR,
    POOR_SECTION,
    STUFFED,
    STUFFED_PAGES,
    SUSPECT,
    SectionTrapFilter,
)
from lycosa.traps.url_patterns import CALENDAR, LISTS, LONG, LOOP
from lycosa.web.politeness import Politeness
from lycosa.web.urls import host_key
from stored import stored

A, B, C = "http://a.test", "http://b.test", "http://c.test"
CORAL = "marine biology/coral reefs"
TOPIC = "coral reef bleaching"


class CrawlSteps:
    """Crawl that is run page by page, with a table, a trap filter, and the levels returned so far."""

    def __init__(self, trust: Iterable[str] = ()) -> None:
        self.table = Table(host_key)
        self.trap_filter = SectionTrapFilter(0.1, trust)
        self.frontier = Frontier(self.table)
        self.events: list[Visit] = []
        self._bodies = 0

    def fetch(
        self, node: str, links: Sequence[str] = (), *, relevant: bool = False, like: str = "", **rest: Any
    ) -> Visit:
        """Fetch a page with its own text, or with that of page `like`; it is relevant if `relevant` is set."""
        if node not in self.table.row_of:
            self.table.add(node, 1)
        source = next(visit for visit in self.events if visit.node == like) if like else None
        if source is None:
            self._bodies += 1
            chance = random.Random(self._bodies)
            ids = np.array(sorted(chance.sample(range(10_000), 60)), np.uint32)
            digest, simhash, terms = b"%d" % self._bodies, chance.getrandbits(64), Terms(ids, np.ones(60, np.uint16))
        else:
            digest, simhash, terms = source.digest, source.simhash, source.terms
        visit = Visit(
            node, "page", rest.pop("outcome", "ok"), len(self.events) + 1, size=1000, digest=digest, simhash=simhash,
            terms=terms, relevance=0.8 if relevant else 0.0, links=Links.to(*links), **rest,
        )  # fmt: skip
        self.trap_filter.recognise(visit, None)
        self.learn(visit)
        self.events.append(visit)
        return visit

    def prove(self) -> None:
        """Feed relevant pages on another host."""
        for number in range(MIN_RELEVANT_ELSEWHERE):
            self.fetch(f"http://proof.test/{number}/x.html", relevant=True)

    def learn(self, visit: Visit) -> None:
        """Learn a visit and apply the returned levels, like the engine."""
        step = self.table.absorb(visit)
        self.frontier.hold(*self.trap_filter.learn(visit, step, self.table))
        rows = np.arange(len(self.table), dtype=np.int32)
        levels = np.where(self.table.is_seed[rows], FREE, self.trap_filter.levels(rows))
        assert levels.tolist() == self.frontier.level[rows].tolist()

    def level(self, node: str) -> int:
        """Return the level of a node, after adding it if it is new."""
        if node not in self.table.row_of:
            self.table.add(node, 1)
            self.learn(Visit("http://errand.test/robots.txt", "robots", "ok", 0))
        return int(self.frontier.level[self.table.row_of[node]])

    def reasons(self) -> set[str]:
        return {group.reason for group in self.trap_filter.held_back(self.table)}


def months(base: str, first: int = 1, count: int = 12, folder: str = "/events") -> list[str]:
    """Return the URLs of a calendar."""
    return [f"{base}{folder}/{2019 + month // 12}/{month % 12 + 1:02d}/" for month in range(first, first + count)]


def test_calendar_is_held_after_irrelevant_page() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/", [*months(A, count=1), f"{A}/x", f"{A}/y"])
    assert FREE == steps.level(months(A)[0])
    steps.fetch(months(A)[0], [*months(A, 2, 8), f"{A}/z"])
    assert FREE == steps.level(months(A)[5]), "an archive by date looks the same"
    steps.fetch(months(A)[1], like=months(A)[0])
    assert {HELD} == {steps.level(month) for month in months(A, 2, 40)}
    assert {FREE} == {steps.level(f"{A}/{name}") for name in "xyz"}
    assert {CALENDAR} == steps.reasons()


def test_calendar_is_held_after_two_wasted_requests() -> None:
    steps = CrawlSteps()
    steps.fetch(months(A)[0])
    for number in (1, 2):
        assert FREE == steps.level(months(A)[9])
        steps.fetch(months(A)[number], like=months(A)[0])
    assert HELD == steps.level(months(A)[9])


def test_few_links_are_no_maze() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/", months(A, 1, 2))
    assert FREE == steps.level(months(A)[0])


def test_links_to_calendar_of_other_host_do_not_count() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{B}/", months(A, 1, 12))
    assert FREE == steps.level(months(A)[0])


def test_dated_archive_is_not_held() -> None:
    steps = CrawlSteps()
    for number, month in enumerate(months(A, folder="/blog")):
        articles = [f"{month}how-reef-{number}-{slug}-grew" for slug in range(8)]
        steps.fetch(month, [*articles, *months(A, number, 2, folder="/blog")])
        for article in articles[:2]:
            steps.fetch(article, articles, relevant=number % 4 == 0)
    assert [] == steps.trap_filter.held_back(steps.table)


def test_repeated_path_is_held_after_one_page() -> None:
    steps = CrawlSteps()
    here = f"{A}/halls/reefs/more/"
    steps.fetch(here, [f"{here}reefs/{room}/" for room in ("more", "related", "archive")])
    assert HELD == steps.level(f"{A}/halls/reefs/more/reefs/archive/")
    assert HELD == steps.level(f"{A}/halls/reefs/more/reefs/archive/reefs/more/")
    assert FREE == steps.level(f"{A}/halls/reefs/less/")
    assert {LOOP} == steps.reasons()


@pytest.mark.parametrize("path", ["/a/b/a/b/a/b/", "/" + "x" * 700, "/" + "/".join("abcdefghijklmnopqrs")])
def test_monstrous_urls_are_held_at_once(path: str) -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/", [A + path, f"{A}/x"])
    assert (HELD, FREE) == (steps.level(A + path), steps.level(f"{A}/x"))
    assert steps.reasons() <= {LONG, LOOP}


def facets(base: str, first: int = 0, count: int = 8) -> list[str]:
    """Return the URLs of one list in different orders."""
    orders = ("name", "date", "price", "size")
    return [f"{base}/shop/?order={orders[n % 4]}&view=grid&page={n // 4}" for n in range(first, first + count)]


def test_list_is_held_after_copy() -> None:
    steps = CrawlSteps()
    articles = [f"{A}/shop/{name}.html" for name in ("brain", "fire", "horn", "table")]
    steps.fetch(facets(A)[0], [*facets(A, 1, 4), *articles])
    assert FREE == steps.level(facets(A)[1])
    steps.fetch(facets(A)[1], [*facets(A, 2, 4), *articles], like=facets(A)[0])
    assert {HELD} == {steps.level(node) for node in facets(A, 2, 40)}
    assert {FREE} == {steps.level(node) for node in articles}
    assert {LISTS} == steps.reasons()


def test_list_linking_to_itself_is_held() -> None:
    steps = CrawlSteps()
    steps.fetch(facets(A)[0], [*facets(A, 1, 9), f"{A}/shop/brain.html"])
    assert {HELD} == {steps.level(node) for node in facets(A, 1, 20)}
    assert FREE == steps.level(f"{A}/shop/brain.html")


def test_maze_of_two_hosts_is_held_on_third() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{C}/", [*months(C, 1, 1), f"{C}/x", f"{C}/y"])
    for base in (A, B):
        assert FREE == steps.level(months(C)[0])
        steps.fetch(months(base)[0], months(base, 2, 8))
        steps.fetch(months(base)[1], like=months(base)[0])
    assert HELD == steps.level(months(C)[0]), "known before the maze was"
    assert HELD == steps.level(months("http://d.test")[0]), "met after it"
    assert FREE == steps.level(months("http://d.test", folder="/journal")[0]), "of another name"
    assert FREE == steps.level("http://d.test/events/")


def test_two_calendars_of_one_host_do_not_hold_other_hosts() -> None:
    steps = CrawlSteps()
    for folder in ("/events/coral", "/events/kelp"):
        steps.fetch(months(A, folder=folder)[0], months(A, 2, 8, folder=folder))
        steps.fetch(months(A, folder=folder)[1], like=months(A, folder=folder)[0])
    assert FREE == steps.level(months(B, folder="/events/squid")[0])


def test_unnamed_list_is_not_held_on_other_hosts() -> None:
    steps = CrawlSteps()
    for base in (A, B):
        steps.fetch(f"{base}/?sort=1&view=1", [f"{base}/?sort={number}&view=1" for number in range(2, 9)])
    assert FREE == steps.level(f"{C}/?sort=2&view=1")


@pytest.mark.parametrize("how", ["copies", "failures", "soft 404s"])
def test_section_of_wasted_requests_is_held(how: str) -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/original.html")
    for number in range(MIN_WASTE):
        assert (FREE if number < 2 or how != "soft 404s" else HELD) == steps.level(f"{A}/print/x.html")
        node = f"{A}/print/{'abcdef'[number]}.html"
        if how == "copies":
            steps.fetch(node, like=f"{A}/original.html")
        elif how == "failures":
            steps.fetch(node, outcome="gone")
        else:
            steps.fetch(node, flags=["soft-404"])
    assert HELD == steps.level(f"{A}/print/x.html")
    assert FREE == steps.level(f"{A}/x.html")
    assert {POOR_SECTION} == steps.reasons()


def test_section_with_half_copies_is_free() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/original.html")
    for number in range(10):
        steps.fetch(f"{A}/mixed/{'abcdefghij'[number]}.html", like="" if number % 2 else f"{A}/original.html")
    assert FREE == steps.level(f"{A}/mixed/x.html")


@pytest.mark.parametrize("outcome", ["gone", "broken", "timeout", "unreachable", "invalid"])
def test_failures_count_as_waste(outcome: str) -> None:
    steps = CrawlSteps()
    for name in "abc":
        steps.fetch(f"{A}/dead/{name}.html", outcome=outcome)
    assert HELD == steps.level(f"{A}/dead/x.html")


@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_denied_requests_are_not_counted(outcome: str) -> None:
    steps = CrawlSteps()
    for number in range(2 * ALLOWANCE):
        steps.fetch(f"{A}/private/{number}.html", outcome=outcome)
    assert FREE == steps.level(f"{A}/private/x.html")
    assert FREE == steps.level(f"{A}/else/where.html")


def test_retried_failures_are_not_counted() -> None:
    steps = CrawlSteps()
    for attempt in range(1, 10):
        steps.fetch(f"{A}/busy/{attempt}.html", outcome="busy", retry_at=100.0)
    assert FREE == steps.level(f"{A}/busy/99.html")
    for attempt in range(1, 10):
        steps.fetch(f"{A}/busy/{attempt}.html", outcome="busy")
    assert HELD == steps.level(f"{A}/busy/99.html"), "what has failed for good is"


def test_redirects_and_prerequisites_are_not_counted() -> None:
    steps = CrawlSteps()
    for number in range(9):
        steps.fetch(f"{A}/go/{number}.html")
    before = [(part.pages, part.waste) for part in steps.trap_filter.sections]
    kinds: tuple[Kind, ...] = ("redirect", "robots", "probe", "sitemap", "example")
    for kind in kinds:
        visit = Visit(f"{A}/go/0.html", kind, "gone", 1)
        steps.learn(visit)
    assert before == [(part.pages, part.waste) for part in steps.trap_filter.sections]


def test_section_with_relevant_pages_is_released() -> None:
    steps = CrawlSteps()
    days = months(A, 1, 30)
    steps.fetch(days[0], days[1:9])
    steps.fetch(days[12], outcome="gone")
    for number, day in enumerate(days[1:4]):
        assert HELD == steps.level(days[20]), number
        steps.fetch(day, days[4:12], relevant=True)
    assert FREE == steps.level(days[20])
    for day in days[4:8]:
        steps.fetch(day, outcome="gone")
    assert HELD == steps.level(days[20]), "more waste than finds"


def test_copies_are_not_counted_as_relevant() -> None:
    steps = CrawlSteps()
    days = months(A, 1, 30)
    steps.fetch(days[0], days[1:9], relevant=True)
    for day in days[1:12]:
        steps.fetch(day, days[2:12], relevant=True, like=days[0])
    assert HELD == steps.level(days[20])
    assert 1 == steps.trap_filter.hosts["a.test"].relevant


def test_maze_is_shut_after_max_waste() -> None:
    steps = CrawlSteps()
    days = months(A, 1, 3 * MAX_WASTE)
    steps.fetch(days[0], days[1:9])
    for number in range(1, MAX_WASTE + 1):
        assert (HELD if number > 1 else FREE) == steps.level(days[-1]), number
        steps.fetch(days[number], like=days[0])
    assert SHUT == steps.level(days[-1])
    assert 0 < sum(group.addresses for group in steps.trap_filter.held_back(steps.table))


def test_ordinary_section_is_never_shut() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/original.html")
    for number in range(3 * MAX_WASTE):
        steps.fetch(f"{A}/print/{number}.html", like=f"{A}/original.html")
    assert HELD == steps.level(f"{A}/print/1000.html")


def test_mirror_is_held() -> None:
    steps = CrawlSteps()
    for number in range(MIN_WASTE):
        steps.fetch(f"{A}/{number}/x.html", relevant=True)
    for number in range(MIN_WASTE):
        assert FREE == steps.level(f"{B}/elsewhere/x")
        steps.fetch(f"{B}/{number}/x.html", like=f"{A}/{number}/x.html", relevant=True)
    assert HELD == steps.level(f"{B}/elsewhere/x")
    assert FREE == steps.level(f"{A}/elsewhere/x")
    assert {MIRROR} == steps.reasons()


def test_host_with_own_copies_is_no_mirror() -> None:
    steps = CrawlSteps()
    for name in "abcde":
        steps.fetch(f"{A}/{name}.html")
        steps.fetch(f"{A}/print/{name}.html", like=f"{A}/{name}.html")
    assert (HELD, FREE) == (steps.level(f"{A}/print/x.html"), steps.level(f"{A}/x.html"))


def test_host_with_half_copies_is_no_mirror() -> None:
    steps = CrawlSteps()
    for name in "abcdef":
        steps.fetch(f"{A}/{name}.html")
        steps.fetch(f"{B}/{name}/own.html")
        steps.fetch(f"{B}/{name}/copy.html", like=f"{A}/{name}.html")
    assert FREE == steps.level(f"{B}/x.html")


def test_fruitless_host_is_held() -> None:
    steps = CrawlSteps()
    steps.prove()
    for number in range(ALLOWANCE + 1):
        assert FREE == steps.level(f"{A}/else/where.html"), number
        steps.fetch(f"{A}/{number}/x.html")
    assert HELD == steps.level(f"{A}/else/where.html")
    assert {FRUITLESS} == steps.reasons()


def test_relevant_pages_release_fruitless_host() -> None:
    steps = CrawlSteps()
    steps.prove()
    for number in range(ALLOWANCE + 1):
        steps.fetch(f"{A}/{number}/x.html")
    assert HELD == steps.level(f"{A}/else/where.html")
    steps.fetch(f"{A}/find/x.html", relevant=True)
    assert FREE == steps.level(f"{A}/else/where.html")
    for number in range(ALLOWANCE + 2):  # one more than above, because the allowance grows with the crawl
        steps.fetch(f"{A}/more/{number}/x.html")
    assert HELD == steps.level(f"{A}/else/where.html")


def test_growing_crawl_releases_fruitless_host() -> None:
    steps = CrawlSteps()
    steps.prove()
    for number in range(ALLOWANCE + 1):
        steps.fetch(f"{A}/{number}/x.html")
    assert HELD == steps.level(f"{A}/else/where.html")
    for number in range(100):
        steps.fetch(f"{B}/{number}.html", relevant=True)
    assert FREE == steps.level(f"{A}/else/where.html")


def test_relevant_page_releases_fruitless_host_later() -> None:
    steps = CrawlSteps()
    steps.prove()
    for number in range(ALLOWANCE + 1):
        steps.fetch(f"{A}/{number}/x.html")
    for number in range(100):
        steps.fetch(f"{B}/{number}.html", relevant=True)
    steps.fetch(f"{A}/else/x.html")
    assert FREE == steps.level(f"{A}/else/where.html")


def test_fruitless_host_requires_relevant_pages_on_others() -> None:
    steps = CrawlSteps()
    for number in range(4 * ALLOWANCE):
        steps.fetch(f"{A}/{number}/x.html")
        steps.fetch(f"{B}/{number}/x.html")
    assert {FREE} == {steps.level(f"{host}/else/where.html") for host in (A, B)}
    for number in range(MIN_RELEVANT_ELSEWHERE - 1):
        steps.fetch(f"{C}/{number}/x.html", relevant=True)
    steps.fetch(f"{A}/more/x.html")
    assert FREE == steps.level(f"{A}/else/where.html")
    steps.fetch(f"{C}/last/x.html", relevant=True)
    steps.fetch(f"{A}/more/y.html")
    assert HELD == steps.level(f"{A}/else/where.html")


def test_fruitless_is_relative_to_other_hosts() -> None:
    steps = CrawlSteps()
    for number in range(20 * MIN_RELEVANT_ELSEWHERE):
        steps.fetch(f"{B}/{number}/x.html", relevant=number % 20 == 0)
    for number in range(79):
        steps.fetch(f"{A}/{number}/x.html")
    assert FREE == steps.level(f"{A}/else/where.html")
    steps.fetch(f"{A}/last/x.html")
    assert HELD == steps.level(f"{A}/else/where.html")


def test_start_host_is_never_fruitless() -> None:
    steps = CrawlSteps()
    steps.prove()
    steps.table.add_seed("http://start.farm.test/")
    steps.fetch("http://start.farm.test/")
    for number in range(2 * ALLOWANCE):
        steps.fetch(f"http://start.farm.test/{number}/x.html")
        steps.fetch(f"http://x{number}.farm.test/")
    assert (FREE, HELD) == (steps.level("http://start.farm.test/else/where"), steps.level("http://new.farm.test/"))


def test_redirected_start_host_is_never_fruitless() -> None:
    steps = CrawlSteps()
    steps.prove()
    steps.table.add_seed(f"{A}/")
    steps.learn(Visit(f"{A}/", "redirect", "redirect", 1, links=Links.to(f"{B}/")))
    for number in range(2 * ALLOWANCE):
        steps.fetch(f"{B}/{number}/x.html")
    assert FREE == steps.level(f"{B}/else/where")


POOR_TEXT, STARK_TEXT = {"quality": 0.4}, {"quality": 0.1}


def test_host_of_stuffed_pages_is_held() -> None:
    steps = CrawlSteps()
    for number in range(STUFFED_PAGES):
        assert FREE == steps.level(f"{A}/else/where.html")
        steps.fetch(f"{A}/{number}/x.html", relevant=True, data=POOR_TEXT)
    assert HELD == steps.level(f"{A}/else/where.html")
    assert STUFFED in steps.reasons()
    for number in range(6):
        steps.fetch(f"{B}/{number}/x.html", data=POOR_TEXT if number % 3 == 0 else {"quality": 0.9})
    assert FREE == steps.level(f"{B}/else/where.html")


def test_extremely_stuffed_first_page_holds_host() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/", data=STARK_TEXT)
    steps.fetch(f"{B}/")
    steps.fetch(f"{B}/x", data=STARK_TEXT)
    assert (HELD, FREE) == (steps.level(f"{A}/else/where.html"), steps.level(f"{B}/else/where.html"))


def test_links_of_stuffed_pages_are_held() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{B}/", [f"{C}/known"])
    steps.fetch(f"{A}/", [f"{C}/known", f"{C}/new", "http://d.test/"], data=POOR_TEXT)
    assert (FREE, HELD, HELD) == tuple(steps.level(url) for url in (f"{C}/known", f"{C}/new", "http://d.test/"))
    assert {SUSPECT} == steps.reasons()
    steps.fetch(f"{B}/more", ["http://d.test/"])
    assert (HELD, FREE) == (steps.level(f"{C}/new"), steps.level("http://d.test/"))


def test_page_linking_to_stuffed_pages_is_suspect() -> None:
    steps = CrawlSteps()
    farm = [f"http://x{number}.test/" for number in range(8)]
    steps.fetch(f"{A}/", farm)
    steps.fetch(farm[0], [f"{C}/deeper"])
    for number in (1, 2):
        steps.fetch(farm[number], data=STARK_TEXT)
    assert (FREE, FREE) == (steps.level(farm[7]), steps.level(f"{C}/deeper"))
    steps.fetch(farm[3], data=STARK_TEXT)
    assert (HELD, HELD) == (steps.level(farm[7]), steps.level(f"{C}/deeper"))
    steps.fetch(f"{B}/", [farm[7]])
    assert (FREE, HELD) == (steps.level(farm[7]), steps.level(farm[6]))


def test_page_with_few_bad_links_is_not_suspect() -> None:
    steps = CrawlSteps()
    spam = [f"http://x{number}.test/" for number in range(3)]
    steps.fetch(f"{A}/", [*spam, *(f"{A}/{number}" for number in range(10))])
    steps.fetch(f"{B}/", [*(f"http://y{number}.test/" for number in range(8))])
    for url in spam:
        steps.fetch(url, data=STARK_TEXT)
    for number in range(6):
        steps.fetch(f"http://y{number}.test/", data=STARK_TEXT if number > 2 else {})
    assert {FREE} == {steps.level(url) for url in (f"{A}/9", "http://y7.test/")}


def test_misjudged_page_does_not_hold_site() -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/")
    steps.fetch(f"{A}/list", [f"{A}/one", f"{B}/two"], data=POOR_TEXT)
    steps.table.add_seed(f"{C}/")
    steps.fetch(f"{C}/", [f"{C}/three"], data=POOR_TEXT)
    assert {FREE} == {steps.level(url) for url in (f"{A}/one", f"{B}/two", f"{C}/three")}


def test_fruitless_site_holds_new_hosts() -> None:
    steps = CrawlSteps()
    steps.prove()
    steps.fetch("http://good.farm.test/", relevant=True)
    for number in range(2 * ALLOWANCE + 2):
        assert FREE == steps.level(f"http://x{number}.farm.test/")
        steps.fetch(f"http://x{number}.farm.test/")
    assert HELD == steps.level("http://new.farm.test/")
    assert FREE == steps.level("http://good.farm.test/more")
    assert FREE == steps.level("http://x.other.test/")
    assert {FRUITLESS_SITE} == steps.reasons()
    steps.fetch("http://new.farm.test/", relevant=True)
    assert FREE == steps.level("http://new.farm.test/more"), "its first find sets a host free"


def test_growing_crawl_releases_fruitless_site() -> None:
    steps = CrawlSteps()
    steps.prove()
    for number in range(ALLOWANCE + 1):
        steps.fetch(f"http://x{number}.farm.test/")
    assert HELD == steps.level("http://new.farm.test/")
    for number in range(200):
        steps.fetch(f"{B}/{number}.html", relevant=True)
    assert FREE == steps.level("http://new.farm.test/")


def test_seeds_are_never_held() -> None:
    steps = CrawlSteps()
    days = months(A, 1, 3 * MAX_WASTE)
    steps.fetch(days[0], days[1:9])
    for number in range(1, MAX_WASTE + 1):
        steps.fetch(days[number], like=days[0])
    row = steps.table.add_seed(days[-1])
    monster = steps.table.add_seed(f"{A}/a/b/a/b/a/b/")
    steps.learn(Visit(f"{A}/robots.txt", "robots", "ok", 0))
    steps.frontier.rank(np.array([row, monster], np.int32), np.zeros(2))
    assert {row, monster} == {steps.frontier.take(0.0), steps.frontier.take(0.0)}


TRUSTED = [
    "a.test",
    "http://a.test",
    "http://a.test/",
    "https://a.test/",
    "a.test/",
    "a.test/events",
    "http://a.test/events",
    "http://a.test/ev",
    "test",
]


@pytest.mark.parametrize("trust", TRUSTED)
def test_trusted_urls_are_not_held(trust: str) -> None:
    steps = CrawlSteps([trust])
    for day in months(A)[:6]:
        steps.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert FREE == steps.level(months(A)[9])


@pytest.mark.parametrize("trust", ["b.test", "xa.test", "www.a.test", "a.test/journal", "http://a.test/events/x"])
def test_trust_of_other_hosts_has_no_effect(trust: str) -> None:
    steps = CrawlSteps([trust])
    for day in months(A)[:6]:
        steps.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert HELD == steps.level(months(A)[9])


@pytest.mark.parametrize("trust", ["http://a.test/events/", "a.test/events/2019/", "http://a.test/events/2019/12/"])
def test_trust_covers_urls_below(trust: str) -> None:
    steps = CrawlSteps([trust])
    for day in months(A)[:6]:
        steps.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert FREE == steps.level(f"{A}/events/2019/12/")


@pytest.mark.parametrize(
    ("trust", "host"), [("a.test", "http://a.test.evil.example"), ("a.test", "http://a.testing.example"), ("a", A)]
)
def test_trust_matches_whole_host_names(trust: str, host: str) -> None:
    steps = CrawlSteps([trust])
    steps.fetch(months(host)[0], months(host, 2, 20))
    steps.fetch(months(host)[1], like=months(host)[0])
    assert HELD == steps.level(months(host)[9])


def test_trust_covers_subdomains() -> None:
    steps = CrawlSteps(["example.org"])
    for number in range(2 * ALLOWANCE):
        steps.fetch(f"http://www.example.org:8080/{number}/x.html")
    assert FREE == steps.level("http://www.example.org:8080/x")


def test_trust_covers_monstrous_urls() -> None:
    steps = CrawlSteps(["a.test/wiki/"])
    assert (FREE, HELD) == (steps.level(f"{A}/wiki/a/b/a/b/a/b/"), steps.level(f"{A}/a/b/a/b/a/b/"))


def test_trust_covers_mirrors() -> None:
    steps = CrawlSteps(["b.test"])
    for name in "abcdefgh":
        steps.fetch(f"{A}/{name}/x.html")
        steps.fetch(f"{B}/{name}/x.html", like=f"{A}/{name}/x.html")
    assert FREE == steps.level(f"{B}/else/x.html")


def site(pages: Sequence[str], links: int = 10, relevant: int = 3, front: str = "") -> CrawlSteps:
    """Crawl a host of distinct pages with navigation and links to some of the others."""
    steps = CrawlSteps()
    menu = [f"{A}/{name}" for name in ("", "about", "contact")]
    chance = random.Random(len(pages))
    steps.fetch(front or f"{A}/", [*menu, *chance.sample(pages, min(links, len(pages)))])
    for number, page in enumerate(pages):
        steps.fetch(page, [*menu, *chance.sample(pages, min(links, len(pages)))], relevant=number % relevant == 0)
    return steps


SITES = {
    "Joomla": [f"{A}/index.php?option=com_content&view=article&id={n}&Itemid=3" for n in range(60)],
    "Joomla, short": [f"{A}/index.php?option=com_content&view=article&id={n}" for n in range(60)],
    "phpBB": [f"{A}/viewtopic.php?f=1&t={n}" for n in range(60)],
    "phpBB, paged": [f"{A}/viewtopic.php?f=1&t={n // 3}&start={n % 3 * 15}" for n in range(60)],
    "vBulletin": [f"{A}/showthread.php?t={n // 3}&page={n % 3 + 1}" for n in range(60)],
    "MediaWiki": [f"{A}/index.php?title=Coral_{n}" for n in range(60)],
    "articles by number": [f"{A}/news/{n}.html" for n in range(60)],
    "articles by date": [f"{A}/2019/{n % 12 + 1:02d}/reef-{n}.html" for n in range(60)],
    "shop": [f"{A}/product?id={n}" for n in range(60)],
}


@pytest.mark.parametrize("pages", SITES.values(), ids=SITES)
def test_ordinary_sites_are_not_held(pages: list[str]) -> None:
    steps = site(pages)
    assert [] == steps.trap_filter.held_back(steps.table)
    assert {FREE} == {steps.level(page) for page in pages}


@pytest.mark.parametrize("pages", SITES.values(), ids=SITES)
def test_ordinary_sites_with_few_relevant_pages_are_not_held(pages: list[str]) -> None:
    steps = CrawlSteps()
    for number, page in enumerate(pages):
        links = [f"{A}/", *pages[number + 1 : number + 11]]
        steps.fetch(page, links, relevant=number % 20 == 5, outcome="gone" if number % 10 == 7 else "ok")
    assert [] == steps.trap_filter.held_back(steps.table)


SMALL_SITES = {
    "WordPress, plain links": [f"{A}/?p={n}" for n in range(60)],
    "one script, pages by name": [f"{A}/index.php?page=coral-{n}" for n in range(60)],
    "articles by day and number": [f"{A}/news/2019/04/{n % 28 + 1:02d}/{n}.html" for n in range(60)],
    "articles by long numbers": [f"{A}/news/{31026000 + n}" for n in range(60)],
    "a repository named like its owner": [f"{A}/scrapy/scrapy/issues/{n}" for n in range(60)],
}


@pytest.mark.parametrize("pages", SMALL_SITES.values(), ids=SMALL_SITES)
def test_small_sites_with_one_parameter_are_not_held(pages: list[str]) -> None:
    steps = CrawlSteps()
    steps.fetch(f"{A}/", [f"{A}/about", *pages[:9]])
    for number, page in enumerate(pages[:3]):
        steps.fetch(page, [f"{A}/about", *pages[number + 1 : number + 10]])
    assert FREE == steps.level(pages[9])


def test_pages_of_list_are_not_held() -> None:
    steps = CrawlSteps()
    for number in range(1, 21):
        items = [f"{A}/item/{10 * number + n}" for n in range(10)]
        there = [f"{A}/list?page={n}" for n in (number - 1, number + 1) if 1 <= n <= 20]
        steps.fetch(f"{A}/list?page={number}", [f"{A}/", *there, *items])
        assert {FREE} == {steps.level(f"{A}/list?page={n}") for n in range(1, 21)}
    assert [] == steps.trap_filter.held_back(steps.table)


def test_list_with_two_first_urls_is_not_held() -> None:
    steps = CrawlSteps()

    def links(number: int) -> list[str]:
        pager = [f"{A}/list?page={n}" for n in range(1, 21) if n != number]
        return [*pager, *(f"{A}/item/{20 * number + n}" for n in range(10))]

    steps.fetch(f"{A}/list", links(1))
    steps.fetch(f"{A}/list?page=1", links(1), like=f"{A}/list")
    for number in range(2, 6):
        steps.fetch(f"{A}/list?page={number}", links(number))
    assert FREE == steps.level(f"{A}/list?page=9")


def test_held_back_returns_groups() -> None:
    steps = CrawlSteps()
    steps.fetch(months(A)[0], months(A, 2, 30))
    steps.fetch(months(A)[1], like=months(A)[0])
    steps.fetch(f"{A}/", [f"{A}/a/b/a/b/a/b/", f"{A}/x"])
    calendar, monster = steps.trap_filter.held_back(steps.table)
    assert Held(CALENDAR, "a.test/events", 29, 2, months(A, 3)[0]) == calendar
    assert (LOOP, "a.test", 1) == (monster.reason, monster.where, monster.addresses)
    assert f"{A}/a/b/a/b/a/b/" == monster.example


def engine(web: WebProtocol, pages: int = 0, trust: Iterable[str] = ()) -> Engine:
    """Return an engine with a trap filter over a simulated transport."""
    politeness = Politeness(clock, delay=0.01, free=lambda address: True)
    space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=3)
    topic = VectorJudge(TOPIC)
    return Engine(
        space, topic, Greedy(estimator("best-first"), "best-first"), MemoryLog(), clock=clock,
        budget=Budget(pages=pages), reader=Vocabulary(), concurrency=4, choosy=0.7, judge_name="test",
        trap_filter=SectionTrapFilter(topic.threshold, trust),
    )  # fmt: skip


async def crawled(web: Web, pages: int, trust: Iterable[str] = ()) -> Engine:
    made = engine(web, pages, trust)
    for node in web.seeds(CORAL):
        made.log.append(Seed(node, clock()))
        made.fold(Seed(node, clock()))
    async for _ in made.run():
        pass
    return made


@pytest.fixture(scope="module")
def wild() -> Engine:
    """Crawl the embedded web with all its traps."""
    return run_virtual(crawled(Web(pages=1500, hosts=30, slowness=0.05), 250))


def test_replayed_levels_equal_live(wild: Engine) -> None:
    async def replayed() -> Engine:
        made = engine(Web(pages=1500, hosts=30))
        made.replay(stored(list(wild.log)))
        return made

    again, rows = run_virtual(replayed()), len(wild.table)
    assert isinstance(wild.trap_filter, SectionTrapFilter)
    assert isinstance(again.trap_filter, SectionTrapFilter)
    assert wild.table.nodes == again.table.nodes
    levels = wild.frontier.level[:rows]
    assert levels.tolist() == again.frontier.level[:rows].tolist()
    assert len(set(levels.tolist())) > 1, "nothing was held: the test shows nothing"
    assert wild.trap_filter.sections == again.trap_filter.sections
    assert wild.trap_filter.hosts == again.trap_filter.hosts
    assert wild.held_back() == again.held_back()


def test_learned_levels_equal_current(wild: Engine) -> None:
    assert isinstance(wild.trap_filter, SectionTrapFilter)
    rows = np.arange(len(wild.table), dtype=np.int32)
    assert wild.trap_filter.levels(rows).tolist() == wild.frontier.level[rows].tolist()


def test_held_back_counts_every_row_once(wild: Engine) -> None:
    rows = wild.table.rows()
    held = rows[wild.frontier.level[rows] > FREE]
    groups = wild.held_back()
    assert len(held) == sum(group.addresses for group in groups) > 0
    assert len(groups) == len({(group.reason, group.where) for group in groups})
    assert all(group.reason and group.where for group in groups)
    names = {wild.table.nodes[row] for row in held.tolist()}
    assert {group.example for group in groups} <= names
    assert sorted((group.addresses for group in groups), reverse=True) == [group.addresses for group in groups]
    ends = [event.value for event in wild.log if isinstance(event, Setting) and event.key == "end"]
    assert [len(held)] == [end["held"] for end in ends]
    assert len(held) == sum(group["addresses"] for group in ends[0]["groups"])


class Almanac:
    """Host with a front page, an endless calendar, and the same banner on all pages."""

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        path, banner = url.split("/", 3)[3], "coral reef polyp atoll lagoon kelp squid urchin whale krill crab " * 6
        if path == "robots.txt":
            return ServedResponse(404, [], b"")
        year, month = (int(number) for number in path.split("/")[1:3]) if path.startswith("events/") else (2019, 1)
        links = "".join(
            f"<a href=/events/{year + n}/{month:02d}/>coral reef {year + n}</a> " for n in range(-5, 6) if n
        )
        return ServedResponse(200, [("Content-Type", "text/html")], f"<title>{path}</title>{banner}{links}".encode())


def test_endless_calendar_does_not_prevent_end_of_crawl() -> None:
    async def run() -> Engine:
        made = engine(Almanac(), 0)
        made.fold(Seed("http://a.localhost/", clock()))
        async for _ in made.run():
            assert made.tally.pages < 3 * MAX_WASTE, "it goes on and on"
        return made

    made = run_virtual(run())
    assert "nothing left to fetch" == made.ending
    assert MAX_WASTE <= made.tally.pages <= MAX_WASTE + 5
    (group,) = made.held_back()
    assert (CALENDAR, "a.localhost/events") == (group.reason, group.where)
    assert group.addresses == made.table.open_rows > 0


def test_webs_without_traps_are_hardly_held() -> None:
    made = run_virtual(crawled(Web(pages=1500, hosts=30, traps=()), 250))
    assert {group.reason for group in made.held_back()} <= {FRUITLESS}


def test_trust_in_all_hosts_holds_nothing() -> None:
    made = run_virtual(crawled(Web(pages=600, hosts=12), 60, trust=["localhost"]))
    assert [] == made.held_back()
    assert OPEN in made.table.state[: len(made.table)]
