"""The clean part of the embedded web: purity, truth, shape."""

import heapq
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest

from lycosa.testweb import Trap, Web

CORAL = "marine biology/coral reefs"


def reach(arrows: dict[str, list[str]], starts: list[str], through: set[str] | None = None) -> set[str]:
    """Follow links from the starts, optionally passing only through some pages."""
    seen, todo = set(starts), list(starts)
    while todo:
        for target in arrows.get(todo.pop(), ()):
            if target not in seen and target in arrows and (through is None or target in through):
                seen.add(target)
                todo.append(target)
    return seen


def test_a_page_is_a_function_of_seed_and_url() -> None:
    """Two webs of one seed give the same bytes for the same URL, in whatever order they are asked."""
    one, two = Web(seed=3, pages=400, hosts=12), Web(seed=3, pages=400, hosts=12)
    urls = list(one.urls())
    first = {url: one.response(url) for url in urls}
    assert {url: two.response(url) for url in reversed(urls)} == first


def test_another_seed_grows_another_web() -> None:
    """Webs of different seeds differ in their texts."""
    one, two = Web(seed=1, pages=400, hosts=12, traps=()), Web(seed=2, pages=400, hosts=12, traps=())
    assert one.response(one.seeds(CORAL)[0]).body != two.response(two.seeds(CORAL)[0]).body


def test_clean_pages_do_not_depend_on_traps(clean: Web, wild: Web) -> None:
    """A clean page with all traps on is the page without traps plus one aside."""
    with_aside = 0
    for url in list(clean.urls())[::7]:
        assert wild.topic(url) == clean.topic(url)
        trapped = wild.response(url).body
        stripped = re.sub(rb"<aside>.*?</aside>\n", b"", trapped, flags=re.S)
        assert stripped == clean.response(url).body
        with_aside += stripped != trapped
    assert with_aside > 50


def test_seeds_do_not_depend_on_traps(clean: Web, wild: Web) -> None:
    """Start URLs and relevant pages are the same with and without traps."""
    assert clean.seeds(CORAL, 6) == wild.seeds(CORAL, 6)
    assert list(clean.relevant(CORAL)) == list(wild.relevant(CORAL))


def test_every_url_is_its_own_and_found_again(clean: Web) -> None:
    """All clean URLs are distinct, answer 200, and are their own canonical form."""
    urls = list(clean.urls())
    assert len(set(urls)) == len(urls) == len(clean) == 3000
    assert all(clean.canonical(url) == url for url in urls)
    assert all(clean.response(url).status == 200 for url in urls[::50])


def test_topics_have_a_small_share_each(clean: Web) -> None:
    """Each sub-topic has about two to four per cent of the pages, and the truth agrees with the listing."""
    assert len(clean.topics) == 36
    truth = Counter(clean.topic(url) for url in clean.urls())
    for topic in clean.topics:
        assert truth[topic] == sum(1 for _ in clean.relevant(topic))
        assert 0.018 < truth[topic] / len(clean) < 0.042
    assert truth[None] / len(clean) < 0.06


def test_front_pages_and_unknown_urls_have_no_topic(clean: Web) -> None:
    """Pages that only navigate, and URLs that are no page's, are about nothing."""
    page = next(clean.relevant(CORAL))
    for url in (
        clean.seeds(CORAL)[0],
        page + "x",
        page.replace("http:", "https:"),
        "http://x.invalid/",
        "http://[",
        "",
    ):
        assert clean.topic(url) is None


def test_the_query_is_what_the_pages_say(clean: Web) -> None:
    """Pages on coral reefs use the words of the query far more often than other pages."""
    words = clean.query(CORAL).split()
    assert words == ["coral", "reef", "bleaching"]

    def share(urls: list[str]) -> float:
        texts = [re.sub(rb"<[^>]*>", b" ", clean.response(url).body).decode().lower().split() for url in urls]
        return sum(text.count(word) for text in texts for word in words) / sum(map(len, texts))

    assert share(list(clean.relevant(CORAL))) > 20 * share(list(clean.urls())[::20])


def test_unknown_topics_are_refused(clean: Web) -> None:
    """Asking for a topic that is none raises KeyError."""
    with pytest.raises(KeyError):
        clean.query("alchemy/gold")


def test_all_pages_can_be_reached_from_the_seeds(clean: Web, arrows: dict[str, list[str]]) -> None:
    """Following links from off-topic or on-topic seeds reaches every clean page, and only such."""
    everything = set(arrows)
    assert reach(arrows, clean.seeds(CORAL)) == everything
    assert reach(arrows, clean.seeds(CORAL, 1, on_topic=True)) == everything
    assert {target for targets in arrows.values() for target in targets} <= everything


