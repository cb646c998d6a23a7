"""Targets for responses: HTTP, compressed bodies, HTML, robots.txt, URLs, feeds and sitemaps, and derived data."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import get_args

import brotli
import zstandard

from fuzz.harness import Target
from lycosa.core.errors import FetchError, InputError
from lycosa.core.types import Outcome, Task
from lycosa.revisit.detectors import DETECTORS, judge_change
from lycosa.revisit.diff.aligned_rows import diff
from lycosa.revisit.snapshot import Snapshot
from lycosa.spaces.web_space import WebSpace, check_seed
from lycosa.testweb import Web
from lycosa.web.dates import MAX_RETRY_AFTER, parse_http_date, parse_retry_after
from lycosa.web.declared import read_json_ld
from lycosa.web.fetch import FetchLimits, HttpTransport
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.html import CLOSE, OPEN, read_body
from lycosa.web.inflate import BadEncoding, decode, inflate
from lycosa.web.mainpart import MARK, main_part, unmarked
from lycosa.web.politeness import Politeness
from lycosa.web.robots import RobotsRules
from lycosa.web.sources import MAX_SOURCE_LINKS, read_source
from lycosa.web.sources.results import MAX_RESULTS, parse_results
from lycosa.web.sources.seed_files import read_seeds
from lycosa.web.tree import parse_tree, to_xml
from lycosa.web.urls import MAX_LENGTH, canonical, host, host_key, is_http, origin, resolve, site
from lycosa_server.reader import document as reader_document
from lycosa_server.reader import render_html, render_text

URL = "http://a.test/folder/page.html?q=1"
TIMES, MORE = 10, 2_000
"""Maximum characters of text per byte of a page, in addition to a constant."""

TYPES = ("text/html", "text/html; charset=utf-8", "text/html; charset=shift_jis", "application/xhtml+xml", "text/plain")
TAGS = [
    f"<{mark}{name}{more}>".encode()
    for name in "a b i p table tr td th ul ol li dl dd div pre br img h1 frame iframe font nav article select option "
    "template svg math title script style textarea form button ruby rt area base meta link body html".split()
    for mark in ("", "/")
    for more in ("", " href=/x", " colspan=999", ' alt="x y z"', " class=main")
]
MARKUP = [*TAGS, b"&amp;", b"&#0;", b"&#x10ffff;", b"&nbsp;", b"<!--", b"-->", b"<![CDATA[", b"]]>"]
MARKS = [b"\x01", b"\x02", *(b"\x03" + bytes([letter]) for letter in b"FNCBAMTHDRIE")]
"""Our own text markers, which pages may contain, too."""


def _split(data: bytes, choices: Sequence[str]) -> tuple[str, bytes]:
    """Return a choice made by the first byte, and the other bytes as body."""
    return choices[data[0] % len(choices)] if data else choices[0], data[1:]


@cache
def pages() -> tuple[bytes, ...]:
    """Return pages of the embedded web, and handwritten ones."""
    web = Web(pages=60, hosts=4)
    made = [web.response(url).body for url in list(web.urls())[:3]]
    plain = [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in made]
    table = b"<table><tr><td>wide cell<td>q</tr><tr><td colspan=2>y<td><img alt='a picture'></table>"
    lists = (
        b"<ul><li><a href=/a>one</a><ul><li>two</ul></ul><pre>  x\n y</pre><h1>Reefs</h1><p>Coral <b><i>reefs</b></i>"
    )
    head = (
        b'<title>T</title><base href="/b/"><meta name=robots content="noindex, nofollow">'
        b'<meta http-equiv=refresh content="0; url=/next"><link rel=canonical href=/c>'
        b'<script type="application/ld+json">{"@graph": [{"author": {"name": "A"}, "datePublished": "2024"}]}</script>'
    )
    return (*(body[:4_000] for body in plain), table, lists, head + lists, b"<frameset><frame src=/f></frameset>")


def _bodies() -> list[bytes]:
    return [bytes([number % 5]) + page for number, page in enumerate(pages())]


def check_html(data: bytes) -> None:
    """Check that a page gives bounded text, paired markers, canonical links in equal columns, reproducibly."""
    kind, body = _split(data, TYPES)
    page = read_body(body, URL, kind, "Lycosa")
    for text in (page.marked, page.main, page.title, page.headings, page.lead):
        assert len(text) <= TIMES * len(body) + MORE, f"{len(text):,} characters of {len(body):,} bytes"
    links = page.links
    assert len(links.urls) == len(links.anchors) == len(links.contexts) == len(links.rels) == len(links.positions)
    assert sorted(links.positions) == links.positions
    assert all(canonical(url) == url for url in links.urls)
    assert sum(map(len, links.anchors)) + sum(map(len, links.contexts)) <= 100 * len(body) + MORE
    assert page.marked.count(OPEN) == page.marked.count(CLOSE)
    assert OPEN not in page.main + page.title
    assert "html" not in kind or MARK not in page.marked + page.main
    again = read_body(body, URL, kind, "Lycosa")
    assert (again.marked, again.main, again.links.urls) == (page.marked, page.main, links.urls)


def check_mainpart(data: bytes) -> None:
    """Check that the main part is no longer than the text and has no markers."""
    text = data.decode("utf-8", "replace")
    found = main_part(text)
    assert len(found.text) <= len(text) + 1
    assert len(found.headings) <= len(text) + 1
    assert len(found.lead) <= len(text) + 1
    assert len(unmarked(text)) <= len(text)
    assert OPEN not in found.text


def check_tree(data: bytes) -> None:
    """Check that a tree is no larger than its source, and serialises to valid XML."""
    kind, body = _split(data, TYPES)
    source = decode(body, kind.partition("charset=")[2])
    tree = parse_tree(source)
    assert len(tree) <= 2 * len(source) + 10
    assert sum(len(level.elements) for level in tree.by_level()) <= len(tree)
    from xml.parsers import expat

    expat.ParserCreate().Parse(to_xml(tree), True)


LABELS = ("", "utf-8", "windows-1252", "shift_jis", "gb18030", "utf-16", "utf-7", "iso-2022-jp", "x-user-defined", "?")


def check_charset(data: bytes) -> None:
    """Check that any bytes with any label decode to text; valid UTF-8 with its own label is unchanged."""
    label, body = _split(data, LABELS)
    text = decode(body, label)
    assert len(text) <= len(body) + 1
    if label == "utf-8" and not body.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        with suppress(UnicodeDecodeError):
            assert body.decode("utf-8") == text


def _words() -> list[bytes]:
    codecs = ("utf-8", "utf-8", "utf-16", "gb18030")
    return [bytes([n % 10]) + "Frühling 春 <meta charset=gbk>".encode(code) + b" \xff" for n, code in enumerate(codecs)]


def check_declared(data: bytes) -> None:
    """Check that JSON-LD gives short values."""
    about: dict[str, str] = {}
    read_json_ld(about, data.decode("utf-8", "replace"))
    assert all(isinstance(value, str) and len(value) <= 1_000 for value in about.values())


def check_reader(data: bytes) -> None:
    """Check that the reader view has only allowed elements, all closed, without handlers and scripts."""
    kind, body = _split(data, ("html", "text"))
    source = body.decode("utf-8", "replace")
    shown = render_html(source, URL) if kind == "html" else render_text(source)
    assert len(shown.main) + len(shown.rest) <= 20 * len(source) + MORE
    seen = _Seen()
    seen.feed(reader_document(shown, "t", URL, 0.0))
    seen.close()


class _Seen(HTMLParser):
    """Parser that fails for markup that is not allowed in a reader view."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "embed", "style", "form", "img", "base"), tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name != "href" or re.match(r"https?://|/", value or ""), value


