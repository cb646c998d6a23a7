"""HTML to text and links: tables of cases, charsets and hostile markup."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.html import (
    CLOSE,
    CONTEXT_WORDS,
    MAX_LINKS,
    OPEN,
    ParsedPage,
    detect_language_code,
    extract,
    limit_markup,
    read_plain_text,
)
from tables import each

URL = "http://a.test/dir/page"


def read(html: str, **rest: str) -> ParsedPage:
    return extract(html.encode(), URL, **rest)


def text(document: ParsedPage) -> str:
    return document.marked.replace(OPEN, "").replace(CLOSE, "")


def pairs(document: ParsedPage) -> list[tuple[str, str]]:
    links = document.links
    return [(url.removeprefix("http://a.test/"), anchor) for url, anchor in zip(links.urls, links.anchors, strict=True)]


@each(
    [
        ("<a href=b>coral</a>", [("dir/b", "coral")]),
        ("<A HREF='/b'>Coral <b>reef</b>\n  x</A>", [("b", "Coral reef x")]),
        ("<a href=b></a>", [("dir/b", "")]),
        ("<a href=b><img src=x alt='A reef'></a>", [("dir/b", "A reef")]),
        ("<a>no</a><a name=x>no</a><a href>self</a>", [("dir/page", "self")]),
        ("<a href=b>one</a><a href=b>two</a><a href=b>one</a>", [("dir/b", "one"), ("dir/b", "two")]),
        ("<a href='mailto:x@y.z'>m</a><a href='javascript:x'>j</a><a href='ftp://a/'>f</a>", []),
        ("<a href='b#c'>x</a>", [("dir/b", "x")]),
        ("<a href='&#47;b?x=1&amp;y=2'>x</a>", [("b?x=1&y=2", "x")]),
        ("<a href=' \n b \t'>x</a>", [("dir/b", "x")]),
        ("<area href=b alt='Map'>", [("dir/b", "Map")]),
        ("<iframe src=b title='Frame'></iframe>", [("dir/b", "Frame")]),
        ("<frameset><frame src=b><frame src=c></frameset>", [("dir/b", ""), ("dir/c", "")]),
        ("<script>'<a href=b>x</a>'</script><!-- <a href=c>y</a> --><style><a href=d></style>", []),
        ("<textarea><a href=b>x</a></textarea>", []),
        ("<template><a href=b>x</a></template><a href=c>y</a>", [("dir/c", "y")]),
        ("<TEMPLATE><template><a href=b>x</a></template></TEMPLATE><a href=c>y</a>", [("dir/c", "y")]),
        ("<noscript><a href=b>x</a></noscript>", [("dir/b", "x")]),
        ("<a href=b>one <a href=c>two</a> three</a>", [("dir/b", "one"), ("dir/c", "two")]),
        ("<p><a href=b>un<p>closed", [("dir/b", "un"), ("dir/b", "closed")]),
        ("<svg><a href=b>x</a></svg>", [("dir/b", "x")]),
        ("<base href=/base/><a href=b>x</a>", [("base/b", "x")]),
        ("<base href=/one/><base href=/two/><a href=b>x</a>", [("one/b", "x")]),
        ("<base href='javascript:x'><a href=b>x</a>", [("dir/b", "x")]),
        ("<meta http-equiv=refresh content='0; url=/new'>", [("new", "")]),
        ("<meta http-equiv=Refresh content=\"5;URL='/new'\"><a href=b>x</a>", [("dir/b", "x"), ("new", "")]),
        ("<meta http-equiv=refresh content=30>", []),
    ]
)
def test_extract_returns_links(html: str, links: list[tuple[str, str]]) -> None:
    assert links == pairs(read(html))


@each([b"<Template><a href=b>x</a></Template>", "\ufeff<template><a href=b>x</a></template>".encode("utf-16-le")])
def test_extract_skips_templates_in_any_encoding(body: bytes) -> None:
    assert [] == extract(body, URL).links.urls


@each(
    [
        ("<p>one<p>two", "one two"),
        ("one<br>two", "one two"),
        ("co<b>ra</b>l", "coral"),
        ("<table><tr><td>one</td><td>two</td></tr></table>", "one two"),
        ("a&nbsp;b &lt;c&gt; &eacute;", "a b <c> é"),
        ("<script>x</script>y<style>z</style>", "y"),
        ("<title>no</title>yes", "yes"),
        ("", ""),
        ("<ul><li>one<li>two</ul>", "one two"),
    ]
)
def test_extract_returns_text(html: str, expected: str) -> None:
    assert expected == " ".join(text(read(html)).split())


def test_extract_returns_title_and_language() -> None:
    document = read("<html lang=en-GB><title> Coral \n reefs </title>")
    assert ("Coral reefs", "en-gb") == (document.title, document.language)
    assert 500 == len(read(f"<title>{'x' * 9000}</title>").title)


def test_extract_ignores_svg_title() -> None:
    assert "Page" == read("<svg><title>Logo</title></svg><title>Page</title>").title


@each(
    [
        ("<meta name=robots content='NoIndex, NOFOLLOW'>", "", {"noindex", "nofollow"}),
        ("<meta name=robots content=none>", "", {"none", "noindex", "nofollow"}),
        ("<meta name=Lycosa content=nofollow>", "lycosa", {"nofollow"}),
        ("<meta name=lycosa content=nofollow>", "", set()),
        ("<meta name=other content=nofollow>", "lycosa", set()),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", "", {"noindex", "nofollow"}),
        ("<body><meta name=robots content=noindex>", "", {"noindex"}),
        ("<meta name=robots>", "", {""}),
    ]
)
def test_extract_returns_robots_directives(html: str, agent: str, directives: set[str]) -> None:
    assert directives == read(html, agent=agent).directives


def test_extract_returns_canonical_url() -> None:
    assert "http://a.test/x" == read("<link rel=canonical href=/x>").canonical
    assert "" == read("<link rel=canonical href='mailto:x'>").canonical


def test_extract_lowercases_rel() -> None:
    assert ["nofollow ugc"] == read("<a href=b rel='NoFollow  UGC'>x</a>").links.rels


def numbered(anchor: str, before: int = 30, after: int = 30) -> str:
    left = " ".join(f"l{n}" for n in range(before, 0, -1))
    right = " ".join(f"r{n}" for n in range(1, after + 1))
    return read(f"<p>{left} <a href=b>{anchor}</a> {right}").links.contexts[0]


@pytest.mark.paper("otie-window")
def test_context_has_twenty_words() -> None:
    context = numbered("coral reef")
    assert CONTEXT_WORDS == len(context.split())
    assert "l9 l8 l7 l6 l5 l4 l3 l2 l1 coral reef r1 r2 r3 r4 r5 r6 r7 r8 r9" == context


def test_context_of_one_word_anchor_has_twenty_words() -> None:
    assert CONTEXT_WORDS == len(numbered("coral").split())


def test_context_at_edge_of_text_is_shorter() -> None:
    assert "coral reef r1 r2 r3 r4 r5 r6 r7 r8 r9" == numbered("coral reef", before=0)
    assert "l1 coral reef" == numbered("coral reef", before=1, after=0)


def test_context_of_long_anchor_is_anchor() -> None:
    anchor = " ".join(f"w{n}" for n in range(20))
    assert anchor == numbered(anchor)


def test_context_contains_no_cut_words() -> None:
    words = [f"{'x' * 50}{n}" for n in range(40)]
    page = read(f"<p>{' '.join(words[:20])} <a href=b>coral reef</a> {' '.join(words[20:])}")
    context = page.links.contexts[0].split()
    assert "coral" in context
    assert all(word in [*words, "coral", "reef"] for word in context)


def test_context_contains_no_markers() -> None:
    contexts = read("<a href=b>one</a> and <a href=c>two</a>").links.contexts
    assert ["one and two", "one and two"] == contexts


def test_markers_match_link_positions() -> None:
    document = read("<a href='mailto:x'>no</a> <a href=b>yes</a> <a href=b>yes</a> <a href=c>and</a>")
    inside = [piece.split(CLOSE)[0] for piece in document.marked.split(OPEN)[1:]]
    assert ["no", "yes", "yes", "and"] == inside
    assert [1, 3] == document.links.positions


@each(
    [
        "&#1;<a href=b>one</a>",
        "&#2;<a href=b>one</a>&#1;",
        "\x01<a href=b>one</a>\x02",
        "<a href=b>o\x01n\x02e</a>",
        "<a href=b>one</a> \x01x\x02",
    ]
)
def test_markers_in_page_are_removed(html: str) -> None:
    document = read(html)
    assert OPEN not in document.marked
    assert CLOSE not in document.marked
    assert ["one"] == [anchor.replace(" ", "") for anchor in document.links.anchors]


def test_markers_in_titles_and_attributes_are_removed() -> None:
    document = read("<title>a\x01b</title><area href=b alt='x\x02y'>")
    assert ("a b", ["x y"]) == (document.title, document.links.anchors)


@each(
    [
        ("<p>grün".encode("latin-1"), "ISO8859-1", "grün"),
        (
            b"<meta http-equiv=content-type content='text/html; charset=euc-jp'><p>" + "珊瑚".encode("euc_jp"),
            "",
            "珊瑚",
        ),
        ("\ufeff<p>grün".encode("utf-16-le"), "", "grün"),
        (b"<meta charset=utf-8><p>" + "grün und schön".encode("latin-1"), "", "grün und schön"),
    ]
)
def test_extract_decodes_charsets(body: bytes, charset: str, expected: str) -> None:
    assert expected == text(extract(body, URL, charset))


@each(
    [
        ("grün".encode(), "", "grün"),
        ("grün".encode("latin-1"), "latin-1", "grün"),
        ("grün".encode("latin-1"), "", "grün"),
        ("grün".encode("latin-1"), "utf-8", "gr\ufffdn"),
        ("grün".encode(), "nonsense", "grün"),
        (b"a \x01b\x02", "", "a b"),
    ]
)
def test_read_plain_text_decodes_charsets(body: bytes, charset: str, expected: str) -> None:
    document = read_plain_text(body, charset)
    assert (expected, 0) == (document.marked, len(document.links))


@each(
    [
        ("Die Korallenriffe sind durch die Erwärmung der Meere bedroht und bleichen aus.", "de"),
        ("The coral reefs are threatened by the warming of the seas, and they bleach.", "en"),
        ("サンゴ礁の白化現象は、海水温の上昇によって起こる。", "ja"),
        ("ok", ""),
        ("", ""),
    ]
)
def test_detect_language_code_is_empty_if_unsure(text: str, language: str) -> None:
    assert language == detect_language_code(text)


def test_extract_takes_max_links() -> None:
    document = read("".join(f"<a href=n{n}>coral {n}</a> " for n in range(MAX_LINKS + 1_000)))
    assert MAX_LINKS == len(document.links)
    assert ("http://a.test/dir/n9999", "coral 9999") == (document.links.urls[-1], document.links.anchors[-1])
    assert "coral 9999" in document.links.contexts[-1]


SOUP = st.text(st.sampled_from("<>/=\"' a&;#x!-bhref\x01\x02\ud800\x00"), max_size=80)


@settings(max_examples=50, deadline=None)
@given(
    st.binary(max_size=200) | SOUP.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "x"]),
)
def test_extract_never_raises(body: bytes, charset: str) -> None:
    document = extract(b"<a href=b>" + body, URL, charset)
    links = document.links
    assert {len(links)} == {len(column) for column in (links.anchors, links.contexts, links.rels, links.positions)}
    assert document.marked.count(OPEN) == document.marked.count(CLOSE)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=50), st.sampled_from(["utf-8", "utf-16", "utf-7", "ascii", "cp932", "zip", ""]))
def test_read_plain_text_never_raises(body: bytes, charset: str) -> None:
    assert isinstance(read_plain_text(body, charset).marked, str)


@each(["font a{}", "B x={}", "strong\n{}"])
def test_limit_markup_stops_reopened_formatting(tag: str) -> None:
    body = "".join(f"<{tag.format(i)}>w{i}<p>" for i in range(5_000)).encode()
    page = extract(body, "http://a.test/")
    assert [f"w{i}" for i in range(5_000)] == page.marked.split()


def test_limit_markup_keeps_ordinary_formatting() -> None:
    page = "<p><b class=x>bold</b> and <i>italic</i>" * 50 + "<p>More of it. " * 1_000
    assert page == limit_markup(page)


def test_extract_reads_article_of_json_ld() -> None:
    body = (
        "Corals live in warm seas. They build reefs of limestone over thousands of years, and shelter a quarter of all."
    )
    script = (
        f'<script type="application/ld+json">{{"articleBody": "<p>{body}</p>", "datePublished": "2024-05-03"}}</script>'
    )
    for shown, times in (("<div id=app></div>", 1), (f"<p>{body}</p>", 1), ("", 1)):
        page = extract(f"<title>Reefs</title>{script}<body>{shown}".encode(), "http://a.test/")
        assert (times, times) == (page.text.count("limestone"), page.main.count("limestone"))
        assert "2024-05-03" == page.about["published"]
