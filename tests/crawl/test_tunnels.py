"""Tunnelling: what learns from browsing finds pages behind off-topic ones, where going by relevance alone wanders."""

from functools import partial

import pytest

import lycosa
from crawl.helpers import Remembered, browsed, sim_space
from lycosa.core.types import Visit
from lycosa.testing import Web
from lycosa.testing.simulation import clock, run_virtual

TOPIC = "railways/steam locomotives"
"""One that lies behind tunnels."""

PAGES = 300


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """For each strategy how many pages on the topic it found."""
    file = browsed(Web(1002, pages=1200, traps=(), tunnels=True), TOPIC, tmp_path_factory.mktemp("browsing"))
    web = Web(2, traps=(), tunnels=True)
    wanted = set(web.relevant(TOPIC))
    found = {}
    for strategy in ("best-first-page", f"hmm,file={file}"):
        visits = run_virtual(hunt(web, TOPIC, strategy))
        assert PAGES == sum(visit.is_page for visit in visits)
        found[strategy.partition(",")[0]] = len({visit.node for visit in visits} & wanted)
    return found


async def hunt(web: Web, topic: str, strategy: str) -> list[Visit]:
    """The visits of a crawl."""
    crawl = partial(lycosa.crawl, web.query(topic), web.seeds(topic), clock=clock, budget=PAGES, concurrency=4)
    space = sim_space(Remembered(web), delay=0.01, latency=(0.001, 0.01))
    return [visit async for visit in crawl(space=space, strategy=strategy, judge="vector")]


def test_an_hmm_finds_what_lies_behind_bridges(found: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    """Trained on another web, it finds half as many pages again as best-first by page; it finds some."""
    with capsys.disabled():
        print(f"\nbehind tunnels, {PAGES} pages: {found}")
    assert found["hmm"] >= 1.5 * found["best-first-page"]
    assert found["hmm"] > 10


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