PATHS = ("/", "/a", "/a/b.html?x=1", "/%41", "/private/x", "/robots.txt", "/" + "a" * 300, "/a*b$", "/ü%C3%BC")


def check_robots(data: bytes) -> None:
    """Check that any robots.txt gives rules, regardless of line ends, and a delay in seconds."""
    rules = RobotsRules.parse(data, "Lycosa")
    answers = [rules.allowed("http://a.test" + path) for path in PATHS]
    assert all(isinstance(answer, bool) for answer in answers)
    assert rules.crawl_delay is None or (math.isfinite(rules.crawl_delay) and rules.crawl_delay >= 0)
    if b"\r" not in data and len(data) < 10_000:
        other = RobotsRules.parse(data.replace(b"\n", b"\r\n"), "Lycosa")
        assert answers == [other.allowed("http://a.test" + path) for path in PATHS]
        assert (rules.crawl_delay, rules.sitemaps) == (other.crawl_delay, other.sitemaps)


def check_url(data: bytes) -> None:
    """Check that a canonical URL is its own canonical form, and can be split into its parts."""
    text = data.decode("utf-8", "surrogateescape")
    found = resolve(URL, [text])[0]
    seeds = [found, canonical(text), check_seed(text)]
    for url in (each for each in seeds if each is not None):
        assert len(url) <= MAX_LENGTH
        assert is_http(url)
        assert url.isascii()
        assert canonical(url) == url, (url, canonical(url))
        assert resolve(URL, [url]) == [url]
        assert url.startswith(origin(url))
        assert host_key(url) in origin(url)
        assert host(url) in host_key(url)
        assert site(url)


