"""Sitemaps and sitemap indexes."""

from __future__ import annotations

from lycosa.web.sources import Source, read_source
from tables import each

HOME = "https://www.example.org/sitemap.xml"


def read(*entries: str, url: str = HOME, root: str = "urlset") -> Source:
    source = read_source(f"<?xml version='1.0'?><{root}>{''.join(entries)}</{root}>".encode(), url)
    assert source is not None
    return source


@each(
    [
        ("<url><loc>https://www.example.org/a</loc></url>", "https://www.example.org/a", ""),
        ("<url><loc>\n https://www.example.org/a \n</loc></url>", "https://www.example.org/a", ""),
        ("<url><loc><![CDATA[https://www.example.org/a?b&c]]></loc></url>", "https://www.example.org/a?b&c", ""),
        ("<url><loc>https://www.example.org/a?b&amp;c</loc></url>", "https://www.example.org/a?b&c", ""),
        ("<url><loc>https://www.example.org/a?b&c&d</loc></url>", "https://www.example.org/a?b&c&d", ""),
        ("<url><loc>https://WWW.example.org:443/a?utm_source=x#y</loc></url>", "https://www.example.org/a", ""),
        ("<url><loc>https://blog.example.org/a</loc></url>", "https://blog.example.org/a", ""),
        ("<url><loc>http://www.example.org/a</loc></url>", "http://www.example.org/a", ""),
        ("<url><loc>/a</loc></url>", "https://www.example.org/a", ""),
        (
            "<url><lastmod>2026-03-01T10:00:00+01:00</lastmod><loc>https://www.example.org/a</loc></url>",
            "https://www.example.org/a",
            "2026-03-01T10:00:00+01:00",
        ),
        (
            "<sm:url><sm:loc>https://www.example.org/a</sm:loc><sm:lastmod>2026-03-01</sm:lastmod></sm:url>",
            "https://www.example.org/a",
            "2026-03-01",
        ),
        (
            "<url><loc>https://www.example.org/a</loc><lastmod>yesterday</lastmod></url>",
            "https://www.example.org/a",
            "",
        ),
    ]
)
def test_read_sitemap_returns_entries(entry: str, url: str, modified: str) -> None:
    source = read(entry)
    assert ([url], [modified], 0) == (source.links.urls, source.modified, source.skipped)


def test_read_sitemap_takes_titles_from_extensions() -> None:
    source = read(
        "<url><loc>https://www.example.org/1</loc><news:news><news:publication><news:name>Daily</news:name>"
        "</news:publication><news:title>Corals bleach again</news:title><news:keywords>reef, heat</news:keywords>"
        "</news:news></url>",
        "<url><loc>https://www.example.org/2</loc><video:video><video:thumbnail_loc>https://www.example.org/t.jpg"
        "</video:thumbnail_loc><video:title>A dive</video:title><video:description>Under water</video:description>"
        "</video:video></url>",
        "<url><loc>https://www.example.org/3</loc><image:image><image:loc>https://www.example.org/p.jpg</image:loc>"
        "<image:caption>A turtle</image:caption></image:image></url>",
        '<url><loc>https://www.example.org/coral-4</loc><xhtml:link rel="alternate" hreflang="de" '
        'href="https://www.example.org/de/4"/></url>',
    )
    assert [f"https://www.example.org/{n}" for n in ("1", "2", "3", "coral-4")] == source.links.urls
    assert ["Corals bleach again", "A dive", "A turtle", "coral"] == source.links.anchors
    assert ["reef, heat", "Under water", "A turtle", ""] == source.links.contexts


@each(
    [
        ("<url><loc>https://www.example.com/a</loc></url>", "on another site"),
        ("<url><loc>ftp://www.example.org/a</loc></url>", "not a web URL"),
        ("<url><loc></loc></url>", "not a web URL"),
        ("<url/>", "not a web URL"),
        ("<url><loc>https://user:password@www.example.org/</loc></url>", "not a web URL"),
        (f"<url><loc>https://www.example.org/{'x' * 3_000}</loc></url>", "not a web URL"),
        ("<sitemap><loc>https://www.example.com/sitemap.xml</loc></sitemap>", "on another site"),
    ]
)
def test_read_sitemap_counts_skipped_entries(entry: str, why: str) -> None:
    source = read(entry)
    assert (0, [], {why: 1}) == (len(source.links), source.nested, dict(source.left_out))


def test_read_sitemap_of_saved_file_accepts_any_site() -> None:
    source = read("<url><loc>https://www.example.com/a</loc></url>", url="")
    assert ["https://www.example.com/a"] == source.links.urls


def test_read_sitemap_index_nests_sitemaps() -> None:
    source = read(
        "<sitemap><loc>https://www.example.org/1.xml.gz</loc><lastmod>2026-03-01</lastmod></sitemap>",
        "<sitemap><loc>https://www.example.org/1.xml.gz</loc></sitemap>",
        f"<sitemap><loc>{HOME}</loc></sitemap>",
        root="sitemapindex",
    )
    assert ("sitemap index", [], ["https://www.example.org/1.xml.gz"]) == (
        source.form,
        source.links.urls,
        source.nested,
    )


def test_read_sitemap_ignores_duplicates() -> None:
    source = read(*["<url><loc>https://www.example.org/a</loc></url>"] * 3)
    assert (["https://www.example.org/a"], 0) == (source.links.urls, source.skipped)


def test_read_sitemap_accepts_empty_urlset() -> None:
    source = read()
    assert ("sitemap", 0, "") == (source.form, len(source.links), source.note)
