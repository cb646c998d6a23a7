"""`Source`: limits, descriptions and words of URLs."""

from __future__ import annotations

from lycosa.web.sources import MAX_SOURCE_LINKS, Source, read_source, words_of
from lycosa.web.sources.source import brief
from tables import each

HOME = "https://reefs.example.org/sitemap.xml"


def read(body: bytes | str, url: str = HOME, content_type: str = "") -> Source:
    source = read_source(body.encode() if isinstance(body, str) else body, url, content_type)
    assert source is not None
    return source


def test_add_counts_entries_beyond_limit() -> None:
    body = "\n".join(f"https://reefs.example.org/{n}" for n in range(MAX_SOURCE_LINKS + 7))
    source = read(body)
    assert (MAX_SOURCE_LINKS, 7) == (len(source.links), source.skipped)
    assert f"https://reefs.example.org/{MAX_SOURCE_LINKS - 1}" == source.links.urls[-1]


@each(
    [
        ("https://example.org/coral-reef/why-corals-bleach.html", "coral reef why corals bleach"),
        ("https://example.org/wiki/Great_Barrier_Reef", "wiki Great Barrier Reef"),
        ("https://example.org/korallen%C3%B6kologie", "korallenökologie"),
        ("https://example.org/2026/03/01/coral", "coral"),
        ("https://example.org/item/0a1b2c3d4e5f", "item"),
        ("https://example.org/deadbeef/facade", "deadbeef facade"),
        ("https://example.org/covid19", "covid19"),
        ("https://example.org/coral.reef", "coral reef"),
        ("https://example.org/a.php?page=coral", "a"),
        ("https://example.org/", ""),
        ("https://example.org/%E0%A4%A", "A"),
        ("not a url", "not a url"),
    ]
)
def test_words_of_returns_words_of_path(url: str, words: str) -> None:
    assert words == words_of(url)


@each(
    [
        ("plain", "plain"),
        ("a < b > c", "a < b > c"),
        ("<p class='x'>one</p><p>two</p>", "one two"),
        ("one<!-- no -->two", "one two"),
        ("fish &amp;amp; chips", "fish &amp; chips"),
        ("x\x01y\x02z\x1b[31m", "x y z [31m"),
        (" ".join(["coral"] * 100), " ".join(["coral"] * 40)),
        ("x" * 10_000, "x" * 500),
        ("coral " * 700 + "<a href='" + "x" * 9_000, " ".join(["coral"] * 40)),
        ("<a href='" + "x" * 9_000, ""),
    ]
)
def test_brief_strips_markup_and_control_characters(text: str, expected: str) -> None:
    assert expected == brief(text)


def test_marked_pairs_with_links() -> None:
    body = "# Reefs\n- [Coral](/a): on bleaching\n- [Fish](/b)\n"
    assert "\x01Coral\x02 on bleaching\n\x01Fish\x02" == read(body).marked


def test_truncate_bounds_repeated_base_and_folders() -> None:
    base = "http://reefs.example.org/" + "d/" * 900
    entries = "".join(f"<entry><link href='{n}'/></entry>" for n in range(5_000))
    folder = "<outline text='" + "folder " * 30 + "'>"
    outlines = "".join(f"<outline htmlUrl='http://a.test/{n}'/>" for n in range(5_000))
    for text in (f"<feed xml:base='{base}'>{entries}</feed>", f"<opml>{folder * 3}{outlines}</opml>"):
        source = read(text.encode())
        links = source.links
        assert 0 < len(links) < 5_000
        assert sum(map(len, (*links.urls, *links.anchors, *links.contexts))) <= 5 * len(text) + 100_000
        assert len(links) == len(source.modified)
        assert 5_000 == len(links) + source.skipped