def check_dates(data: bytes) -> None:
    """Check that a date is a finite number, and a pause is bounded."""
    text = data.decode("latin-1")
    assert math.isfinite(parse_http_date(text))
    assert 0.0 <= parse_retry_after(text, 1e9) <= MAX_RETRY_AFTER


CODINGS = ("gzip", "deflate", "br", "zstd", "identity", "gzip, br", "x-gzip", "gzip, gzip", "compress", "")
CAP = 50_000


def check_inflate(data: bytes) -> None:
    """Check that output never exceeds the limit, and that complete input is not truncated."""
    coding, body = _split(data, CODINGS)
    try:
        out, whole = inflate(body, coding, CAP)
    except BadEncoding:
        return
    assert len(out) <= CAP
    assert isinstance(whole, bool)


def _packed() -> list[bytes]:
    text = b"coral reefs " * 200
    made = [gzip.compress(text, mtime=0), zlib.compress(text), brotli.compress(text), zstandard.compress(text)]
    made += [text[:100], gzip.compress(bytes(9_000_000), mtime=0), gzip.compress(gzip.compress(text, mtime=0), mtime=0)]
    return [bytes([number if number < 5 else 0 if number == 5 else 7]) + body for number, body in enumerate(made)]


SOURCE_TYPES = ("application/xml", "text/xml", "application/json", "text/markdown", "text/html", "text/plain", "")


def check_sources(data: bytes) -> None:
    """Check that feeds, sitemaps and lists give canonical links up to the limit, and seed files raise clear errors."""
    kind, body = _split(data, SOURCE_TYPES)
    source = read_source(body, URL, kind)
    if source is not None:
        links = source.links
        assert len(links) <= MAX_SOURCE_LINKS
        assert len(links.urls) == len(links.anchors) == len(links.contexts) == len(source.modified)
        assert all(canonical(url) == url for url in [*links.urls, *source.nested])
        assert sum(map(len, (*links.anchors, *links.contexts))) <= TIMES * len(body) + 200 * len(links) + MORE
    found = parse_results(body, URL, kind)
    assert len(found) <= MAX_RESULTS
    assert all(canonical(url) == url for url in found)
    with suppress(InputError):
        read_seeds(body, "seeds.txt")


