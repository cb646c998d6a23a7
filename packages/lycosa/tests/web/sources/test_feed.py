"""RSS, Atom, RDF, JSON Feed and OPML."""

from __future__ import annotations

import json
from typing import Any

from lycosa.web.sources import Source, read_source
from tables import each

HOME = "https://news.example.org/blog/feed"


def read(body: str, url: str = HOME) -> Source:
    source = read_source(body.encode(), url, "text/html")
    assert source is not None
    return source


def item(text: str, url: str = HOME) -> tuple[str, str, str, str]:
    source = read(f"<rss version='2.0'><channel><title>Reefs</title><item>{text}</item></channel></rss>", url)
    assert 1 == len(source.links), source
    return source.links.urls[0], source.links.anchors[0], source.links.contexts[0], source.modified[0]


A = "https://other.example.com/coral-bleaching"


@each(
    [
        (f"<link>{A}</link>", (A, "coral bleaching", "", "")),
        (f"<title>On reefs</title><link>{A}</link>", (A, "On reefs", "", "")),
        (f"<link>{A}</link><title><![CDATA[<i>Reefs</i> &amp; fish]]></title>", (A, "Reefs & fish", "", "")),
        (f"<title>R</title><link>{A}</link><description>&lt;p&gt;Hot &lt;b&gt;water", (A, "R", "Hot water", "")),
        (f"<title>R</title><link>{A}</link><content:encoded>Long text</content:encoded>", (A, "R", "", "")),
        (f"<title>R</title><media:title>M</media:title><link>{A}</link>", (A, "R", "", "")),
        (f"<media:title>M</media:title><title>R</title><link>{A}</link>", (A, "R", "", "")),
        (
            f"<title>R</title><category>reef</category><category>heat</category><link>{A}</link>",
            (A, "R", "reef heat", ""),
        ),
        (f"<title>R</title><guid>{A}</guid>", (A, "R", "", "")),
        (f"<title>R</title><guid isPermaLink='true'>{A}</guid>", (A, "R", "", "")),
        (f"<title>R</title><link>{A}</link><guid>https://other.example.com/2</guid>", (A, "R", "", "")),
        (
            f"<title>R</title><link>{A}</link><pubDate>Sun, 01 Mar 2026 08:00:00 +0100</pubDate>",
            (A, "R", "", "2026-03-01T07:00:00Z"),
        ),
        (f"<title>R</title><link>{A}</link><dc:date>2026-03-01T08:00Z</dc:date>", (A, "R", "", "2026-03-01T08:00Z")),
        (f"<title>R</title><atom:link rel='self' href='/x'/><link>{A}</link>", (A, "R", "", "")),
        (f"<title>R</title><source url='https://x.example'>X</source><link>{A}</link>", (A, "R", "", "")),
        ("<title>R</title><link>../about</link>", ("https://news.example.org/about", "R", "", "")),
        ("<title>R</title><link xml:base='/x/'/><link>y</link>", ("https://news.example.org/blog/y", "R", "", "")),
    ]
)
def test_read_feed_reads_rss_items(text: str, expected: tuple[str, str, str, str]) -> None:
    if ":encoded" in text:
        expected = (*expected[:2], "Long text", expected[3])
    assert expected == item(text)


@each(["<title>R</title>", f"<guid isPermaLink='false'>{A}</guid>", "<link>mailto:a@b.c</link>"])
def test_read_feed_counts_items_without_url(text: str) -> None:
    source = read(f"<rss><channel><item>{text}</item></channel></rss>")
    assert (0, {"not a web URL": 1}) == (len(source.links), dict(source.left_out))


def test_read_feed_ignores_channel_links() -> None:
    source = read(
        "<rss><channel><title>Reefs daily</title><link>https://news.example.org/</link><image><title>Logo</title>"
        "<link>https://news.example.org/logo</link></image><item><title>One</title><link>/1</link></item>"
        "<textInput><link>https://news.example.org/search</link></textInput></channel></rss>"
    )
    assert ("Reefs daily", ["https://news.example.org/1"]) == (source.title, source.links.urls)


