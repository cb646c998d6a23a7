"""A simulated browsing session on the embedded web, with labels and referrers, as training data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from random import Random

from lycosa.testweb import Web
from lycosa.training.simulated_browsing import sessions
from lycosa.web.html import CLOSE, OPEN, extract


def browse(web: Web, topic: str, count: int = 60) -> Iterator[str]:
    """Yield input lines for `lycosa train browse`: sessions that start off topic, with the text of each page.

    >>> first = json.loads(next(browse(Web(pages=300, hosts=20, traps=()), "railways/night trains", 1)))
    >>> sorted(first), first["referrer"], first["relevant"]
    (['referrer', 'relevant', 'text', 'title', 'url'], None, False)
    """

    @cache
    def read(url: str) -> tuple[str, str, list[str]]:
        document = extract(web.response(url).body, url)
        known = [target for target in document.links.urls if web.canonical(target) == target]
        return document.title, document.marked.replace(OPEN, "").replace(CLOSE, ""), known

    relevant = set(web.relevant(topic))
    starts = Random(web.seed).sample([url for url in web.urls() if url not in relevant], count)
    for walk in sessions(lambda url: read(url)[2], relevant.__contains__, starts, random_seed=web.seed):
        for look in walk:
            title, text, _ = read(look.url)
            visit = {"url": look.url, "referrer": look.referrer, "relevant": look.url in relevant}
            yield json.dumps({**visit, "title": title, "text": text})
