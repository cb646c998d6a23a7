"""Bookmark files of browsers."""

from __future__ import annotations

from lycosa.web.sources import Source, read_source

EXPORTED = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is written by a browser. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><A HREF="https://a.example/" ADD_DATE="1700000000" ICON="data:image/png;base64,AA==">Reefs &amp; fish</A>
    <DT><H3 ADD_DATE="1700000000" LAST_MODIFIED="1700000001">Marine biology</H3>
    <DD>What I read
    <DL><p>
        <DT><A HREF="https://b.example/?a=1&amp;b=2" TAGS="sea">Bleaching</A>
        <DD>On warm water
        <DT><H3>Deeper</H3>
        <DL><p>
            <DT><A HREF="https://c.example/deep-sea"></A>
        </DL><p>
        <DT><A HREF="javascript:alert('x')">A script</A>
    </DL><p>
    <HR>
    <DT><A HREF="place:sort=8">Most visited</A>
    <DT><A HREF="file:///home/me/notes.html">Notes</A>
    <DT><A HREF="https://d.example/">Last</A>
</DL>
"""


def read(body: str) -> Source:
    source = read_source(body.encode(), "")
    assert source is not None
    assert "bookmarks" == source.form
    return source


def rows(source: Source) -> list[tuple[str, str, str]]:
    return list(zip(source.links.urls, source.links.anchors, source.links.contexts, strict=True))


def test_read_bookmarks_returns_titles_and_folders() -> None:
    source = read(EXPORTED)
    assert [
        ("https://a.example/", "Reefs & fish", ""),
        ("https://b.example/?a=1&b=2", "Bleaching", "Marine biology"),
        ("https://c.example/deep-sea", "deep sea", "Marine biology Deeper"),
        ("https://d.example/", "Last", ""),
    ] == rows(source)
    assert {"not a web URL": 3} == dict(source.left_out)


def test_read_bookmarks_keeps_links_of_truncated_file() -> None:
    assert 2 == len(read(EXPORTED[: EXPORTED.index("<DT><H3>Deeper")]).links)


def test_read_bookmarks_bounds_nested_folders() -> None:
    nest = "".join(f"<DT><H3>f{n}</H3><DL>" for n in range(20_000))
    source = read(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>{nest}<DT><A HREF='https://a.example/'>A</A>")
    assert [("https://a.example/", "A", "f97 f98 f99")] == rows(source)
