"""The warden: what it holds back and why, what it lets go, and what it must leave alone."""

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
from lycosa.core.types import Event, Held, Kind, Links, Seed, Setting, Terms, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.web_space import WebSpace
from lycosa.store import codec
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.simulation import AnyWeb, SimTransport, clock, run_virtual
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import (
    ALLOWANCE,
    FRUITLESS,
    FRUITLESS_SITE,
    MIRROR,
    MAX_WASTE,
    MIN_WASTE,
    POOR_SECTION,
    MIN_RELEVANT_ELSEWHERE,
    STUFFED,
    STUFFED_PAGES,
    SUSPECT,
    SectionTrapFilter,
)
from lycosa.traps.url_patterns import CALENDAR, LISTS, LONG, LOOP
from lycosa.web.politeness import Politeness
from lycosa.web.urls import host_key

A, B, C = "http://a.test", "http://b.test", "http://c.test"
CORAL = "marine biology/coral reefs"
TOPIC = "coral reef bleaching"


class Hunt:
    """A crawl told page by page: a table, a warden, and the levels that the warden has told so far."""

    def __init__(self, trust: Iterable[str] = ()) -> None:
        self.table = Table(host_key)
        self.trap_filter = SectionTrapFilter(0.1, trust)
        self.frontier = Frontier(self.table)
        self.events: list[Visit] = []
        self._bodies = 0

    def fetch(self, node: str, links: Sequence[str] = (), *, find: bool = False, like: str = "", **rest: Any) -> Visit:
        """A page with a text of its own, or one `like` another's; only a `find` is on the topic."""
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
            terms=terms, relevance=0.8 if find else 0.0, links=Links.to(*links), **rest,
        )  # fmt: skip
        self.trap_filter.recognise(visit, None)
        self.learn(visit)
        self.events.append(visit)
        return visit

    def prove(self) -> None:
        """The judge shows that it can tell: it finds pages on a host of their own."""
        for number in range(MIN_RELEVANT_ELSEWHERE):
            self.fetch(f"http://proof.test/{number}/x.html", find=True)

    def learn(self, visit: Visit) -> None:
        """What the engine does with the warden's word; it must be the whole of it."""
        step = self.table.absorb(visit)
        self.frontier.hold(*self.trap_filter.learn(visit, step, self.table))
        rows = np.arange(len(self.table), dtype=np.int32)
        levels = np.where(self.table.is_seed[rows], FREE, self.trap_filter.levels(rows))
        assert levels.tolist() == self.frontier.level[rows].tolist()

    def level(self, node: str) -> int:
        """A node's level; it joins if it is new."""
        if node not in self.table.row_of:
            self.table.add(node, 1)
            self.learn(Visit("http://errand.test/robots.txt", "robots", "ok", 0))
        return int(self.frontier.level[self.table.row_of[node]])

    def reasons(self) -> set[str]:
        """Why something is held."""
        return {group.reason for group in self.trap_filter.held_back(self.table)}


def months(base: str, first: int = 1, count: int = 12, folder: str = "/events") -> list[str]:
    """A calendar's addresses."""
    return [f"{base}{folder}/{2019 + month // 12}/{month % 12 + 1:02d}/" for month in range(first, first + count)]


# -- mazes ---------------------------------------------------------------------------------------------------


def test_a_calendar_is_held_after_its_first_worthless_page() -> None:
    """A month that leads to other months mostly, and another that says the same; the rest of the host is free."""
    hunt = Hunt()
    hunt.fetch(f"{A}/", [*months(A, count=1), f"{A}/x", f"{A}/y"])
    assert FREE == hunt.level(months(A)[0])
    hunt.fetch(months(A)[0], [*months(A, 2, 8), f"{A}/z"])
    assert FREE == hunt.level(months(A)[5]), "an archive by date looks the same"
    hunt.fetch(months(A)[1], like=months(A)[0])
    assert {HELD} == {hunt.level(month) for month in months(A, 2, 40)}
    assert {FREE} == {hunt.level(f"{A}/{name}") for name in "xyz"}
    assert {CALENDAR} == hunt.reasons()


def test_two_wasted_pages_are_enough_for_a_calendar() -> None:
    """Even if its pages have hardly any links, a calendar that repeats itself is held."""
    hunt = Hunt()
    hunt.fetch(months(A)[0])
    for number in (1, 2):
        assert FREE == hunt.level(months(A)[9])
        hunt.fetch(months(A)[number], like=months(A)[0])
    assert HELD == hunt.level(months(A)[9])


def test_a_few_links_prove_nothing() -> None:
    """A page with two links, both into the calendar, is no maze yet."""
    hunt = Hunt()
    hunt.fetch(f"{A}/", months(A, 1, 2))
    assert FREE == hunt.level(months(A)[0])


def test_links_to_another_hosts_calendar_prove_nothing() -> None:
    """What a host is, only its own pages can show."""
    hunt = Hunt()
    hunt.fetch(f"{B}/", months(A, 1, 12))
    assert FREE == hunt.level(months(A)[0])