def _sources() -> list[bytes]:
    sitemap = (
        b'<?xml version="1.0"?><urlset><url><loc>http://a.test/x</loc><lastmod>2024-01-02</lastmod></url></urlset>'
    )
    index = b"<sitemapindex><sitemap><loc>http://a.test/s.xml</loc></sitemap></sitemapindex>"
    rss = b"<rss><channel><title>T</title><item><title>A</title><link>http://a.test/1</link></item></channel></rss>"
    atom = (
        b'<feed xml:base="/b/"><entry><title>E</title><link href="x"/><content><![CDATA[a]]></content></entry></feed>'
    )
    opml = b'<opml><body><outline text="o"><outline xmlUrl="http://a.test/f" text="f"/></outline></body></opml>'
    marks = b'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>F</H3><DL><DT><A HREF="http://a.test/">x</A></DL></DL>'
    jsonf = json.dumps(
        {"version": "https://jsonfeed.org/version/1", "items": [{"url": "http://a.test/", "title": "t"}]}
    ).encode()
    text = b"# reefs\n- [coral](http://a.test/c) grows\nhttp://a.test/d\nexample.org\n"
    made = (sitemap, index, rss, atom, opml, marks, jsonf, text, gzip.compress(sitemap, mtime=0))
    entity = b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>'
    return [bytes([number % len(SOURCE_TYPES)]) + body for number, body in enumerate((*made, entity))]


def check_diff(data: bytes) -> None:
    """Check that every word of both texts is in the diff, shares are shares, equal texts have no difference."""
    old, _, new = data.decode("utf-8", "replace").partition("\n--\n")
    found = diff(old, new)
    assert 0.0 <= found.share <= 1.0
    assert sum(run.length for row in found.rows for run in row.old) == found.old_words
    assert sum(run.length for row in found.rows for run in row.new) == found.new_words
    same = diff(old, old)
    assert (0, 0) == (same.removed, same.added)


def check_changes(data: bytes) -> None:
    """Check that detectors return a change with a magnitude from 0 to 1, and none for equal versions."""
    kind, body = _split(data, TYPES)
    old, _, new = body.partition(b"\n--\n")
    change = judge_change(Snapshot.of(URL, old, kind), Snapshot.of(URL, new, kind), list(DETECTORS))
    assert change is None or 0.0 <= change.magnitude <= 1.0
    assert judge_change(Snapshot.of(URL, old, kind), Snapshot.of(URL, old, kind), list(DETECTORS)) is None


def _pairs() -> list[bytes]:
    found = [page[:1_500] for page in pages()]
    return [bytes([n % 5]) + a + b"\n--\n" + b for n, (a, b) in enumerate(pairwise(found))]


OUTCOMES = frozenset(get_args(Outcome)) - {"crashed"}


def check_http(data: bytes) -> None:
    """Check that any bytes followed by a close give an outcome, and that a body is at most the maximum size."""
    kind, answer = _split(data, ("page", "robots", "sitemap", "revisit"))

    async def main() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
                await writer.drain()
            writer.close()

        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/x"
        clock = asyncio.get_running_loop().time
        politeness = Politeness(clock, delay=0.0, address_delay=0.0)
        limits = FetchLimits(body=20_000, seconds=5.0)
        transport = HttpTransport(clock, Guard(["127.0.0.0/8"]), DnsCache(clock), politeness, limits)
        space = WebSpace(transport, politeness, clock, inflated=CAP)
        try:
            task = Task(url, kind, origin=url if kind == "robots" else "")  # type: ignore[arg-type]
            page = await space.visit(task)
            assert page.outcome in OUTCOMES
            assert page.size <= limits.body
            assert page.title.isprintable()
            assert page.note.isprintable()
        finally:
            await space.close()
            listening.close()
            await asyncio.sleep(0)

    with suppress(FetchError):
        asyncio.run(main())


