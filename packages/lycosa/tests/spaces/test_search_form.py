"""Search forms: records, keywords, and forms with errors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

import pytest

import lycosa
from lycosa.checks import check_space
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.errors import InputError
from lycosa.core.types import Task, Visit
from lycosa.spaces.search_form import SearchFormSpace, letters
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import SqliteLog
from lycosa.testweb import ServedResponse, Server, Web, gaps, max_in_flight, serve
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.text.keywords import keywords
from lycosa.web.politeness import Politeness
from places import ROOT

FORM = "http://books.localhost/search?q={}"
LOCAL: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"]}
CORAL = "marine biology/coral reefs"


class Site:
    """Site with one response per query; `answer` gets keyword and page number, and returns a status and a body."""

    def __init__(self, answer: Callable[[str, int], tuple[int, str]], robots: str = "") -> None:
        self.answer, self.robots = answer, robots
        self.asked: list[str] = []

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Mapping[str, str] = {}, version: int = 0) -> ServedResponse:
        path = url.removeprefix("http://books.localhost").removeprefix("http://moved.localhost")
        if path == "/robots.txt":
            return ServedResponse(200, [("Content-Type", "text/plain")], self.robots.encode())
        self.asked.append(path)
        keyword, _, page = path.partition("q=")[2].partition("&page=")
        status, text = self.answer(keyword, int(page or 1))
        headers_ = [("Location", text)] if 300 <= status < 400 else [("Content-Type", "text/html")]
        return ServedResponse(status, headers_, b"" if 300 <= status < 400 else text.encode())


def page(*items: str, more: str = "") -> str:
    """Return a results page with the template of all pages."""
    rows = "".join(f"<li>{item}</li>" for item in items) or "<p>Sorry, nothing.</p>"
    return (
        '<html lang="en"><title>Books</title><nav><a href="/">Home</a> <a href="/search?q=">Advanced</a></nav>'
        f"<ul>{rows}</ul>{more}<footer>Opening hours <a href='/imprint'>Imprint</a></footer></html>"
    )


def record(number: int, title: str, text: str = "") -> str:
    return f'<a href="/book/{number}">{title}</a><p>{text}</p>'


def shelf(keyword: str, number: int) -> tuple[int, str]:
    """Return two books on reefs, one of them on sharks."""
    books = {
        "reef": [record(1, "The coral reef", "Reef and coral, coral and algae."), record(2, "Sharks of the reef")],
        "coral": [record(1, "The coral reef", "Reef and coral, coral and algae.")],
        "sharks": [record(2, "Sharks of the reef"), record(3, "Sharks")],
    }
    return 200, page(*books.get(keyword, ()))


def crawled(site: Any, *seeds: str, form: str = FORM, budget: int = 20, **parameters: Any) -> list[Visit]:
    """Return all visits of a crawl of a site, in virtual time."""
    return crawled_space(site, *seeds, form=form, budget=budget, **parameters)[0]


def crawled_space(
    site: Any, *seeds: str, form: str = FORM, budget: int = 20, strategy: str = "breadth-first",
    topic: str = "", per_host: int = 1, **parameters: Any,
) -> tuple[list[Visit], SearchFormSpace]:  # fmt: skip
    """Return the visits and the space."""

    async def run() -> tuple[list[Visit], SearchFormSpace]:
        space = form_space(site, form, per_host, **parameters)
        crawl = lycosa.crawl(
            topic, seeds, space=space, clock=clock, strategy=strategy, judge="" if topic else "given", budget=budget
        )
        return [visit async for visit in crawl], space

    return run_virtual(run())


def records(visits: Iterable[Any]) -> dict[str, str]:
    """Return the records in visits, with the title of their first occurrence."""
    found: dict[str, str] = {}
    for visit in visits:
        for url, title in visit.data.get("records", ()):
            found.setdefault(url, title)
    return found


def form_space(site: Any, form: str = FORM, per_host: int = 1, **parameters: Any) -> SearchFormSpace:
    politeness = Politeness(clock, delay=0.0, at_once=per_host, free=lambda address: True)
    transport = SimTransport(site, seed=1, latency=(0.01, 0.05), politeness=politeness if per_host > 1 else None)
    return SearchFormSpace(WebSpace(transport, politeness, clock), form, **{"words": keywords, **parameters})


def test_records_and_keywords_exclude_template() -> None:
    robots, probe, reef, *_ = crawled(Site(shelf), "reef")
    assert ("robots", "probe", "page") == (robots.kind, probe.kind, reef.kind)
    titles = {"http://books.localhost/book/1": "The coral reef", "http://books.localhost/book/2": "Sharks of the reef"}
    assert titles == dict(reef.data["records"])
    assert 2.0 == reef.relevance
    # coral is once in the title and twice in the text; algae and sharks are once in the text; reef is the query.
    assert {"coral": 3.0, "algae": 1.0, "sharks": 1.0} == dict(
        zip(reef.links.anchors, reef.links.link_relevances.tolist(), strict=True)
    )
    assert "http://books.localhost/search?q=coral" == reef.links.urls[0]
    assert "Reef and coral, coral and algae" in reef.links.contexts[1]


def test_form_is_probed_once_and_first() -> None:
    site = Site(shelf)
    visits, _ = crawled_space(site, "reef", "coral", "sharks", per_host=4)
    assert 1 == sum(visit.kind == "probe" for visit in visits)
    assert site.asked[0].startswith("/search?q=zq")
    assert [path for path in site.asked[1:] if "=zq" in path] == []


def test_beta_counts_new_records_or_all() -> None:
    # Results: books 1 and 2 for reef, 1 for coral, 2 and 3 for sharks.
    order = ("reef", "coral", "sharks")
    new = {visit.title: visit.relevance for visit in crawled(Site(shelf), *order)}
    every = {visit.title: visit.relevance for visit in crawled(Site(shelf), *order, count="all")}
    assert (2.0, 0.0, 1.0) == tuple(new[word] for word in order)
    assert (2.0, 1.0, 2.0) == tuple(every[word] for word in order)


def test_records_keep_first_title() -> None:
    visits, space = crawled_space(Site(shelf), "sharks")
    found = records(visits)
    assert {f"http://books.localhost/book/{n}" for n in (1, 2, 3)} == set(found)
    assert found == space.seen
    assert [f"3 records found by {space.queries} requests"] == space.notes


def test_sitemaps_and_soft_404_probes_are_skipped() -> None:
    site = Site(shelf, "User-agent: *\nDisallow: /search?q=zq\nSitemap: http://books.localhost/map.xml\n")

    async def run() -> list[Visit]:
        politeness = Politeness(clock, delay=0.0, free=lambda address: True)
        web = WebSpace(SimTransport(site, seed=1), politeness, clock, probe_after=1, sitemaps=True)
        space = SearchFormSpace(web, FORM, words=keywords)
        return [visit async for visit in lycosa.crawl("", ["reef"], space=space, clock=clock, judge="given", budget=3)]

    visits = run_virtual(run())
    assert {"robots", "page"} == {visit.kind for visit in visits}
    assert not any("sources" in visit.data for visit in visits)
    assert all(path.startswith("/search?q=") for path in site.asked)


def test_record_pattern_selects_links() -> None:
    def answer(keyword: str, number: int) -> tuple[int, str]:
        if keyword != "reef":
            return 200, page()
        return 200, page('<a href="/book/1">Reefs</a> by <a href="/author/9">Ann Marsh</a>: about polyps')

    reef = crawled(Site(answer), "reef", record="/book/")[2]
    assert [["http://books.localhost/book/1", "Reefs"]] == reef.data["records"]
    assert ["reefs", "ann", "marsh", "polyps"] == reef.links.anchors


def many(keyword: str, number: int) -> tuple[int, str]:
    """Return three results pages with two records each for one keyword."""
    if keyword != "reef" or number > 3:
        return 200, page()
    items = [record(10 * number + i, f"Reef {'abcdefgh'[2 * number - i] * 4}") for i in (0, 1)]
    more = f'<a href="/search?q=reef&page={number + 1}">Next &raquo;</a>' if number < 3 else ""
    return 200, page(*items, more=more)


def test_next_results_page_is_a_node() -> None:
    visits = crawled(Site(many), "reef")
    reef = [visit for visit in visits if visit.data.get("query") == "reef"]
    assert ["reef", "reef, page 2", "reef, page 3"] == [visit.title for visit in reef]
    assert ["http://books.localhost/search?q=reef&page=2", 2.0] == [
        reef[0].links.urls[0],
        reef[0].links.link_relevances[0],
    ]
    assert 6 == len(records(visits))


def test_pages_limits_results_pages() -> None:
    assert 4 == len(records(crawled(Site(many), "reef", pages=2)))


def test_endless_results_pages_are_limited() -> None:
    def repeats(keyword: str, number: int) -> tuple[int, str]:
        if keyword != "reef":
            return 200, page()
        return 200, page(record(1, "Reefs"), more=f'<a rel="next" href="/search?q=reef&page={number + 1}">on</a>')

    def makes_up(keyword: str, number: int) -> tuple[int, str]:
        if keyword != "reef":
            return 200, page()
        return 200, page(record(number, "Reefs"), more=f'<a rel="next" href="/search?q=reef&page={number + 1}">on</a>')

    titles = [visit.title for visit in crawled(Site(repeats), "reef") if visit.data.get("query") == "reef"]
    assert ["reef", "reef, page 2"] == titles
    assert 7 == len(records(crawled(Site(makes_up), "reef", pages=7, budget=100)))


def test_huge_results_page_is_limited() -> None:
    def answer(keyword: str, number: int) -> tuple[int, str]:
        if keyword != "reef":
            return 200, page()
        return 200, page(*(record(i, f"Reef {'abcdefghij'[i % 10] * (3 + i // 10 % 30)}") for i in range(9000)))

    reef = crawled(Site(answer), "reef", budget=1)[2]
    assert (1000, 100) == (len(reef.data["records"]), len(reef.links))


def test_form_that_redirects_to_login_fails() -> None:
    site = Site(lambda keyword, number: (302, "/login"))
    visits = crawled(site, "reef")
    assert [("gone", "sent to http://books.localhost/login")] == [
        (visit.outcome, visit.note.partition(",")[0]) for visit in visits if visit.kind == "page"
    ]
    assert not any("login" in path for path in site.asked)


def test_form_that_moved_is_followed() -> None:
    def answer(keyword: str, number: int) -> tuple[int, str]:
        return shelf(keyword.removesuffix("&all=1"), 1) if keyword.endswith("&all=1") \
            else (301, f"/search?q={keyword}&all=1")  # fmt: skip

    visits = crawled(Site(answer), "reef", budget=1)
    assert ["robots", "probe", "probe", "redirect", "page"] == [visit.kind for visit in visits]
    assert ("reef", 2) == (visits[-1].data["query"], len(visits[-1].data["records"]))


def test_form_that_redirects_to_only_record() -> None:
    site = Site(lambda keyword, number: (302, "/book/5") if keyword == "reef" else (200, page()))
    reef = crawled(site, "reef", record="/book/")[-1]
    assert ("ok", 1.0, [["http://books.localhost/book/5", ""]]) == (reef.outcome, reef.relevance, reef.data["records"])


def test_probe_answered_with_404_is_no_error() -> None:
    def answer(keyword: str, number: int) -> tuple[int, str]:
        text = shelf(keyword, number)[1]
        return (200 if "/book/" in text else 404), text

    visits = crawled(Site(answer), "reef")
    assert ("probe", "gone") == (visits[1].kind, visits[1].outcome)
    assert 2 == len(visits[2].data["records"])
    assert ["gone"] == [visit.outcome for visit in visits if visit.node.endswith("=algae")]


def test_form_with_constant_response_has_no_records() -> None:
    same = page(record(1, "The coral reef"), record(2, "Sharks"))
    visits, space = crawled_space(Site(lambda keyword, number: (200, same)), "reef", "coral", "algae")
    assert [(0.0, "no records")] * 3 == [(visit.relevance, visit.note) for visit in visits if visit.kind == "page"]
    assert "had no records: no links that a search for nonsense lacks" in space.notes[0]


def test_form_with_server_error_fails() -> None:
    visits = crawled(Site(lambda keyword, number: (500, "")), "reef")
    assert [("broken", 500)] == [(visit.outcome, visit.status) for visit in visits if visit.kind == "page"]


def test_busy_form_is_probed_again() -> None:
    answers = iter([(503, ""), (200, page())])
    visits = crawled(Site(lambda keyword, number: shelf(keyword, 1) if keyword == "reef" else next(answers)), "reef",
                     budget=1)  # fmt: skip
    assert [("probe", "busy"), ("probe", "ok"), ("page", "ok")] == [
        (visit.kind, visit.outcome) for visit in visits if visit.kind != "robots"
    ]
    assert 2 == len(visits[-1].data["records"])


def test_form_disallowed_by_robots_is_denied() -> None:
    site = Site(shelf, robots="User-agent: *\nDisallow: /search\n")
    visits = crawled(site, "reef")
    assert [] == site.asked
    assert ["robots", "page"] == [visit.kind for visit in visits]
    assert "denied" == visits[-1].outcome


def test_results_with_nofollow_have_no_records() -> None:
    html = page(record(1, "Reef")).replace("<title>", '<meta name="robots" content="nofollow"><title>')
    reef = crawled(Site(lambda keyword, number: (200, html if keyword == "reef" else page())), "reef")[-1]
    assert ([], "no links may be followed from here") == (reef.data["records"], reef.note)


def test_keyword_in_path_is_escaped() -> None:
    space = form_space(Site(shelf), "http://books.localhost/find/{}/all", record="/book/")
    node = space.node("Große Riffe")
    assert "http://books.localhost/find/gro%C3%9Fe%20riffe/all" == node
    assert "große riffe" == space.place(node).keyword


@pytest.mark.parametrize("text", ["", "  ", "http://books.localhost/", "\udcff"])
def test_node_rejects_invalid_keyword(text: str) -> None:
    assert form_space(Site(shelf)).node(text) is None


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("url=http://a.test/search", "needs {} in place of the keyword"),
        ("url=http://a.test/{}/{}", "needs {} in place of the keyword"),
        ("url=ftp://a.test/{}", "must be a web URL"),
        ("url=http://a.test/{},record=(", "not a regular expression"),
        ("url=http://a.test/{},pages=0", "1 or more"),
        ("url=http://a.test/{},count=old", "new or all"),
        ("", "needs url"),
    ],
)
def test_search_form_rejects_invalid_parameters(parameters: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lycosa.crawl(seeds=["reef"], space=f"search-form,{parameters}".rstrip(","))


def test_letters_excludes_stop_words() -> None:
    assert ["the", "reefs", "südsee"] == letters("The 3 reefs of ab Südsee x2y", "")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(pages=60, hosts=3, traps=())) as running:
        yield running


def test_search_form_passes_checks(server: Server) -> None:
    space = lycosa.crawl(seeds=["water"], space=f"search-form,url={server.web.form()}", **LOCAL).request.space
    assert isinstance(space, SearchFormSpace)
    assert len(check_space(space, space.node("water") or "")) > 5


def test_resumed_crawl_is_identical(server: Server, tmp_path: Path) -> None:
    form = f"search-form,url={server.web.form()}"
    options = {"seeds": ["water"], "space": form, "strategy": "lr_fl", **LOCAL}
    whole = [v for v in lycosa.crawl(out=tmp_path / "one", budget=24, **options) if v.is_page]
    halves = [v for v in lycosa.crawl(out=tmp_path / "two", budget=11, **options) if v.is_page]
    resumed = lycosa.resume(tmp_path / "two", budget=24)
    halves += [v for v in resumed if v.is_page]
    assert [(v.node, v.relevance) for v in whole] == [(v.node, v.relevance) for v in halves]
    log = SqliteLog(tmp_path / "two" / "crawl.sqlite")
    visits = [event for event in log if isinstance(event, Visit)]
    log.close()
    assert ["robots", "probe"] == [visit.kind for visit in visits if visit.kind != "page"]
    found = records(visits)
    assert [f"{len(found)} records found by 24 requests"] == resumed.notes
    assert sum(v.relevance for v in whole) == len(found)
    assert set(found) <= set(server.web.records())
    with CrawlDirectory(tmp_path / "two") as kept:
        assert all("Old Library" in kept.document(visit).marked for _, visit in kept.pages(copies=True))


def test_form_is_queried_politely(server: Server) -> None:
    server.log.clear()
    visits = list(
        lycosa.crawl(seeds=["water"], space=f"search-form,url={server.web.form()}", **{**LOCAL, "delay": 0.1}, budget=5)
    )
    assert 7 == len(visits) == len(server.log)
    assert gaps(server.log)["old-library.localhost"] > 0.1
    assert {"old-library.localhost": 1} == max_in_flight(server.log)


def test_topic_steers_crawl_to_its_records() -> None:
    web = Web(pages=60, hosts=3, traps=())
    coral = set(web.records(CORAL))
    told, plain = (
        coral.intersection(
            records(crawled(web, "water", form=web.form(), budget=25, strategy="best-first", topic=topic))
        )
        for topic in (web.query(CORAL), "")
    )
    assert len(told) > 0.9 * len(coral)
    assert len(plain) < 0.5 * len(coral)


def _benchmark(name: str) -> ModuleType:
    path = ROOT / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.paper("gouriten-deep-web")
def test_best_first_finds_more_than_random_keywords() -> None:
    siphon = _benchmark("siphoning").siphon
    share = {strategy: mean(siphon(seed, strategy, (50,))[0] for seed in (11, 12)) for strategy in ("random", "")}
    assert "best-first" == SearchFormSpace.strategy
    assert 0.2 < share["random"] < 0.32
    assert share[""] > share["random"] + 0.08


def test_place_of_unknown_url_is_empty() -> None:
    assert "" == form_space(Site(shelf)).place("http://books.localhost/other").keyword
    visit = run_virtual(_visit(form_space(Site(shelf)), "http://books.localhost/other"))
    assert "ok" == visit.outcome


async def _visit(space: SearchFormSpace, node: str) -> Any:
    return await space.visit(Task(node))