def test_read_feed_reads_rss_1_0() -> None:
    source = read(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><channel rdf:about='https://x.example/'>"
        "<title>Reefs</title><items><rdf:Seq><rdf:li resource='https://x.example/1'/></rdf:Seq></items></channel>"
        "<item rdf:about='https://x.example/1'><title>One</title><dc:date>2026-03-01</dc:date></item>"
        "<item rdf:about='urn:2'><title>Two</title><link>https://x.example/2</link></item></rdf:RDF>"
    )
    assert ["https://x.example/1", "https://x.example/2"] == source.links.urls
    assert (["One", "Two"], ["2026-03-01", ""]) == (source.links.anchors, source.modified)


@each(["", "atom:"])
def test_read_feed_reads_atom(prefix: str) -> None:
    body = (
        "<?xml version='1.0'?><feed xml:base='/reefs/'><title>Reefs</title><link rel='self' href='feed'/>"
        "<entry><title type='html'>&lt;b&gt;One&lt;/b&gt;</title><link rel='edit' href='edit'/><link href='1'/>"
        "<updated>2026-03-01T00:00:00Z</updated><category term='coral'/><summary>Warm sea</summary></entry>"
        "<entry xml:base='2026/'><title>Two</title><link rel='alternate' type='text/html' href='2'/></entry>"
        "<entry><title>Three</title><id>https://news.example.org/3</id></entry>"
        "<entry><title>Four</title><id>tag:news.example.org,2026:4</id></entry>"
        "<entry><source><title>Elsewhere</title></source><title>Five</title><link href='/5'/>"
        "<content type='xhtml'><div><p>In <b>detail</b></p></div></content></entry></feed>"
    )
    for name in ("feed", "entry", "title", "link", "updated", "category", "summary", "id", "content", "source"):
        body = body.replace(f"<{name}", f"<{prefix}{name}").replace(f"</{name}", f"</{prefix}{name}")
    source = read(body)
    assert [
        ("https://news.example.org/reefs/1", "One", "coral Warm sea"),
        ("https://news.example.org/reefs/2026/2", "Two", ""),
        ("https://news.example.org/3", "Three", ""),
        ("https://news.example.org/5", "Five", "In detail"),
    ] == list(zip(source.links.urls, source.links.anchors, source.links.contexts, strict=True))
    assert ("Reefs", {"not a web URL": 1}) == (source.title, dict(source.left_out))
    assert "2026-03-01T00:00:00Z" == source.modified[0]


def test_read_feed_resolves_saved_feed_by_channel_link() -> None:
    source = read("<rss><channel><link>https://x.example/a/</link><item><link>b</link></item></channel></rss>", "")
    assert ["https://x.example/a/b"] == source.links.urls


def json_feed(*items: Any) -> Source:
    return read(json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "Reefs", "items": items}))


def test_read_json_feed_skips_malformed_items() -> None:
    source = json_feed(
        {"url": "/1", "title": "One", "summary": "Warm", "tags": ["coral", 3], "date_published": "2026-03-01"},
        {"external_url": A, "content_html": "<p>Hot</p>"},
        {"id": "https://news.example.org/3"},
        {"id": 4},
        "five",
    )
    assert ["https://news.example.org/1", A, "https://news.example.org/3"] == source.links.urls
    assert ["coral Warm", "Hot", ""] == source.links.contexts
    assert ("Reefs", 2) == (source.title, source.skipped)


def test_read_opml_returns_feeds_and_pages() -> None:
    source = read(
        "<opml version='2.0'><head><title>My feeds</title></head><body><outline text='Science'>"
        "<outline text='The sea'><outline type='rss' text='Reefs &amp; more' xmlUrl='https://a.example/feed' "
        "htmlUrl='https://a.example/' description='About coral'/></outline>"
        "<outline type='rss' title='Fish' xmlUrl='https://b.example/feed'></outline></outline>"
        "<outline type='link' text='A page' url='https://c.example/page'/>"
        "<outline type='include' text='More' url='https://d.example/more.opml'/>"
        "<outline type='rss' text='Broken' xmlUrl='feed://e.example/'/><outline text='Nothing'/></body></opml>",
        "",
    )
    assert "My feeds" == source.title
    assert ["https://a.example/feed", "https://b.example/feed", "https://d.example/more.opml"] == source.nested
    assert ["https://a.example/", "https://c.example/page"] == source.links.urls
    assert ["Reefs & more", "A page"] == source.links.anchors
    assert ["Science The sea About coral", ""] == source.links.contexts
    assert {"not a web URL": 1} == dict(source.left_out)