def test_a_dated_archive_of_articles_is_not_held() -> None:
    """Months that lead to articles, and articles under their dates, are what a journal is made of."""
    hunt = Hunt()
    for number, month in enumerate(months(A, folder="/blog")):
        articles = [f"{month}how-reef-{number}-{slug}-grew" for slug in range(8)]
        hunt.fetch(month, [*articles, *months(A, number, 2, folder="/blog")])
        for article in articles[:2]:
            hunt.fetch(article, articles, find=number % 4 == 0)
    assert [] == hunt.trap_filter.held_back(hunt.table)


def test_relative_links_gone_wrong_are_held_after_one_page() -> None:
    """A page that leads ever deeper into its own path is a maze."""
    hunt = Hunt()
    here = f"{A}/halls/reefs/more/"
    hunt.fetch(here, [f"{here}reefs/{room}/" for room in ("more", "related", "archive")])
    assert HELD == hunt.level(f"{A}/halls/reefs/more/reefs/archive/")
    assert HELD == hunt.level(f"{A}/halls/reefs/more/reefs/archive/reefs/more/")
    assert FREE == hunt.level(f"{A}/halls/reefs/less/")
    assert {LOOP} == hunt.reasons()


@pytest.mark.parametrize("path", ["/a/b/a/b/a/b/", "/" + "x" * 700, "/" + "/".join("abcdefghijklmnopqrs")])
def test_monsters_are_held_at_sight(path: str) -> None:
    """What no one would write is held before anything of it was seen."""
    hunt = Hunt()
    hunt.fetch(f"{A}/", [A + path, f"{A}/x"])
    assert (HELD, FREE) == (hunt.level(A + path), hunt.level(f"{A}/x"))
    assert hunt.reasons() <= {LONG, LOOP}


def facets(base: str, first: int = 0, count: int = 8) -> list[str]:
    """One list in many orders."""
    orders = ("name", "date", "price", "size")
    return [f"{base}/shop/?order={orders[n % 4]}&view=grid&page={n // 4}" for n in range(first, first + count)]


def test_a_list_is_held_when_a_page_of_it_repeats_another() -> None:
    """A list in another order says the same as before: the other orders can wait."""
    hunt = Hunt()
    articles = [f"{A}/shop/{name}.html" for name in ("brain", "fire", "horn", "table")]
    hunt.fetch(facets(A)[0], [*facets(A, 1, 4), *articles])
    assert FREE == hunt.level(facets(A)[1])
    hunt.fetch(facets(A)[1], [*facets(A, 2, 4), *articles], like=facets(A)[0])
    assert {HELD} == {hunt.level(node) for node in facets(A, 2, 40)}
    assert {FREE} == {hunt.level(node) for node in articles}
    assert {LISTS} == hunt.reasons()


def test_a_list_that_leads_nowhere_else_is_held_after_one_page() -> None:
    """A page of a list whose links are orders of the list, and hardly anything besides, is walled in."""
    hunt = Hunt()
    hunt.fetch(facets(A)[0], [*facets(A, 1, 9), f"{A}/shop/brain.html"])
    assert {HELD} == {hunt.level(node) for node in facets(A, 1, 20)}
    assert FREE == hunt.level(f"{A}/shop/brain.html")


def test_a_maze_known_on_two_hosts_is_held_at_sight_on_a_third() -> None:
    """What two hosts have under one name, the next one will have, too: held before any of it is fetched."""
    hunt = Hunt()
    hunt.fetch(f"{C}/", [*months(C, 1, 1), f"{C}/x", f"{C}/y"])
    for base in (A, B):
        assert FREE == hunt.level(months(C)[0])
        hunt.fetch(months(base)[0], months(base, 2, 8))
        hunt.fetch(months(base)[1], like=months(base)[0])
    assert HELD == hunt.level(months(C)[0]), "known before the maze was"
    assert HELD == hunt.level(months("http://d.test")[0]), "met after it"
    assert FREE == hunt.level(months("http://d.test", folder="/journal")[0]), "of another name"
    assert FREE == hunt.level("http://d.test/events/")


def test_two_calendars_of_one_host_warn_no_other() -> None:
    """It takes two hosts."""
    hunt = Hunt()
    for folder in ("/events/coral", "/events/kelp"):
        hunt.fetch(months(A, folder=folder)[0], months(A, 2, 8, folder=folder))
        hunt.fetch(months(A, folder=folder)[1], like=months(A, folder=folder)[0])
    assert FREE == hunt.level(months(B, folder="/events/squid")[0])


def test_a_list_without_a_name_warns_of_nothing() -> None:
    """That the front pages of two hosts come in many orders says nothing of a third's."""
    hunt = Hunt()
    for base in (A, B):
        hunt.fetch(f"{base}/?sort=1&view=1", [f"{base}/?sort={number}&view=1" for number in range(2, 9)])
    assert FREE == hunt.level(f"{C}/?sort=2&view=1")


