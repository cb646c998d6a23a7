"""Markdown files."""

from lycosa.web.documents.markdown import MAX_SOURCE, read_markdown
from lycosa.web.documents.sheet import TRUNCATED
from lycosa.web.html import ParsedPage

FRONT_MATTER = "---\ntitle: 'Coral reefs'\nauthor: Ann\ndate: 2024-05-03\nlang: EN\ndraft: no\n---\n"


def read(text: str) -> ParsedPage:
    return read_markdown(text.encode(), "http://a.test/a.md")


def test_read_markdown_takes_front_matter() -> None:
    page = read(FRONT_MATTER + "# Reefs\n\nCoral.")
    assert ("Coral reefs", "en", {"author": "Ann", "published": "2024-05-03"}) == (
        page.title,
        page.language,
        page.about,
    )
    assert "draft" not in page.text


def test_read_markdown_links_written_and_bare_urls() -> None:
    page = read("# Reefs\n\nOn [coral](b.md) and http://c.test/d.\n\n`http://e.test/`")
    assert (["http://a.test/b.md", "http://c.test/d"], "Reefs") == (page.links.urls, page.title)


def test_read_markdown_cuts_long_files() -> None:
    page = read("coral " * (MAX_SOURCE // 6 + 10))
    assert [TRUNCATED] == page.flags
    assert len(page.main) <= MAX_SOURCE