@pytest.mark.parametrize(("pages", "hosts"), [(20, 2), (100, 40), (317, 5)])
def test_webs_of_odd_sizes_are_whole(pages: int, hosts: int, links: Callable[[Web, str], list[str]]) -> None:
    """Small and lopsided webs have exactly the pages asked for, all reachable."""
    web = Web(seed=5, pages=pages, hosts=hosts, traps=())
    graph = {url: links(web, url) for url in web.urls()}
    assert len(graph) == pages
    assert CORAL in web.topics
    assert reach(graph, web.seeds(CORAL)) == set(graph)


def test_seeds_are_off_or_on_the_topic_as_asked(clean: Web) -> None:
    """Off-topic seeds are never on the topic, on-topic seeds always."""
    for topic in clean.topics:
        assert topic not in map(clean.topic, clean.seeds(topic, 8))
        assert set(map(clean.topic, clean.seeds(topic, 8, on_topic=True))) == {topic}
        assert len(set(clean.seeds(topic, 8))) == 8


def test_islands_are_only_reached_over_bridges(clean: Web, arrows: dict[str, list[str]]) -> None:
    """Some pages of each topic are not reached through on-topic pages, but over two off-topic ones."""
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


def test_pages_link_mostly_to_their_own_topic(clean: Web, arrows: dict[str, list[str]]) -> None:
    """Links, navigation included, stay on the topic at more than ten times the base rate."""
    same = total = 0
    for url, targets in arrows.items():
        topic = clean.topic(url)
        if topic is not None:
            total += len(targets)
            same += sum(clean.topic(target) == topic for target in targets[::3]) * 3
    assert 0.3 < same / total < 0.65


def test_pages_are_of_realistic_size(arrows: dict[str, list[str]], clean: Web) -> None:
    """Pages have some hundred to some thousand words and about ten to sixty links."""
    counts = [len(targets) for targets in arrows.values()]
    assert min(counts) >= 8
    assert max(counts) <= 65
    words = sorted(len(re.sub(rb"<[^>]*>", b" ", clean.response(url).body).split()) for url in list(arrows)[::10])
    assert words[0] > 100
    assert 300 < words[len(words) // 2] < 1000
    assert 2000 < words[-1] < 4000


def harvest(web: Web, arrows: dict[str, list[str]], topic: str, focused: bool) -> int:
    """Count the relevant pages among 300 fetched, breadth first or by the query words in page and URL."""
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


def test_the_hunt_is_worth_while(clean: Web, arrows: dict[str, list[str]]) -> None:
    """At 300 pages breadth-first finds about the base rate, and a simple focus several times as much."""
    blind, focused = (harvest(clean, arrows, CORAL, focus) for focus in (False, True))
    assert 2 <= blind <= 16
    assert focused > 4 * blind


def test_anchor_text_is_usually_but_not_always_telling(clean: Web) -> None:
    """Some links say only "here" or "read more", and some are pictures without text."""
    html = "".join(clean.response(url).body.decode() for url in list(clean.urls())[::30])
    anchors = re.findall(r'<a href="[^"]*">(.*?)</a>', html)
    vague = sum(anchor in ("here", "read more", "this page", "more", "details") for anchor in anchors)
    silent = sum('alt=""' in anchor for anchor in anchors)
    assert 0.02 < vague / len(anchors) < 0.2
    assert 0.005 < silent / len(anchors) < 0.1


def test_a_million_pages_cost_nothing_until_asked_for() -> None:
    """A web of a million pages is made at once, in little memory, and answers like a small one."""
    tracemalloc.start()
    web = Web(pages=1_000_000, hosts=400)
    page = next(web.relevant(CORAL))
    assert web.response(page).status == 200
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert len(web) == 1_000_000


def test_urls_carry_the_port() -> None:
    """Once a port is known, it is in all URLs, and the truth is found under them."""
    web = Web(pages=100, hosts=5, port=8123)
    page = next(web.relevant(CORAL))
    assert ":8123/" in page
    assert web.topic(page) == CORAL
    assert b":8123/" in web.response(web.seeds(CORAL)[0]).body
    web.port = 80
    assert ":" not in next(web.urls()).removeprefix("http:")


def test_traps_are_chosen_by_name() -> None:
    """Traps can be given as "all", one name, names or members; an unknown name is refused."""
    assert Web(pages=50, hosts=3).traps == frozenset(Trap)
    assert Web(pages=50, hosts=3, traps="slow").traps == {Trap.SLOW}
    assert Web(pages=50, hosts=3, traps={"slow", Trap.DEAD}).traps == {Trap.SLOW, Trap.DEAD}
    with pytest.raises(ValueError, match="wolves"):
        Web(pages=50, hosts=3, traps=["wolves"])


def test_tunnels_are_the_only_way() -> None:
    """Pages on a hidden topic are linked to from their own sections and from pages on its ferry, by nothing else."""
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