# -- what came of it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["copies", "failures", "soft 404s"])
def test_a_section_of_waste_is_held(how: str) -> None:
    """Copies, failures and soft 404s count against a section; three of them and hardly anything else, and it waits."""
    hunt = Hunt()
    hunt.fetch(f"{A}/original.html")
    for number in range(MIN_WASTE):
        assert (FREE if number < 2 or how != "soft 404s" else HELD) == hunt.level(f"{A}/print/x.html")
        node = f"{A}/print/{'abcdef'[number]}.html"
        if how == "copies":
            hunt.fetch(node, like=f"{A}/original.html")
        elif how == "failures":
            hunt.fetch(node, outcome="gone")
        else:
            hunt.fetch(node, flags=["soft-404"])
    assert HELD == hunt.level(f"{A}/print/x.html")
    assert FREE == hunt.level(f"{A}/x.html")
    assert {POOR_SECTION} == hunt.reasons()


def test_a_section_with_as_many_pages_as_copies_is_free() -> None:
    """Some waste is everywhere."""
    hunt = Hunt()
    hunt.fetch(f"{A}/original.html")
    for number in range(10):
        hunt.fetch(f"{A}/mixed/{'abcdefghij'[number]}.html", like="" if number % 2 else f"{A}/original.html")
    assert FREE == hunt.level(f"{A}/mixed/x.html")


@pytest.mark.parametrize("outcome", ["gone", "broken", "timeout", "unreachable", "invalid"])
def test_failures_count_as_waste(outcome: str) -> None:
    """A page that can't be had is no better than one that nobody wants."""
    hunt = Hunt()
    for name in "abc":
        hunt.fetch(f"{A}/dead/{name}.html", outcome=outcome)
    assert HELD == hunt.level(f"{A}/dead/x.html")


@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_refusals_count_for_nothing(outcome: str) -> None:
    """What robots.txt or the address guard forbids was never sent: no one has wasted anything."""
    hunt = Hunt()
    for number in range(2 * ALLOWANCE):
        hunt.fetch(f"{A}/private/{number}.html", outcome=outcome)
    assert FREE == hunt.level(f"{A}/private/x.html")
    assert FREE == hunt.level(f"{A}/else/where.html")


def test_a_failure_that_will_be_tried_again_counts_for_nothing() -> None:
    """What may come yet is not held against anyone."""
    hunt = Hunt()
    for attempt in range(1, 10):
        hunt.fetch(f"{A}/busy/{attempt}.html", outcome="busy", retry_at=100.0)
    assert FREE == hunt.level(f"{A}/busy/99.html")
    for attempt in range(1, 10):
        hunt.fetch(f"{A}/busy/{attempt}.html", outcome="busy")
    assert HELD == hunt.level(f"{A}/busy/99.html"), "what has failed for good is"


def test_redirects_and_errands_count_for_nothing() -> None:
    """Only pages are judged."""
    hunt = Hunt()
    for number in range(9):
        hunt.fetch(f"{A}/go/{number}.html")
    before = [(part.pages, part.waste) for part in hunt.trap_filter.sections]
    kinds: tuple[Kind, ...] = ("redirect", "robots", "probe", "sitemap", "example")
    for kind in kinds:
        visit = Visit(f"{A}/go/0.html", kind, "gone", 1)
        hunt.learn(visit)
    assert before == [(part.pages, part.waste) for part in hunt.trap_filter.sections]


def test_a_fruitful_section_is_let_go() -> None:
    """A calendar whose days are finds, more than two and more than waste, is free again."""
    hunt = Hunt()
    days = months(A, 1, 30)
    hunt.fetch(days[0], days[1:9])
    hunt.fetch(days[12], outcome="gone")
    for number, day in enumerate(days[1:4]):
        assert HELD == hunt.level(days[20]), number
        hunt.fetch(day, days[4:12], find=True)
    assert FREE == hunt.level(days[20])
    for day in days[4:8]:
        hunt.fetch(day, outcome="gone")
    assert HELD == hunt.level(days[20]), "more waste than finds"


def test_copies_are_no_finds() -> None:
    """A banner on the topic makes every page of a maze look like a find; only the first one counts."""
    hunt = Hunt()
    days = months(A, 1, 30)
    hunt.fetch(days[0], days[1:9], find=True)
    for day in days[1:12]:
        hunt.fetch(day, days[2:12], find=True, like=days[0])
    assert HELD == hunt.level(days[20])
    assert 1 == hunt.trap_filter.hosts["a.test"].relevant


def test_a_maze_is_shut_when_patience_ends() -> None:
    """After so many wasted pages a section that looks endless is not fetched any more; finds open it again."""
    hunt = Hunt()
    days = months(A, 1, 3 * MAX_WASTE)
    hunt.fetch(days[0], days[1:9])
    for number in range(1, MAX_WASTE + 1):
        assert (HELD if number > 1 else FREE) == hunt.level(days[-1]), number
        hunt.fetch(days[number], like=days[0])
    assert SHUT == hunt.level(days[-1])
    assert 0 < sum(group.addresses for group in hunt.trap_filter.held_back(hunt.table))


