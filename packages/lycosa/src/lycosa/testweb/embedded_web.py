"""The embedded web as one object: URLs, ground truth and responses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.catalogue import HOST as LIBRARY
from lycosa.testweb.catalogue import Catalogue
from lycosa.testweb.chance import dice, stir
from lycosa.testweb.documents import pdf
from lycosa.testweb.mischief import Mischief
from lycosa.testweb.page_html import Composer, TrapLink
from lycosa.testweb.prose import TOPICS, by_name, query
from lycosa.testweb.reply import ALLOW_ALL, CODECS, ServedDocument, ServedResponse, finish
from lycosa.testweb.site_graph import SiteGraph
from lycosa.testweb.square import HOST as SQUARE
from lycosa.testweb.square import Square
from lycosa.testweb.traps import ENDLESS, TRAP_HOSTS, Trap, TrapLinks, choose

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_SESSION = re.compile(r"([?&])PHPSESSID=[0-9a-f]*(?:&|$)")
_NOT_FOUND = b"<!DOCTYPE html><html><head><title>Not Found</title></head><body><h1>Not Found</h1></body></html>"


class Web:
    """A web generated from a seed; pages are computed on request, not stored.

    `port` is the port of URLs (none for 0 or 80); a server sets it when it starts. `slowness` is roughly the response
    time of the slow host in seconds. With `tunnels`, all pages of some topics are behind off-topic pages: see
    SiteGraph. With `documents`, one in eight on-topic pages is a PDF file.
    """

    def __init__(
        self,
        seed: int = 7,
        pages: int = 3000,
        hosts: int = 40,
        traps: str | Iterable[str] = "all",
        port: int = 0,
        slowness: float = 0.5,
        tunnels: bool = False,
        documents: bool = False,
    ) -> None:
        self.seed = seed
        self.tunnels = tunnels
        self.traps: frozenset[Trap] = choose(traps)
        self._graph = SiteGraph(seed, pages, hosts, tunnels)
        self._book = AddressBook(self._graph, port, documents)
        self._composer = Composer(self._book)
        self._trap_links = TrapLinks(self._book, self.traps)
        self._mischief = Mischief(self._book, self.traps, slowness)
        self._catalogue = Catalogue(seed)
        self.square = Square(seed)
        self._salt = stir(seed, pages, hosts, sorted(self.traps))

    def __len__(self) -> int:
        return self._graph.pages

    @property
    def port(self) -> int:
        return self._book.port

    @port.setter
    def port(self, port: int) -> None:
        self._book.port = port

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(self._graph.names)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that have pages, named "subject/sub-topic"."""
        filled = {section.topic for section in self._graph.sections}
        return tuple(name for number, name in enumerate(TOPICS) if number in filled)

    def query(self, topic: str) -> str:
        return query(by_name(topic))

    def seeds(self, topic: str, n: int = 3, on_topic: bool = False) -> list[str]:
        """Return start URLs: front pages of portals and off-topic pages, or else pages on the topic."""
        number = by_name(topic)
        rng = dice(self.seed, "seeds", number, on_topic)
        pages: dict[int, None] = {}
        if not on_topic:
            pages.update(dict.fromkeys(self._graph.front(host) for host in range(self._graph.portals)))
        for _ in range(20 * n):
            if len(pages) >= n:
                break
            pages[self._graph.mainland(rng, number) if on_topic else self._graph.stray(rng, number)] = None
        return [self._book.url(page) for page in list(pages)[:n]]

    def topic(self, url: str) -> str | None:
        """Return the topic of a clean page; None for unknown URLs, traps, front pages and directories."""
        page = self._book.find(*self._book.split(url))
        topic = -1 if page is None else self._graph.topic(page)
        return TOPICS[topic] if topic >= 0 else None

    def canonical(self, url: str) -> str | None:
        """Return the clean page behind a URL: itself, the original of a copy, or the target of a redirect."""
        page = self._resolve(*self._book.split(url))
        return None if page is None else self._book.url(page)

    def relevant(self, topic: str) -> Iterator[str]:
        return (self._book.url(page) for page in self._graph.on_topic(by_name(topic)))

    def islands(self, topic: str) -> Iterator[str]:
        """Yield the URLs of on-topic pages that only off-topic pages link to."""
        number = by_name(topic)
        for section in self._graph.sections:
            if section.island and section.topic == number:
                yield from (self._book.url(section.start + i) for i in range(section.length))

    def urls(self) -> Iterator[str]:
        return (self._book.url(page) for page in range(self._graph.pages))

    def records(self, topic: str = "") -> list[str]:
        """Return the URLs of the library's records, all or on a topic; only the search form leads to them."""
        base, books = self._book.base(LIBRARY), self._catalogue
        wanted = TOPICS[by_name(topic)] if topic else ""
        return [base + books.path(n) for n in range(len(books)) if not wanted or books.topic(n) == wanted]

    def form(self) -> str:
        """Return the URL of the library's search, with {} for the query."""
        return f"{self._book.base(LIBRARY)}/search?q={{}}"

    def trap_urls(self, trap: str) -> list[str]:
        """Return some URLs that lead into a trap, enabled or not."""
        kind = Trap(trap)
        step = max(1, len(self) // 40)
        pages = range(0, len(self), step)
        return list(dict.fromkeys(self._trap_links.into(kind, page).href for page in pages))

    def trap(self, url: str) -> Trap | None:
        """Return the trap that a URL belongs to, enabled or not; None for clean pages and unknown URLs."""
        name, path = self._book.split(url)
        for trap, names in TRAP_HOSTS.items():
            if name in names:
                return trap
        if self._book.find(name, path) is not None:
            return None
        if name.startswith("mirror.") or path.startswith(("/print/", "/copy/")):
            return Trap.DUPLICATES
        for trap, folder in ENDLESS.items():
            if path.startswith(folder):
                return trap
        if path.startswith("/go/"):
            return Trap.REDIRECTS
        if path.startswith("/gone/"):
            return Trap.DEAD
        return Trap.SESSION if "PHPSESSID=" in path else None

    def forbidden(self, url: str) -> bool:
        """Return whether the host's robots rules forbid crawlers to fetch a URL or follow links to it."""
        return Trap.ROBOTS in self.traps and self._mischief.forbidden(*self._book.split(url))

    def counts(self, url: str) -> bool:
        return self._mischief.counts(*self._book.split(url))

    def response(self, url: str, *, headers: Mapping[str, str] = _NO_HEADERS, version: int = 0) -> ServedResponse:
        """Respond to a request; `version` is the number of earlier fetches, for the few URLs that depend on it."""
        name, path = self._book.split(url)
        return finish(self._document(name, path, version), headers)

    def _document(self, name: str, path: str, version: int) -> ServedDocument:
        if name in (LIBRARY, SQUARE):
            apart = self._catalogue if name == LIBRARY else self.square
            return apart.document(path) or ServedDocument(_NOT_FOUND, status=404, codec="")
        page = self._found(name, path)
        if page is not None:
            return self._printed(page) if path.startswith("/print/") else self._clean(page)
        document = self._mischief.document(name, path, version)
        if document is not None:
            return document
        if path == "/robots.txt" and (self._book.host(name) is not None or self._mirrored(name) is not None):
            return ALLOW_ALL
        return ServedDocument(_NOT_FOUND, status=404, codec="")

    def _clean(self, page: int) -> ServedDocument:
        asides = self._asides(page)
        if self._book.is_document(page):
            body = pdf(self._composer.paper(page, asides))
            return replace(self._manners(page), body=body, type="application/pdf")
        html = self._composer.html(page, asides)
        return replace(self._manners(page), body=html.encode())

    def _asides(self, page: int) -> list[TrapLink]:
        return self._trap_links.asides(page)

    def _manners(self, page: int) -> ServedDocument:
        """Return the headers and the encoding with which a host serves a clean page."""
        code = stir(self.seed, "manners", page)
        codec = "gzip" if code % 100 < 85 else ""
        if Trap.ENCODINGS in self.traps and code % 100 >= 70:
            codec = CODECS[code // 100 % len(CODECS)]
        host = stir(self.seed, "host manners", self._graph.section(page).host) % 10
        return ServedDocument(
            b"",
            "text/html; charset=utf-8" if host % 3 else "text/html",
            codec=codec,
            # Of ten hosts, seven send both validators, two send one each, and one sends none.
            tag=f"{stir(self._salt, self.port, page):x}" if host < 8 else "",
            modified=1_500_000_000 + code // 1000 % 200_000_000 if host < 7 or host == 8 else 0,
            chunked=host % 3 == 2,
        )

    def _printed(self, page: int) -> ServedDocument:
        html = self._composer.html(page)
        html = re.sub(r"<nav>.*?</nav>\n", "", html, count=1)
        html = html.replace("</h1>", " (print version)</h1>", 1)
        html = html.replace("All texts by their authors.", "Printed from the web; all rights reserved.", 1)
        return ServedDocument(html.encode())

    def _mirrored(self, name: str) -> str | None:
        host = self._book.host(name.removeprefix("mirror."))
        mirror = name.startswith("mirror.") and host is not None and host % 4 == 1
        return name.removeprefix("mirror.") if mirror and Trap.DUPLICATES in self.traps else None

    def _copied(self, name: str, path: str) -> int | None:
        original = self._mirrored(name)
        if original is not None:
            return self._book.find(original, path)
        for prefix in ("/copy", "/print"):
            if path.startswith(f"{prefix}/"):
                return self._book.find(name, path.removeprefix(prefix))
        return None

    def _found(self, name: str, path: str) -> int | None:
        page = self._book.find(name, path)
        if page is None and Trap.SESSION in self.traps:
            page = self._book.find(name, _without_session(path))
        if page is None and Trap.DUPLICATES in self.traps:
            page = self._copied(name, path)
        return page

    def _resolve(self, name: str, path: str) -> int | None:
        page = self._found(name, path)
        if page is None and Trap.REDIRECTS in self.traps:
            page = self._mischief.destination(name, path)
        return page


def _without_session(path: str) -> str:
    return _SESSION.sub(lambda match: match[1], path).rstrip("?&")
