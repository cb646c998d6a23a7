"""The embedded web as a corpus: pages, links and classes that are known, at any size."""

from __future__ import annotations

from collections.abc import Iterator

from lycosa.lab.indexing import Recorded
from lycosa.testing import Web
from lycosa.training.sources import page_of
from lycosa.web.html import extract

MOST = 10_000_000


def embedded(random_seed: int = 7, pages: int = 3000, hosts: int = 40, *, tunnels: bool = False) -> Iterator[Recorded]:
    """All pages of a web without traps, with the topics that they are truly about as their classes."""
    if pages > MOST:
        raise ValueError(f"pages is {pages:,}: {MOST:,} are the most, they are made in memory")
    return _recorded(Web(random_seed, pages=pages, hosts=hosts, traps=(), tunnels=tunnels))


def _recorded(web: Web) -> Iterator[Recorded]:
    classes: dict[str, list[str]] = {}
    for topic in web.topics:
        for url in web.relevant(topic):
            classes.setdefault(url, []).append(topic)
    for url in web.urls():
        if web.canonical(url) == url:
            page = page_of(extract(web.response(url).body, url))
            yield Recorded(url, page, classes=classes.get(url, ()))
