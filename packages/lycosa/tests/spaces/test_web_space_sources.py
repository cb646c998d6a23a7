"""The web space for sitemaps, feeds, lists, and probes for soft 404s."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from typing import Any

import pytest

from lycosa.core.engine import MAX_SOURCES
from lycosa.core.errors import FetchError
from lycosa.core.types import Kind, Outcome, Page, Task, Visit
from lycosa.spaces.web_space import MAX_SITEMAPS, WebSpace, source_page
from lycosa.web.fetch import Response
from lycosa.web.politeness import Politeness
from lycosa.web.sources.source import Source

URL = "http://a.test/sitemap.xml"
ROBOTS = "http://a.test/robots.txt"


def answer(body: bytes = b"", status: int = 200, kind: str = "text/html", truncated: str = "", **more: Any) -> Response:
    """Return a response; underscores in header names stand for dashes."""
    fields = {name.replace("_", "-"): value for name, value in more.items()}
    if kind:
        fields["content-type"] = kind
    raw = [(name.encode(), value.encode("latin-1")) for name, value in fields.items()]
    return Response(status, b"HTTP/1.1 %d X" % status, raw, body, "192.0.2.1", truncated, fields)


class Answers:
    """Transport with a table of responses that records its requests and wanted types."""

    def __init__(self, answers: Mapping[str, Response | Exception]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.wanted: list[frozenset[str]] = []

    async def address(self, url: str) -> str:
        return "192.0.2.1"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response:
        self.asked.append(url)
        self.wanted.append(wanted)
        found = self.answers.get(url, answer(status=404))
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None: ...


def space(answers: Mapping[str, Response | Exception] | None = None, **rest: Any) -> WebSpace:
    """Return a web space over a table of responses, with a stopped clock."""
    politeness = Politeness(lambda: 1000.0, address_delay=0.0)
    return WebSpace(Answers(answers or {}), politeness, lambda: 1000.0, **rest)


def visit(made: WebSpace, task: Task) -> Page:
    """Visit a node."""

    async def run() -> Page:
        return await made.visit(task)

    return asyncio.run(run())


def source(body: bytes, url: str = URL, **rest: Any) -> Page:
    """Return the page of a source."""
    return visit(space({url: answer(body, **rest)}), Task(url, "sitemap"))


def urlset(*urls: str) -> bytes:
    """Return a sitemap."""
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


def index(*urls: str) -> bytes:
    """Return a sitemap index."""
    inner = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{inner}</sitemapindex>".encode()


FEED = b"""<rss><channel><title>Reef news</title><item><title>Corals bleach</title>
<link>http://a.test/7</link></item></channel></rss>"""


def test_sitemap_links_to_pages() -> None:
    page = source(urlset("http://a.test/coral-reef", "http://a.test/b"), kind="application/xml")
    assert ("ok", "sitemap", 200, "sitemap") == (page.outcome, page.kind, page.status, page.data["form"])
    assert ["http://a.test/coral-reef", "http://a.test/b"] == page.links.urls
    assert ["coral reef", "b"] == page.links.anchors
    assert "coral reef\nb" == page.text
    assert [] == page.data["sources"]
    assert page.exchange is not None


def test_sitemap_index_links_to_sources() -> None:
    page = source(index("http://a.test/1.xml", "http://a.test/2.xml"), kind="text/xml")
    assert ("sitemap", [], ["http://a.test/1.xml", "http://a.test/2.xml"]) == (
        page.kind, page.links.urls, page.data["sources"]
    )  # fmt: skip


def test_sitemap_index_is_limited() -> None:
    page = source(index(*(f"http://a.test/{n}.xml" for n in range(3 * MAX_SOURCES))))
    assert MAX_SOURCES == len(page.data["sources"])


@pytest.mark.parametrize(
    ("body", "kind", "more"),
    [
        (gzip.compress(urlset("http://a.test/x"), mtime=0), "application/x-gzip", {}),
        (gzip.compress(urlset("http://a.test/x"), mtime=0), "application/xml", {"content_encoding": "gzip"}),
        (
            gzip.compress(gzip.compress(urlset("http://a.test/x"), mtime=0), mtime=0),
            "application/gzip",
            {"content_encoding": "gzip"},
        ),
        (urlset("http://a.test/x"), "", {}),
        (urlset("http://a.test/x"), "text/html", {}),
        (urlset("http://a.test/x"), "application/octet-stream", {}),
        (b"http://a.test/x\n", "text/plain", {}),
        (b"# Reefs\n\n- [Reef](http://a.test/x): all on it\n", "text/markdown", {}),
    ],
)
def test_source_encodings_and_types_are_accepted(body: bytes, kind: str, more: dict[str, str]) -> None:
    page = source(body, "http://a.test/list", kind=kind, **more)
    assert ("ok", "sitemap", ["http://a.test/x"]) == (page.outcome, page.kind, page.links.urls)