def test_a_section_that_looks_like_nothing_is_never_shut() -> None:
    """Copies in an ordinary folder are held for ever, but not given up."""
    hunt = Hunt()
    hunt.fetch(f"{A}/original.html")
    for number in range(3 * MAX_WASTE):
        hunt.fetch(f"{A}/print/{number}.html", like=f"{A}/original.html")
    assert HELD == hunt.level(f"{A}/print/1000.html")


# -- hosts ---------------------------------------------------------------------------------------------------


def test_a_mirror_is_held() -> None:
    """A host that repeats another's pages is held as a whole, also where nothing was fetched yet."""
    hunt = Hunt()
    for number in range(MIN_WASTE):
        hunt.fetch(f"{A}/{number}/x.html", find=True)
    for number in range(MIN_WASTE):
        assert FREE == hunt.level(f"{B}/elsewhere/x")
        hunt.fetch(f"{B}/{number}/x.html", like=f"{A}/{number}/x.html", find=True)
    assert HELD == hunt.level(f"{B}/elsewhere/x")
    assert FREE == hunt.level(f"{A}/elsewhere/x")
    assert {MIRROR} == hunt.reasons()


def test_a_host_that_repeats_itself_is_no_mirror() -> None:
    """Print versions are held by their section, and do not condemn their host."""
    hunt = Hunt()
    for name in "abcde":
        hunt.fetch(f"{A}/{name}.html")
        hunt.fetch(f"{A}/print/{name}.html", like=f"{A}/{name}.html")
    assert (HELD, FREE) == (hunt.level(f"{A}/print/x.html"), hunt.level(f"{A}/x.html"))


def test_a_host_with_some_copies_is_no_mirror() -> None:
    """Half of its pages may be found elsewhere."""
    hunt = Hunt()
    for name in "abcdef":
        hunt.fetch(f"{A}/{name}.html")
        hunt.fetch(f"{B}/{name}/own.html")
        hunt.fetch(f"{B}/{name}/copy.html", like=f"{A}/{name}.html")
    assert FREE == hunt.level(f"{B}/x.html")


def test_a_host_that_yields_nothing_is_held() -> None:
    """Each host may give so many pages without a find, and a little more as the crawl grows."""
    hunt = Hunt()
    hunt.prove()
    for number in range(ALLOWANCE + 1):
        assert FREE == hunt.level(f"{A}/else/where.html"), number
        hunt.fetch(f"{A}/{number}/x.html")
    assert HELD == hunt.level(f"{A}/else/where.html")
    assert {FRUITLESS} == hunt.reasons()


def test_finds_let_a_fruitless_host_go() -> None:
    """A find is worth as many pages again."""
    hunt = Hunt()
    hunt.prove()
    for number in range(ALLOWANCE + 1):
        hunt.fetch(f"{A}/{number}/x.html")
    assert HELD == hunt.level(f"{A}/else/where.html")
    hunt.fetch(f"{A}/find/x.html", find=True)
    assert FREE == hunt.level(f"{A}/else/where.html")
    for number in range(ALLOWANCE + 2):  # two more, as the crawl has grown
        hunt.fetch(f"{A}/more/{number}/x.html")
    assert HELD == hunt.level(f"{A}/else/where.html")


def test_a_growing_crawl_lets_a_fruitless_host_go() -> None:
    """The allowance grows with the crawl, wherever its pages come from."""
    hunt = Hunt()
    hunt.prove()
    for number in range(ALLOWANCE + 1):
        hunt.fetch(f"{A}/{number}/x.html")
    assert HELD == hunt.level(f"{A}/else/where.html")
    for number in range(100):
        hunt.fetch(f"{B}/{number}.html", find=True)
    assert FREE == hunt.level(f"{A}/else/where.html")


def test_a_fruitless_host_may_come_back_with_a_page_of_its_own() -> None:
    """In a crawl that has grown meanwhile, one page of the host is enough for it to be looked at again."""
    hunt = Hunt()
    hunt.prove()
    for number in range(ALLOWANCE + 1):
        hunt.fetch(f"{A}/{number}/x.html")
    for number in range(100):
        hunt.fetch(f"{B}/{number}.html", find=True)
    hunt.fetch(f"{A}/else/x.html")
    assert FREE == hunt.level(f"{A}/else/where.html")


