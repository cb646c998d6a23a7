"""Pages, topics and links of the embedded web."""

import heapq
import re
from collections.abc import Callable

import pytest

from lycosa.testweb import Web
from lycosa.testweb.site_graph import SiteGraph

CORAL = "marine biology/coral reefs"


def reach(arrows: dict[str, list[str]], starts: list[str], through: set[str] | None = None) -> set[str]:
    """Return the pages reachable from the starts, optionally only through some pages."""
    seen, todo = set(starts), list(starts)
    while todo:
        for target in arrows.get(todo.pop(), ()):
            if target not in seen and target in arrows and (through is None or target in through):
                seen.add(target)
                todo.append(target)
    return seen


def test_pages_are_reachable_from_seeds(clean: Web, arrows: dict[str, list[str]]) -> None:
    everything = set(arrows)
    assert reach(arrows, clean.seeds(CORAL)) == everything
    assert reach(arrows, clean.seeds(CORAL, 1, on_topic=True)) == everything
    assert {target for targets in arrows.values() for target in targets} <= everything


@pytest.mark.parametrize(("pages", "hosts"), [(20, 2), (100, 40), (317, 5)])
def test_pages_of_unusual_webs_are_reachable(pages: int, hosts: int, links: Callable[[Web, str], list[str]]) -> None:
    web = Web(seed=5, pages=pages, hosts=hosts, traps=())
    graph = {url: links(web, url) for url in web.urls()}
    assert len(graph) == pages
    assert CORAL in web.topics
    assert reach(graph, web.seeds(CORAL)) == set(graph)


def test_islands_are_not_reached_over_relevant_pages(clean: Web, arrows: dict[str, list[str]]) -> None:
    for topic in clean.topics:
        on_topic, islands = set(clean.relevant(topic)), set(clean.islands(topic))
        mainland = on_topic - islands
        assert 0.1 < len(islands) / len(on_topic) < 0.4
        assert not reach(arrows, list(mainland), on_topic) & islands
        near = set(mainland)
        for _ in range(2):
            near |= {target for url in near for target in arrows[url]}
        landed = {target for url in near for target in arrows[url]} & islands
        assert reach(arrows, list(landed), islands) == islands


def test_links_stay_mostly_on_topic(clean: Web, arrows: dict[str, list[str]]) -> None:
    same = total = 0
    for url, targets in arrows.items():
        topic = clean.topic(url)
        if topic is not None:
            total += len(targets)
            same += sum(clean.topic(target) == topic for target in targets[::3]) * 3
    assert 0.3 < same / total < 0.65


def harvest(web: Web, arrows: dict[str, list[str]], topic: str, focused: bool) -> int:
    """Count the relevant pages among 300 fetched, breadth-first or by query words in page and URL."""
    words = web.query(topic).split()
    heap = [(0.0, number, url) for number, url in enumerate(web.seeds(topic))]
    seen = {url for _, _, url in heap}
    found = 0
    for _ in range(300):
        url = heapq.heappop(heap)[2]
        found += web.topic(url) == topic
        text = re.sub(r"<[^>]*>", " ", web.response(url).body.decode()).split() if focused else []
        page = sum(text.count(word) for word in words) / (len(text) or 1)
        for target in arrows[url]:
            if target not in seen:
                seen.add(target)
                score = page + 0.02 * sum(word in target for word in words) if focused else 0.0
                heapq.heappush(heap, (-score, len(seen), target))
    return found


def test_focused_crawl_beats_breadth_first(clean: Web, arrows: dict[str, list[str]]) -> None:
    blind, focused = (harvest(clean, arrows, CORAL, focus) for focus in (False, True))
    assert 2 <= blind <= 16
    assert focused > 4 * blind


def test_tunnels_are_the_only_links_to_hidden_topics() -> None:
    web, topic = Web(5, traps=(), tunnels=True), "astronomy/exoplanets"
    graph = web._graph
    number = graph.topic(next(page for page in range(len(web)) if graph.is_hidden(graph.topic(page))))
    hidden = {page for page in range(len(web)) if graph.section(page).topic == number}
    ferry = graph.way_to(number)[1]
    inward = {page for page in range(len(web)) if page not in hidden and hidden & set(graph.links(page))}
    assert inward
    assert {ferry} == {graph.topic(page) for page in inward}
    assert not hidden & {target for host in range(graph.host_count) for target in graph.navigation(host)}
    assert set(web.relevant(topic)) == set(web.islands(topic)) & set(web.relevant(topic))


def test_site_graph_rejects_tiny_webs() -> None:
    with pytest.raises(ValueError, match="at least 20 pages"):
        SiteGraph(1, 19, 2)


def test_sections_cover_every_page_once() -> None:
    graph = SiteGraph(5, 700, 20)
    pages = [page for one in graph.sections for page in range(one.start, one.start + one.length)]
    assert pages == list(range(700))
    assert sum(graph.size(host) for host in range(graph.host_count)) == 700
    assert all(graph.section(page).start <= page for page in pages)


def test_way_to_avoids_hidden_topics() -> None:
    graph = SiteGraph(5, 700, 20, tunnels=True)
    hidden = [topic for topic in range(36) if graph.is_hidden(topic)]
    assert hidden
    assert not any(graph.is_hidden(step) for topic in hidden for step in graph.way_to(topic))
