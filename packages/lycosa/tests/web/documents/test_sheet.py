"""Documents as HTML pages."""

from lycosa.web.documents.sheet import (
    MAX_MARKUP,
    TRUNCATED,
    DocumentText,
    describe,
    one_line,
    page_count,
    split_at_links,
)
from lycosa.web.html import CLOSE, OPEN, ParsedPage

URL = "http://a.test/a.pdf"


def test_add_escapes_markup_and_links_neighbours_once() -> None:
    text = DocumentText()
    text.add([("a < b & ", ""), ("coral", "/b?x=1&y=2"), (" reefs", "/b?x=1&y=2"), (". See www.c.test/d.", "")])
    page = text.read(URL)
    assert "a < b & coral reefs. See www.c.test/d." == page.main
    assert ["http://a.test/b?x=1&y=2", "http://www.c.test/d"] == page.links.urls
    assert ["coral reefs", "www.c.test/d"] == page.links.anchors


def test_add_collects_headings_and_lead() -> None:
    text = DocumentText()
    text.add([("Page 1", "")], main=False)
    text.add([("Reefs", "")], 1)
    text.add([("Coral \x00lives.", "")])
    text.add([("  ", "")])
    page = text.read(URL)
    assert ("Reefs", "Coral lives.", "Reefs\nCoral lives.") == (page.headings, page.lead, page.main)
    assert "Page 1" in page.text


def test_add_stops_at_size_limit() -> None:
    text = DocumentText()
    for _ in range(3):
        text.add([("x" * (MAX_MARKUP // 2), "")])
    assert text.is_full
    size = len(text._markup)
    text.add([("more", "")])
    assert size == len(text._markup)
    assert [TRUNCATED] == text.read(URL).flags


def test_describe_prefers_metadata_to_headings() -> None:
    page = ParsedPage(headings="Reefs\nFish", main="First line")
    describe(page, {"title": " Coral\nreefs ", "language": "EN-gb"}, author="Ann", pages=None)
    assert ("Coral reefs", "en-gb", {"author": "Ann"}) == (page.title, page.language, page.about)
    describe(page, {}, is_truncated=True)
    assert ("Reefs", [TRUNCATED]) == (page.title, page.flags)


def test_page_count_rejects_zero_and_text() -> None:
    assert ["12", "", "", "", ""] == [page_count(text) for text in ("12", "0", "", "many", "9" * 8)]
    assert "a b" == one_line(" a\u200b\n b")


def test_split_at_links_continues_across_paragraphs() -> None:
    hrefs = ["/a", "/b"]
    first, index = split_at_links(f"x {OPEN}one{CLOSE}", hrefs, 0)
    second, index = split_at_links(f"{OPEN}two{CLOSE} y {OPEN}three{CLOSE}", hrefs, index)
    assert ([("x ", ""), ("one", "/a"), ("", "")], 3) == (first, index)
    assert [("", ""), ("two", "/b"), (" y ", ""), ("three", ""), ("", "")] == second
