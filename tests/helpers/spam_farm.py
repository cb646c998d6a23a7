"""A spam farm: hosts that hold endless pages stuffed with a topic's words, and link to each other with perfect anchors.

There is a page for every topic and every number on each of its hosts. They are stuffed in four ways: lists of keywords;
the same phrases again and again; sentences by a Markov chain of the topic's words, which have the rhythm of sentences
and say nothing; and whole paragraphs of good pages, with stuffing below. None is on any topic.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Any

from lycosa.testweb import Web
from lycosa.testweb.chance import dice, stir
from lycosa.testweb.page_html import Aside, Composer, sheet
from lycosa.testweb.prose import BY_SLUG, by_name, paragraphs, query, slug, title, topic_label, topic_slug
from lycosa.testweb.reply import ALLOW_ALL, ServedDocument

KINDS = ("keywords", "phrases", "markov", "quotes")

_PATH = re.compile(r"/([a-z0-9-]+)/([a-z0-9-]+)-(\d{1,12})\.html$")

_PRAISE = "best top cheap free guide tips online official review expert deals world complete ultimate".split()
_HOSTS = "zone planet portal hub world central online point spot base".split()


class Farm:
    """So many hosts, each page a function of the seed and its URL."""

    def __init__(self, composer: Composer, hosts: int) -> None:
        self.composer, self.book, self.graph = composer, composer.book, composer.graph
        self.names = [
            f"{_PRAISE[stir('farm', n) % len(_PRAISE)]}-{_HOSTS[n % len(_HOSTS)]}-{n}.localhost" for n in range(hosts)
        ]
        self._known = frozenset(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def asides(self, page: int) -> list[Aside]:
        """List the links by which a clean page leads into the farm: few pages have one."""
        code = stir(self.graph.seed, "into the farm", page)
        topic = self.graph.topic(page)
        if not self.names or topic < 0 or code % 1000 >= 10:  # one page in a hundred has links
            return []
        return [self._link(topic, stir(code, way)) for way in range(2)]

    def into(self, topic: str, ways: int = 1) -> list[str]:
        return [self._link(by_name(topic), stir("way", way)).href for way in range(ways)]

    def kind(self, url: str) -> str:
        return KINDS[stir(self.graph.seed, "stuffing", *self.book.split(url)) % len(KINDS)]

    def document(self, name: str, path: str) -> ServedDocument | None:
        if path == "/robots.txt":
            return ALLOW_ALL
        match = _PATH.match(path)
        topic = BY_SLUG.get(match[1], -1) if match else -1
        if match is None or topic < 0:
            return None
        rng = dice(self.graph.seed, "farm", name, path)
        write = dict(zip(KINDS, (self._keywords, self._phrases, self._markov, self._quotes), strict=True))
        text = write[self.kind(self.book.base(name) + path)](rng, topic)
        links = [self._link(topic, stir(self.graph.seed, name, path, way)) for way in range(16)]
        return ServedDocument(sheet(_headline(rng, topic), text, links).encode())

    def _link(self, topic: int, code: int) -> Aside:
        """Make a link to a page of the farm: host, address and anchor promise the topic."""
        rng = dice("farm link", code)
        text = _headline(rng, topic)
        host = self.names[code % len(self.names)]
        return Aside(f"{self.book.base(host)}/{topic_slug(topic)}/{slug(text)}-{code // 64 % 10**9}.html", text)

    def _keywords(self, rng: Random, topic: int) -> list[str]:
        words = [*_words(topic), *(query(topic).split() * 8)]
        return [", ".join(rng.choices(words, k=60 + int(rng.random() * 80))) for _ in range(2 + int(rng.random() * 4))]

    def _phrases(self, rng: Random, topic: int) -> list[str]:
        asked = [query(topic), topic_label(topic).lower(), *rng.sample(_words(topic), 3)]
        lines = [f"{rng.choice(_PRAISE)} {rng.choice(asked)} {rng.choice(_PRAISE)}" for _ in range(60)]
        return [" - ".join(lines[at : at + 20]) for at in range(0, 60, 20)]

    def _markov(self, rng: Random, topic: int) -> list[str]:
        """Write sentences that go from word to word as the topic's pages do, and sprinkle the query over them."""
        follows, asked = _chain(topic), query(topic).split()
        result = []
        for _ in range(3 + int(rng.random() * 3)):
            words: list[str] = []
            word = rng.choice(asked)
            for _ in range(80):
                words.append(word)
                word = rng.choice(asked if rng.random() < 0.2 or word not in follows else follows[word])
            result.append(" ".join(words).capitalize() + ".")
        return result

    def _quotes(self, rng: Random, topic: int) -> list[str]:
        """Quote whole paragraphs of a good page, and add lists."""
        good = self.composer.text(self.graph.mainland(rng, topic))[: 1 + int(3 * rng.random())]
        return [*good, *self._keywords(rng, topic)]


class SpamWeb(Web):
    """An embedded web with a spam farm of so many hosts."""

    def __init__(self, seed: int = 7, pages: int = 3000, hosts: int = 40, farm: int = 50, **more: Any) -> None:
        super().__init__(seed, pages, hosts, **more)
        self.farm = Farm(self._composer, farm)

    def spam(self, url: str) -> bool:
        """Tell whether a URL is of the farm."""
        return self._book.split(url)[0] in self.farm

    def _document(self, name: str, path: str, version: int) -> ServedDocument:
        if name not in self.farm:
            return super()._document(name, path, version)
        return self.farm.document(name, path) or ServedDocument(b"", status=404, codec="")

    def _asides(self, page: int) -> list[Aside]:
        return super()._asides(page) + self.farm.asides(page)


def _headline(rng: Random, topic: int) -> str:
    asked = query(topic)
    return f"{rng.choice(_PRAISE).capitalize()} {asked}: {title(topic, rng.random())}"


@lru_cache(maxsize=64)
def _source(topic: int) -> str:
    return " ".join(paragraphs(dice("farm source", topic), topic, 3000, dense=True)).lower()


@lru_cache(maxsize=64)
def _words(topic: int) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", _source(topic)) if len(word) > 4][:400]


@lru_cache(maxsize=64)
def _chain(topic: int) -> dict[str, list[str]]:
    words = re.findall(r"[a-z]+", _source(topic))
    follows: dict[str, list[str]] = defaultdict(list)
    for one, other in pairwise(words):
        follows[one].append(other)
    return dict(follows)
