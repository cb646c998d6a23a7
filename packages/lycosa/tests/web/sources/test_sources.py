"""Detection of sources, and hostile or damaged files."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.sources import MAX_SOURCE_BYTES, Source, decode, read_source
from tables import each

HOME = "https://reefs.example.org/sitemap.xml"
SITEMAP = b"<urlset><url><loc>https://reefs.example.org/coral</loc></url></urlset>"
RSS = b"<rss><channel><item><link>https://reefs.example.org/coral</link></item></channel></rss>"
BOOKMARKS = b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='https://reefs.example.org/coral'>Coral</A></DL>"


def read(body: bytes | str, url: str = HOME, content_type: str = "") -> Source:
    source = read_source(body.encode() if isinstance(body, str) else body, url, content_type)
    assert source is not None
    return source


@each(
    [
        (SITEMAP, "sitemap"),
        (b"<?xml version='1.0'?>\n<!-- made by hand -->\n" + SITEMAP, "sitemap"),
        (b"\xef\xbb\xbf" + SITEMAP, "sitemap"),
        (SITEMAP.decode().encode("utf-16"), "sitemap"),
        (SITEMAP.decode().encode("utf-16-le"), "sitemap"),
        (b"\n\n  " + SITEMAP, "sitemap"),
        (b"Warning: date() in line 3\n<?xml version='1.0'?>" + SITEMAP, "sitemap"),
        (SITEMAP.replace(b"urlset", b"sm:urlset").replace(b"url>", b"sm:url>").replace(b"loc>", b"sm:loc>"), "sitemap"),
        (SITEMAP.upper().replace(b"HTTPS://REEFS.EXAMPLE.ORG/CORAL", b"https://reefs.example.org/coral"), "sitemap"),
        (gzip.compress(SITEMAP, mtime=0), "sitemap"),
        (gzip.compress(gzip.compress(SITEMAP, mtime=0), mtime=0), "sitemap"),
        (RSS, "feed"),
        (BOOKMARKS, "bookmarks"),
        (b"<opml><body><outline text='Coral' htmlUrl='https://reefs.example.org/coral'/></body></opml>", "opml"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/coral"}]}', "feed"),
        (b"https://reefs.example.org/coral\n", "list"),
        (b"- [Coral](/coral): about it\n", "list"),
    ]
)
def test_read_source_detects_format_by_content(body: bytes, form: str) -> None:
    for content_type in ("", "text/plain", "application/octet-stream"):
        source = read(body, content_type=content_type)
        assert (form, ["https://reefs.example.org/coral"]) == (source.form, source.links.urls)


@each(
    [
        b"",
        b"   \n",
        b"<!doctype html><title>Reefs</title><a href=/coral>coral</a>",
        b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><a href='/coral'>coral</a></html>",
        b"<p>Not even a page: <a href=/coral>coral</a>",
        b"<svg><a href='/coral'/></svg>",
        b"Corals are animals. See https://reefs.example.org/coral for more.\nThey live in colonies.\n",
        b'{"name": "reefs"}',
        b'{"roots": ',
        b"[1, 2, 3]",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\x1f\x8b but not gzip",
        b"%PDF-1.7 \xe2\xe3",
    ]
)
def test_read_source_rejects_other_content(body: bytes) -> None:
    assert read_source(body, "https://reefs.example.org/") is None


def test_read_source_rejects_html_page_of_urls() -> None:
    assert read_source(b"https://reefs.example.org/coral", "https://reefs.example.org/", "text/html") is None


@each(
    [
        ("Korallenriffe für alle".encode(), "", "Korallenriffe für alle"),
        ("Korallenriffe für alle".encode(), "text/xml; charset=iso-8859-1", "Korallenriffe für alle"),
        ("Korallenriffe für alle".encode("latin-1"), "text/xml; charset=iso-8859-1", "Korallenriffe für alle"),
        ("Korallenriffe für alle".encode("latin-1"), "text/xml; charset=utf-8", "Korallenriffe für alle"),
        ("Korallenriffe für alle".encode("latin-1"), "", "Korallenriffe für alle"),
        ("珊瑚礁".encode("shift_jis"), 'text/xml; charset="Shift_JIS"', "珊瑚礁"),
        ("珊瑚礁".encode("iso-2022-jp"), "text/xml; charset=iso-2022-jp", "珊瑚礁"),
        ("Кораллы".encode("koi8-r"), "text/xml; charset=koi8-r", "Кораллы"),
        ("Riffe für".encode("latin-1"), "text/xml; charset=nonsense", "Riffe für"),
        (b"Fr\xc3\xbchling, gr\xc3\xbcn \xff", "text/xml; charset=utf-8", "Frühling, grün \ufffd"),
        (b"Riffe", "text/xml; charset=hex", "Riffe"),
    ]
)
def test_read_source_decodes_charsets(body: bytes, content_type: str, title: str) -> None:
    body = RSS.replace(b"<item>", b"<item><title>" + body + b"</title>")
    assert [title] == read(body, content_type=content_type).links.anchors


def test_decode_uses_xml_declaration() -> None:
    body = b"<?xml version='1.0' encoding='windows-1251'?>" + "Кораллы".encode("windows-1251")
    assert decode(body).endswith("Кораллы")


def test_decode_tolerates_truncated_character() -> None:
    assert "für\ufffd" == decode("fürü".encode()[:-1])


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><urlset><url><loc>https://reefs.example.org/&i;</loc></url></urlset>"
)


def test_read_source_does_not_expand_entities() -> None:
    assert ["https://reefs.example.org/&i;"] == read(BOMB).links.urls


def test_read_source_does_not_open_external_entities(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("coral")
    body = (
        f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
        "<rss><item><title>&x;</title><link>https://reefs.example.org/a</link></item></rss>"
    )
    assert ["&x;"] == read(body).links.anchors


@each(range(1, len(RSS), 7))
def test_read_source_never_fails_on_truncated_xml(cut: int) -> None:
    source = read_source(RSS[:cut], HOME)
    assert source is None or len(source.links) <= 1


def test_read_source_uses_part_before_truncation() -> None:
    whole = "<urlset>" + "".join(f"<url><loc>https://reefs.example.org/{n}</loc></url>" for n in range(9))
    source = read(whole + "<url><loc>https://reefs.example.org/half-an-addr")
    assert [f"https://reefs.example.org/{n}" for n in range(9)] == source.links.urls
    assert "truncated" in source.note


def test_read_source_uses_part_of_truncated_gzip() -> None:
    lines = [f"<url><loc>https://reefs.example.org/{n * 7919}</loc></url>" for n in range(2_000)]
    packed = gzip.compress(("<urlset>" + "".join(lines) + "</urlset>").encode())
    source = read(packed[: len(packed) // 2])
    assert 0 < len(source.links) < 2_000
    assert "truncated" in source.note


def test_read_source_cuts_gzip_bomb() -> None:
    packed = gzip.compress(SITEMAP[:-9] + b" " * (MAX_SOURCE_BYTES + 1_000))
    source = read(packed)
    assert 1 == len(source.links)
    assert "first 50 MB" in source.note


HOSTILE = ["<", "<a ", '<a "', "<a '\"", "<!--", "<![CDATA[", "&#1", "<url>", "<loc>", "</url>", "<url a=", "<?", "]]>"]


@each(HOSTILE)
def test_read_source_takes_linear_time_on_xml(unit: str) -> None:
    assert read(("<urlset><url>" + unit * (300_000 // len(unit))).encode())


@each(["[", "[](", "[a](b(c)", "# ####a", "- ", "1. ", "[a]: ", "http://a.b/ "])
def test_read_source_takes_linear_time_on_lists(unit: str) -> None:
    line = unit * (9_000 // len(unit))
    read_source("\n".join([line] * 50).encode(), "https://a.test/llms.txt")


@given(st.binary(max_size=300))
def test_read_source_never_raises_on_bytes(body: bytes) -> None:
    read_source(body, HOME)
    read_source(gzip.compress(body), "")


TOKENS = st.sampled_from(
    [
        *("<urlset>", "<sitemapindex>", "<rss>", "<feed xml:base='b'>", "<rdf:RDF>", "<opml>", "<channel>"),
        *("<item>", "</item>", "<entry>", "<url>", "</url>", "<sitemap>", "<loc>", "</loc>", "<link href='/a'/>"),
        *(
            "<link>",
            "</link>",
            "<title>",
            "</title>",
            "<description>",
            "<guid isPermaLink='false'>",
            "<outline url='x'>",
        ),
        *("</outline>", "<![CDATA[", "]]>", "<!--", "-->", "&amp;", "&#0;", "&#xD800;", "&#99999999;", "http://a.b/c"),
        *(
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>",
            "<dl>",
            "</dl>",
            "<h3>",
            "</h3>",
            "<a href=/x>",
            "</a>",
            "\x01",
            "\x02",
        ),
        *('{"roots":', '{"items":', '"children":', "[", "]", "}", "[t](u)", "# h", "- ", "\n", "\0", " ", '"', "'"),
    ]
)


@settings(max_examples=50)
@given(st.lists(TOKENS, max_size=30), st.sampled_from(["", HOME, "https://a.test/llms.txt"]))
def test_read_source_never_raises_on_shuffled_tokens(tokens: list[str], url: str) -> None:
    source = read_source("".join(tokens).encode("utf-8", "surrogatepass"), url)
    if source is None:
        return
    links = source.links
    columns = (links.urls, links.anchors, links.contexts, links.rels, links.positions, source.modified)
    assert {len(links)} == {len(column) for column in columns}
    assert all(address.startswith(("http://", "https://")) for address in [*links.urls, *source.nested])
    assert len(set(links.urls)) == len(links)
    assert len(links) == source.marked.count("\x01") == source.marked.count("\x02")
