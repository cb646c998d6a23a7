"""Tests of a default crawl of webs with a spam farm, and with link mazes."""

from lycosa.core.types import Visit
from lycosa.crawling import crawl
from lycosa.spaces.making import PROBE_AFTER
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import Web
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness
from spam_farm import SpamWeb

TOPIC = "marine biology/coral reefs"


def _pages(web: Web, seeds: list[str], budget: int) -> list[Visit]:
    async def crawled() -> list[Visit]:
        politeness = Politeness(clock, delay=0.01, free=lambda address: True)
        space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=PROBE_AFTER)
        running = crawl(web.query(TOPIC), seeds, space=space, clock=clock, budget=budget, concurrency=4)
        return [visit async for visit in running if visit.is_page]

    return run_virtual(crawled())


def test_spam_farm_gets_few_requests() -> None:
    web = SpamWeb(traps=())
    linking = [url for url in web.relevant(TOPIC) if any(web.farm.names[n] in _body(web, url) for n in range(50))]
    pages = _pages(web, [*web.seeds(TOPIC), *linking], 80)
    spam = [page for page in pages if web.spam(page.node)]
    assert linking
    assert 0 < len(spam) <= 4
    assert all(page.data["quality"] < 0.5 for page in spam)


def _body(web: Web, url: str) -> str:
    return web.response(url).body.decode()


def test_mazes_are_not_among_best_pages() -> None:
    web = Web()
    pages = _pages(web, web.seeds(TOPIC), 130)
    mazes = {page.node for page in pages if web.trap(page.node) in ("calendar", "loops", "facets", "soft404")}
    best = sorted((page for page in pages if not page.same_as), key=lambda page: -page.relevance)[:10]
    assert len(mazes) > 5
    assert not mazes.intersection(page.node for page in best)