def test_feed_links_to_pages() -> None:
    page = source(FEED, kind="application/rss+xml")
    assert ("sitemap", "feed", "Reef news", ["Corals bleach"]) == (
        page.kind, page.data["form"], page.title, page.links.anchors
    )  # fmt: skip


def test_page_instead_of_source_is_parsed() -> None:
    html = b"<title>Reefs</title><meta name=robots content=noarchive><p>On <a href=/b>coral</a>"
    page = source(html)
    assert ("ok", "page", "Reefs", "On coral", ["http://a.test/b"], ["noarchive"]) == (
        page.outcome, page.kind, page.title, page.text, page.links.urls, page.flags
    )  # fmt: skip
    assert "form" not in page.data


def test_image_instead_of_source_is_unwanted() -> None:
    page = source(b"\x89PNG\r\n\0\0", kind="image/png")
    assert ("unwanted", "page", "image/png") == (page.outcome, page.kind, page.note)


def test_source_with_unsupported_encoding_is_invalid() -> None:
    page = source(b"???", kind="application/xml", content_encoding="compress")
    assert ("invalid", "page", "the content encoding 'compress' is not supported") == (
        page.outcome,
        page.kind,
        page.note,
    )


@pytest.mark.parametrize(("status", "outcome"), [(404, "gone"), (500, "broken"), (503, "busy")])
def test_source_failure_is_recorded(status: int, outcome: Outcome) -> None:
    page = source(urlset("http://a.test/x"), status=status)
    assert (outcome, []) == (page.outcome, page.links.urls)


def test_source_redirect_returns_target() -> None:
    page = source(b"", status=301, location="/new.xml")
    assert ("redirect", ["http://a.test/new.xml"]) == (page.kind, page.links.urls)


def test_truncated_source_is_flagged() -> None:
    page = source(urlset("http://a.test/x", "http://a.test/y")[:60], kind="application/xml", truncated="disconnect")
    assert ("ok", ["http://a.test/x"], ["truncated:disconnect"]) == (page.outcome, page.links.urls, page.flags)
    assert "truncated" in page.note


def test_source_accepts_any_type() -> None:
    made = space({URL: answer(urlset("http://a.test/x"), kind="application/octet-stream")})
    visit(made, Task(URL, "sitemap"))
    visit(made, Task("http://a.test/page"))
    assert isinstance(made.transport, Answers)
    assert frozenset() == made.transport.wanted[0]
    assert "text/html" in made.transport.wanted[1]


def test_source_page_has_entries_of_seed_file() -> None:
    made = Source("sitemap", title="Reefs")
    made.add("http://a.test/coral-reef")
    made.follow("http://a.test/more.xml")
    page = source_page(made, 7.0)
    assert ("ok", "sitemap", 0, 7.0, 7.0) == (page.outcome, page.kind, page.status, page.started, page.ended)
    assert ("Reefs", ["http://a.test/coral-reef"], ["http://a.test/more.xml"], "sitemap") == (
        page.title, page.links.urls, page.data["sources"], page.data["form"]
    )  # fmt: skip


def robots(rules: str, **rest: Any) -> Page:
    """Return the page of a robots.txt."""
    made = space({ROBOTS: answer(rules.encode(), kind="text/plain")}, **rest)
    task = made.prerequisite("http://a.test/")
    assert isinstance(task, Task)
    return visit(made, task)


def test_robots_txt_sitemaps_are_sources_if_enabled() -> None:
    rules = "Sitemap: HTTP://A.test:80/s.xml#x\nUser-agent: *\nDisallow: /x\nsitemap: http://b.test/t.xml\nSitemap: ftp://x/"
    assert ["http://a.test/s.xml", "http://b.test/t.xml"] == robots(rules, sitemaps=True).data["sources"]
    assert {"body": rules.encode()} == robots(rules).data


def test_robots_txt_sitemaps_are_limited() -> None:
    rules = "".join(f"Sitemap: http://a.test/{number}.xml\n" for number in range(500))
    named = robots(rules, sitemaps=True).data["sources"]
    assert [f"http://a.test/{number}.xml" for number in range(MAX_SITEMAPS)] == named


def test_missing_robots_txt_has_no_sitemaps() -> None:
    made = space(sitemaps=True)
    task = made.prerequisite("http://a.test/")
    assert isinstance(task, Task)
    assert [] == visit(made, task).data["sources"]


