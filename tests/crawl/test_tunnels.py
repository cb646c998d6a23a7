"""Tunnelling: what learns from browsing finds pages behind off-topic ones, where going by relevance alone wanders."""

from functools import partial

import pytest

import lycosa
from crawl.helpers import Remembered, browsed, sim_space
from lycosa.core.types import Visit
from lycosa.testing import Web
from lycosa.testing.simulation import clock, run_virtual

HUNTS = (
    (2, "railways/steam locomotives"),
    (4, "medieval history/castles"),
)
"""Which web, and which of the topics that lie behind tunnels."""

ELSEWHERE = 1000
"""Added to the seed of a web: the one that is browsed for training."""

PAGES = 300


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """For each strategy the pages on the topic that it found, hunt by hunt."""
    found: dict[str, list[int]] = {"best-first-page": [], "hmm": []}
    for seed, topic in HUNTS:
        place = tmp_path_factory.mktemp("browsing")
        file = browsed(Web(seed + ELSEWHERE, traps=(), tunnels=True), topic, place)
        web = Web(seed, traps=(), tunnels=True)
        wanted = set(web.relevant(topic))
        for name, hunts in found.items():
            strategy = name if name.startswith("best-first") else f"{name},file={file}"
            visits = run_virtual(hunt(web, topic, strategy))
            assert PAGES == sum(visit.is_page for visit in visits)
            hunts.append(len({visit.node for visit in visits} & wanted))
    return found


async def hunt(web: Web, topic: str, strategy: str) -> list[Visit]:
    """The visits of a crawl."""
    crawl = partial(lycosa.crawl, web.query(topic), web.seeds(topic), clock=clock, budget=PAGES, concurrency=4)
    space = sim_space(Remembered(web), delay=0.01, latency=(0.001, 0.01))
    return [visit async for visit in crawl(space=space, strategy=strategy, judge="vector")]


def test_an_hmm_finds_what_lies_behind_bridges(found: dict[str, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Trained on another web, it finds half as many pages again as best-first by page; on each web it finds some."""
    with capsys.disabled():
        print(f"\nbehind tunnels, {PAGES} pages on each of two webs: {found}")
    assert sum(found["hmm"]) >= 1.5 * sum(found["best-first-page"])
    assert min(found["hmm"]) > 10


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