def _answers() -> list[bytes]:
    def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        return "\r\n".join(lines).encode() + body

    page = pages()[3]
    packed = gzip.compress(page, mtime=0)
    made = [
        answer("200 OK", page, "Content-Type: text/html; charset=utf-8", 'ETag: "x"'),
        answer("200 OK", b"User-agent: *\nDisallow: /a\n", "Content-Type: text/plain"),
        answer("200 OK", _sources()[0][1:], "Content-Type: application/xml"),
        answer("200 OK", packed, "Content-Type: text/html", "Content-Encoding: gzip", "X-Robots-Tag: noindex"),
        answer("301 Moved", b"", "Location: /y"),
        answer("503 Busy", b"", "Retry-After: 120"),
        answer("304 Not Modified"),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>x\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>until the end",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ]
    return [bytes([number % 5]) + body for number, body in enumerate(made)]


_ROBOTS = [
    b"User-agent: *\nDisallow: /private\nAllow: /private/x$\nCrawl-delay: 2\nSitemap: http://a.test/s.xml\n",
    b"\xef\xbb\xbfuser-agent: lycosa\nuser-agent: other\ndisallow: /*.php$\n\nUser-agent: *\nDisallow:\n",
]
_URLS = [
    b"http://a.test/x?utm_source=1&a=2;jsessionid=3#f", b"//b.test:81/../a/./b", b"https://[::1]:443/", b"?q=\xc3\xa4",
    b"http://user:pw@a.test/", b"http:page", b"HTTP://A.TEST:80/%7e%zz", b"http://0x7f.1/", b"mailto:a@b.test",
    "http://bücher.test/ä".encode(), b"a.test/x", b"localhost:81", b"http://a.test/..;jsessionid=1/x", b"\\\\a\\b",
]  # fmt: skip
_URL_TOKENS = [
    b"..",
    b"/",
    b"\\",
    b"?",
    b"#",
    b"%2e",
    b"%00",
    b"@",
    b":",
    b"[",
    b"&sid=1",
    b";jsessionid=",
    b"\t",
    b"http:",
]
_XML = [
    b"<url>",
    b"<loc>",
    b"</loc>",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"&#",
    b"&lt;",
    b"<?xml",
    b"[](",
    b"{",
    b"[",
    b'"',
]
_HEADERS = [
    b"\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: br\r\n", b"\r\n\r\n",
    b"Content-Type: text/html\r\n", b"Connection: close\r\n", b"Location: //x\r\n", b"HTTP/1.1 ", b" 404 \r\n", b"\0",
]  # fmt: skip

WEB = (
    Target("html", check_html, _bodies, [*MARKUP, *MARKS], lines=8_000, lines_a_byte=80, rounds=25),
    Target("mainpart", check_mainpart, lambda: [b"Reefs\n\n\x03FHome\x03E\n\nCoral lives \x01here\x02.\n" * 3],
           [*MARKS, b"\n"], lines_a_byte=200, rounds=12),
    Target("tree", check_tree, _bodies, MARKUP, lines_a_byte=100, rounds=20),
    Target("charset", check_charset, _words, [b"\xff", b"<meta charset=utf-8>", b"\x1b$B"]),
    Target("declared", check_declared, lambda: [b'{"author": {"name": "A"}, "datePublished": ["2024", {"url": 1}]}'],
           [b"[", b"{", b'"', b"null", b"@graph", b'{"a":', b"1e999"]),
    Target("reader", check_reader, lambda: [bytes([0]) + page[:2_000] for page in pages()], [*MARKUP, *MARKS],
           lines=8_000, lines_a_byte=200, rounds=12),
    Target("robots", check_robots, lambda: _ROBOTS, [b"*", b"$", b"Disallow: /", b"User-agent: Lycosa\n", b"%2f", b"#"],
           lines_a_byte=120),
    Target("url", check_url, lambda: _URLS, _URL_TOKENS, lines=6_000, lines_a_byte=200, rounds=75),
    Target("dates", check_dates, lambda: [b"Thu, 01 Jan 1970 00:01:00 GMT", b"120", b"2024-01-02T03:04:05Z"],
           [b"GMT", b"+9999", b"99999999999", b"Feb"], rounds=100),
    Target("inflate", check_inflate, _packed, lines=60_000, lines_a_byte=100),
    Target("sources", check_sources, _sources, [*_XML, *MARKUP[:20]], lines=8_000, lines_a_byte=150),
    Target("diff", check_diff, lambda: [b"Coral reefs\ngrow slowly.\n--\nCoral\nreefs grow very slowly today."],
           [b"\n", b" ", b"\n--\n", b"coral "], lines_a_byte=400, rounds=40),
    Target("changes", check_changes, _pairs, [*MARKUP, b"\n--\n"], lines=20_000, lines_a_byte=300, rounds=12),
    Target("http", check_http, _answers, [*_HEADERS, *MARKUP[:10]], lines=8_000, lines_a_byte=100, rounds=20),
)  # fmt: skip