def test_a_judge_that_finds_nothing_proves_nothing() -> None:
    """In a crawl of one host, or one in which nothing was found yet, no host is fruitless."""
    hunt = Hunt()
    for number in range(4 * ALLOWANCE):
        hunt.fetch(f"{A}/{number}/x.html")
        hunt.fetch(f"{B}/{number}/x.html")
    assert {FREE} == {hunt.level(f"{host}/else/where.html") for host in (A, B)}
    for number in range(MIN_RELEVANT_ELSEWHERE - 1):
        hunt.fetch(f"{C}/{number}/x.html", find=True)
    hunt.fetch(f"{A}/more/x.html")
    assert FREE == hunt.level(f"{A}/else/where.html")
    hunt.fetch(f"{C}/last/x.html", find=True)
    hunt.fetch(f"{A}/more/y.html")
    assert HELD == hunt.level(f"{A}/else/where.html")


def test_where_the_judge_finds_little_a_host_may_give_little() -> None:
    """A host is held for giving nothing if others give much more."""
    hunt = Hunt()
    for number in range(20 * MIN_RELEVANT_ELSEWHERE):
        hunt.fetch(f"{B}/{number}/x.html", find=number % 20 == 0)
    for number in range(79):
        hunt.fetch(f"{A}/{number}/x.html")
    assert FREE == hunt.level(f"{A}/else/where.html")
    hunt.fetch(f"{A}/last/x.html")
    assert HELD == hunt.level(f"{A}/else/where.html")


def test_the_host_of_a_start_page_is_never_fruitless() -> None:
    """Nor is it held as one of a site that yields nothing."""
    hunt = Hunt()
    hunt.prove()
    hunt.table.add_seed("http://start.farm.test/")
    hunt.fetch("http://start.farm.test/")
    for number in range(2 * ALLOWANCE):
        hunt.fetch(f"http://start.farm.test/{number}/x.html")
        hunt.fetch(f"http://x{number}.farm.test/")
    assert (FREE, HELD) == (hunt.level("http://start.farm.test/else/where"), hunt.level("http://new.farm.test/"))


def test_a_start_page_that_moves_brings_its_host_along() -> None:
    """Where a start page redirects to is where the user wanted to go."""
    hunt = Hunt()
    hunt.prove()
    hunt.table.add_seed(f"{A}/")
    hunt.learn(Visit(f"{A}/", "redirect", "redirect", 1, links=Links.to(f"{B}/")))
    for number in range(2 * ALLOWANCE):
        hunt.fetch(f"{B}/{number}/x.html")
    assert FREE == hunt.level(f"{B}/else/where")


# -- stuffed pages -------------------------------------------------------------------------------------------

POOR_TEXT, STARK_TEXT = {"quality": 0.4}, {"quality": 0.1}


def test_a_host_of_stuffed_pages_is_held() -> None:
    """Two are enough, if most of its pages are such; a host with a few of them is not held."""
    hunt = Hunt()
    for number in range(STUFFED_PAGES):
        assert FREE == hunt.level(f"{A}/else/where.html")
        hunt.fetch(f"{A}/{number}/x.html", find=True, data=POOR_TEXT)
    assert HELD == hunt.level(f"{A}/else/where.html")
    assert STUFFED in hunt.reasons()
    for number in range(6):
        hunt.fetch(f"{B}/{number}/x.html", data=POOR_TEXT if number % 3 == 0 else {"quality": 0.9})
    assert FREE == hunt.level(f"{B}/else/where.html")


def test_one_page_is_enough_where_there_is_no_doubt() -> None:
    """The first page of a host tells, if it is nothing but keywords; not where others came before."""
    hunt = Hunt()
    hunt.fetch(f"{A}/", data=STARK_TEXT)
    hunt.fetch(f"{B}/")
    hunt.fetch(f"{B}/x", data=STARK_TEXT)
    assert (HELD, FREE) == (hunt.level(f"{A}/else/where.html"), hunt.level(f"{B}/else/where.html"))


def test_what_only_stuffed_pages_link_to_is_held() -> None:
    """A link is as good as the best page that has it: one that reads well sets it free."""
    hunt = Hunt()
    hunt.fetch(f"{B}/", [f"{C}/known"])
    hunt.fetch(f"{A}/", [f"{C}/known", f"{C}/new", "http://d.test/"], data=POOR_TEXT)
    assert (FREE, HELD, HELD) == tuple(hunt.level(url) for url in (f"{C}/known", f"{C}/new", "http://d.test/"))
    assert {SUSPECT} == hunt.reasons()
    hunt.fetch(f"{B}/more", ["http://d.test/"])
    assert (HELD, FREE) == (hunt.level(f"{C}/new"), hunt.level("http://d.test/"))


def test_a_page_that_leads_to_stuffed_pages_is_one_of_them() -> None:
    """However it reads: what else it links to is held, and what pages link to that it alone led to."""
    hunt = Hunt()
    farm = [f"http://x{number}.test/" for number in range(8)]
    hunt.fetch(f"{A}/", farm)
    hunt.fetch(farm[0], [f"{C}/deeper"])
    for number in (1, 2):
        hunt.fetch(farm[number], data=STARK_TEXT)
    assert (FREE, FREE) == (hunt.level(farm[7]), hunt.level(f"{C}/deeper"))
    hunt.fetch(farm[3], data=STARK_TEXT)
    assert (HELD, HELD) == (hunt.level(farm[7]), hunt.level(f"{C}/deeper"))
    hunt.fetch(f"{B}/", [farm[7]])
    assert (FREE, HELD) == (hunt.level(farm[7]), hunt.level(farm[6]))


