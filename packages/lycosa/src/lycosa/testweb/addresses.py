"""Map page numbers to URLs and back.

Hosts use different URL styles: topic and title in the path, a bare number, or a query string. Every style contains the
page's number on its host, so lookups are computed. Only the exact generated URL belongs to a page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from lycosa.testweb.chance import stir
from lycosa.testweb.prose import slug, subject_name, title, topic_label, topic_slug
from lycosa.testweb.site_graph import SiteGraph

_NUMBER = re.compile(r"(?:-|/|=)(\d{1,9})(?:\.html|\.pdf|/)?$")


class AddressBook:
    """URLs of a graph's pages; the port may be set later, when the web is served."""

    def __init__(self, graph: SiteGraph, port: int, documents: bool = False) -> None:
        self.graph = graph
        self.port = port
        self.documents = documents
        self._index = {name: number for number, name in enumerate(graph.names)}
        self._name = lru_cache(maxsize=1 << 16)(self._made_up)  # called once per link, and popular pages repeat
        self._style = [(0, 0, 0, 1, 2, 3)[stir(graph.seed, "style", h) % 6] for h in range(graph.host_count)]

    def base(self, name: str) -> str:
        return f"http://{name}" if self.port in (0, 80) else f"http://{name}:{self.port}"

    def host(self, name: str) -> int | None:
        return self._index.get(name)

    def title(self, page: int) -> str:
        section = self.graph.section(page)
        if section.topic < 0:
            words = self.graph.names[section.host].removesuffix(".localhost").split("-")
            return f"{' '.join(words).title()}: {subject_name(self.graph.subject[section.host])}"
        if page == section.start:
            return topic_label(section.topic)
        return title(section.topic, self.graph.seed, page)

    def is_document(self, page: int) -> bool:
        """Return whether a page is a PDF file: one in eight is, but none that leads to an island."""
        code = stir(self.graph.seed, "document", page) if self.documents else 1
        section = self.graph.section(page)
        return code % 8 == 0 and section.topic >= 0 and page != section.start and page not in self.graph.bridges

    def path(self, page: int) -> str:
        return self.name(page)[0]

    def name(self, page: int) -> tuple[str, str]:
        return self._name(page)

    def _made_up(self, page: int) -> tuple[str, str]:
        section = self.graph.section(page)
        head = self.title(page)
        number = page - self.graph.front(section.host)
        if number == 0:
            return "/", head
        style, is_document = self._style[section.host], self.is_document(page)
        if style == 0:
            tail = "index" if page == section.start else slug(head)
            return f"/{topic_slug(section.topic)}/{tail}-{number}.{'pdf' if is_document else 'html'}", head
        if style == 1:
            return f"/articles/{number}{'.pdf' if is_document else ''}", head
        if style == 2:
            return f"/index.php?page={number}", head
        return f"/{topic_slug(section.topic)}/{number}{'.pdf' if is_document else '/'}", head

    def url(self, page: int) -> str:
        return self.base(self.graph.names[self.graph.section(page).host]) + self.path(page)

    def find(self, name: str, path: str) -> int | None:
        host = self._index.get(name)
        if host is None:
            return None
        front = self.graph.front(host)
        if path == "/":
            return front
        match = _NUMBER.search(path)
        if match is None:
            return None
        number = int(match[1])
        if 0 < number < self.graph.size(host) and self._name(front + number)[0] == path:
            return front + number
        return None

    @staticmethod
    def split(url: str) -> tuple[str, str]:
        """Split a URL into host name and path with query; ("", "") if it is not an http URL."""
        try:
            parts = urlsplit(url)
            name = parts.hostname or ""
        except ValueError:
            return "", ""
        if parts.scheme != "http":
            return "", ""
        if parts.fragment.startswith("/"):
            return name, parts.fragment
        return name, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