def known(pages: int = 3, rules: str = "", after: int = 3, base: str = "http://a.test", **more: Any) -> WebSpace:
    """Return a web space with cached robots.txt rules for an origin and some fetched pages."""
    made = space(probe_after=after, **more)
    learn(made, f"{base}/robots.txt", "robots", origin=f"{base}/", data={"body": rules.encode()})
    for number in range(pages):
        learn(made, f"{base}/{number}.html")
    return made


def learn(made: WebSpace, node: str, kind: Kind = "page", outcome: Outcome = "ok", **rest: Any) -> None:
    """Learn a recorded visit."""
    made.learn(Visit(node, kind, outcome, 1, ended=1000.0, **rest))


def probe(made: WebSpace, node: str = "http://a.test/reefs/7.html") -> Task:
    """Return the probe that precedes a node."""
    task = made.prerequisite(node)
    assert isinstance(task, Task), task
    assert ("probe", node, -1) == (task.kind, task.origin, task.row)
    return task


@pytest.mark.parametrize(
    ("node", "folder", "ending"),
    [
        ("http://a.test/reefs/7.html", "http://a.test/reefs/", ".html"),
        ("http://a.test/reefs/7.php?x=/y/z.txt", "http://a.test/reefs/", ".php"),
        ("http://a.test/reefs/", "http://a.test/reefs/", ""),
        ("http://a.test/reefs", "http://a.test/", ""),
        ("http://a.test/", "http://a.test/", ""),
    ],
)
def test_probe_keeps_folder_and_extension(node: str, folder: str, ending: str) -> None:
    url = probe(known(), node).node
    assert url.startswith(f"{folder}no-such-page-")
    assert url.endswith(ending)
    assert len(folder) + len("no-such-page-") + 12 + len(ending) == len(url)


def test_probe_is_deterministic_per_host() -> None:
    assert probe(known()).node == probe(known()).node
    other = known(base="http://b.test")
    assert probe(known()).node != probe(other, "http://b.test/reefs/7.html").node.replace("b.test", "a.test")


@pytest.mark.parametrize(("pages", "asked"), [(0, False), (2, False), (3, True), (9, True)])
def test_probe_is_sent_after_some_pages(pages: int, asked: bool) -> None:
    assert asked == isinstance(known(pages).prerequisite("http://a.test/x"), Task)


def test_probe_counts_pages_only() -> None:
    made = known(2)
    learn(made, "http://a.test/x", outcome="gone")
    learn(made, "http://a.test/x", "redirect", "redirect")
    learn(made, "http://a.test/x", "sitemap")
    learn(made, "http://a.test:81/x")
    learn(made, "https://a.test/x")
    assert None is made.prerequisite("http://a.test/x")
    learn(made, "http://a.test/x")
    probe(made)


def test_probe_can_be_disabled() -> None:
    assert None is known(100, after=0).prerequisite("http://a.test/x")


def test_probe_is_sent_once() -> None:
    failing = known()
    task = probe(failing)
    visit(failing, task)
    assert None is failing.prerequisite("http://a.test/x")
    replayed = known()
    learn(replayed, task.node, "probe", "timeout", origin=task.origin, retry_at=2000.0)
    assert None is replayed.prerequisite("http://a.test/x")


def test_probe_disallowed_by_robots_txt_is_not_sent() -> None:
    made = known(rules="User-agent: *\nDisallow: /reefs/\nAllow: /reefs/7")
    assert None is made.prerequisite("http://a.test/reefs/7.html")
    assert probe(made, "http://a.test/seas/7.html").node.startswith("http://a.test/seas/no-such")


def test_robots_txt_denial_precedes_probe() -> None:
    made = known(rules="User-agent: *\nDisallow: /reefs/7")
    denied = made.prerequisite("http://a.test/reefs/7.html")
    assert isinstance(denied, tuple)
    assert "denied" == denied[0]


def test_probe_is_parsed_like_a_page() -> None:
    made = known()
    task = probe(made)
    assert isinstance(made.transport, Answers)
    made.transport.answers[task.node] = answer(b"<p>Nothing <a href=/>here</a>")
    page = visit(made, task)
    assert ("ok", "Nothing here") == (page.outcome, page.text)


def test_failed_probe_pauses_host() -> None:
    made = known()
    task = probe(made)
    assert isinstance(made.transport, Answers)
    made.transport.answers[task.node] = answer(status=503, retry_after="120")
    page = visit(made, task)
    learn(made, task.node, "probe", page.outcome, origin=task.origin, data=page.data)
    assert (1120.0, "asked to come back later") == made.ready("a.test")


def test_probe_with_lost_connection_is_unreachable() -> None:
    made = known()
    task = probe(made)
    assert isinstance(made.transport, Answers)
    made.transport.answers[task.node] = FetchError("unreachable", "lost", again=True)
    assert "unreachable" == visit(made, task).outcome