def test_a_page_with_a_few_bad_links_is_not() -> None:
    """A site's own pages, and what leads elsewhere as well, are not blamed for some spam in between."""
    hunt = Hunt()
    spam = [f"http://x{number}.test/" for number in range(3)]
    hunt.fetch(f"{A}/", [*spam, *(f"{A}/{number}" for number in range(10))])
    hunt.fetch(f"{B}/", [*(f"http://y{number}.test/" for number in range(8))])
    for url in spam:
        hunt.fetch(url, data=STARK_TEXT)
    for number in range(6):
        hunt.fetch(f"http://y{number}.test/", data=STARK_TEXT if number > 2 else {})
    assert {FREE} == {hunt.level(url) for url in (f"{A}/9", "http://y7.test/")}


def test_one_misjudged_page_does_not_hide_a_site() -> None:
    """On a host whose pages read well mostly, or where a start page lies, links of a stuffed page are free."""
    hunt = Hunt()
    hunt.fetch(f"{A}/")
    hunt.fetch(f"{A}/list", [f"{A}/one", f"{B}/two"], data=POOR_TEXT)
    hunt.table.add_seed(f"{C}/")
    hunt.fetch(f"{C}/", [f"{C}/three"], data=POOR_TEXT)
    assert {FREE} == {hunt.level(url) for url in (f"{A}/one", f"{B}/two", f"{C}/three")}


def test_a_site_that_makes_up_hosts_is_held_but_for_those_with_finds() -> None:
    """New hosts of one registered domain have one allowance together; a host that has given a find has its own."""
    hunt = Hunt()
    hunt.prove()
    hunt.fetch("http://good.farm.test/", find=True)
    for number in range(2 * ALLOWANCE + 2):
        assert FREE == hunt.level(f"http://x{number}.farm.test/")
        hunt.fetch(f"http://x{number}.farm.test/")
    assert HELD == hunt.level("http://new.farm.test/")
    assert FREE == hunt.level("http://good.farm.test/more")
    assert FREE == hunt.level("http://x.other.test/")
    assert {FRUITLESS_SITE} == hunt.reasons()
    hunt.fetch("http://new.farm.test/", find=True)
    assert FREE == hunt.level("http://new.farm.test/more"), "its first find sets a host free"


def test_a_growing_crawl_lets_a_fruitless_site_go() -> None:
    """A site is looked at again like a host, though none of its pages is fetched any more."""
    hunt = Hunt()
    hunt.prove()
    for number in range(ALLOWANCE + 1):
        hunt.fetch(f"http://x{number}.farm.test/")
    assert HELD == hunt.level("http://new.farm.test/")
    for number in range(200):
        hunt.fetch(f"{B}/{number}.html", find=True)
    assert FREE == hunt.level("http://new.farm.test/")


# -- who is never held ---------------------------------------------------------------------------------------


def test_seeds_are_never_held() -> None:
    """A seed is taken first, though its section is held or shut."""
    hunt = Hunt()
    days = months(A, 1, 3 * MAX_WASTE)
    hunt.fetch(days[0], days[1:9])
    for number in range(1, MAX_WASTE + 1):
        hunt.fetch(days[number], like=days[0])
    row = hunt.table.add_seed(days[-1])
    monster = hunt.table.add_seed(f"{A}/a/b/a/b/a/b/")
    hunt.learn(Visit(f"{A}/robots.txt", "robots", "ok", 0))
    hunt.frontier.rank(np.array([row, monster], np.int32), np.zeros(2))
    assert {row, monster} == {hunt.frontier.take(0.0), hunt.frontier.take(0.0)}


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
def test_what_is_trusted_is_not_held(trust: str) -> None:
    """A host, a domain above it, or the beginning of an address: nothing there is held, whatever it looks like."""
    hunt = Hunt([trust])
    for day in months(A)[:6]:
        hunt.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert FREE == hunt.level(months(A)[9])


@pytest.mark.parametrize("trust", ["b.test", "xa.test", "www.a.test", "a.test/journal", "http://a.test/events/x"])
def test_what_is_not_trusted_is_held(trust: str) -> None:
    """Trust in others, or in another part of the host, does not help."""
    hunt = Hunt([trust])
    for day in months(A)[:6]:
        hunt.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert HELD == hunt.level(months(A)[9])


