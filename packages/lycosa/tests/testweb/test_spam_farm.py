"""Spam farm of the embedded web."""

from collections import deque
from collections.abc import Callable

import pytest

from lycosa.testweb import Web
from lycosa.web.html import extract
from spam_farm import KINDS, SpamWeb

CORAL = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def farmed() -> SpamWeb:
    return SpamWeb(pages=600, hosts=20, traps=())


def test_farm_urls_return_404_in_plain_web(farmed: SpamWeb) -> None:
    wild = Web(pages=600, hosts=20)
    for url in farmed.farm.into(CORAL, 5):
        assert (200, True) == (farmed.response(url).status, farmed.spam(url))
        assert 404 == wild.response(url).status


def test_farm_adds_only_links_on_topic(farmed: SpamWeb, links: Callable[[Web, str], list[str]]) -> None:
    plain = Web(pages=600, hosts=20, traps=())
    linking = 0
    for url in farmed.urls():
        spam = any(map(farmed.spam, links(farmed, url)))
        linking += spam
        assert spam == (plain.response(url).body != farmed.response(url).body)
    assert 2 <= linking <= 20


def test_farm_links_never_end(farmed: SpamWeb) -> None:
    todo, seen = deque(farmed.farm.into(CORAL)), set[str]()
    while len(seen) < 300:
        url = todo.popleft()
        if url in seen:
            continue
        seen.add(url)
        links = extract(farmed.response(url).body, url).links
        assert all("coral reef bleaching" in anchor for anchor in links.anchors)
        assert all(farmed.spam(link) for link in links.urls)
        todo.extend(links.urls)
    assert {url.split("/")[2] for url in seen} == set(farmed.farm.names)
    assert {farmed.farm.kind(url) for url in seen} == set(KINDS)
    assert {farmed.topic(url) for url in seen} == {None}


def test_farm_quotes_relevant_pages(farmed: SpamWeb) -> None:
    good = [farmed.response(url).body.decode() for url in farmed.relevant(CORAL)]
    quoting = [url for url in farmed.farm.into(CORAL, 100) if farmed.farm.kind(url) == "quotes"]
    for url in quoting[:10]:
        paragraph = farmed.response(url).body.decode().split("<p>")[1].split("</p>")[0]
        assert any(paragraph in body for body in good)


def test_farm_is_deterministic(farmed: SpamWeb) -> None:
    again = SpamWeb(pages=600, hosts=20, traps=())
    urls = farmed.farm.into(CORAL, 20)
    assert [farmed.response(url).body for url in urls] == [again.response(url).body for url in urls]
    host = urls[0].split("/")[2]
    for path, status in (("/", 404), ("/robots.txt", 200), ("/no-topic/x-1.html", 404)):
        assert farmed.response(f"http://{host}{path}").status == status
