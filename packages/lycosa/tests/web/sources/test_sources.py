"""What counts as a source, and what hostile or broken ones can do: nothing."""

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
def test_the_content_decides_what_it_is(body: bytes, form: str) -> None:
    """Every form is known by its content, packed or not, whatever its type says."""
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
def test_what_is_no_source(body: bytes) -> None:
    """Web pages, prose, data and rubbish are not sources: a crawl may take them as pages."""
    assert read_source(body, "https://reefs.example.org/") is None


def test_a_page_that_looks_like_a_list_is_a_page() -> None:
    """What is served as HTML and has no root is not searched for lines with addresses."""
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
def test_charsets(body: bytes, content_type: str, title: str) -> None:
    """Valid UTF-8 is UTF-8; else the declared charset counts, if it is one."""
    body = RSS.replace(b"<item>", b"<item><title>" + body + b"</title>")
    assert [title] == read(body, content_type=content_type).links.anchors


def test_the_charset_of_the_declaration() -> None:
    """Without a header, the XML declaration says how to read it."""
    body = b"<?xml version='1.0' encoding='windows-1251'?>" + "Кораллы".encode("windows-1251")
    assert decode(body).endswith("Кораллы")


def test_a_character_cut_in_two_changes_nothing_before_it() -> None:
    """A body that ends within a character is still UTF-8."""
    assert "für\ufffd" == decode("fürü".encode()[:-1])


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><urlset><url><loc>https://reefs.example.org/&i;</loc></url></urlset>"
)


def test_entities_are_not_expanded() -> None:
    """A bomb of entities stays as small as it was sent."""
    assert ["https://reefs.example.org/&i;"] == read(BOMB).links.urls


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    """An entity that stands for a file on this machine stands for nothing."""
    (tmp_path / "secret").write_text("coral")
    body = (
        f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
        "<rss><item><title>&x;</title><link>https://reefs.example.org/a</link></item></rss>"
    )
    assert ["&x;"] == read(body).links.anchors


@each(range(1, len(RSS), 7))
def test_truncated_xml_never_fails(cut: int) -> None:
    """Wherever a feed breaks off, it is read or it is no source."""
    source = read_source(RSS[:cut], HOME)
    assert source is None or len(source.links) <= 1


def test_what_came_before_the_break_is_used() -> None:
    """A sitemap that breaks off gives the entries that are there, and says so."""
    whole = "<urlset>" + "".join(f"<url><loc>https://reefs.example.org/{n}</loc></url>" for n in range(9))
    source = read(whole + "<url><loc>https://reefs.example.org/half-an-addr")
    assert [f"https://reefs.example.org/{n}" for n in range(9)] == source.links.urls
    assert "truncated" in source.note


def test_broken_gzip_gives_what_came_before() -> None:
    """A packed sitemap that breaks off is read up to the break."""
    lines = [f"<url><loc>https://reefs.example.org/{n * 7919}</loc></url>" for n in range(2_000)]
    packed = gzip.compress(("<urlset>" + "".join(lines) + "</urlset>").encode())
    source = read(packed[: len(packed) // 2])
    assert 0 < len(source.links) < 2_000
    assert "truncated" in source.note


def test_a_gzip_bomb_is_cut() -> None:
    """No more is inflated than the protocol allows for a sitemap."""
    packed = gzip.compress(SITEMAP[:-9] + b" " * (MAX_SOURCE_BYTES + 1_000))
    source = read(packed)
    assert 1 == len(source.links)
    assert "first 50 MB" in source.note


HOSTILE = ["<", "<a ", '<a "', "<a '\"", "<!--", "<![CDATA[", "&#1", "<url>", "<loc>", "</url>", "<url a=", "<?", "]]>"]


@each(HOSTILE)
def test_time_is_linear(unit: str) -> None:
    """300 kB made to trip a parser are read; one that takes the square of the time would not end."""
    assert read(("<urlset><url>" + unit * (300_000 // len(unit))).encode())


@each(["[", "[](", "[a](b(c)", "# ####a", "- ", "1. ", "[a]: ", "http://a.b/ "])
def test_lists_take_linear_time(unit: str) -> None:
    """The same for lines of Markdown."""
    line = unit * (9_000 // len(unit))
    read_source("\n".join([line] * 50).encode(), "https://a.test/llms.txt")


@given(st.binary(max_size=300))
def test_bytes_never_raise(body: bytes) -> None:
    """Whatever the bytes, the answer is a source or none."""
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
def test_pieces_in_any_order_never_raise(tokens: list[str], url: str) -> None:
    """Whatever the order of tags and text, columns stay of one length and every address is canonical."""
    source = read_source("".join(tokens).encode("utf-8", "surrogatepass"), url)
    if source is None:
        return
    links = source.links
    columns = (links.urls, links.anchors, links.contexts, links.rels, links.positions, source.modified)
    assert {len(links)} == {len(column) for column in columns}
    assert all(address.startswith(("http://", "https://")) for address in [*links.urls, *source.nested])
    assert len(set(links.urls)) == len(links)
    assert len(links) == source.marked.count("\x01") == source.marked.count("\x02")