@pytest.mark.parametrize("trust", ["http://a.test/events/", "a.test/events/2019/", "http://a.test/events/2019/12/"])
def test_trust_reaches_below_the_stem(trust: str) -> None:
    """An address with its slash, or of one year of the calendar, is trusted as it stands."""
    hunt = Hunt([trust])
    for day in months(A)[:6]:
        hunt.fetch(day, months(A, 1, 20), like="" if day == months(A)[0] else months(A)[0])
    assert FREE == hunt.level(f"{A}/events/2019/12/")


@pytest.mark.parametrize(
    ("trust", "host"), [("a.test", "http://a.test.evil.example"), ("a.test", "http://a.testing.example"), ("a", A)]
)
def test_trust_ends_where_the_name_ends(trust: str, host: str) -> None:
    """Who trusts a.test has not trusted hosts whose names only begin like it."""
    hunt = Hunt([trust])
    hunt.fetch(months(host)[0], months(host, 2, 20))
    hunt.fetch(months(host)[1], like=months(host)[0])
    assert HELD == hunt.level(months(host)[9])


def test_hosts_under_a_trusted_one_are_trusted() -> None:
    """With example.org, www.example.org:8080 is trusted, too; fruitless or not."""
    hunt = Hunt(["example.org"])
    for number in range(2 * ALLOWANCE):
        hunt.fetch(f"http://www.example.org:8080/{number}/x.html")
    assert FREE == hunt.level("http://www.example.org:8080/x")


def test_trusted_monsters_are_free() -> None:
    """Trust also covers addresses that no one would write."""
    hunt = Hunt(["a.test/wiki/"])
    assert (FREE, HELD) == (hunt.level(f"{A}/wiki/a/b/a/b/a/b/"), hunt.level(f"{A}/a/b/a/b/a/b/"))


def test_a_trusted_host_may_be_a_mirror() -> None:
    """Who trusts a mirror gets it."""
    hunt = Hunt(["b.test"])
    for name in "abcdefgh":
        hunt.fetch(f"{A}/{name}/x.html")
        hunt.fetch(f"{B}/{name}/x.html", like=f"{A}/{name}/x.html")
    assert FREE == hunt.level(f"{B}/else/x.html")


# -- ordinary sites that must be left alone ------------------------------------------------------------------


def site(pages: Sequence[str], links: int = 10, relevant: int = 3, front: str = "") -> Hunt:
    """A host crawled through: distinct pages, each with a navigation and links to some of the others."""
    hunt = Hunt()
    menu = [f"{A}/{name}" for name in ("", "about", "contact")]
    chance = random.Random(len(pages))
    hunt.fetch(front or f"{A}/", [*menu, *chance.sample(pages, min(links, len(pages)))])
    for number, page in enumerate(pages):
        hunt.fetch(page, [*menu, *chance.sample(pages, min(links, len(pages)))], find=number % relevant == 0)
    return hunt


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
    """Content managers, forums and journals, whose pages are all different, lose nothing."""
    hunt = site(pages)
    assert [] == hunt.trap_filter.held_back(hunt.table)
    assert {FREE} == {hunt.level(page) for page in pages}


@pytest.mark.parametrize("pages", SITES.values(), ids=SITES)
def test_ordinary_sites_of_which_few_pages_are_finds(pages: list[str]) -> None:
    """Nor do they when only one page in twenty is on the topic and one in ten is a dead link."""
    hunt = Hunt()
    for number, page in enumerate(pages):
        links = [f"{A}/", *pages[number + 1 : number + 11]]
        hunt.fetch(page, links, find=number % 20 == 5, outcome="gone" if number % 10 == 7 else "ok")
    assert [] == hunt.trap_filter.held_back(hunt.table)


SMALL_SITES = {
    "WordPress, plain links": [f"{A}/?p={n}" for n in range(60)],
    "one script, pages by name": [f"{A}/index.php?page=coral-{n}" for n in range(60)],
    "articles by day and number": [f"{A}/news/2019/04/{n % 28 + 1:02d}/{n}.html" for n in range(60)],
    "articles by long numbers": [f"{A}/news/{31026000 + n}" for n in range(60)],
    "a repository named like its owner": [f"{A}/scrapy/scrapy/issues/{n}" for n in range(60)],
}


@pytest.mark.parametrize("pages", SMALL_SITES.values(), ids=SMALL_SITES)
def test_small_sites_are_not_held_for_their_addresses(pages: list[str]) -> None:
    """Sites that name all their pages by one parameter or by a date are sites."""
    hunt = Hunt()
    hunt.fetch(f"{A}/", [f"{A}/about", *pages[:9]])
    for number, page in enumerate(pages[:3]):
        hunt.fetch(page, [f"{A}/about", *pages[number + 1 : number + 10]])
    assert FREE == hunt.level(pages[9])


def test_pages_of_a_list_are_not_held() -> None:
    """A list in twenty pages, each with items of its own, is read to its end."""
    hunt = Hunt()
    for number in range(1, 21):
        items = [f"{A}/item/{10 * number + n}" for n in range(10)]
        there = [f"{A}/list?page={n}" for n in (number - 1, number + 1) if 1 <= n <= 20]
        hunt.fetch(f"{A}/list?page={number}", [f"{A}/", *there, *items])
        assert {FREE} == {hunt.level(f"{A}/list?page={n}") for n in range(1, 21)}
    assert [] == hunt.trap_filter.held_back(hunt.table)


def test_that_the_first_page_has_two_addresses_does_not_condemn_a_list() -> None:
    """/list is /list?page=1 nearly everywhere."""
    hunt = Hunt()

    def links(number: int) -> list[str]:
        pager = [f"{A}/list?page={n}" for n in range(1, 21) if n != number]
        return [*pager, *(f"{A}/item/{20 * number + n}" for n in range(10))]

    hunt.fetch(f"{A}/list", links(1))
    hunt.fetch(f"{A}/list?page=1", links(1), like=f"{A}/list")
    for number in range(2, 6):
        hunt.fetch(f"{A}/list?page={number}", links(number))
    assert FREE == hunt.level(f"{A}/list?page=9")


# -- what is told --------------------------------------------------------------------------------------------


def test_what_is_held_is_told_by_reason_and_place() -> None:
    """Groups say why, where, how many, how many were fetched, and give an example; the largest come first."""
    hunt = Hunt()
    hunt.fetch(months(A)[0], months(A, 2, 30))
    hunt.fetch(months(A)[1], like=months(A)[0])
    hunt.fetch(f"{A}/", [f"{A}/a/b/a/b/a/b/", f"{A}/x"])
    calendar, monster = hunt.trap_filter.held_back(hunt.table)
    assert Held(CALENDAR, "a.test/events", 29, 2, months(A, 3)[0]) == calendar
    assert (LOOP, "a.test", 1) == (monster.reason, monster.where, monster.addresses)
    assert f"{A}/a/b/a/b/a/b/" == monster.example


# -- in a crawl ----------------------------------------------------------------------------------------------


def engine(web: AnyWeb, pages: int = 0, trust: Iterable[str] = ()) -> Engine:
    """An engine with a warden over a simulated transport."""
    politeness = Politeness(clock, delay=0.01, free=lambda address: True)
    space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=3)
    topic = VectorJudge(TOPIC)
    return Engine(
        space, topic, Greedy(estimator("best-first"), "best-first"), MemoryLog(), clock=clock,
        budget=Budget(pages=pages), reader=Vocabulary(), concurrency=4, choosy=0.7, judge_name="test",
        trap_filter=SectionTrapFilter(topic.threshold, trust),
    )  # fmt: skip


async def crawled(web: Web, pages: int, trust: Iterable[str] = ()) -> Engine:
    """A crawl to its end."""
    made = engine(web, pages, trust)
    for node in web.seeds(CORAL):
        made.log.append(Seed(node, clock()))
        made.fold(Seed(node, clock()))
    async for _ in made.run():
        pass
    return made


@pytest.fixture(scope="module")
def wild() -> Engine:
    """A crawl of the embedded web with all its traps."""
    return run_virtual(crawled(Web(pages=1500, hosts=30, slowness=0.05), 250))


def stored(event: Event) -> Event:
    """An event as it comes back from disk."""
    return codec.decode_visit(codec.encode_visit(event), event.place) if isinstance(event, Visit) else event


def test_replayed_levels_are_those_of_the_live_crawl(wild: Engine) -> None:
    """Folding the log of a crawl, as stored, gives every row the level that it had."""

    async def replayed() -> Engine:
        made = engine(Web(pages=1500, hosts=30))
        made.replay(stored(event) for event in wild.log)
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


def test_levels_told_step_by_step_are_the_levels_asked_for(wild: Engine) -> None:
    """What the warden told the frontier as it went is what it would say of all rows now."""
    assert isinstance(wild.trap_filter, SectionTrapFilter)
    rows = np.arange(len(wild.table), dtype=np.int32)
    assert wild.trap_filter.levels(rows).tolist() == wild.frontier.level[rows].tolist()


def test_the_groups_add_up(wild: Engine) -> None:
    """Every open row that is held is in one group, and the log tells the same at the end."""
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
    """A host with a front page and a calendar without end, the same banner on all its pages."""

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


def test_a_calendar_without_end_does_not_make_a_crawl_endless() -> None:
    """Without any budget, a crawl of an endless calendar ends when the calendar is shut, and tells what is left."""

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


def test_clean_webs_are_hardly_held() -> None:
    """On a web without traps, what is held back are hosts that give nothing for long, and nothing else."""
    made = run_virtual(crawled(Web(pages=1500, hosts=30, traps=()), 250))
    assert {group.reason for group in made.held_back()} <= {FRUITLESS}


def test_a_trusting_crawl_holds_nothing() -> None:
    """With the whole web trusted, nothing is held."""
    made = run_virtual(crawled(Web(pages=600, hosts=12), 60, trust=["localhost"]))
    assert [] == made.held_back()
    assert OPEN in made.table.state[: len(made.table)]
